// English words that say nothing about what a text is about: neither indexed nor searched.
#pragma once

#include <string_view>

namespace strongroom::recall {

/// True for a stop word. `word` is folded, not stemmed, and has no apostrophes.
bool is_stop_word(std::string_view word) noexcept;

}  // namespace strongroom::recall
