#include <immintrin.h>

#include "recall/dot_kernels.h"

namespace strongroom::recall {

namespace {

__m256i widened(const std::int8_t* at) noexcept {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

std::int32_t sum_of_8(__m256i sums) noexcept {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
  return _mm_cvtsi128_si32(half);
}

// How many bits of each byte are set.
__m256i bits_of_bytes(__m256i bytes) noexcept {
  const __m256i table =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i low = _mm256_set1_epi8(0x0F);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(bytes, low)),
                         _mm256_shuffle_epi8(table, high));
}

__m256i plus_twice(__m256i a, __m256i b) noexcept {
  return _mm256_add_epi8(a, _mm256_add_epi8(b, b));
}

// The first 32 of `size` bytes, or as many as there are and zeros.
__m256i load_part(const void* from, std::size_t size) noexcept {
  if (size >= 32) return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  if (size % 4 == 0) {
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i count = _mm256_set1_epi32(static_cast<int>(size / 4));
    return _mm256_maskload_epi32(static_cast<const int*>(from), _mm256_cmpgt_epi32(count, places));
  }
  alignas(32) unsigned char bytes[32] = {};
  __builtin_memcpy(bytes, from, size);
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes));
}

}  // namespace

void dots_avx2(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
               std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4, rows += 4 * stride) {
    __m256i sums[4] = {};
    for (std::size_t d = 0; d < dimensions; d += 16) {
      const __m256i part = widened(query + d);
      for (std::size_t row = 0; row < 4; ++row) {
        const __m256i products = _mm256_madd_epi16(part, widened(rows + row * stride + d));
        sums[row] = _mm256_add_epi32(sums[row], products);
      }
    }
    for (std::size_t row = 0; row < 4; ++row) out[i + row] = sum_of_8(sums[row]);
  }
  for (; i < count; ++i, rows += stride) {
    __m256i sum = _mm256_setzero_si256();
    for (std::size_t d = 0; d < dimensions; d += 16) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(widened(query + d), widened(rows + d)));
    }
    out[i] = sum_of_8(sum);
  }
}

void code_scores_avx2(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                      std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  const std::size_t words = (dimensions + 63) / 64;
  const std::size_t bytes = dimensions / 8;
  for (std::size_t i = 0; i < count; ++i, codes += stride) {
    __m256i sums = _mm256_setzero_si256();
    for (std::size_t at = 0; at < bytes; at += 32) {
      const __m256i code = load_part(codes + at, bytes - at);
      __m256i bits[4];
      for (std::size_t plane = 0; plane < 4; ++plane) {
        const __m256i part = load_part(planes + plane * words + at / 8, words * 8 - at);
        bits[plane] = bits_of_bytes(_mm256_and_si256(part, code));
      }
      const __m256i low = plus_twice(bits[0], bits[1]);
      const __m256i high = _mm256_sub_epi8(bits[2], _mm256_add_epi8(bits[3], bits[3]));
      // From -64 to 56 a byte; without a sign while it is added up.
      const __m256i weighted = plus_twice(low, _mm256_add_epi8(high, high));
      const __m256i raised = _mm256_add_epi8(weighted, _mm256_set1_epi8(64));
      sums = _mm256_add_epi64(sums, _mm256_sad_epu8(raised, _mm256_setzero_si256()));
    }
    out[i] = sum_of_8(sums) - static_cast<std::int32_t>((bytes + 31) / 32 * 32 * 64);
  }
}

void add_scaled_avx2(const std::int8_t* row, float scale, std::size_t dimensions,
                     float* sum) noexcept {
  const __m256 scales = _mm256_set1_ps(scale);
  for (std::size_t d = 0; d < dimensions; d += 8) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + d));
    const __m256 part = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
    _mm256_storeu_ps(sum + d, _mm256_add_ps(_mm256_loadu_ps(sum + d), _mm256_mul_ps(scales, part)));
  }
}

}  // namespace strongroom::recall
