#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include "base/error.h"
#include "base/utf8.h"
#include "base/wipe.h"

namespace strongroom {

Json::~Json() {
  wipe(string_);
}

std::optional<double> Json::as_double() const noexcept {
  if (kind_ != Kind::number) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(raw_.data(), raw_.data() + raw_.size(), value);
  if (error != std::errc() || end != raw_.data() + raw_.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> Json::as_int() const noexcept {
  if (kind_ != Kind::number) return std::nullopt;
  // The number is digits x 10^scale. No detour through double, which would round.
  std::string_view text = raw_;
  std::int64_t scale = 0;
  if (const std::size_t mark = text.find_first_of("eE"); mark != std::string_view::npos) {
    constexpr std::int64_t kFar = std::int64_t{1} << 48;  // beyond any text's length
    std::string_view exponent = text.substr(mark + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    const auto parsed = std::from_chars(exponent.data(), exponent.data() + exponent.size(), scale);
    if (parsed.ec != std::errc()) scale = exponent.front() == '-' ? -kFar : kFar;
    scale = std::clamp(scale, -kFar, kFar);
    text = text.substr(0, mark);
  }
  constexpr std::size_t kDigits = 19;  // of the largest int64
  char number[1 + kDigits];
  std::size_t count = 0;
  if (text.front() == '-') {
    number[count++] = '-';
    text.remove_prefix(1);
  }
  const std::size_t first = count;
  std::size_t zeros = 0;  // since the last other digit
  bool fraction = false;
  for (const char c : text) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (fraction) --scale;
    if (c == '0') {
      if (count > first) ++zeros;
      continue;
    }
    if (count - first + zeros >= kDigits) return std::nullopt;
    for (; zeros > 0; --zeros) number[count++] = '0';
    number[count++] = c;
  }
  if (count == first) return 0;
  scale += static_cast<std::int64_t>(zeros);
  if (scale < 0 || scale > static_cast<std::int64_t>(kDigits - (count - first))) {
    return std::nullopt;
  }
  for (; scale > 0; --scale) number[count++] = '0';
  std::int64_t whole = 0;
  if (std::from_chars(number, number + count, whole).ec != std::errc()) return std::nullopt;
  return whole;
}

const Json* Json::find(std::string_view name) const noexcept {
  for (const Member& member : members_) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

// A recursive-descent reader; the depth limit bounds its stack.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::string_view field) : text_(text), path_(field) {}

  Json read() {
    skip_space();
    Json value = read_value(1);
    skip_space();
    if (at_ != text_.size()) fail("has text after its end");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const { throw Error::invalid(path_, why); }

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  void skip_space() {
    while (!done() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  Json read_value(int depth) {
    if (done()) fail("ends too early");
    const std::size_t begin = at_;
    Json value;
    switch (peek()) {
      case '{': read_object(value, depth); break;
      case '[': read_array(value, depth); break;
      case '"':
        value.kind_ = Json::Kind::string;
        read_string(value.string_);
        break;
      case 't':
        value.kind_ = Json::Kind::boolean;
        value.bool_ = true;
        read_word("true");
        break;
      case 'f':
        value.kind_ = Json::Kind::boolean;
        read_word("false");
        break;
      case 'n': read_word("null"); break;
      default: value.kind_ = Json::Kind::number; read_number();
    }
    value.raw_ = text_.substr(begin, at_ - begin);
    return value;
  }

  void read_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) fail("is not valid JSON");
    at_ += word.size();
  }

  bool digit() const { return peek() >= '0' && peek() <= '9'; }
  void read_digits() {
    if (!digit()) fail("is not valid JSON");
    while (digit()) ++at_;
  }
  void read_number() {
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      read_digits();
    }
    if (peek() == '.') {
      ++at_;
      read_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      read_digits();
    }
  }

  std::uint32_t read_hex4() {
    std::uint32_t unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      std::uint32_t nibble = 0;
      if (c >= '0' && c <= '9') {
        nibble = static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        nibble = static_cast<std::uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        nibble = static_cast<std::uint32_t>(c - 'A' + 10);
      } else {
        fail("has a malformed \\u escape");
      }
      unit = unit << 4 | nibble;
    }
    return unit;
  }

  void read_escape(std::string& out) {
    ++at_;  // the backslash
    const char c = peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/': out.push_back(c); return;
      case 'b': out.push_back('\b'); return;
      case 'f': out.push_back('\f'); return;
      case 'n': out.push_back('\n'); return;
      case 'r': out.push_back('\r'); return;
      case 't': out.push_back('\t'); return;
      case 'u': break;
      default: fail("has an unknown escape");
    }
    char32_t point = read_hex4();
    if (point >= 0xDC00 && point <= 0xDFFF) fail("has a lone surrogate");
    if (point >= 0xD800 && point <= 0xDBFF) {
      if (text_.substr(at_, 2) != "\\u") fail("has a lone surrogate");
      at_ += 2;
      const char32_t low = read_hex4();
      if (low < 0xDC00 || low > 0xDFFF) fail("has a lone surrogate");
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    utf8_append(out, point);
  }

  // Room for the whole string at the first escape: growing would leave copies of a value behind.
  void reserve_string(std::string& out, std::size_t begin) const {
    if (!out.empty()) return;
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2u : 1u;
    out.reserve(std::min(end, text_.size()) - begin);
  }

  void read_string(std::string& out) {
    ++at_;  // the opening quote
    for (;;) {
      const std::size_t run = at_;
      while (!done() && text_[at_] != '"' && text_[at_] != '\\') {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        if (byte < 0x20) fail("has a raw control character in a string");
        if (byte < 0x80) {
          ++at_;
          continue;
        }
        const std::size_t length = utf8_sequence(text_.substr(at_));
        if (length == 0) fail("is not valid UTF-8");
        at_ += length;
      }
      if (!done() && text_[at_] == '\\') reserve_string(out, run);
      out.append(text_.substr(run, at_ - run));
      if (done()) fail("ends inside a string");
      if (text_[at_] == '"') break;
      read_escape(out);
    }
    ++at_;
  }

  // Appends a step to the path that errors name, for the life of the object.
  class Step {
   public:
    Step(std::string& path, std::string_view step) : path_(path), length_(path.size()) {
      path_.append(step);
    }
    ~Step() { path_.resize(length_); }

   private:
    std::string& path_;
    std::size_t length_;
  };

  void check_depth(int depth) const {
    if (depth > Json::kMaxDepth) fail("is nested deeper than 64 levels");
  }

  void read_array(Json& value, int depth) {
    check_depth(depth);
    value.kind_ = Json::Kind::array;
    ++at_;
    skip_space();
    if (peek() == ']') {
      ++at_;
      return;
    }
    for (;;) {
      skip_space();
      {
        const Step step(path_, "[" + std::to_string(value.items_.size()) + "]");
        value.items_.push_back(read_value(depth + 1));
      }
      skip_space();
      if (peek() == ']') break;
      if (peek() != ',') fail("is not valid JSON");
      ++at_;
    }
    ++at_;
  }

  // Path steps name members, and a member name is input: only a plain short one is repeated.
  static std::string step_for(std::string_view name) {
    const bool plain = !name.empty() && name.size() <= 64 &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                           std::string_view::npos;
    return plain ? "." + std::string(name) : std::string(".?");
  }

  void read_object(Json& value, int depth) {
    check_depth(depth);
    value.kind_ = Json::Kind::object;
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
      return;
    }
    std::unordered_set<std::string> names;  // only for objects large enough to need it
    for (;;) {
      skip_space();
      if (peek() != '"') fail("is not valid JSON");
      Json::Member member;
      read_string(member.name);
      const Step step(path_, step_for(member.name));
      if (seen_before(value, member.name, names)) fail("is a duplicate member");
      skip_space();
      if (peek() != ':') fail("is not valid JSON");
      ++at_;
      skip_space();
      member.value = read_value(depth + 1);
      value.members_.push_back(std::move(member));
      skip_space();
      if (peek() == '}') break;
      if (peek() != ',') fail("is not valid JSON");
      ++at_;
    }
    ++at_;
  }

  static bool seen_before(const Json& object, const std::string& name,
                          std::unordered_set<std::string>& names) {
    constexpr std::size_t kLinear = 16;
    if (object.members_.size() < kLinear) return object.find(name) != nullptr;
    if (names.empty()) {
      for (const Json::Member& member : object.members_) names.insert(member.name);
    }
    return !names.insert(name).second;
  }

  std::string_view text_;
  std::string path_;
  std::size_t at_ = 0;
};

Json Json::parse(std::string_view text, std::string_view field) {
  return JsonReader(text, field).read();
}

std::string json_compact(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  bool in_string = false;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (in_string) {
      out.push_back(c);
      if (c == '\\' && i + 1 < raw.size()) {
        out.push_back(raw[++i]);
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      out.push_back(c);
      in_string = c == '"';
    }
  }
  return out;
}

void json_quote(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      const std::size_t length = utf8_sequence(text.substr(i));
      if (length == 0) {
        out.append("\xEF\xBF\xBD");
        ++i;
      } else {
        out.append(text.substr(i, length));
        i += length;
      }
      continue;
    }
    ++i;
    switch (byte) {
      case '"': out.append("\\\""); break;
      case '\\': out.append("\\\\"); break;
      case '\b': out.append("\\b"); break;
      case '\f': out.append("\\f"); break;
      case '\n': out.append("\\n"); break;
      case '\r': out.append("\\r"); break;
      case '\t': out.append("\\t"); break;
      default:
        if (byte < 0x20) {
          out.append("\\u00");
          out.push_back(kHex[byte >> 4]);
          out.push_back(kHex[byte & 15]);
        } else {
          out.push_back(static_cast<char>(byte));
        }
    }
  }
  out.push_back('"');
}

std::string json_quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  json_quote(out, text);
  return out;
}

void JsonWriter::line() {
  if (!indent_) return;
  out_.push_back('\n');
  out_.append(2 * has_item_.size(), ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_item_.empty()) return;
  if (has_item_.back()) out_.push_back(',');
  has_item_.back() = true;
  line();
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  out_.push_back('{');
  has_item_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  const bool any = has_item_.back();
  has_item_.pop_back();
  if (any) line();
  out_.push_back('}');
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  out_.push_back('[');
  has_item_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  const bool any = has_item_.back();
  has_item_.pop_back();
  if (any) line();
  out_.push_back(']');
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  json_quote(out_, name);
  out_.append(indent_ ? ": " : ":");
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  before_value();
  json_quote(out_, text);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t number) {
  before_value();
  out_.append(std::to_string(number));
  return *this;
}

JsonWriter& JsonWriter::unsigned_integer(std::uint64_t number) {
  before_value();
  out_.append(std::to_string(number));
  return *this;
}

namespace {

// ECMAScript's Number::toString: the shortest digits that read back as the same double, with an
// exponent only below 1e-6 and from 1e21 on.
void append_number(std::string& out, double number) {
  if (number == 0) {
    out.push_back('0');  // -0 too
    return;
  }
  char buffer[32];
  const char* const end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  if (text.front() == '-') {
    out.push_back('-');
    text.remove_prefix(1);
  }
  const std::size_t mark = text.find('e');
  std::string_view shift = text.substr(mark + 1);
  if (shift.front() == '+') shift.remove_prefix(1);
  int exponent = 0;
  std::from_chars(shift.data(), shift.data() + shift.size(), exponent);
  std::string digits(text.substr(0, 1));
  if (mark > 2) digits.append(text.substr(2, mark - 2));
  const int count = static_cast<int>(digits.size());
  if (exponent >= 21 || exponent < -6) {
    out.push_back(digits.front());
    if (count > 1) out.append(".").append(digits, 1);
    out.append(exponent < 0 ? "e-" : "e+").append(std::to_string(std::abs(exponent)));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else if (exponent + 1 >= count) {
    out.append(digits).append(static_cast<std::size_t>(exponent + 1 - count), '0');
  } else {
    const auto point = static_cast<std::size_t>(exponent + 1);
    out.append(digits, 0, point).append(".").append(digits, point);
  }
}

}  // namespace

JsonWriter& JsonWriter::number(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  before_value();
  out_.append(value ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_.append("null");
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  const std::string compact = json_compact(json);
  if (!indent_) {
    out_.append(compact);
    return *this;
  }
  // Re-flow the same tokens at this depth.
  bool in_string = false;
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    if (in_string) {
      out_.push_back(c);
      if (c == '\\') {
        out_.push_back(compact[++i]);
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '{' || c == '[') {
      out_.push_back(c);
      const char close = c == '{' ? '}' : ']';
      if (compact[i + 1] == close) {
        out_.push_back(close);
        ++i;
      } else {
        has_item_.push_back(true);
        line();
      }
    } else if (c == '}' || c == ']') {
      has_item_.pop_back();
      line();
      out_.push_back(c);
    } else if (c == ',') {
      out_.push_back(c);
      line();
    } else if (c == ':') {
      out_.append(": ");
    } else {
      out_.push_back(c);
      in_string = c == '"';
    }
  }
  return *this;
}

}  // namespace strongroom
