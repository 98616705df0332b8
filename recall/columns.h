// The columns of the index: fixed-size cells in blocks by row number.
//
// attributes: 120 rows x 32 bytes a block; times: 60 x 64; live bits: 16,128 rows a block, one bit
// "live" and one "timed" each; vectors: 15 x 260 for 256 dimensions, their sign codes: 120 x 32.
// docs/format.md has the bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

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

/// A vector's cell: its components, then the f32 scale, 0 for a row without a vector.
constexpr std::size_t vector_bytes(std::size_t dimensions) {
  return dimensions + 4;
}
/// A sign code's cell: bit d % 8 of byte d / 8 is set where component d is above 0.
constexpr std::size_t code_bytes(std::size_t dimensions) {
  return dimensions / 8;
}
constexpr Row vector_rows(std::size_t dimensions) {
  return static_cast<Row>(kBlockBytes / vector_bytes(dimensions));
}
constexpr Row code_rows(std::size_t dimensions) {
  return std::min<Row>(120, static_cast<Row>(kBlockBytes / code_bytes(dimensions)));
}
inline float vector_scale(const char* cell, std::size_t dimensions) {
  float scale = 0;
  std::memcpy(&scale, cell + dimensions, sizeof scale);
  return scale;
}
/// `code` from a vector's cell: the signs of its components after rotate().
void encode_code(const char* vector, std::size_t dimensions, char* code);

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

constexpr Cell vector_cell(Row row, std::size_t dimensions) {
  return {row / vector_rows(dimensions), row % vector_rows(dimensions) * vector_bytes(dimensions)};
}
constexpr Cell code_cell(Row row, std::size_t dimensions) {
  return {row / code_rows(dimensions), row % code_rows(dimensions) * code_bytes(dimensions)};
}

/// Lengths are kept as one of 32 classes, a third of a doubling each: class_length(c) words stand
/// for class c. length_class_of() gives the nearest one.
std::uint8_t length_class_of(std::uint32_t words);
std::uint32_t class_words(unsigned length_class);

}  // namespace strongroom::recall
