#include "recall/columns.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "base/wipe.h"
#include "recall/rotation.h"

namespace strongroom::recall {
namespace {

void store(char* at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = static_cast<char>(value >> (8 * i));
}
template <int bytes>
std::uint64_t load(const char* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);  // little-endian, as every build is
  return value;
}

[[noreturn]] void throw_full(const char* what) {
  throw Error(Code::too_large,
              std::string("Too large: a bank's index holds no more ") + what + ".");
}

}  // namespace

void encode_attributes(const RowAttributes& a, char* cell) {
  if (a.record >> 40 != 0) throw_full("records");
  if (a.speaker >> 24 != 0) throw_full("speakers");
  store(cell, a.record, 5);
  store(cell + 5, a.document, 4);
  store(cell + 9, a.previous, 4);
  store(cell + 13, a.next, 4);
  store(cell + 17, a.tag_set, 4);
  store(cell + 21, a.speaker, 3);
  cell[24] = static_cast<char>(static_cast<unsigned>(a.type) | static_cast<unsigned>(a.trust) << 2);
  cell[25] = static_cast<char>((a.closed ? 1 : 0) | (a.dead ? 2 : 0) | (a.timed ? 4 : 0) |
                               (a.dated ? 8 : 0));
  cell[26] = static_cast<char>(a.passage);
  cell[27] = static_cast<char>(a.importance);
  cell[28] = static_cast<char>(a.length_class);
  store(cell + 29, a.created_hours, 3);
}

RowAttributes decode_attributes(const char* cell) {
  RowAttributes a;
  a.record = load<5>(cell);
  a.document = static_cast<std::uint32_t>(load<4>(cell + 5));
  a.previous = static_cast<Row>(load<4>(cell + 9));
  a.next = static_cast<Row>(load<4>(cell + 13));
  a.tag_set = static_cast<TagSet>(load<4>(cell + 17));
  a.speaker = static_cast<Speaker>(load<3>(cell + 21));
  const auto kinds = static_cast<unsigned char>(cell[24]);
  a.type = static_cast<vault::MemoryType>(kinds & 3);
  a.trust = static_cast<vault::Trust>(kinds >> 2 & 3);
  const auto flags = static_cast<unsigned char>(cell[25]);
  a.closed = (flags & 1) != 0;
  a.dead = (flags & 2) != 0;
  a.timed = (flags & 4) != 0;
  a.dated = (flags & 8) != 0;
  a.passage = static_cast<std::uint8_t>(cell[26]);
  a.importance = static_cast<std::uint8_t>(cell[27]);
  a.length_class = static_cast<std::uint8_t>(cell[28]);
  a.created_hours = static_cast<std::uint32_t>(load<3>(cell + 29));
  return a;
}

void encode_times(const RowTimes& t, char* cell) {
  const std::array<TimeMs, 6> all = {t.believed_from, t.believed_until, t.occurred_start,
                                     t.occurred_end,  t.mentioned,      t.expires};
  std::memset(cell, 0, kTimeBytes);
  std::memcpy(cell, all.data(), sizeof all);
}

RowTimes decode_times(const char* cell) {
  std::array<TimeMs, 6> all;
  std::memcpy(all.data(), cell, sizeof all);
  return {all[0], all[1], all[2], all[3], all[4], all[5]};
}

namespace {

// Words that each class stands for: 2^(class / 3), rounded, ascending. Integers, so that sums are
// exact and the same everywhere.
constexpr std::array<std::uint32_t, 32> kClassWords = {
    1,  2,  3,   4,   5,   6,   7,   8,   10,  13,  16,  20,  25,   32,   40,   51,
    64, 81, 102, 128, 161, 203, 256, 323, 406, 512, 645, 813, 1024, 1290, 1625, 2048};

}  // namespace

std::uint32_t class_words(unsigned length_class) {
  return kClassWords[length_class & 31];
}

std::uint8_t length_class_of(std::uint32_t words) {
  std::uint8_t best = 0;
  for (std::uint8_t c = 0; c < kClassWords.size(); ++c) {
    if (kClassWords[c] > words) {
      const std::uint32_t above = kClassWords[c] - words;
      const std::uint32_t below = c == 0 ? ~0u : words - kClassWords[c - 1];
      return below <= above ? static_cast<std::uint8_t>(c - 1) : c;
    }
    best = c;
  }
  return best;
}

void encode_code(const char* vector, std::size_t dimensions, char* code) {
  std::array<std::int32_t, kMaxDimensions> turned;
  rotate(reinterpret_cast<const std::int8_t*>(vector), dimensions, turned.data());
  for (std::size_t at = 0; at < dimensions / 8; ++at) {
    unsigned bits = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      bits |= (turned[at * 8 + bit] > 0 ? 1u : 0u) << bit;
    }
    code[at] = static_cast<char>(bits);
  }
  wipe(reinterpret_cast<char*>(turned.data()), dimensions * sizeof turned[0]);
}

}  // namespace strongroom::recall
