// A fixed rotation, so that the signs of a vector's components say most about where it points.
//
// A model's first components hold most of what its vectors say, and the sign of a small one says
// next to nothing. Turned, all components are about equally large. Among 607,952 sentences .988 of
// the exact ten nearest are among the 500 with the best codes, and .961 without turning
// (docs/adr/0027-turned-codes.md, models/codes.py).
//
// Hadamard's transform with random signs before it: Ailon and Chazelle, "The Fast Johnson-
// Lindenstrauss Transform", 2009.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strongroom::recall {

/// Turns a vector of int8 components; `out` has `dimensions` components (16 to 1,024), longer than
/// before by the same factor for every vector of that size, or nearly. Sizes a little below a power
/// of two are turned less well. Exact integers: the same on every machine. docs/format.md, "Vector codes", has the definition.
void rotate(const std::int8_t* vector, std::size_t dimensions, std::int32_t* out) noexcept;

}  // namespace strongroom::recall
