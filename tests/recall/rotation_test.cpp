// The rotation before sign codes: what the format says, and what it is for.
#include "recall/rotation.h"

#include <algorithm>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "tests/recall/turned.h"

namespace strongroom::recall {
namespace {

using Vector = std::vector<std::int8_t>;

std::vector<std::int32_t> rotated(const Vector& vector) {
  std::vector<std::int32_t> out(vector.size());
  rotate(vector.data(), vector.size(), out.data());
  return out;
}

double product(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{1} * a[i] * b[i];
  return sum;
}

// As a model's are: the first components hold most.
Vector falling(std::mt19937& random, std::size_t dimensions) {
  Vector out(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    const double size =
        127.0 / (1.0 + 8.0 * static_cast<double>(i) / static_cast<double>(dimensions));
    out[i] = static_cast<std::int8_t>(std::lround(
        std::clamp(std::normal_distribution<double>(0, size / 2)(random), -127.0, 127.0)));
  }
  return out;
}

}  // namespace

TEST_CASE("a vector is turned as the format says, whatever its size") {
  std::mt19937 random(1);
  for (std::size_t dimensions = 16; dimensions <= 1024; dimensions += 16) {
    INFO(dimensions << " dimensions");
    Vector vector = falling(random, dimensions);
    if (dimensions % 64 == 0) vector.assign(dimensions, 127);  // the largest sums
    const auto out = rotated(vector);
    const auto expected = turned({reinterpret_cast<const char*>(vector.data()), vector.size()});
    REQUIRE(std::vector<std::int64_t>(out.begin(), out.end()) == expected);
  }
}

TEST_CASE("turning keeps angles, and makes components alike") {
  std::mt19937 random(2);
  for (const std::size_t dimensions : {64u, 256u, 384u, 768u}) {
    INFO(dimensions << " dimensions");
    for (int i = 0; i < 20; ++i) {
      const Vector a = falling(random, dimensions);
      Vector b = falling(random, dimensions);
      for (std::size_t d = 0; d < dimensions; d += 2) b[d] = a[d];
      const std::vector<std::int32_t> plain_a(a.begin(), a.end()), plain_b(b.begin(), b.end());
      const double before = product(plain_a, plain_b) /
                            std::sqrt(product(plain_a, plain_a) * product(plain_b, plain_b));
      const auto turned_a = rotated(a), turned_b = rotated(b);
      const double after = product(turned_a, turned_b) /
                           std::sqrt(product(turned_a, turned_a) * product(turned_b, turned_b));
      CHECK(after == Approx(before).margin(0.03));
      // The last quarter holds its share, which it did not before.
      double all = 0, last = 0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const double square = double{1} * turned_a[d] * turned_a[d];
        all += square;
        if (d >= dimensions / 4 * 3) last += square;
      }
      CHECK(last / all > 0.12);
      CHECK(last / all < 0.4);
    }
  }
}

}  // namespace strongroom::recall
