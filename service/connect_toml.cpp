// Codex's config.toml. TOML is read as far as it takes to know where statements and tables begin
// and end; a text in which that is not certain is refused.

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/error.h"
#include "service/connect_edit.h"

namespace strongroom::service::connect_edit {
namespace {

constexpr std::string_view kSection = "mcp_servers";
using Path = std::vector<std::string>;

struct Statement {
  enum class Kind { table, array_of_tables, value };
  Kind kind = Kind::value;
  Path path;               // of a value: below its table
  std::size_t begin = 0;   // of its first line
  std::size_t end = 0;     // of its last line, line end included
  std::string_view value;  // as written
};

/// The text cannot be followed.
struct Unclear {};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), at_(byte_order_mark(text)) {}

  std::vector<Statement> statements() {
    std::vector<Statement> found;
    while (at_ < text_.size()) {
      Statement statement;
      statement.begin = at_;
      skip_blanks();
      if (!at_line_end() && peek() != '#') {
        if (peek() == '[') {
          read_header(statement);
        } else {
          read_value(statement);
        }
        skip_blanks();
      }
      if (peek() == '#') skip_comment();
      if (!at_line_end()) throw Unclear{};
      if (at_ < text_.size()) at_ += text_[at_] == '\r' ? std::size_t{2} : std::size_t{1};
      statement.end = at_;
      if (!statement.path.empty()) found.push_back(std::move(statement));
    }
    return found;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_line_end() const {
    return at_ >= text_.size() || peek() == '\n' || (peek() == '\r' && peek(1) == '\n');
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  void skip_comment() {
    while (!at_line_end()) ++at_;
  }
  void expect(char c) {
    if (peek() != c) throw Unclear{};
    ++at_;
  }

  void read_header(Statement& statement) {
    ++at_;
    const bool array = peek() == '[';
    if (array) ++at_;
    statement.kind = array ? Statement::Kind::array_of_tables : Statement::Kind::table;
    statement.path = read_path();
    expect(']');
    if (array) expect(']');
  }

  void read_value(Statement& statement) {
    statement.path = read_path();
    expect('=');
    skip_blanks();
    const std::size_t begin = at_;
    skip_value();
    std::size_t end = at_;
    while (end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) --end;
    if (end == begin) throw Unclear{};
    statement.value = text_.substr(begin, end - begin);
  }

  Path read_path() {
    Path path;
    for (;; ++at_) {
      skip_blanks();
      path.push_back(read_key());
      skip_blanks();
      if (peek() != '.') return path;
    }
  }

  std::string read_key() {
    const std::size_t begin = at_;
    if (peek() == '"' || peek() == '\'') {
      skip_string();
      const std::string_view key = text_.substr(begin + 1, at_ - begin - 2);
      // Of all escapes only \u and \U can spell a letter, so only they could hide our name.
      if (text_[begin] == '"' && (key.find("\\u") != std::string_view::npos ||
                                  key.find("\\U") != std::string_view::npos)) {
        throw Unclear{};
      }
      return std::string(key);
    }
    const auto bare = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-';
    };
    while (bare(peek())) ++at_;
    if (at_ == begin) throw Unclear{};
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// A string of one line.
  void skip_string() {
    const char quote = peek();
    for (++at_; peek() != quote; ++at_) {
      if (quote == '"' && peek() == '\\') ++at_;
      if (at_line_end()) throw Unclear{};
    }
    ++at_;
  }

  void skip_long_string() {
    const char quote = peek();
    at_ += 3;
    while (peek() != quote || peek(1) != quote || peek(2) != quote) {
      if (quote == '"' && peek() == '\\') ++at_;
      if (at_ >= text_.size()) throw Unclear{};
      ++at_;
    }
    at_ += 3;
    for (int i = 0; i < 2 && peek() == quote; ++i) ++at_;  // quotes may stand before the end
  }

  /// To the end of the value; of a scalar to the end of the line or a comment.
  void skip_value() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '"' || c == '\'') {
        if (peek(1) == c && peek(2) == c) {
          skip_long_string();
        } else {
          skip_string();
        }
        if (depth == 0) return;
        continue;
      }
      if (depth == 0 && (at_line_end() || c == '#')) return;
      if (c == '#') {
        skip_comment();
        continue;
      }
      ++at_;
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth <= 0) {
        if (depth < 0) throw Unclear{};
        return;
      }
    }
    if (depth != 0) throw Unclear{};
  }

  std::string_view text_;
  std::size_t at_;
};

bool begins_with(const Path& path, const Path& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

const Path& our_path() {
  static const Path path = {std::string(kSection), std::string(kServerName)};
  return path;
}

/// A stretch of the text that is our table or one below it, without the blank lines after it.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Document {
  std::vector<Range> ranges;
  std::map<std::string, std::string> values;  // of our tables: "env.NAME" -> as written
  std::vector<std::string> names;             // the keys of `values` in the file's order
  bool foreign_form = false;                  // an inline table, dotted keys, an array of tables
};

std::string joined(const Path& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : ".") + part;
  return out;
}

/// A form of our entry or of its parent that cannot be edited by lines.
bool is_foreign(const Statement& statement, const Path& table) {
  const Path parent = {std::string(kSection)};
  switch (statement.kind) {
    case Statement::Kind::table: return false;
    case Statement::Kind::array_of_tables:
      return statement.path == parent || begins_with(statement.path, our_path());
    case Statement::Kind::value: break;
  }
  if (table.empty()) return begins_with(statement.path, parent);
  return table == parent && begins_with(statement.path, {std::string(kServerName)});
}

/// TOML allows tab and line ends alone, and no carriage return on its own.
bool has_stray_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\r' ? text.substr(i + 1, 1) != "\n"
                     : (byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7f) {
      return true;
    }
  }
  return false;
}

Document read(std::string_view text, std::string_view subject) {
  Document document;
  try {
    if (has_stray_control(text)) throw Unclear{};
    Path table;
    bool ours = false;
    for (const Statement& statement : Scanner(text).statements()) {
      document.foreign_form = document.foreign_form || is_foreign(statement, table);
      if (statement.kind != Statement::Kind::value) {
        const bool again = ours;
        table = statement.path;
        ours = begins_with(table, our_path());
        if (ours && !again) document.ranges.push_back({statement.begin, statement.end});
      } else if (ours) {
        Path below(table.begin() + 2, table.end());
        below.insert(below.end(), statement.path.begin(), statement.path.end());
        document.values[joined(below)] = std::string(statement.value);
        document.names.push_back(joined(below));
      }
      if (ours) document.ranges.back().end = statement.end;
    }
  } catch (const Unclear&) {
    throw Error::invalid(subject,
                         "is not TOML that can be edited safely, so it is left alone; --print "
                         "shows what to add by hand");
  }
  return document;
}

std::vector<std::string> shown(const Document& document) {
  std::vector<std::string> lines;
  for (const std::string& name : document.names) {
    const bool plain = name == "command" || name == "args" ||
                       (name.rfind("env.", 0) == 0 && is_our_variable(name.substr(4)));
    lines.push_back(name + " = " + (plain ? document.values.at(name) : "..."));
  }
  return lines;
}

/// Whether the table already runs what we want; keys that we never write are the user's, but its
/// environment is all ours.
bool runs(const Document& old, const Document& wanted) {
  for (const auto& [name, value] : wanted.values) {
    const auto found = old.values.find(name);
    if (found == old.values.end() || found->second != value) return false;
  }
  return std::all_of(old.names.begin(), old.names.end(), [&](const std::string& name) {
    const bool ours = name == "env" || name.rfind("env.", 0) == 0 || name == "url";
    return !ours || wanted.values.count(name) != 0;
  });
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(byte));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string with_line_ends(std::string_view text, std::string_view end) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += end;
    } else {
      out += c;
    }
  }
  return out;
}

/// Removes a range and the blank line that separated it from what comes before.
void cut(std::string& text, const Range& range, std::string_view line_end) {
  std::size_t begin = range.begin;
  const std::string blank = std::string(line_end) + std::string(line_end);
  if (begin >= blank.size() && text.compare(begin - blank.size(), blank.size(), blank) == 0) {
    begin -= line_end.size();
  }
  text.erase(begin, range.end - begin);
}

std::string separator(std::string_view text, std::string_view end) {
  if (text.size() == byte_order_mark(text)) return {};
  const std::string line(end);
  if (text.back() != '\n') return line + line;
  const bool blank = text.size() > end.size() && text[text.size() - end.size() - 1] == '\n';
  return blank ? std::string() : line;
}

}  // namespace

std::string toml_entry(const Entry& entry) {
  const std::string table = "[" + joined(our_path());
  std::string out = table + "]\ncommand = " + quoted(entry.command) + "\nargs = [";
  for (std::size_t i = 0; i < entry.args.size(); ++i) {
    out += (i == 0 ? "" : ", ") + quoted(entry.args[i]);
  }
  out += "]\n";
  if (entry.env.empty()) return out;
  out += "\n" + table + ".env]\n";
  for (const auto& [name, value] : entry.env) out += name + " = " + quoted(value) + "\n";
  return out;
}

Edit put_toml(std::string_view text, const Entry& entry, std::string_view subject) {
  const Document old = read(text, subject);
  if (old.foreign_form) {
    throw Error::invalid(subject,
                         "has " + std::string(kSection) +
                             " as an inline table, dotted keys or an array of tables, which is "
                             "left alone; --print shows what to add by hand");
  }
  const std::string_view end = line_end_of(text);
  const std::string table = with_line_ends(toml_entry(entry), end);
  std::string after(text);
  if (old.ranges.empty()) {
    return {Edit::Kind::added, after + separator(text, end) + table, {}};
  }
  if (runs(old, read(table, subject))) return {Edit::Kind::same, after, {}};
  for (std::size_t i = old.ranges.size(); i-- > 1;) cut(after, old.ranges[i], end);
  const Range& first = old.ranges.front();
  after.replace(first.begin, first.end - first.begin, table);
  return {Edit::Kind::replaced, after, shown(old)};
}

Edit remove_toml(std::string_view text, std::string_view subject) {
  std::string after(text);
  if (text.find(kServerName) == std::string_view::npos) return {Edit::Kind::absent, after, {}};
  const Document old = read(text, subject);
  if (old.ranges.empty()) {
    if (!old.foreign_form) return {Edit::Kind::absent, after, {}};
    throw Error::invalid(subject, "has " + std::string(kSection) +
                                      " as an inline table, dotted keys or an array of tables: "
                                      "take the entry out by hand");
  }
  for (std::size_t i = old.ranges.size(); i-- > 0;) cut(after, old.ranges[i], line_end_of(text));
  return {Edit::Kind::removed, after, shown(old)};
}

}  // namespace strongroom::service::connect_edit
