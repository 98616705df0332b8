#include "mcp/messages.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"

namespace strongroom::mcp {

std::string result_message(std::string_view id, std::string_view result) {
  std::string out;
  out.reserve(id.size() + result.size() + 40);  // one allocation: the result may hold a value
  out.append(R"({"jsonrpc":"2.0","id":)").append(id);
  out.append(R"(,"result":)").append(result).append("}");
  return out;
}

std::string error_message(std::string_view id, const RpcError& error) {
  JsonWriter writer;
  writer.begin_object().member("jsonrpc", "2.0").key("id").raw(id);
  writer.key("error").begin_object();
  writer.key("code").integer(error.code).member("message", error.message);
  if (!error.data.empty()) writer.key("data").raw(error.data);
  writer.end_object().end_object();
  return writer.take();
}

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool ends_scalar(char c) {
  return is_space(c) || c == ',' || c == ':' || c == ']' || c == '}';
}

// Walks over the members of an object's text.
class MemberScanner {
 public:
  explicit MemberScanner(std::string_view text) : text_(text) {
    skip_space();
    open_ = take('{');
  }

  // False at the end of the object, or where the text stops making sense.
  bool next(std::string_view& name, std::string_view& value) {
    if (!open_) return false;
    skip_space();
    if (take('}')) return close();
    if (!first_ && !take(',')) return fail();
    first_ = false;
    skip_space();
    std::size_t begin = at_;
    if (!skip_string()) return fail();
    name = text_.substr(begin + 1, at_ - begin - 2);
    skip_space();
    if (!take(':')) return fail();
    skip_space();
    begin = at_;
    if (!skip_value()) return fail();
    value = text_.substr(begin, at_ - begin);
    return true;
  }

  bool whole() const { return whole_; }

 private:
  bool fail() {
    open_ = false;
    return false;
  }
  bool close() {
    skip_space();
    whole_ = at_ == text_.size();
    return fail();
  }
  bool done() const { return at_ >= text_.size(); }
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (!done() && is_space(text_[at_])) ++at_;
  }

  bool skip_string() {
    if (!take('"')) return false;
    for (;;) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '"') break;
      at_ += 2;
    }
    ++at_;
    return true;
  }

  // A bracketed value of any depth: only counted, so that hostile nesting costs no memory.
  bool skip_bracketed() {
    std::size_t depth = 0;
    while (!done()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return true;
    }
    return false;
  }

  bool skip_value() {
    if (done()) return false;
    const char c = text_[at_];
    if (c == '"') return skip_string();
    if (c == '{' || c == '[') return skip_bracketed();
    const std::size_t begin = at_;
    while (!done() && !ends_scalar(text_[at_])) ++at_;
    // A scalar that runs to the end of the text may have been cut there.
    return at_ > begin && !done();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool open_ = false;
  bool first_ = true;
  bool whole_ = false;
};

}  // namespace

Glance glance(std::string_view line) {
  Glance seen;
  int ids = 0;
  MemberScanner scanner(line);
  std::string_view name, value;
  while (scanner.next(name, value)) {
    if (name == "id") {
      seen.id = ++ids == 1 ? value : std::string_view();
    } else if (name == "method") {
      seen.method = value;
    } else if (name == "params") {
      seen.params = value;
    } else if (name == "result" || name == "error") {
      seen.reply = true;
    }
  }
  seen.whole = scanner.whole();
  // The member at which the text was cut off still tells what kind of message this is.
  if (!seen.whole && (name == "result" || name == "error")) seen.reply = true;
  return seen;
}

std::string_view glance_member(std::string_view object, std::string_view wanted) {
  MemberScanner scanner(object);
  std::string_view name, value;
  while (scanner.next(name, value)) {
    if (name == wanted) return value;
  }
  return {};
}

std::string_view id_at_end(std::string_view tail) {
  // Exactly one closing brace at the end closes the message itself, so a scalar right before it is
  // one of its members. Unescaped quotes cannot stand inside a string, so the name is no content.
  const auto trim = [&tail] {
    while (!tail.empty() && is_space(tail.back())) tail.remove_suffix(1);
  };
  trim();
  if (tail.empty() || tail.back() != '}') return {};
  tail.remove_suffix(1);
  trim();
  if (tail.empty()) return {};
  std::size_t begin = 0;
  if (tail.back() == '"') {
    begin = tail.substr(0, tail.size() - 1).rfind('"');
    if (begin == std::string_view::npos) return {};
    if (tail.substr(begin).find('\\') != std::string_view::npos) return {};
  } else {
    begin = tail.find_last_not_of("-0123456789") + 1;
  }
  const std::string_view id = tail.substr(begin);
  tail = tail.substr(0, begin);
  trim();
  if (tail.empty() || tail.back() != ':') return {};
  tail.remove_suffix(1);
  trim();
  constexpr std::string_view kName = "\"id\"";
  if (tail.size() <= kName.size() || tail.substr(tail.size() - kName.size()) != kName) return {};
  tail.remove_suffix(kName.size());
  trim();
  if (tail.empty() || (tail.back() != ',' && tail.back() != '{')) return {};
  return id;
}

bool valid_id(std::string_view raw) {
  if (raw.empty()) return false;
  try {
    const Json id = Json::parse(raw, "id");
    if (id.is_string()) return true;
    return id.is_number() && (id.as_int() || raw.find_first_of(".eE") == std::string_view::npos);
  } catch (const Error&) {
    return false;
  }
}

std::string id_identity(std::string_view raw) {
  try {
    const Json id = Json::parse(raw, "id");
    if (id.is_string()) return "s" + id.as_string();
    if (const auto whole = id.as_int()) return "n" + std::to_string(*whole);
  } catch (const Error&) {
    // Not an id; it equals itself.
  }
  return "n" + std::string(raw);
}

void report(std::string_view sentence) noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr int kLines = 8;
  constexpr auto kWindow = std::chrono::seconds(10);
  static std::mutex mutex;
  static Clock::time_point window_start;
  static int lines = 0;
  try {
    const std::lock_guard lock(mutex);
    const auto now = Clock::now();
    if (lines == 0 || now - window_start >= kWindow) {
      window_start = now;
      lines = 0;
    }
    if (++lines > kLines) return;
    std::string text = "strongroom mcp: " + std::string(sentence);
    if (lines == kLines) text += " (further messages are held back for a while)";
    text += '\n';
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
    // A pipe that is ready takes a page without blocking, and a line is shorter than that.
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  } catch (...) {
    // Out of memory: a diagnostic is the first thing to give up.
  }
}

}  // namespace strongroom::mcp
