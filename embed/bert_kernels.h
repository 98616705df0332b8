// The parts of BERT that are no matrix products, for whole rows.
#pragma once

#include <cstddef>

namespace strongroom::embed {

/// Each of `rows` rows to mean 0 and variance 1, then times weight plus bias.
void normalise(float* values, std::size_t rows, std::size_t columns, const float* weight,
               const float* bias, float epsilon) noexcept;

/// x times the normal distribution's share below x.
void gelu(float* values, std::size_t count) noexcept;

/// Each row times `factor`, then exponentials that sum up to 1.
void softmax(float* values, std::size_t rows, std::size_t columns, float factor) noexcept;

void add(float* sum, const float* values, std::size_t count) noexcept;

}  // namespace strongroom::embed
