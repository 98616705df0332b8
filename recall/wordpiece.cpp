#include "recall/wordpiece.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utf8proc.h>

#include "base/error.h"
#include "base/wipe.h"
#include "recall/word_break.h"
#include "vault/format.h"

namespace strongroom::recall {

namespace {

constexpr std::string_view kContinues = "##";
constexpr unsigned kIdBits = 20;
constexpr std::uint32_t kIdMask = (1u << kIdBits) - 1;
// Far more than chance needs: only a vocabulary made for it has so many neighbours.
constexpr std::size_t kMostProbes = 1024;

constexpr std::size_t kPrefix = 3;  // bytes
constexpr std::size_t kLongLength = 31;

// Prefixes of a word are hashed one from the other.
constexpr std::uint64_t kStart = 0x243F6A8885A308D3u;
constexpr std::uint64_t kStartContinued = 0x13198A2E03707344u;
constexpr std::uint64_t next_hash(std::uint64_t hash, char c) noexcept {
  return (hash ^ static_cast<unsigned char>(c)) * 0x9E3779B97F4A7C15u;
}

std::size_t slots_for(std::size_t tokens) {
  return std::bit_ceil(std::max<std::size_t>(tokens * 2, 8));
}

enum class Role { dropped, blank, alone, inside };

constexpr Role ascii_role(char c) noexcept {
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return Role::blank;
  if (c < ' ' || c == 0x7F) return Role::dropped;
  return (kAsciiClasses[static_cast<unsigned char>(c)] & kAlnum) != 0 ? Role::inside : Role::alone;
}

// A letter or digit as a word has it; 0 for other bytes.
using Letters = std::array<char, 256>;
constexpr Letters make_letters(bool lower_case) noexcept {
  Letters out{};
  for (char c = 0; c < 0x7F; ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (ascii_role(c) != Role::inside) continue;
    out[static_cast<unsigned char>(c)] = static_cast<char>(lower_case && upper ? c | 0x20 : c);
  }
  return out;
}
constexpr std::array kLetters = {make_letters(false), make_letters(true)};

bool is_ideograph(utf8proc_int32_t point) noexcept {
  const auto in = [&](utf8proc_int32_t first, utf8proc_int32_t last) {
    return point >= first && point <= last;
  };
  // The ranges that the models were trained with, one of which starts late.
  return in(0x4E00, 0x9FFF) || in(0x3400, 0x4DBF) || in(0x20000, 0x2A6DF) || in(0x2A700, 0x2B73F) ||
         in(0x2B740, 0x2B81F) || in(0x2B920, 0x2CEAF) || in(0xF900, 0xFAFF) || in(0x2F800, 0x2FA1F);
}

struct Range {
  utf8proc_int32_t first, last;
};

// Where characters are that have a class since Unicode 9 or later. The tokenisers that models are
// trained with have the classes of Unicode 8.
constexpr std::array kYoung = {
    Range{0x61D, 0x61D},     Range{0x7FD, 0x7FD},     Range{0x890, 0x8E2},
    Range{0x9FD, 0x9FE},     Range{0xA76, 0xA76},     Range{0xAFA, 0xAFF},
    Range{0xB55, 0xB55},     Range{0xC04, 0xC3C},     Range{0xC77, 0xC77},
    Range{0xC84, 0xC84},     Range{0xD00, 0xD00},     Range{0xD3B, 0xD3C},
    Range{0xD81, 0xD81},     Range{0xEBA, 0xEBA},     Range{0xECE, 0xECE},
    Range{0x180F, 0x1886},   Range{0x1ABF, 0x1ACE},   Range{0x1B7D, 0x1B7E},
    Range{0x1DF6, 0x1DFB},   Range{0x2E43, 0x2E5D},   Range{0xA82C, 0xA82C},
    Range{0xA8C5, 0xA8C5},   Range{0xA8FF, 0xA8FF},   Range{0xA9BD, 0xA9BD},
    Range{0x10D24, 0x10F89}, Range{0x11070, 0x11074}, Range{0x110C2, 0x110CD},
    Range{0x111CF, 0x111CF}, Range{0x1123E, 0x11241}, Range{0x1133B, 0x1133B},
    Range{0x11438, 0x1145E}, Range{0x11660, 0x1166C}, Range{0x116B9, 0x116B9},
    Range{0x1182F, 0x11FFF}, Range{0x12FF1, 0x13455}, Range{0x16E97, 0x16F4F},
    Range{0x16FE2, 0x16FE4}, Range{0x1CF00, 0x1CF46}, Range{0x1E000, 0x1E4EF},
    Range{0x1E944, 0x1E95F},
};

utf8proc_category_t category_of(utf8proc_int32_t point) noexcept {
  // What has changed its class since.
  if (point == 0x166D || point == 0x111C9) return UTF8PROC_CATEGORY_PO;
  if (point == 0x1734) return UTF8PROC_CATEGORY_MN;
  const auto* const range =
      std::lower_bound(kYoung.begin(), kYoung.end(), point,
                       [](const Range& each, utf8proc_int32_t p) { return each.last < p; });
  const bool young = range != kYoung.end() && point >= range->first;
  return young ? UTF8PROC_CATEGORY_CN : utf8proc_category(point);
}

bool is_accent(utf8proc_int32_t point) noexcept {
  return point >= 0x80 && category_of(point) == UTF8PROC_CATEGORY_MN;
}

// Of a character as it is written: controls, formats and private use are dropped, and the
// replacement character, which stands for what was no text.
Role role_of(utf8proc_int32_t point) noexcept {
  if (point < 0x80) return ascii_role(static_cast<char>(point));
  const utf8proc_category_t category = category_of(point);
  const auto in = [&](utf8proc_category_t first, utf8proc_category_t last) {
    return category >= first && category <= last;
  };
  if (point == 0xFFFD || in(UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO)) return Role::dropped;
  if (in(UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP)) return Role::blank;
  return in(UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO) ? Role::alone : Role::inside;
}

}  // namespace

// The word that is being read, on the stack of tokenize(), which wipes it.
struct WordPiece::Word {
  static constexpr std::size_t kMostPoints = 100;

  // The first kMostPoints code points; a longer word is unknown whatever it is.
  std::array<char, kMostPoints * 4> bytes;
  std::array<std::uint64_t, kMostPoints * 4> hashes;  // of the prefixes of what is looked up
  std::size_t size = 0;
  std::size_t points = 0;

  Word() = default;
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;
  ~Word() { wipe(this, sizeof *this); }

  void append(char ascii) noexcept {
    if (points++ < kMostPoints) bytes[size++] = ascii;
  }
  void append(utf8proc_int32_t point) noexcept {
    if (points++ >= kMostPoints) return;
    auto* const at = reinterpret_cast<utf8proc_uint8_t*>(bytes.data() + size);
    size += static_cast<std::size_t>(utf8proc_encode_char(point, at));
  }
  bool cuts_character(std::size_t at) const noexcept {
    return at < size && (static_cast<unsigned char>(bytes[at]) & 0xC0) == 0x80;
  }
};

struct WordPiece::Key {
  std::uint64_t hash;
  std::string_view text;  // without "##"
  bool continues;

  std::uint32_t tag() const noexcept { return static_cast<std::uint32_t>(hash) & ~kIdMask; }
};

WordPiece::WordPiece(const Vocabulary& vocabulary, const WordPieceOptions& options)
    : vocabulary_(vocabulary), options_(options) {
  const std::size_t offsets = vocabulary.offsets.size() / 4;
  if (vocabulary.offsets.size() % 4 != 0 || offsets < 2 || offsets - 1 > kMaxVocabulary) {
    throw Error::invalid("vocabulary", "has no token or too many");
  }
  size_ = offsets - 1;
  if (options.unknown != kNoToken && options.unknown >= size_) {
    throw Error::invalid("vocabulary", "lacks the token for unknown words");
  }
  check_offsets();
  slots_ = slots_for(size_);
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_));
  if (vocabulary.lookup.empty()) {
    make_lookup();
  } else if (vocabulary.lookup.size() != lookup_bytes(size_)) {
    throw Error::invalid("vocabulary", "has a lookup of another size");
  } else {
    lookup_ = vocabulary.lookup;
  }
}

std::size_t WordPiece::lookup_bytes(std::size_t tokens) noexcept {
  return slots_for(tokens) / 8 * 9 * sizeof(std::uint32_t);
}

void WordPiece::make_lookup() {
  made_.resize(lookup_bytes(size_));
  lookup_ = {made_.data(), made_.size()};
  for (std::uint32_t id = 0; id < size_; ++id) insert(id);
}

std::uint32_t WordPiece::slot(std::size_t at) const noexcept {
  return vault::load_le<std::uint32_t>(lookup_, at * 4);
}
std::uint32_t WordPiece::lengths(std::uint64_t prefix_hash) const noexcept {
  return vault::load_le<std::uint32_t>(lookup_, (slots_ + (prefix_hash >> shift_ >> 3)) * 4);
}

void WordPiece::check_offsets() const {
  bool ascending = vault::load_le<std::uint32_t>(vocabulary_.offsets) == 0;
  for (std::uint32_t id = 0; id < size_; ++id) {
    const auto* const at = vocabulary_.offsets.data() + std::size_t{id} * 4;
    ascending = ascending &&
                vault::load_le<std::uint32_t>({at, 4}) < vault::load_le<std::uint32_t>({at + 4, 4});
  }
  const auto end = vault::load_le<std::uint32_t>(vocabulary_.offsets, size_ * 4);
  if (!ascending || end != vocabulary_.text.size()) {
    throw Error::invalid("vocabulary", "has tokens that are empty or out of order");
  }
}

std::string_view WordPiece::token(std::uint32_t id) const noexcept {
  const std::size_t at = std::size_t{id} * 4;
  const auto begin = vault::load_le<std::uint32_t>(vocabulary_.offsets, at);
  const auto end = vault::load_le<std::uint32_t>(vocabulary_.offsets, at + 4);
  return {vocabulary_.text.data() + begin, end - begin};
}

void WordPiece::insert(std::uint32_t id) {
  std::string_view text = token(id);
  const bool continues = text.size() > kContinues.size() && text.starts_with(kContinues);
  if (continues) text.remove_prefix(kContinues.size());
  Key key{continues ? kStartContinued : kStart, text, continues};
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    key.hash = next_hash(key.hash, text[i]);
    if (i + 1 == kPrefix) prefix = key.hash;
  }
  const auto add = [&](std::size_t at, std::uint32_t bits) {
    bits |= slot(at);
    std::memcpy(made_.data() + at * 4, &bits, 4);
  };
  std::size_t at = key.hash >> shift_;
  for (std::size_t probes = 0; slot(at) != 0; at = (at + 1) & (slots_ - 1)) {
    if (is_token(slot(at), key)) throw Error::invalid("vocabulary", "has a token twice");
    if (++probes > kMostProbes) throw Error::invalid("vocabulary", "has too many alike tokens");
  }
  add(at, key.tag() | (id + 1));
  if (text.size() >= kPrefix) {
    add(slots_ + (prefix >> shift_ >> 3), 1u << std::min(text.size(), kLongLength));
  }
}

bool WordPiece::is_token(std::uint32_t kept, const Key& key) const noexcept {
  if ((kept & ~kIdMask) != key.tag()) return false;
  const std::uint32_t id = (kept & kIdMask) - 1;
  if (id >= size_) return false;
  const std::string_view found = token(id);
  if (found.size() != key.text.size() + (key.continues ? kContinues.size() : 0)) return false;
  return (!key.continues || found.starts_with(kContinues)) && found.ends_with(key.text);
}

std::uint32_t WordPiece::find(const Key& key) const noexcept {
  std::size_t at = key.hash >> shift_;
  for (std::size_t probes = 0; probes <= kMostProbes; ++probes, at = (at + 1) & (slots_ - 1)) {
    const std::uint32_t kept = slot(at);
    if (kept == 0) break;
    if (is_token(kept, key)) return (kept & kIdMask) - 1;
  }
  return kNoToken;
}

// Tokens of kPrefix bytes and more are asked for by the lengths that there are, longest first;
// shorter ones by every length.
WordPiece::Piece WordPiece::longest_piece(Word& word, std::size_t start) const noexcept {
  const bool continues = start > 0;
  const std::size_t most = word.size - start;
  const char* const from = word.bytes.data() + start;
  std::size_t hashed = 0;
  std::uint64_t hash = continues ? kStartContinued : kStart;
  const auto hash_up_to = [&](std::size_t size) {
    for (; hashed < size; ++hashed) word.hashes[hashed] = hash = next_hash(hash, from[hashed]);
  };
  const auto id_of = [&](std::size_t size) {
    if (word.cuts_character(start + size)) return kNoToken;
    return find({word.hashes[size - 1], {from, size}, continues});
  };
  hash_up_to(std::min(most, kPrefix));
  if (most >= kPrefix) {
    std::uint32_t left = lengths(hash);
    if (most >= kLongLength && left >> kLongLength != 0) {
      hash_up_to(most);
      for (std::size_t size = most; size >= kLongLength; --size) {
        if (const std::uint32_t id = id_of(size); id != kNoToken) return {id, size};
      }
    }
    left &= (most >= kLongLength ? 1u << kLongLength : 2u << most) - 2;
    if (left != 0) hash_up_to(static_cast<std::size_t>(std::bit_width(left)) - 1);
    while (left != 0) {
      const std::size_t size = static_cast<std::size_t>(std::bit_width(left)) - 1;
      if (const std::uint32_t id = id_of(size); id != kNoToken) return {id, size};
      left &= ~(1u << size);
    }
  }
  for (std::size_t size = std::min(most, kPrefix - 1); size > 0; --size) {
    if (const std::uint32_t id = id_of(size); id != kNoToken) return {id, size};
  }
  return {kNoToken, 0};
}

void WordPiece::append_pieces(Word& word, std::vector<std::uint32_t>& ids) const {
  if (word.size == 0) return;
  const std::size_t before = ids.size();
  bool known = word.points <= Word::kMostPoints;
  for (std::size_t at = 0; known && at < word.size;) {
    const Piece piece = longest_piece(word, at);
    known = piece.size != 0 && ids.size() - before < options_.most_pieces;
    ids.push_back(piece.id);
    at += piece.size;
  }
  if (!known) {
    ids.resize(before);
    if (options_.unknown != kNoToken) ids.push_back(options_.unknown);
  }
  word.size = word.points = 0;
}

// A run of letters and digits, or else one character.
std::size_t WordPiece::take_ascii(std::string_view text, Word& word,
                                  std::vector<std::uint32_t>& ids) const {
  const Letters& letters = kLetters[options_.lower_case];
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char letter = letters[static_cast<unsigned char>(text[at])];
    if (letter == 0) break;
    word.append(letter);
  }
  if (at > 0) return at;
  take_folded(text.front(), word, ids);
  return 1;
}

std::size_t WordPiece::take_character(std::string_view text, Word& word,
                                      std::vector<std::uint32_t>& ids) const {
  utf8proc_int32_t point = -1;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                     static_cast<utf8proc_ssize_t>(text.size()), &point);
  if (size <= 0) return 1;
  const bool ideograph = is_ideograph(point);
  if (ideograph) append_pieces(word, ids);
  if (role_of(point) != Role::dropped) take_point(point, word, ids);
  if (ideograph) append_pieces(word, ids);
  return static_cast<std::size_t>(size);
}

// A character that is not ASCII, through accents and case to what words are made of. The marks of a
// character stay in the order they were written in: those whose order could matter are dropped
// here.
void WordPiece::take_point(std::int32_t point, Word& word, std::vector<std::uint32_t>& ids) const {
  constexpr utf8proc_int32_t kDottedI = 0x130;  // the only character that becomes two
  std::array<utf8proc_int32_t, 8> parts = {point};
  utf8proc_ssize_t count = 1;
  if (options_.strip_accents) {
    int boundary = 0;
    count =
        utf8proc_decompose_char(point, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &boundary);
    count = std::min(count, static_cast<utf8proc_ssize_t>(parts.size()));
  }
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const utf8proc_int32_t part = parts[static_cast<std::size_t>(i)];
    if (options_.strip_accents && is_accent(part)) continue;
    take_folded(options_.lower_case ? utf8proc_tolower(part) : part, word, ids);
    if (options_.lower_case && part == kDottedI) take_folded(0x307, word, ids);
  }
}

void WordPiece::take_folded(std::int32_t point, Word& word, std::vector<std::uint32_t>& ids) const {
  const Role role = role_of(point);
  if (role == Role::dropped) return;
  if (role != Role::inside) append_pieces(word, ids);
  if (role != Role::blank) word.append(point);
  if (role == Role::alone) append_pieces(word, ids);
}

void WordPiece::tokenize(std::string_view text, std::size_t max_tokens,
                         std::vector<std::uint32_t>& ids) const {
  ids.clear();
  Word word;
  while (!text.empty() && ids.size() < max_tokens) {
    const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
    text.remove_prefix(ascii ? take_ascii(text, word, ids) : take_character(text, word, ids));
  }
  if (ids.size() < max_tokens) append_pieces(word, ids);
  if (ids.size() > max_tokens) ids.resize(max_tokens);
}

}  // namespace strongroom::recall
