// A vector turned as docs/format.md, "Vector codes", says it, term by term.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strongroom::recall {

inline std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

inline std::vector<std::int64_t> turned(std::string_view components) {
  const std::size_t d = components.size();
  std::size_t p = 1;
  while (p * 2 <= d) p *= 2;
  std::vector<std::int64_t> x(d);
  for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<signed char>(components[i]);
  const auto signs = [&](std::uint64_t round) {
    for (std::size_t i = 0; i < d; ++i) {
      const std::uint64_t word = splitmix64(round * 4294967296ULL + i / 64);
      if ((word >> (i % 64)) % 2 == 1) x[i] = -x[i];
    }
  };
  const auto transform = [&](std::size_t first) {
    std::vector<std::int64_t> y(p, 0);
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < p; ++j) {
        y[i] += std::popcount(i & j) % 2 == 1 ? -x[first + j] : x[first + j];
      }
    }
    for (std::size_t i = 0; i < p; ++i) x[first + i] = y[i];
  };
  signs(1);
  transform(0);
  if (p == d) return x;
  for (std::size_t i = p; i < d; ++i) {
    x[i] *= std::lround(std::sqrt(static_cast<double>(p)));
  }
  signs(2);
  transform(d - p);
  for (std::size_t i = 0; i < d - p; ++i) {
    x[i] *= std::lround(std::sqrt(static_cast<double>(p)));
  }
  return x;
}

}  // namespace strongroom::recall
