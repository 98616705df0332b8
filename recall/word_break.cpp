#include "recall/word_break.h"

#include <algorithm>
#include <utf8proc.h>

#include "base/utf8.h"

namespace strongroom::recall {

namespace {

const utf8proc_uint8_t* bytes(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

// The code point at the start of `text` and its length; -1 with length 1 for what is no UTF-8.
struct Decoded {
  utf8proc_int32_t point;
  std::size_t size;
};
Decoded decode(std::string_view text) {
  utf8proc_int32_t point = -1;
  const auto size =
      utf8proc_iterate(bytes(text), static_cast<utf8proc_ssize_t>(text.size()), &point);
  if (size <= 0) return {-1, 1};
  return {point, static_cast<std::size_t>(size)};
}

struct Range {
  utf8proc_int32_t first, last;
};

// Scripts that are written without spaces, and Hangul, whose words carry their particles.
constexpr std::array kUnspaced = {
    Range{0x0E00, 0x0EFF},    // Thai, Lao
    Range{0x1000, 0x109F},    // Myanmar
    Range{0x1100, 0x11FF},    // Hangul jamo
    Range{0x1780, 0x17FF},    // Khmer
    Range{0x2E80, 0x2FDF},    // radicals
    Range{0x3005, 0x3007},    // iteration mark, closing mark, zero
    Range{0x3021, 0x303C},    // Hangzhou numerals, repeat marks
    Range{0x3041, 0x31FF},    // Hiragana, Katakana, Bopomofo
    Range{0x3400, 0x4DBF},    // Han, extension A
    Range{0x4E00, 0x9FFF},    // Han
    Range{0xA960, 0xA97F},    // Hangul jamo
    Range{0xAC00, 0xD7FF},    // Hangul syllables
    Range{0xF900, 0xFAFF},    // Han, compatibility
    Range{0x1B000, 0x1B16F},  // Kana supplements
    Range{0x20000, 0x3FFFF},  // Han, further extensions
};

bool unspaced(utf8proc_int32_t point) {
  const auto* const found =
      std::lower_bound(kUnspaced.begin(), kUnspaced.end(), point,
                       [](const Range& range, utf8proc_int32_t p) { return range.last < p; });
  return found != kUnspaced.end() && point >= found->first;
}

CharClass symbol_class(utf8proc_int32_t point, const utf8proc_property_t& property) {
  if (property.boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC) return kSymbol;
  // Lines and blocks draw tables, they say nothing.
  const bool drawing = point >= 0x2500 && point <= 0x25FF;
  return property.category == UTF8PROC_CATEGORY_SO && !drawing ? kSymbol : CharClass{0};
}

CharClass class_of(utf8proc_int32_t point) {
  const utf8proc_property_t& property = *utf8proc_get_property(point);
  switch (property.category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return kUpper;
    case UTF8PROC_CATEGORY_LL: return kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return unspaced(point) ? kIdeograph : kCaseless;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return kFollows;
    case UTF8PROC_CATEGORY_NL: return unspaced(point) ? kIdeograph : kDigit;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NO: return kDigit;
    case UTF8PROC_CATEGORY_PC: return kWeakJoin;
    default: return symbol_class(point, property);
  }
}

// Whether a character may be ordered or composed with those before it.
bool attaches(utf8proc_int32_t point) {
  const bool jamo = point >= 0x1160 && point <= 0x11FF;  // vowels and final consonants of Hangul
  return jamo || (point >= 0x80 && class_of(point) == kFollows);
}

// How much of `text` to convert at once: marks are ordered by insertion, so their number in a row
// is bounded, and so is the buffer. What starts the next block does not compose with this one,
// except in very long runs.
std::size_t block_length(std::string_view text) {
  constexpr std::size_t kWanted = 128;
  constexpr std::size_t kMost = 512;
  constexpr std::size_t kMostMarks = 32;
  std::size_t at = 0;
  std::size_t points = 0;
  std::size_t marks = 0;
  while (at < text.size()) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    const Decoded next = ascii ? Decoded{text[at], 1} : decode(text.substr(at));
    const bool mark = !ascii && next.point >= 0 && attaches(next.point);
    if (points >= kWanted && ascii) break;
    if (points >= kMost && !mark) break;
    marks = mark ? marks + 1 : 0;
    at += next.size;
    ++points;
    if (marks == kMostMarks) break;
  }
  return at;
}

utf8proc_int32_t plain(utf8proc_int32_t point) {
  switch (point) {
    case 0x2010:
    case 0x2011: return '-';
    case 0x2018:
    case 0x2019: return '\'';
    default: return point;
  }
}

}  // namespace

bool is_ascii(std::string_view text) noexcept {
  unsigned char all = 0;
  for (const char c : text) all = static_cast<unsigned char>(all | static_cast<unsigned char>(c));
  return all < 0x80;
}

void classify(std::string_view text, std::vector<CharClass>& out) {
  out.resize(text.size());
  CharClass previous = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      previous = out[at++] = kAsciiClasses[byte];
      continue;
    }
    const Decoded next = decode(text.substr(at));
    CharClass kind = next.point < 0 ? CharClass{0} : class_of(next.point);
    // A mark belongs to what it stands on.
    if (kind == kFollows && (previous & (kInWord | kIdeograph)) == 0) kind = 0;
    out[at] = kind;
    const CharClass rest = (kind & (kInWord | kIdeograph)) != 0 ? kFollows : CharClass{0};
    for (std::size_t i = 1; i < next.size; ++i) out[at + i] = rest;
    previous = kind;
    at += next.size;
  }
}

void Folder::convert(std::string_view text, SecretBytes& out, bool fold_case) {
  out.clear();
  while (!text.empty()) {
    const std::size_t size = block_length(text);
    append_block(text.substr(0, size), out, fold_case);
    text.remove_prefix(size);
  }
}

void Folder::append_block(std::string_view text, SecretBytes& out, bool fold_case) {
  const auto compose = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
  const auto options = static_cast<utf8proc_option_t>(compose | UTF8PROC_COMPAT | UTF8PROC_IGNORE |
                                                      (fold_case ? UTF8PROC_CASEFOLD : 0));
  constexpr std::size_t kPoint = sizeof(utf8proc_int32_t);
  const auto decompose = [&](std::size_t room) {
    points_.resize((room + 1) * kPoint);  // one more for the NUL that reencode appends
    return utf8proc_decompose(bytes(text), static_cast<utf8proc_ssize_t>(text.size()),
                              reinterpret_cast<utf8proc_int32_t*>(points_.data()),
                              static_cast<utf8proc_ssize_t>(room), options);
  };
  const std::size_t room = std::max<std::size_t>(text.size() * 2, 64);
  auto count = decompose(room);
  if (count > static_cast<utf8proc_ssize_t>(room))
    count = decompose(static_cast<std::size_t>(count));
  if (count < 0) return;
  auto* const points = reinterpret_cast<utf8proc_int32_t*>(points_.data());
  for (utf8proc_ssize_t i = 0; i < count; ++i) points[i] = plain(points[i]);
  const auto size = utf8proc_reencode(points, count, static_cast<utf8proc_option_t>(compose));
  if (size > 0) out.append({points_.data(), static_cast<std::size_t>(size)});
}

}  // namespace strongroom::recall
