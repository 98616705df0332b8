#include <immintrin.h>

#include "recall/dot_kernels.h"

namespace strongroom::recall {

namespace {

__mmask32 first_bytes(std::size_t size) noexcept {
  return size >= 32 ? ~__mmask32{0} : (__mmask32{1} << size) - 1;
}

}  // namespace

// 32 bytes of a code at a time, against two planes in each register.
void code_scores_vpopcnt(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                         std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  const std::size_t words = (dimensions + 63) / 64;
  const std::size_t bytes = dimensions / 8;
  const __m512i low_weights = _mm512_set_epi64(1, 1, 1, 1, 0, 0, 0, 0);
  const __m512i high_weights = _mm512_set_epi64(3, 3, 3, 3, 2, 2, 2, 2);
  __m512i low[4], high[4];  // 256 dimensions each
  for (std::size_t at = 0; at < bytes; at += 32) {
    __m256i part[4];
    for (std::size_t plane = 0; plane < 4; ++plane) {
      part[plane] =
          _mm256_maskz_loadu_epi8(first_bytes(words * 8 - at), planes + plane * words + at / 8);
    }
    low[at / 32] = _mm512_inserti64x4(_mm512_castsi256_si512(part[0]), part[1], 1);
    high[at / 32] = _mm512_inserti64x4(_mm512_castsi256_si512(part[2]), part[3], 1);
  }
  for (std::size_t i = 0; i < count; ++i, codes += stride) {
    __m512i sums = _mm512_setzero_si512();
    for (std::size_t at = 0; at < bytes; at += 32) {
      const __m512i code =
          _mm512_broadcast_i64x4(_mm256_maskz_loadu_epi8(first_bytes(bytes - at), codes + at));
      const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(code, low[at / 32]));
      const __m512i more = _mm512_popcnt_epi64(_mm512_and_si512(code, high[at / 32]));
      sums = _mm512_add_epi64(sums, _mm512_sllv_epi64(ones, low_weights));
      const __m512i weighted = _mm512_sllv_epi64(more, high_weights);
      sums = _mm512_mask_add_epi64(sums, 0x0F, sums, weighted);
      sums = _mm512_mask_sub_epi64(sums, 0xF0, sums, weighted);  // the plane of the sign
    }
    out[i] = static_cast<std::int32_t>(_mm512_reduce_add_epi64(sums));
  }
}

}  // namespace strongroom::recall
