// The arithmetic of vectors: many rows against one query, as fast as the processor can.
//
// What runs is chosen when the program runs; all kernels give the same bits. Numbers of dimensions
// are multiples of 16, at most kMaxDimensions. Nothing needs to be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strongroom::recall {

/// The sum of a[d] * b[d]; components are from -127 to 127.
std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::size_t dimensions) noexcept;

/// out[i] = dot(query, rows + i * stride), for `count` rows.
void dots(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
          std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept;

/// The u64 words of a plane: one bit a dimension, bit d % 64 of word d / 64; further bits are 0.
constexpr std::size_t plane_words(std::size_t dimensions) noexcept {
  return (dimensions + 63) / 64;
}

/// Scores of sign codes: a code is one bit a dimension, bit d % 8 of byte d / 8. The query has four
/// bits a dimension, a number from -8 to 7 in two's complement, in four planes of plane_words()
/// each, the lowest bits first. out[i] = the sum of the query's numbers where row i has a 1.
void code_scores(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                 std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept;

/// sum[d] += scale * row[d], each rounded to float twice.
void add_scaled(const std::int8_t* row, float scale, std::size_t dimensions, float* sum) noexcept;

/// For tests and measurements: what runs, what this processor can run (the best one last), and
/// choosing one of these for all threads; false when it is none of them.
std::string_view kernel_name() noexcept;
std::vector<std::string_view> kernels();
bool use_kernel(std::string_view name) noexcept;

}  // namespace strongroom::recall
