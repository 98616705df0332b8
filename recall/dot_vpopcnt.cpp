#include <immintrin.h>

#include "recall/dot_kernels.h"

namespace strongroom::recall {

namespace {

__mmask32 first_bytes(std::size_t size) noexcept {
  return size >= 32 ? ~__mmask32{0} : (__mmask32{1} << size) - 1;
}

// The query's planes in registers: 32 bytes each of planes 0 and 1, and of 2 and 3, for every 256
// dimensions.
struct Planes {
  __m512i low[4], high[4];
};

Planes load_planes(const std::uint64_t* planes, std::size_t words) noexcept {
  Planes out;
  for (std::size_t word = 0; word < words; word += 4) {
    __m256i part[4];
    for (std::size_t plane = 0; plane < 4; ++plane) {
      part[plane] =
          _mm256_maskz_loadu_epi8(first_bytes((words - word) * 8), planes + plane * words + word);
    }
    out.low[word / 4] = _mm512_inserti64x4(_mm512_castsi256_si512(part[0]), part[1], 1);
    out.high[word / 4] = _mm512_inserti64x4(_mm512_castsi256_si512(part[2]), part[3], 1);
  }
  return out;
}

// Of one code: ones of plane 0 and four times those of plane 2 in the lower half; in the upper one
// half of what planes 1 and 3 weigh, of which 3 is the sign's.
inline __m512i weighed(const Planes& planes, const std::uint8_t* code, std::size_t bytes) noexcept {
  __m512i sums = _mm512_setzero_si512();
  for (std::size_t at = 0; at < bytes; at += 32) {
    const __m512i bits =
        _mm512_broadcast_i64x4(_mm256_maskz_loadu_epi8(first_bytes(bytes - at), code + at));
    const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(bits, planes.low[at / 32]));
    const __m512i more = _mm512_popcnt_epi64(_mm512_and_si512(bits, planes.high[at / 32]));
    const __m512i fours = _mm512_slli_epi64(more, 2);
    sums = _mm512_add_epi64(sums, ones);
    sums = _mm512_mask_sub_epi64(_mm512_add_epi64(sums, fours), 0xF0, sums, fours);
  }
  return sums;
}

inline __m512i sum_of_pairs(__m512i a, __m512i b) noexcept {
  return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}
inline __m512i sum_of_lanes(__m512i a, __m512i b) noexcept {
  return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
}

// Eight codes at a time, since adding up a register by itself would take longer than what is in it.
template <std::size_t fixed_bytes>
void score(const Planes& planes, const std::uint8_t* codes, std::size_t stride, std::size_t bytes,
           std::size_t count, std::int32_t* out) noexcept {
  const std::size_t size = fixed_bytes != 0 ? fixed_bytes : bytes;
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8, codes += 8 * stride) {
    __m512i rows[8];
    for (std::size_t row = 0; row < 8; ++row) {
      rows[row] = weighed(planes, codes + row * stride, size);
    }
    const __m512i first =
        sum_of_lanes(sum_of_pairs(rows[0], rows[1]), sum_of_pairs(rows[2], rows[3]));
    const __m512i last =
        sum_of_lanes(sum_of_pairs(rows[4], rows[5]), sum_of_pairs(rows[6], rows[7]));
    const __m512i lower = _mm512_shuffle_i64x2(first, last, 0x88);
    const __m512i upper = _mm512_shuffle_i64x2(first, last, 0xDD);
    const __m512i sums = _mm512_add_epi64(lower, _mm512_slli_epi64(upper, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_cvtepi64_epi32(sums));
  }
  const __m512i twice = _mm512_set_epi64(1, 1, 1, 1, 0, 0, 0, 0);
  for (; i < count; ++i, codes += stride) {
    const __m512i sums = _mm512_sllv_epi64(weighed(planes, codes, size), twice);
    out[i] = static_cast<std::int32_t>(_mm512_reduce_add_epi64(sums));
  }
}

}  // namespace

void code_scores_vpopcnt(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                         std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  const Planes registers = load_planes(planes, (dimensions + 63) / 64);
  if (dimensions == 256) {
    score<32>(registers, codes, stride, 0, count, out);
  } else {
    score<0>(registers, codes, stride, dimensions / 8, count, out);
  }
}

}  // namespace strongroom::recall
