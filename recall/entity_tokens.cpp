#include <algorithm>
#include <optional>

#include "recall/entity_finder.h"

namespace strongroom::recall {

using namespace entity;

namespace {

constexpr std::size_t kMaxQuoteWords = 5;
constexpr std::size_t kMaxQuote = 160;  // bytes that are looked at for the end of a quote

}  // namespace

void EntityFinder::Impl::scan() {
  while (at < text.size()) {
    const std::uint8_t byte = byte_at(text, at);
    if ((byte & kSpace) != 0) {
      if (text[at] == '\n') {
        close();
        start = true;
      }
      ++at;
    } else if ((byte & kBreak) != 0) {
      separator();
    } else if ((byte & kHigh) != 0 && wide_sign(text, at).what != Wide::none) {
      wide_separator(wide_sign(text, at));
    } else {
      token();
    }
  }
}

void EntityFinder::Impl::separator() {
  const char c = text[at];
  close();
  if (c == '"' || c == '`') {
    const bool fence = text.substr(at, 3) == "```";
    const bool opens = at == 0 || (byte_at(text, at - 1) & (kLow | kUp | kNum)) == 0;
    if (!fence && opens && quote(1, text.substr(at, 1))) return;
    start = start || opens;
    at += fence ? 3 : 1;
    return;
  }
  if (c == '!' || c == '?') start = true;
  ++at;
}

void EntityFinder::Impl::wide_separator(const WideSign& sign) {
  if (sign.what != Wide::blank) close();
  if (sign.what == Wide::quote && quote(sign.size, sign.closes)) return;
  if (sign.what == Wide::stop || sign.what == Wide::quote) start = true;
  at += sign.size;
}

// A term between quotes, if it is one: then `at` is behind it.
bool EntityFinder::Impl::quote(std::size_t size, std::string_view closes) {
  const std::string_view rest = text.substr(at + size, kMaxQuote);
  const std::size_t length = std::min(rest.find(closes), rest.find('\n'));
  if (length == std::string_view::npos || length == 0 || rest[length] == '\n') return false;
  const std::string_view inner = rest.substr(0, length);
  const bool wide = size == 2;  // « guillemets » may have blanks
  if (!wide && ascii_space(inner.front())) return false;
  std::size_t count = 0, little = 0;
  std::optional<Shape> only;
  for (std::size_t i = 0; i < length && count <= kMaxQuoteWords;) {
    while (i < length && ascii_space(inner[i])) ++i;
    std::size_t end = i;
    while (end < length && !ascii_space(inner[end])) ++end;
    if (end == i) break;
    ++count;
    const std::size_t set = inner.substr(i, end - i).rfind('=');  // --flag=value
    if (set != std::string_view::npos) i += set + 1;
    std::string_view word = inner.substr(i, end - i);
    while (!word.empty() &&
           std::string_view(".,;:!?").find(word.back()) != std::string_view::npos) {
      word.remove_suffix(1);
    }
    little += word.empty() || ascii_word_class(word) == Word::never;
    only = shape_of(word, false);
    const std::size_t from = at + size + i;
    if (only && count <= kMaxQuoteWords) {
      add(from + only->begin, from + only->end, only->kind);
    }
    i = end;
  }
  if (count == 0 || count > kMaxQuoteWords) return false;
  const bool digits = std::all_of(inner.begin(), inner.end(), [](char c) {
    return (kBytes[static_cast<unsigned char>(c)] & (kLow | kUp | kHigh)) == 0;
  });
  if (little < count && !digits) {
    add(at + size, at + size + length, EntityKind::quoted);
  }
  start = std::string_view(".!?").find(inner.back()) != std::string_view::npos;
  at += size + length + closes.size();
  return true;
}

void EntityFinder::Impl::token() {
  const std::size_t begin = at;
  const std::size_t size = text.size();
  std::size_t i = begin;
  while (i < size && byte_at(text, i) == kLow) ++i;
  // Most often a word without anything.
  if (i != begin && (i == size || (byte_at(text, i) & (kSpace | kBreak)) != 0)) {
    at = i;
    plain(begin, i);
    return;
  }
  std::uint8_t all = i == begin ? 0 : kLow;
  std::uint8_t before = all;
  std::uint8_t joined = 0;  // a capital behind a small letter, anything behind a sign
  for (; i < size; ++i) {
    const std::uint8_t byte = byte_at(text, i);
    if ((byte & (kLow | kUp | kNum | kApos | kSign)) == 0) {
      if ((byte & kHigh) == 0) break;
      const WideSign sign = wide_sign(text, i);
      const bool inside = sign.what == Wide::apostrophe && i != begin && i + 3 < size &&
                          (byte_at(text, i + 3) & (kLow | kUp | kHigh)) != 0;
      if (sign.what != Wide::none && !inside) break;
      if (inside) i += 2;
    }
    all |= byte;
    joined |= static_cast<std::uint8_t>(((before << 1) & byte & kUp) |
                                        ((before & kSign) != 0 ? byte & (kLow | kUp | kNum) : 0));
    before = byte;
  }
  at = i;
  if (at == begin) {  // an apostrophe alone
    close();
    at += 3;
    return;
  }
  if ((all & kSign) != 0) extend_url(begin);
  if ((all & ~(kLow | kApos)) == 0) {
    plain(begin, at);
    return;
  }
  // Most often a word, with a stop behind it or a capital.
  const std::uint8_t first = byte_at(text, begin);
  const bool meant =
      before == kSign && std::string_view("+#/").find(text[at - 1]) != std::string_view::npos;
  if ((all & (kNum | kHigh)) == 0 && joined == 0 && (first & (kLow | kUp)) != 0 && !meant &&
      !(text.substr(at, 2) == "()" && at - begin > 1)) {
    std::size_t end = at;
    while ((byte_at(text, end - 1) & kSign) != 0) --end;
    if ((all & kUp) == 0) {
      plain(begin, end);
    } else if ((first & kUp) != 0) {
      capital(begin, end, false);
    } else {
      return mixed(begin, at, all);
    }
    return after_token(begin, at);
  }
  mixed(begin, at, all);
}

// The rest of a URL may have signs that end other tokens.
void EntityFinder::Impl::extend_url(std::size_t begin) {
  if (text.substr(begin, at - begin).find("://") == std::string_view::npos) return;
  while (at < text.size() && (byte_at(text, at) & kSpace) == 0 &&
         std::string_view("\"`<>|^{}").find(text[at]) == std::string_view::npos) {
    ++at;
  }
  while (std::string_view(".,:;!?)]*'").find(text[at - 1]) != std::string_view::npos) --at;
}

// A word without capitals.
void EntityFinder::Impl::plain(std::size_t begin, std::size_t end) {
  const std::string_view word = text.substr(begin, end - begin);
  start = false;
  if (word.size() == 3) count_language(word);
  if (names.open() && names.link(word)) return;
  close();
  if (word.size() > 1 && text.substr(end, 2) == "()") add(begin, end, EntityKind::identifier);
}

// Words that the one language has and the other has not.
void EntityFinder::Impl::count_language(std::string_view word) {
  constexpr auto code = [](std::string_view w) {
    return (static_cast<unsigned>(w[0]) << 16) | (static_cast<unsigned>(w[1]) << 8) |
           static_cast<unsigned>(w[2]);
  };
  switch (code(word)) {
    case code("the"):
    case code("and"):
    case code("for"):
    case code("you"):
    case code("not"):
    case code("has"):
    case code("are"): ++english; break;
    case code("der"):
    case code("das"):
    case code("und"):
    case code("ist"):
    case code("mit"):
    case code("dem"):
    case code("ein"):
    case code("auf"):
    case code("von"):
    case code("nur"):
    case code("wir"):
    case code("bei"):
    case code("zum"):
    case code("zur"):
    case code("vom"): ++german; break;
    default: break;
  }
}

// Where a sentence ends: `end` is behind the token.
void EntityFinder::Impl::after_token(std::size_t begin, std::size_t end) {
  const char last = text[end - 1];
  if ((byte_at(text, end - 1) & kSign) == 0) return;
  if (last == '.') {
    std::string_view word = text.substr(begin, end - 1 - begin);
    while (!word.empty() && (byte_at(word, 0) & (kSign | kApos)) != 0) word.remove_prefix(1);
    const bool initial = !word.empty() && (byte_at(word, word.size() - 1) & kUp) != 0 &&
                         (word.size() == 1 || word[word.size() - 2] == '.');
    if (initial || abbreviates(word)) return;
    start = true;
  } else if (last == ':') {
    start = true;
  }
  close();
}

void EntityFinder::Impl::mixed(std::size_t begin, std::size_t end, std::uint8_t all) {
  const std::string_view token = text.substr(begin, end - begin);
  if ((all & (kLow | kUp | kNum | kHigh)) == 0) {
    // A dash, a bullet, a number sign leave the start of a sentence one.
    close();
    return after_token(begin, end);
  }
  if (names.open() && !names.linked() && (all & kNum) != 0) {
    std::size_t stop = end;
    while (stop > begin && (byte_at(text, stop - 1) & kSign) != 0) --stop;
    if (is_version(text.substr(begin, stop - begin))) {
      const std::size_t from = close();
      if (from < begin) add(from, stop, EntityKind::identifier);
      start = false;
      return after_token(begin, end);
    }
  }
  const bool called = text.substr(end, 2) == "()";
  const std::optional<Shape> shape = shape_of(token, called);
  if (!shape) {
    words(begin, end);
  } else {
    const std::string_view inner = token.substr(shape->begin, shape->end - shape->begin);
    const bool word = shape->kind == EntityKind::identifier && !called && shape->begin == 0 &&
                      (byte_at(inner, 0) & kUp) != 0 &&
                      std::none_of(inner.begin(), inner.end(), [](char c) {
                        return (kBytes[static_cast<unsigned char>(c)] & kSign) != 0;
                      });
    if (word) {
      capital(begin, begin + shape->end, true);
      if (shape->end < token.size() && token[shape->end] == '\'') close();
    } else {
      close();
      // Parts of src/**/*.cpp and app/[id]/page say little alone.
      const bool cut = (end < text.size() && text[end - 1] == '/' &&
                        std::string_view("*[{<(").find(text[end]) != std::string_view::npos) ||
                       (begin > 0 && text[begin - 1] == '*' && token[0] == '.');
      if (!cut) add(begin + shape->begin, begin + shape->end, shape->kind);
    }
    start = false;
  }
  after_token(begin, end);
}

// The words of a token that is none as a whole.
void EntityFinder::Impl::words(std::size_t begin, std::size_t end) {
  const std::string_view token = text.substr(begin, end - begin);
  classify(token, kinds);
  for (std::size_t i = 0; i < token.size();) {
    if ((kinds[i] & kAlnum) == 0) {
      if ((kinds[i] & kFollows) == 0 && i + 1 < token.size()) {
        close();
        if (token[i] == ':' || token[i] == '.') start = i != 0;
      }
      ++i;
      continue;
    }
    const std::size_t stop = word_end(token, i);
    // d'Artagnan
    const std::size_t sign = token.substr(i, 3).find('\'');
    if ((kinds[i] & kUpper) != 0) {
      capital(begin + i, begin + stop, false);
    } else if (sign != std::string_view::npos && i + sign + 1 < stop &&
               (kinds[i + sign + 1] & kUpper) != 0) {
      close();
      start = false;
      capital(begin + i + sign + 1, begin + stop, false);
    } else {
      close();
    }
    start = false;
    i = stop;
    // "Docker-based", "Well-known": what follows says nothing.
    if (i + 1 < token.size() && token[i] == '-') {
      close();
      while (i < token.size() && (token[i] == '-' || (kinds[i] & kInWord) != 0)) ++i;
    }
  }
}

// The end of the word that begins at `from`, with all of O'Brien, Jean-Luc, AT&T and U.S.
std::size_t EntityFinder::Impl::word_end(std::string_view token, std::size_t from) const {
  const auto is = [&](std::size_t i, CharClass kind) {
    return i < token.size() && (kinds[i] & kind) != 0;
  };
  std::size_t i = from;
  for (std::size_t part = from;;) {
    while (is(i, kInWord)) ++i;
    if (i == token.size()) return i;
    // U+2019 has three bytes, of no class.
    const bool wide = token.substr(i, 3) == "\xE2\x80\x99";
    const std::size_t next = i + (wide ? 3 : 1);
    const char sign = token[i];
    const bool initial = i - part == 1 && is(part, kUpper) && is(next, kUpper);
    const bool joins = wide || sign == '\''         ? is(next, kLetter)
                       : sign == '-' || sign == '&' ? is(from, kUpper) && is(next, kUpper | kDigit)
                       : sign == '.'                ? initial && !is(next + 1, kInWord)
                                                    : false;
    if (!joins) return i;
    part = i = next;
  }
}

void EntityFinder::Impl::capital(std::size_t begin, std::size_t end, bool identifier) {
  bool ends = false;
  add_name(names.capital(begin, end, start, identifier, ends));
  if (ends) close();
  start = false;
}

}  // namespace strongroom::recall
