#include <immintrin.h>

#include "recall/dot_kernels.h"

namespace strongroom::recall {

namespace {

__mmask64 first_bytes(std::size_t size) noexcept {
  return size >= 64 ? ~__mmask64{0} : (__mmask64{1} << size) - 1;
}

std::int32_t sum_of(const std::int8_t* values, std::size_t size) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += values[i];
  return sum;
}

}  // namespace

// The instruction multiplies bytes without a sign by bytes with one, so 128 is added to each
// component of a row, and 128 times the sum of the query is taken away at the end.
void dots_vnni(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
               std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
  const std::int32_t excess = 128 * sum_of(query, dimensions);
  for (std::size_t i = 0; i < count; ++i, rows += stride) {
    __m512i sums = _mm512_setzero_si512();
    for (std::size_t d = 0; d < dimensions; d += 64) {
      // What is beyond the end counts as 128 times 0.
      const __mmask64 mask = first_bytes(dimensions - d);
      const __m512i row = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, rows + d), flip);
      sums = _mm512_dpbusd_epi32(sums, row, _mm512_maskz_loadu_epi8(mask, query + d));
    }
    out[i] = _mm512_reduce_add_epi32(sums) - excess;
  }
}

}  // namespace strongroom::recall
