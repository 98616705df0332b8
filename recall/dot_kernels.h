// The kernels of dot.h, one file each. These files are compiled for processors that may not be
// there: they include nothing whose inline functions the linker could take for the whole program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strongroom::recall {

using Dots = void(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
                  std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept;
using CodeScores = void(const std::uint64_t* planes, const std::uint8_t* codes, std::size_t stride,
                        std::size_t dimensions, std::size_t count, std::int32_t* out) noexcept;
using AddScaled = void(const std::int8_t* row, float scale, std::size_t dimensions,
                       float* sum) noexcept;

Dots dots_plain, dots_avx2, dots_vnni;
CodeScores code_scores_plain, code_scores_avx2, code_scores_vpopcnt;
AddScaled add_scaled_plain, add_scaled_avx2;

}  // namespace strongroom::recall
