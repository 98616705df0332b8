#include "recall/entity_shapes.h"

#include <algorithm>
#include <array>

#include "recall/entity_signs.h"

namespace strongroom::recall::entity {
namespace {

constexpr bool is_alpha(char c) {
  return is_upper(c) || is_lower(c) || static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_alnum(char c) {
  return is_alpha(c) || is_digit(c);
}
// What there is in a token.
struct Count {
  std::size_t upper = 0, lower = 0, digit = 0, wide = 0, slash = 0, back = 0, dot = 0, colon = 0,
              at = 0, hash = 0, low_line = 0, hyphen = 0;
  bool hex = true;  // letters and digits are

  std::size_t letters() const { return upper + lower + wide; }
};

Count count(std::string_view token) {
  Count out;
  for (const char c : token) {
    out.upper += is_upper(c);
    out.lower += is_lower(c);
    out.digit += is_digit(c);
    out.wide += static_cast<unsigned char>(c) >= 0x80;
    out.slash += c == '/';
    out.back += c == '\\';
    out.dot += c == '.';
    out.colon += c == ':';
    out.at += c == '@';
    out.hash += c == '#';
    out.low_line += c == '_';
    out.hyphen += c == '-';
    out.hex = out.hex && (is_hex(c) || !is_alnum(c));
  }
  return out;
}

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array<std::string_view, 32> kDomains{
    "com", "org", "net", "io", "dev",  "ai", "app", "edu",   "gov",     "eu",  "de",
    "fr",  "uk",  "co",  "us", "info", "ru", "cn",  "jp",    "ch",      "at",  "nl",
    "se",  "it",  "es",  "ca", "au",   "tv", "xyz", "local", "example", "test"};
constexpr std::array<std::string_view, 62> kExtensions{
    "c",   "h",    "cc",  "cpp",  "hpp",   "cxx",   "rs",   "go",   "py",   "js",    "ts",
    "jsx", "tsx",  "mjs", "java", "kt",    "swift", "rb",   "php",  "pl",   "sh",    "bash",
    "zsh", "ps1",  "bat", "sql",  "html",  "htm",   "css",  "scss", "vue",  "md",    "txt",
    "rst", "pdf",  "doc", "docx", "xls",   "xlsx",  "csv",  "tsv",  "json", "jsonl", "yaml",
    "yml", "toml", "ini", "cfg",  "conf",  "env",   "lock", "log",  "xml",  "svg",   "png",
    "jpg", "gif",  "zip", "gz",   "proto", "tf",    "ipynb"};

std::string_view last_part(std::string_view token, char separator) {
  return token.substr(token.rfind(separator) + 1);
}

// Calls `good` with each part between separators; false when it is false of one.
template <class Good>
bool each_part(std::string_view token, char separator, Good good) {
  for (;;) {
    const std::size_t end = token.find(separator);
    if (!good(token.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    token.remove_prefix(end + 1);
  }
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_digit);
}

bool is_plain(std::string_view word) {
  return std::all_of(word.begin(), word.end(), is_lower);
}

bool is_known(std::string_view word) {
  return ascii_word_class(word) != Word::other;
}

bool is_little(std::string_view word) {
  return ascii_word_class(word) == Word::never;
}

bool is_domain(std::string_view host) {
  if (host.find('.') == std::string_view::npos || !one_of(last_part(host, '.'), kDomains)) {
    return false;
  }
  return each_part(host, '.', [](std::string_view part) {
    return !part.empty() &&
           std::all_of(part.begin(), part.end(), [](char c) { return is_alnum(c) || c == '-'; });
  });
}

bool is_ipv4(std::string_view host) {
  std::size_t parts = 0;
  return each_part(host, '.',
                   [&](std::string_view part) {
                     ++parts;
                     return !part.empty() && part.size() <= 3 && all_digits(part) &&
                            (part.size() < 3 || part <= "255");
                   }) &&
         parts == 4;
}

bool is_hash(std::string_view token, const Count& has) {
  if (!has.hex || has.digit == 0 || has.wide != 0) return false;
  const std::size_t size = has.digit + has.letters();
  if (has.hyphen == 4 && size == 32 && token.size() == 36) return true;
  return size == token.size() && size >= 7 && size <= 128 && has.letters() != 0 &&
         (has.upper == 0 || has.lower == 0) && (size >= 12 || has.digit >= 2);
}

// ABC-123
bool is_ticket(std::string_view token, const Count& has) {
  const std::size_t dash = token.find('-');
  if (has.hyphen != 1 || dash < 1 || dash > 10 || !is_upper(token[0])) return false;
  const std::string_view key = token.substr(0, dash), number = token.substr(dash + 1);
  return !number.empty() && number.size() <= 6 && all_digits(number) &&
         (dash > 1 || number.size() >= 2) && !is_little(key) &&
         std::all_of(key.begin(), key.end(), [](char c) { return is_upper(c) || is_digit(c); });
}

bool is_path(std::string_view token, const Count& has) {
  if (has.letters() < 2) return false;
  if (has.back >= 1) return has.back >= 3 || (token.size() > 3 && token.substr(1, 2) == ":\\");
  const bool rooted = token[0] == '/' || token.starts_with("./") || token.starts_with("../") ||
                      token.starts_with("~/") || token.starts_with("$");
  if (rooted) return true;
  const bool ends = token.back() == '/';
  const std::string_view file = last_part(token, '/');
  if (file.find('.', 1) != std::string_view::npos && is_alpha(file.back())) return true;
  bool little = false, plain = true, capitals = true;
  std::size_t known = 0, parts = 0;
  each_part(ends ? token.substr(0, token.size() - 1) : token, '/', [&](std::string_view part) {
    ++parts;
    little = little || part.size() < 2 || is_little(part);
    known += is_known(part);
    plain = plain && is_plain(part);
    capitals = capitals && !part.empty() && is_upper(part[0]);
    return true;
  });
  if (little || capitals) return false;
  if (ends) return true;
  if (plain) return parts >= 3 ? known + 1 < parts || parts > 3 : known < parts;
  return parts >= 3 || (has.low_line + has.hyphen + has.digit + has.dot != 0 &&
                        has.lower + has.upper > has.digit);
}

// a.b.c; `plain` ones of two words are a missing blank when they are words of a sentence.
std::optional<EntityKind> dotted(std::string_view token, const Count& has) {
  if (is_domain(token) && !is_digit(token.back())) {
    const bool sentence = has.dot == 1 && is_little(token.substr(0, token.find('.')));
    if (!sentence) return EntityKind::url;
  }
  const std::string_view last = last_part(token, '.');
  const std::string_view first_part = token.substr(0, token.find('.'));
  if (has.dot == 1 && is_upper(last[0]) && is_plain(first_part) && is_known(first_part)) {
    return std::nullopt;  // "left.Then"
  }
  bool good = true, numbers = true;
  std::size_t little = 0, parts = 0;
  std::string_view previous;
  each_part(token, '.', [&](std::string_view part) {
    ++parts;
    const bool numeric = all_digits(part);
    numbers = numbers && numeric;
    little += is_little(part);
    const bool first = parts == 1;
    if (part.empty() ? !first : part.size() == 1 && !numeric && (first || part != last)) {
      good = false;
    }
    // "home.Then", "Thanks.I"
    if (!first && !part.empty() && is_upper(part[0]) && is_known(part) && is_known(previous) &&
        (is_little(part) || is_little(previous))) {
      good = false;
    }
    previous = part;
    return true;
  });
  if (!good || numbers || has.letters() < 2 || little * 2 >= parts) return std::nullopt;
  if (one_of(last, kExtensions)) return EntityKind::path;
  if (last.size() == 1 || is_digit(token[0])) return std::nullopt;
  return EntityKind::identifier;
}

bool is_kebab(std::string_view token, const Count& has, bool option) {
  constexpr std::array<std::string_view, 14> kNoStart{"top", "mid", "pre",  "post", "non",
                                                      "sub", "age", "step", "part", "day",
                                                      "q1",  "q2",  "q3",   "q4"};
  if (!is_alpha(token[0]) || !is_alnum(token.back())) return false;
  std::size_t parts = 0;
  const bool good = each_part(token, '-', [&](std::string_view part) {
    ++parts;
    return !part.empty() && (all_digits(part) || part == "us" || option || !is_little(part));
  });
  if (!good) return false;
  const std::string_view first = token.substr(0, token.find('-'));
  const bool prose = std::any_of(kNoStart.begin(), kNoStart.end(), [&](std::string_view word) {
    return std::equal(word.begin(), word.end(), first.begin(), first.end(), [](char a, char b) {
      return a == (is_upper(b) ? static_cast<char>(b | 0x20) : b);
    });
  });
  if (prose) return false;
  if (has.digit != 0) return true;
  // Prose has "six-year-old"; three capitalised parts are a name.
  if (is_upper(token[0]) && has.lower != 0) return false;
  const std::string_view last = last_part(token, '-');
  return parts >= (option ? 2U : 3U) && last != "old" && last != "long";
}

// Letters and digits alone: humps, or both kinds.
bool is_mixed(std::string_view token, const Count& has) {
  if (has.letters() + has.digit != token.size() || !is_alpha(token[0])) return false;
  if (has.digit != 0) {
    const char first = token[0];
    const bool ends = all_digits(token.substr(1));
    // Q3, V2, p0 are no names; S3 and M1 may be.
    if (ends && std::string_view("QHVvqhpxyXYabnki").find(first) != std::string_view::npos &&
        token.size() < 4) {
      return false;
    }
    return token.size() >= 3 || is_upper(first);
  }
  bool hump = false;
  for (std::size_t i = 1; i < token.size(); ++i) {
    hump = hump || (is_upper(token[i]) && is_lower(token[i - 1]));
  }
  return hump && token.size() > 2 && !is_little(token);  // mA, dBm
}

std::optional<EntityKind> with_at(std::string_view token, const Count& has) {
  if (token[0] == '@') {
    if (has.slash != 0) return has.at == 1 ? std::optional(EntityKind::path) : std::nullopt;
    return token.size() > 2 && has.letters() != 0 && has.at == 1
               ? std::optional(EntityKind::mention)
               : std::nullopt;
  }
  if (token.find("://") != std::string_view::npos || has.slash != 0) return EntityKind::url;
  const std::string_view host = last_part(token, '@');
  if (has.at != 1 || host.empty() || !is_alnum(host[0])) return std::nullopt;
  if (!is_digit(host[0]) && host.find('.') != std::string_view::npos) return EntityKind::email;
  return has.letters() >= 2 ? std::optional(EntityKind::identifier) : std::nullopt;
}

std::optional<EntityKind> with_hash(std::string_view token, const Count& has) {
  if (token[0] != '#') {
    return has.hash == 1 && has.letters() > 2 && is_alnum(token.back())
               ? std::optional(EntityKind::identifier)
               : std::nullopt;
  }
  const std::string_view rest = token.substr(1);
  constexpr std::array<std::string_view, 8> kDirectives{"include", "define", "undef", "pragma",
                                                        "ifdef",   "ifndef", "endif", "else"};
  if (has.hash != 1 || rest.empty() || one_of(rest, kDirectives)) return std::nullopt;
  if (all_digits(rest)) {
    return rest.size() >= 2 && rest.size() <= 6 ? std::optional(EntityKind::ticket) : std::nullopt;
  }
  const bool colour = has.hex && (rest.size() == 3 || rest.size() == 6) && has.digit != 0;
  if (colour || rest.size() < 2 || !is_alnum(rest[0])) return std::nullopt;
  return EntityKind::tag;
}

std::optional<EntityKind> with_colon(std::string_view token, const Count& has) {
  if (token.find("::") != std::string_view::npos) {
    if (has.hex && has.digit != 0 && has.low_line == 0) return EntityKind::address;
    return has.letters() >= 3 && token[0] != ':' ? std::optional(EntityKind::identifier)
                                                 : std::nullopt;
  }
  if (has.colon >= 4 && has.hex && has.letters() != 0) return EntityKind::address;
  const std::size_t colon = token.find(':');
  const std::string_view left = token.substr(0, colon), right = token.substr(colon + 1);
  if (has.colon != 1 || left.empty() || right.empty()) return std::nullopt;
  if (all_digits(right) && right.size() <= 5) {
    if (is_ipv4(left) || is_domain(left) || left == "localhost") return EntityKind::address;
    if (!is_alpha(left[0]) || is_known(left) || right.size() < 2) return std::nullopt;
    return right.size() >= 3 ? EntityKind::address : EntityKind::identifier;
  }
  const bool names = has.low_line + has.hyphen + has.dot != 0 || has.digit != 0;
  if (!is_alpha(left[0]) || !names || is_little(left) || !is_alnum(right[0])) return std::nullopt;
  return is_upper(left[0]) && !is_upper(token[1]) ? std::nullopt
                                                  : std::optional(EntityKind::identifier);
}

// C++ and C#: a word of `size` letters and its ending.
bool is_plus(std::string_view token, std::size_t size) {
  const std::string_view rest = token.substr(size);
  const bool plus = rest.starts_with("++") && size != 0 && size <= 3 && !rest.starts_with("+++");
  return std::all_of(token.begin(), token.begin() + static_cast<std::ptrdiff_t>(size), is_alpha) &&
         (plus || (rest.starts_with('#') && size == 1 && is_upper(token[0])));
}

std::optional<EntityKind> kind_of(std::string_view token, const Count& has, bool called,
                                  bool option) {
  if (token.find("://") != std::string_view::npos) {
    return is_alpha(token[0]) && has.letters() > 3 ? std::optional(EntityKind::url) : std::nullopt;
  }
  if (has.at != 0) return with_at(token, has);
  if (has.hash != 0) return with_hash(token, has);
  if (has.slash != 0) {
    const std::string_view host = token.substr(0, token.find('/'));
    if (is_ipv4(host)) return EntityKind::address;
    if (is_domain(host)) return EntityKind::url;
    return is_path(token, has) ? std::optional(EntityKind::path) : std::nullopt;
  }
  if (has.back != 0) {
    return is_path(token, has) ? std::optional(EntityKind::path) : std::nullopt;
  }
  if (has.colon != 0) return with_colon(token, has);
  if (is_hash(token, has)) return EntityKind::hash;
  if (has.dot == 3 && is_ipv4(token)) return EntityKind::address;
  if (is_digit(token[0]) && has.dot == 0 && has.low_line == 0) return std::nullopt;
  if (has.letters() < 1 || (has.letters() < 2 && has.digit == 0)) return std::nullopt;
  if (has.low_line != 0) return EntityKind::identifier;
  if (has.dot != 0) {
    if (has.hyphen == 0 || !is_version(token.substr(token.find('-') + 1)))
      return dotted(token, has);
    return is_alpha(token[0]) ? std::optional(EntityKind::identifier) : std::nullopt;
  }
  if (has.hyphen != 0) {
    if (is_ticket(token, has)) return EntityKind::ticket;
    return is_kebab(token, has, option) ? std::optional(EntityKind::identifier) : std::nullopt;
  }
  if (called && has.letters() > 1) return EntityKind::identifier;
  return is_mixed(token, has) ? std::optional(EntityKind::identifier) : std::nullopt;
}

}  // namespace

std::optional<Shape> shape_of(std::string_view token, bool called) {
  if (token.size() > kMaxEntityBytes) return std::nullopt;
  std::size_t begin = 0, end = token.size();
  const auto edge = [](char c) {
    return std::string_view("-.:'~+%$&\\").find(c) != std::string_view::npos;
  };
  while (begin < end && edge(token[begin])) {
    const char next = begin + 1 < end ? token[begin + 1] : ' ';
    const char after = begin + 2 < end ? token[begin + 2] : ' ';
    if (token[begin] == '~' && next == '/') break;
    if (token[begin] == '.' && (is_alpha(next) || next == '/')) break;
    if (token[begin] == '.' && next == '.' && after == '/') break;
    if (token[begin] == '$' && is_alpha(next)) break;
    ++begin;
  }
  const bool option = begin >= 2 && token[begin - 1] == '-' && token[begin - 2] == '-';
  while (end > begin && (edge(token[end - 1]) || token[end - 1] == '#' || token[end - 1] == '@')) {
    --end;
  }
  if (is_plus(token.substr(begin), end - begin)) {
    return Shape{EntityKind::identifier, begin, end + (token[end] == '#' ? 1 : 2)};
  }
  const bool letter_option = begin == 1 && token[0] == '-';
  token = token.substr(begin, std::min(end - begin, token.substr(begin).find(":$")));
  // Possessive; "--" is a dash.
  if (token.ends_with("'s")) token.remove_suffix(2);
  if (token.size() < 2 || token.find('\'') != std::string_view::npos) return std::nullopt;
  Count has = count(token);
  // Emphasis, but not __init__.
  const bool dunder = token.starts_with("__") && token.ends_with("__");
  if (!dunder && has.low_line != 0) {
    if (token.back() == '_' && token.size() > 2) {
      token.remove_suffix(1);
      has = count(token);
    }
    if (token.front() == '_' && token.size() > 2 && has.low_line == 1) {
      token.remove_prefix(1);
      ++begin;
      has = count(token);
    }
  }
  // The line in src/main.cpp:42 is no part of the file.
  if (has.colon != 0 && has.at == 0 && token.find("::") == std::string_view::npos) {
    std::string_view file = token;
    while (file.find(':') != std::string_view::npos && all_digits(last_part(file, ':'))) {
      file.remove_suffix(last_part(file, ':').size() + 1);
    }
    if (file.size() != token.size() && one_of(last_part(file, '.'), kExtensions)) {
      token = file;
      has = count(token);
    }
  }
  if (token.size() < 2) return std::nullopt;
  const std::optional<EntityKind> kind = kind_of(token, has, called, option);
  if (!kind || (letter_option && has.hyphen + has.dot + has.slash == 0)) return std::nullopt;
  return Shape{*kind, begin, begin + token.size()};
}

}  // namespace strongroom::recall::entity
