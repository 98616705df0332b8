#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "base/wipe.h"
#include "recall/analyzer.h"
#include "recall/word_break.h"

namespace strongroom::recall {

namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool id_character(char c) {
  return digit(c) || (c >= 'a' && c <= 'z');
}

// True when `text` is like `pattern`, in which 0 stands for any digit and x for a character of an
// identity.
bool alike(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char c, char p) {
    return p == '0' ? digit(c) : p == 'x' ? id_character(c) : c == p;
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && ascii_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

// What stands between `open` and `close` at the end of `text`.
std::optional<std::string_view> enclosed(std::string_view text, std::string_view open, char close) {
  constexpr std::size_t kLongest = 64;  // of a suffix that recall writes
  if (!text.ends_with(close)) return std::nullopt;
  const std::size_t from = text.size() > kLongest ? text.size() - kLongest : 0;
  const std::size_t at = text.substr(from).rfind(open);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = from + at + open.size();
  return text.substr(begin, text.size() - begin - 1);
}

bool is_id(std::string_view text) {
  return text.size() > 6 && text.size() <= 20 && alike(text.substr(0, 6), "xxxxx-") &&
         std::all_of(text.begin() + 6, text.end(), id_character);
}

// RFC 3339 as recall writes it, with or without a fraction of a second.
bool is_time(std::string_view text) {
  constexpr std::string_view kSeconds = "0000-00-00T00:00:00";
  if (text.size() <= kSeconds.size() || !alike(text.substr(0, kSeconds.size()), kSeconds))
    return false;
  std::string_view rest = text.substr(kSeconds.size());
  if (rest.front() == '.') {
    rest.remove_prefix(1);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return false;
    rest.remove_prefix(digits);
  }
  return rest == "Z";
}

bool is_type(std::string_view text) {
  return text == "world" || text == "experience" || text == "observation";
}

// Only an identity marks a bullet of recall's: a time or "[world]" at the end of an ordinary text
// is part of what it says.
std::string_view without_suffixes(std::string_view text) {
  const auto drop = [&](std::string_view open, char close, auto&& accept) {
    const auto inside = enclosed(text, open, close);
    if (!inside || !accept(*inside)) return false;
    text.remove_suffix(inside->size() + open.size() + 1);
    return true;
  };
  text = trimmed(text);
  if (!drop(" (id: ", ')', is_id)) return text;
  drop(" (", ')', is_time);
  drop(" [", ']', is_type);
  if (text.starts_with("- ")) text.remove_prefix(2);
  return trimmed(text);
}

int hex_digit(char c) {
  if (digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The bytes of an escape as escape_for_display() writes it at the start of `text`, and in `out`
// what it stands for; 0 when there is none. Only characters that are always escaped count.
std::size_t unescape(std::string_view text, std::string& out) {
  if (text.size() < 2 || text[0] != '\\') return 0;
  if (text[1] == 'n' || text[1] == 't' || text[1] == 'r') {
    out.push_back(' ');
    return 2;
  }
  const std::size_t digits = text[1] == 'u' ? 4 : text[1] == 'U' ? 8 : 0;
  if (digits == 0 || text.size() < 2 + digits) return 0;
  char32_t point = 0;
  for (const char c : text.substr(2, digits)) {
    const int value = hex_digit(c);
    if (value < 0) return 0;
    point = point << 4 | static_cast<char32_t>(value);
  }
  if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
  std::string character;
  utf8_append(character, point);
  const bool escaped = escape_for_display(character) != character;
  if (escaped) out.append(character);
  return escaped ? 2 + digits : 0;
}

// Both a text and its display come out the same: escapes are undone in either.
std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t used = unescape(text, out);
    if (used == 0) {
      out.push_back('\\');
      used = 1;
    }
    text.remove_prefix(used);
  }
  return out;
}

// The size of the white space or control character at the start of folded `text`, or 0.
std::size_t separator(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte <= 0x20 || byte == 0x7F) return 1;
  if (byte == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0) return 2;
  const bool line = text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9");
  const bool annotation = text.starts_with("\xEF\xBF\xB9") || text.starts_with("\xEF\xBF\xBA") ||
                          text.starts_with("\xEF\xBF\xBB");
  return line || annotation ? 3 : 0;
}

std::string one_blank_each(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool blank = false;
  while (!text.empty()) {
    const std::size_t gap = separator(text);
    if (gap == 0) {
      if (blank && !out.empty()) out.push_back(' ');
      out.push_back(text.front());
    }
    blank = gap != 0;
    text.remove_prefix(std::max<std::size_t>(gap, 1));
  }
  return out;
}

// "Found 3 relevant memories (as of 2026-11-21 21:40 UTC):"
std::optional<std::uint64_t> announced(std::string_view line) {
  constexpr std::string_view kFound = "Found ";
  if (!line.starts_with(kFound)) return std::nullopt;
  line.remove_prefix(kFound.size());
  std::uint64_t count = 0;
  std::size_t digits = 0;
  for (; digits < line.size() && digits < 9 && digit(line[digits]); ++digits) {
    count = count * 10 + static_cast<std::uint64_t>(line[digits] - '0');
  }
  line.remove_prefix(digits);
  const std::string_view pattern = count == 1 ? " relevant memory (as of 0000-00-00 00:00 UTC):"
                                              : " relevant memories (as of 0000-00-00 00:00 UTC):";
  if (digits == 0 || !alike(line, pattern)) return std::nullopt;
  return count;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return line;
}

}  // namespace

std::string normalized(std::string_view text) {
  std::string plain = without_escapes(without_suffixes(text));
  SecretBytes folded;
  if (is_ascii(plain)) {
    for (char& c : plain) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    }
    folded.append(plain);
  } else {
    Folder().fold(plain, folded);
  }
  wipe(plain);
  return one_blank_each(folded.view());
}

bool is_recall_output(std::string_view text, std::vector<std::string_view>* bullets) {
  text = trimmed(text);
  const auto count = announced(take_line(text));
  if (!count || !trimmed(take_line(text)).empty()) return false;
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const char* const begin = text.data();
    const std::string_view line = take_line(text);
    const bool first = line.starts_with("- ");
    const bool further = line.starts_with("  ") || trimmed(line).empty();
    if (first) {
      found.push_back(line);
    } else if (further && !found.empty()) {
      const auto size = static_cast<std::size_t>(begin + line.size() - found.back().data());
      found.back() = {found.back().data(), size};
    } else {
      return false;
    }
  }
  if (found.size() != *count) return false;
  for (std::string_view& bullet : found) {
    while (ascii_space(bullet.back())) bullet.remove_suffix(1);
  }
  if (bullets != nullptr) *bullets = std::move(found);
  return true;
}

}  // namespace strongroom::recall
