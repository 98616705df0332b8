// Every kernel against the definitions in recall/dot.h, to the bit.
#include "recall/dot.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "recall/embedder.h"

namespace strongroom::recall {
namespace {

using Values = std::vector<std::int8_t>;

// Runs `check` with each kernel that this processor has, then with the best one again.
template <class Check>
void with_each_kernel(const Check& check) {
  for (const std::string_view name : kernels()) {
    INFO("kernel " << name);
    REQUIRE(use_kernel(name));
    REQUIRE(kernel_name() == name);
    check();
  }
  REQUIRE(use_kernel(kernels().back()));
}

std::vector<std::size_t> all_dimensions() {
  std::vector<std::size_t> out;
  for (std::size_t d = kDimensionStep; d <= kMaxDimensions; d += kDimensionStep) out.push_back(d);
  return out;
}

Values random_values(std::mt19937& random, std::size_t count) {
  std::uniform_int_distribution<int> component(-127, 127);
  Values out(count);
  for (auto& value : out) value = static_cast<std::int8_t>(component(random));
  return out;
}

std::int32_t dot_by_hand(const std::int8_t* a, const std::int8_t* b, std::size_t dimensions) {
  std::int32_t sum = 0;
  for (std::size_t d = 0; d < dimensions; ++d) sum += a[d] * b[d];
  return sum;
}

// Exactly as many bytes as there are, so that a sanitizer sees what is read beyond them.
void check_dots(const Values& query, const Values& rows, std::size_t stride, std::size_t count) {
  const std::size_t dimensions = query.size();
  std::vector<std::int32_t> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = dot_by_hand(query.data(), rows.data() + i * stride, dimensions);
  }
  std::vector<std::int32_t> found(count, -1);
  dots(query.data(), rows.data(), stride, dimensions, count, found.data());
  REQUIRE(found == expected);
  REQUIRE(dot(query.data(), rows.data(), dimensions) == expected[0]);
}

struct Codes {
  std::vector<std::uint64_t> planes;
  std::vector<std::uint8_t> codes;
};

// The query's numbers, in two's complement of four bits, and codes with a bit for each dimension.
Codes make_codes(const std::vector<unsigned>& query, const std::vector<std::vector<bool>>& rows,
                 std::size_t stride) {
  const std::size_t dimensions = query.size();
  const std::size_t words = plane_words(dimensions);
  Codes out{std::vector<std::uint64_t>(4 * words), {}};
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (std::size_t plane = 0; plane < 4; ++plane) {
      const std::uint64_t bit = query[d] >> plane & 1;
      out.planes[plane * words + d / 64] |= bit << d % 64;
    }
  }
  // Between rows there are ones, which nothing may count.
  out.codes.assign((rows.size() - 1) * stride + dimensions / 8, 0xFF);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::uint8_t& byte = out.codes[i * stride + d / 8];
      if (!rows[i][d]) byte = static_cast<std::uint8_t>(byte & ~(1u << d % 8));
    }
  }
  return out;
}

void check_codes(const std::vector<unsigned>& query, const std::vector<std::vector<bool>>& rows,
                 std::size_t stride) {
  const Codes codes = make_codes(query, rows, stride);
  std::vector<std::int32_t> expected;
  for (const auto& row : rows) {
    std::int32_t sum = 0;
    for (std::size_t d = 0; d < query.size(); ++d) {
      const auto number = static_cast<std::int32_t>(query[d]);
      if (row[d]) sum += number < 8 ? number : number - 16;
    }
    expected.push_back(sum);
  }
  std::vector<std::int32_t> found(rows.size(), -1);
  code_scores(codes.planes.data(), codes.codes.data(), stride, query.size(), rows.size(),
              found.data());
  REQUIRE(found == expected);
}

}  // namespace

TEST_CASE("a processor has the plain kernel, and the best one is chosen first") {
  const auto names = kernels();
  REQUIRE(!names.empty());
  CHECK(names.front() == "plain");
  CHECK(std::find(names.begin(), names.end(), kernel_name()) != names.end());
  CHECK_FALSE(use_kernel("abacus"));
  CHECK(use_kernel(names.back()));
}

TEST_CASE("products of random vectors are the same with every kernel") {
  with_each_kernel([] {
    std::mt19937 random(1);
    for (const std::size_t dimensions : all_dimensions()) {
      for (const std::size_t gap : {0u, 1u, 24u}) {
        const std::size_t stride = dimensions + gap;
        const std::size_t count = 1 + random() % 11;
        const Values rows = random_values(random, (count - 1) * stride + dimensions);
        check_dots(random_values(random, dimensions), rows, stride, count);
      }
    }
  });
}

TEST_CASE("products of extreme vectors do not overflow") {
  with_each_kernel([] {
    for (const std::size_t dimensions : all_dimensions()) {
      for (const int a : {-127, 127}) {
        for (const int b : {-127, 127}) {
          const Values query(dimensions, static_cast<std::int8_t>(a));
          const Values rows(dimensions * 5, static_cast<std::int8_t>(b));
          check_dots(query, rows, dimensions, 5);
        }
      }
    }
    const Values ones(kMaxDimensions, 127);
    CHECK(dot(ones.data(), ones.data(), kMaxDimensions) == 16516096);
  });
}

TEST_CASE("no rows have no products") {
  with_each_kernel([] {
    const Values query(kDimensionStep, 1);
    std::int32_t untouched = 7;
    dots(query.data(), nullptr, kDimensionStep, kDimensionStep, 0, &untouched);
    code_scores(std::vector<std::uint64_t>(4).data(), nullptr, 2, 16, 0, &untouched);
    CHECK(untouched == 7);
  });
}

TEST_CASE("scores of random sign codes are the same with every kernel") {
  with_each_kernel([] {
    std::mt19937 random(2);
    for (const std::size_t dimensions : all_dimensions()) {
      const std::size_t stride = dimensions / 8 + random() % 3;
      std::vector<unsigned> query(dimensions);
      for (auto& number : query) number = random() % 16;
      std::vector<std::vector<bool>> rows(1 + random() % 6, std::vector<bool>(dimensions));
      for (auto& row : rows) {
        for (std::size_t d = 0; d < dimensions; ++d) row[d] = random() % 2 != 0;
      }
      check_codes(query, rows, stride);
    }
  });
}

TEST_CASE("scores of full and empty sign codes do not overflow") {
  with_each_kernel([] {
    for (const std::size_t dimensions : all_dimensions()) {
      for (const unsigned number : {7u, 8u, 15u}) {  // 7, -8, -1
        const std::vector<unsigned> query(dimensions, number);
        check_codes(query, {std::vector<bool>(dimensions, true), std::vector<bool>(dimensions)},
                    dimensions / 8);
      }
    }
  });
}

TEST_CASE("sums of scaled rows have the same bits with every kernel") {
  std::vector<float> first;
  with_each_kernel([&] {
    std::mt19937 random(3);
    std::vector<float> all;
    for (const std::size_t dimensions : all_dimensions()) {
      std::vector<float> sum(dimensions);
      for (int token = 0; token < 20; ++token) {
        const float scale = static_cast<float>(random() % 100000) * 1.1e-5F;
        add_scaled(random_values(random, dimensions).data(), scale, dimensions, sum.data());
      }
      all.insert(all.end(), sum.begin(), sum.end());
    }
    if (first.empty()) first = all;
    REQUIRE(std::memcmp(all.data(), first.data(), all.size() * sizeof(float)) == 0);
  });
  // A product is rounded before it is added: 3 * (1 + 2^-23) is 3 + 2^-21, not 3 + 3 * 2^-23.
  with_each_kernel([] {
    const Values row(kDimensionStep, 3);
    std::vector<float> sum(kDimensionStep, -3);
    add_scaled(row.data(), 1.00000011920928955078125F, kDimensionStep, sum.data());
    CHECK(sum[0] == 0x1p-21F);
  });
}

}  // namespace strongroom::recall
