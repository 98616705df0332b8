#include "recall/rotation.h"

#include <bit>

namespace strongroom::recall {
namespace {

// Vigna's splitmix64, the finalizer of its state.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

void flip(std::int32_t* v, std::size_t size, unsigned round) {
  for (std::size_t word = 0; word * 64 < size; ++word) {
    const std::uint64_t signs = mix(std::uint64_t{round} << 32 | word);
    for (std::size_t bit = 0; bit < 64 && word * 64 + bit < size; ++bit) {
      if ((signs >> bit & 1) != 0) v[word * 64 + bit] = -v[word * 64 + bit];
    }
  }
}

// Hadamard's transform of `size` components, a power of two; lengths grow by its square root.
void transform(std::int32_t* v, std::size_t size) {
  for (std::size_t half = 1; half < size; half *= 2) {
    for (std::size_t at = 0; at < size; at += 2 * half) {
      for (std::size_t i = at; i < at + half; ++i) {
        const std::int32_t a = v[i], b = v[i + half];
        v[i] = a + b;
        v[i + half] = a - b;
      }
    }
  }
}

// The square root of a power of two from 16 to 1,024, rounded.
std::int32_t root(std::size_t size) {
  static constexpr std::int32_t kRoots[] = {4, 6, 8, 11, 16, 23, 32};
  return kRoots[std::countr_zero(size) - 4];
}

}  // namespace

void rotate(const std::int8_t* vector, std::size_t dimensions, std::int32_t* out) noexcept {
  for (std::size_t d = 0; d < dimensions; ++d) out[d] = vector[d];
  const std::size_t size = std::bit_floor(dimensions), rest = dimensions - size;
  flip(out, dimensions, 1);
  transform(out, size);
  if (rest == 0) return;
  // The others are mixed in by a second turn, of the last `size` components. What a transform does
  // not touch grows as what it does.
  for (std::size_t d = size; d < dimensions; ++d) out[d] *= root(size);
  flip(out, dimensions, 2);
  transform(out + rest, size);
  for (std::size_t d = 0; d < rest; ++d) out[d] *= root(size);
}

}  // namespace strongroom::recall
