// Written so that the compiler makes vectors of every loop: no calls, no branches, sums in lanes.
#include "embed/bert_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

// A version for each width of vectors that a processor may have, chosen when the program is loaded.
// Sanitizers are not ready at that time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STRONGROOM_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STRONGROOM_VECTORS
#endif
#define STRONGROOM_INLINE inline __attribute__((always_inline))

namespace strongroom::embed {

namespace {

constexpr std::size_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

STRONGROOM_INLINE float total(Lanes& sums) noexcept {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

// e^x to a relative 2^-22: a power of two times a polynomial on [-ln 2 / 2, ln 2 / 2], which is the
// Taylor series: its first term left out is below 2^-23 there. Below -87 it stays at e^-87.
STRONGROOM_INLINE float exponential(float x) noexcept {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves no fraction
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = x - n * kLn2High - n * kLn2Low;
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  const auto power = static_cast<std::int32_t>(n) + 127;
  return sum * std::bit_cast<float>(static_cast<std::uint32_t>(power) << 23);
}

// Formula 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964): within
// 1.5e-7.
STRONGROOM_INLINE float error_function(float x) noexcept {
  const float size = std::abs(x);
  const float t = 1.0F / (1.0F + 0.3275911F * size);
  float sum = 1.061405429F;
  sum = sum * t - 1.453152027F;
  sum = sum * t + 1.421413741F;
  sum = sum * t - 0.284496736F;
  sum = sum * t + 0.254829592F;
  const float out = 1.0F - sum * t * exponential(-size * size);
  return std::copysign(out, x);
}

}  // namespace

STRONGROOM_VECTORS
void normalise(float* values, std::size_t rows, std::size_t columns, const float* weight,
               const float* bias, float epsilon) noexcept {
  const std::size_t whole = columns / kLanes * kLanes;
  const auto count = static_cast<float>(columns);
  for (std::size_t row = 0; row < rows; ++row, values += columns) {
    Lanes sums{};
    for (std::size_t i = 0; i < whole; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
    }
    for (std::size_t i = whole; i < columns; ++i) sums[i - whole] += values[i];
    const float mean = total(sums) / count;

    Lanes squares{};
    for (std::size_t i = 0; i < whole; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float x = values[i + lane] - mean;
        squares[lane] += x * x;
      }
    }
    for (std::size_t i = whole; i < columns; ++i) {
      const float x = values[i] - mean;
      squares[i - whole] += x * x;
    }
    const float factor = 1.0F / std::sqrt(total(squares) / count + epsilon);
    for (std::size_t i = 0; i < columns; ++i) {
      values[i] = (values[i] - mean) * factor * weight[i] + bias[i];
    }
  }
}

STRONGROOM_VECTORS
void gelu(float* values, std::size_t count) noexcept {
  constexpr float kHalfRoot = 0.70710678F;  // 1 / sqrt(2)
  for (std::size_t i = 0; i < count; ++i) {
    const float x = values[i];
    values[i] = x * 0.5F * (1.0F + error_function(x * kHalfRoot));
  }
}

STRONGROOM_VECTORS
void softmax(float* values, std::size_t rows, std::size_t columns, float factor) noexcept {
  const std::size_t whole = columns / kLanes * kLanes;
  for (std::size_t row = 0; row < rows; ++row, values += columns) {
    float most = values[0];
    for (std::size_t i = 1; i < columns; ++i) most = std::max(most, values[i]);
    for (std::size_t i = 0; i < columns; ++i) {
      values[i] = exponential((values[i] - most) * factor);
    }
    Lanes sums{};
    for (std::size_t i = 0; i < whole; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
    }
    for (std::size_t i = whole; i < columns; ++i) sums[i - whole] += values[i];
    const float share = 1.0F / total(sums);
    for (std::size_t i = 0; i < columns; ++i) values[i] *= share;
  }
}

STRONGROOM_VECTORS
void add(float* sum, const float* values, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) sum[i] += values[i];
}

}  // namespace strongroom::embed
