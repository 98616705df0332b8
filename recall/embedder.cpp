#include "recall/embedder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace strongroom::recall {

namespace {

// Not a number and infinity come out as infinity.
float largest(std::span<const float> vector) noexcept {
  float most = 0;
  bool finite = true;
  for (const float x : vector) {
    finite = finite && std::isfinite(x);
    most = std::max(most, std::abs(x));
  }
  return finite ? most : HUGE_VALF;
}

// Eight sums side by side, so that the compiler can use vectors without changing the order.
double length(std::span<const float> vector) noexcept {
  std::array<double, 8> sums{};
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double x = vector[i];
    sums[i % sums.size()] += x * x;  // exact: a float has 24 bits
  }
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return std::sqrt(sums[0]);
}

}  // namespace

void quantise(std::span<const float> vector, Embedding& out) {
  constexpr double kMost = 127;
  const double most = largest(vector);
  out.bytes.clear();
  out.scale = 0;
  if (most == 0 || std::isinf(most)) return;
  out.scale = static_cast<float>(most / (kMost * length(vector)));
  out.bytes.resize(vector.size());
  const double factor = kMost / most;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double x = vector[i] * factor;
    out.bytes.data()[i] = static_cast<char>(static_cast<int>(x + std::copysign(0.5, x)));
  }
}

}  // namespace strongroom::recall
