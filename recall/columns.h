// The columns of the index: fixed-size cells in blocks by row number.
//
// attributes: 120 rows x 32 bytes a block; times: 60 x 64; live bits: 16,128 rows a block, one bit
// "live" and one "timed" each. docs/format.md has the bytes.
#pragma once

#include <cstddef>

#include "recall/block_cache.h"
#include "recall/index.h"

namespace strongroom::recall {

inline constexpr Row kAttributeRows = 120;
inline constexpr std::size_t kAttributeBytes = 32;
inline constexpr Row kTimeRows = 60;
inline constexpr std::size_t kTimeBytes = 64;
inline constexpr Row kLiveRows = 16128;
inline constexpr std::size_t kLiveHalf = kLiveRows / 8;

/// Throws too_large where a number does not fit (a record above 2^40, a speaker above 2^24).
void encode_attributes(const RowAttributes& attributes, char* cell);
RowAttributes decode_attributes(const char* cell);
void encode_times(const RowTimes& times, char* cell);
RowTimes decode_times(const char* cell);

inline bool bit_at(const char* bits, std::size_t i) {
  return (static_cast<unsigned char>(bits[i / 8]) >> (i % 8) & 1) != 0;
}
inline void set_bit(char* bits, std::size_t i, bool on) {
  const auto mask = static_cast<unsigned char>(1u << (i % 8));
  auto byte = static_cast<unsigned char>(bits[i / 8]);
  byte = on ? static_cast<unsigned char>(byte | mask)
            : static_cast<unsigned char>(byte & static_cast<unsigned char>(~mask));
  bits[i / 8] = static_cast<char>(byte);
}

/// Where a row's cell is: block number and offset in it.
struct Cell {
  std::uint32_t block;
  std::size_t offset;
};
constexpr Cell attribute_cell(Row row) {
  return {row / kAttributeRows, row % kAttributeRows * kAttributeBytes};
}
constexpr Cell time_cell(Row row) {
  return {row / kTimeRows, row % kTimeRows * kTimeBytes};
}

/// Lengths are kept as one of 32 classes, a third of a doubling each: class_length(c) words stand
/// for class c. length_class_of() gives the nearest one.
std::uint8_t length_class_of(std::uint32_t words);
std::uint32_t class_words(unsigned length_class);

}  // namespace strongroom::recall
