#include <algorithm>

#include "recall/entity_shapes.h"
#include "recall/entity_signs.h"

namespace strongroom::recall {
namespace entity {
namespace {

constexpr bool is_alpha(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_alnum(char c) {
  return is_alpha(c) || is_digit(c);
}

// The bytes of a sign that may stand around a name, at the start or the end of folded `text`; 0
// when there is a letter, a digit, or a sign that says something.
std::size_t sign_at(std::string_view text, bool front) {
  if (text.empty()) return 0;
  const auto c = static_cast<unsigned char>(front ? text.front() : text.back());
  if (c < 0x80) return is_alnum(static_cast<char>(c)) || c == '_' ? 0 : 1;
  const std::string_view sign =
      front ? text.substr(0, 3) : text.substr(text.size() - std::min<std::size_t>(text.size(), 3));
  // General punctuation, brackets and stops of CJK.
  if (sign.size() == 3 && (sign.starts_with("\xE2\x80") || sign.starts_with("\xE3\x80"))) {
    const auto last = static_cast<unsigned char>(sign[2]);
    const bool letter = sign[0] == '\xE3' && (last == 0x85 || last == 0x86 || last == 0x87);
    return letter ? 0 : 3;
  }
  const std::string_view two = front ? sign.substr(0, 2) : sign.substr(sign.size() < 2 ? 0 : 1);
  return two == "\xC2\xAB" || two == "\xC2\xBB" || two == "\xC2\xA1" || two == "\xC2\xBF" ? 2 : 0;
}

// Whether `text` ends with a bracket that opens in it: "f(x)".
bool closes_inside(std::string_view text) {
  const char last = text.back();
  const char opening = last == ')' ? '(' : last == ']' ? '[' : last == '}' ? '{' : '\0';
  // Not looked for in the longest: it is looked for again with each bracket that goes.
  return opening != '\0' && text.size() <= 4096 && text.find(opening) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  for (std::size_t size; (size = sign_at(text, true)) != 0;) {
    if (text.size() > 1 && text[0] == '.' && is_alpha(text[1])) break;  // .net, .gitignore
    text.remove_prefix(size);
  }
  for (std::size_t size; (size = sign_at(text, false)) != 0;) {
    if (text.size() == 3 && is_alpha(text[0]) && text.substr(1) == "++") break;
    if (text.size() == 2 && is_alpha(text[0]) && text[1] == '#') break;
    if (text.ends_with("()")) size = 2;
    if (size == 1 && closes_inside(text)) break;
    text.remove_suffix(size);
  }
  return text;
}

std::string_view without_scheme(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && at < 16 && (is_alnum(text[at]) || text[at] == '+')) ++at;
  return at != 0 && text.substr(at).starts_with("://") ? text.substr(at + 3) : text;
}

std::string_view bare(std::string_view text) {
  for (std::size_t size = text.size() + 1; size != text.size();) {
    size = text.size();
    text = without_scheme(trimmed(text));
    if (text.size() > 2 && text.ends_with("'s")) text.remove_suffix(2);
  }
  return text;
}

}  // namespace

bool is_version(std::string_view token) noexcept {
  const bool marked = token.size() > 1 && (token[0] == 'v' || token[0] == 'V');
  if (marked) token.remove_prefix(1);
  std::size_t at = 0, dots = 0;
  for (; at < token.size() && (is_digit(token[at]) || token[at] == '.'); ++at) {
    dots += token[at] == '.';
  }
  if (at == 0 || !is_digit(token[0]) || !is_digit(token[at - 1]) || (dots == 0 && !marked)) {
    return false;
  }
  return at == token.size() || (token[at] == '-' && dots == 2) || (token[at] == '+' && dots == 2);
}

std::string_view Canonical::of(std::string_view text) {
  out_.clear();
  if (is_ascii(text)) {
    out_.append(text);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] >= 'A' && text[i] <= 'Z') out_.data()[i] = static_cast<char>(text[i] | 0x20);
    }
  } else {
    folder_.fold(text, out_);
  }
  char* const data = out_.data();
  const std::string_view found = bare(out_.view());
  if (found.empty()) return {};
  std::size_t size = 0;
  const auto first = static_cast<std::size_t>(found.data() - data);
  for (std::size_t i = first; i < first + found.size(); ++i) {
    const bool blank = ascii_space(data[i]);
    if (blank && size != 0 && data[size - 1] == ' ') continue;
    data[size++] = blank ? ' ' : data[i];
  }
  return {data, size};
}

}  // namespace entity

std::string canonical_entity(std::string_view name) {
  return std::string(entity::Canonical().of(name));
}

std::string_view entity_kind_name(EntityKind kind) noexcept {
  switch (kind) {
    case EntityKind::name: return "name";
    case EntityKind::mention: return "mention";
    case EntityKind::tag: return "tag";
    case EntityKind::identifier: return "identifier";
    case EntityKind::path: return "path";
    case EntityKind::url: return "url";
    case EntityKind::email: return "email";
    case EntityKind::ticket: return "ticket";
    case EntityKind::hash: return "hash";
    case EntityKind::quoted: return "quoted";
    case EntityKind::address: return "address";
    case EntityKind::given: return "given";
  }
  return "name";
}

}  // namespace strongroom::recall
