// The token rule: how lengths of text are counted for limits and budgets, everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace strongroom::recall {

/// ceil(ASCII bytes / 4) plus 1 for each other code point.
std::uint64_t count_tokens(std::string_view text) noexcept;

}  // namespace strongroom::recall
