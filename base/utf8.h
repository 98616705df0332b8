// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strongroom {

/// True when `text` is valid UTF-8 (NUL included, which is an ordinary code point).
bool valid_utf8(std::string_view text) noexcept;

/// The length of the valid UTF-8 sequence at the start of `text` (1 to 4), or 0.
std::size_t utf8_sequence(std::string_view text) noexcept;

/// The longest prefix of at most `limit` bytes that does not cut a sequence.
std::string_view utf8_prefix(std::string_view text, std::size_t limit) noexcept;

/// The length of `text` without a sequence that its end cuts off. For the first part of a valid
/// text.
std::size_t utf8_whole_length(std::string_view text) noexcept;

/// Appends a code point.
void utf8_append(std::string& out, char32_t code_point);

/// Control, bidirectional and zero-width characters as escapes (\n, \u202e), so that a terminal or
/// a model sees what is there. For text shown on one line.
std::string escape_for_display(std::string_view text);

}  // namespace strongroom
