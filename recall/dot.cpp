#include "recall/dot.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "recall/dot_kernels.h"

namespace strongroom::recall {

void dots_plain(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
                std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  for (std::size_t i = 0; i < count; ++i, rows += stride) {
    std::int32_t sum = 0;
    for (std::size_t d = 0; d < dimensions; ++d) sum += std::int32_t{query[d]} * rows[d];
    out[i] = sum;
  }
}

void code_scores_plain(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                       std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  const std::size_t words = plane_words(dimensions);
  const std::size_t bytes = dimensions / 8;
  for (std::size_t i = 0; i < count; ++i, codes += stride) {
    int sum = 0;
    for (std::size_t word = 0; word < words; ++word) {
      std::uint64_t code = 0;
      const std::size_t rest = bytes - word * 8;
      std::memcpy(&code, codes + word * 8, rest < 8 ? rest : 8);
      for (unsigned plane = 0; plane < 4; ++plane) {
        const int ones = std::popcount(planes[plane * words + word] & code) << plane;
        sum += plane == 3 ? -ones : ones;
      }
    }
    out[i] = sum;
  }
}

void add_scaled_plain(const std::int8_t* row, float scale, std::size_t dimensions,
                      float* sum) noexcept {
  for (std::size_t d = 0; d < dimensions; ++d) sum[d] += scale * static_cast<float>(row[d]);
}

namespace {

struct Kernel {
  std::string_view name;
  bool (*supported)() noexcept;
  Dots* dots;
  CodeScores* code_scores;
  AddScaled* add_scaled;
};

// Ascending; "plain" runs everywhere.
const std::array kKernels = {
    Kernel{"plain", []() noexcept { return true; }, dots_plain, code_scores_plain,
           add_scaled_plain},
#ifdef __x86_64__
    Kernel{"avx2", []() noexcept { return __builtin_cpu_supports("avx2") != 0; }, dots_avx2,
           code_scores_avx2, add_scaled_avx2},
    Kernel{"avx512-vnni",
           []() noexcept {
             return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
           },
           dots_vnni, code_scores_avx2, add_scaled_avx2},
    Kernel{"avx512-vpopcnt",
           []() noexcept {
             return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") &&
                    __builtin_cpu_supports("avx512vpopcntdq");
           },
           dots_vnni, code_scores_vpopcnt, add_scaled_avx2},
#endif
};

// Null until first used; threads that choose at the same time choose the same.
std::atomic<const Kernel*> chosen = nullptr;

const Kernel& kernel() noexcept {
  const Kernel* known = chosen.load(std::memory_order_relaxed);
  if (known != nullptr) return *known;
  for (const Kernel& each : kKernels) {
    if (each.supported()) known = &each;
  }
  chosen.store(known, std::memory_order_relaxed);
  return *known;
}

}  // namespace

std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::size_t dimensions) noexcept {
  std::int32_t out = 0;
  kernel().dots(a, b, 0, dimensions, 1, &out);
  return out;
}

void dots(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
          std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  kernel().dots(query, rows, stride, dimensions, count, out);
}

void code_scores(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                 std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept {
  kernel().code_scores(planes, codes, stride, dimensions, count, out);
}

void add_scaled(const std::int8_t* row, float scale, std::size_t dimensions, float* sum) noexcept {
  kernel().add_scaled(row, scale, dimensions, sum);
}

std::string_view kernel_name() noexcept {
  return kernel().name;
}

std::vector<std::string_view> kernels() {
  std::vector<std::string_view> names;
  for (const Kernel& each : kKernels) {
    if (each.supported()) names.push_back(each.name);
  }
  return names;
}

bool use_kernel(std::string_view name) noexcept {
  for (const Kernel& each : kKernels) {
    if (each.name != name || !each.supported()) continue;
    chosen.store(&each, std::memory_order_relaxed);
    return true;
  }
  return false;
}

}  // namespace strongroom::recall
