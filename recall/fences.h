// Fenced code blocks of Markdown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strongroom::recall {

struct Fence {
  std::size_t begin;     // of the opening marks, after their indentation
  std::size_t end;       // of the closing line, or of the text
  std::uint64_t tokens;  // between the two
};

/// The fences of a text, ascending. At least three ` or ~ open one; as many or more of the same
/// close it. Indentation is no matter, as lists have it.
std::vector<Fence> find_fences(std::string_view text);

}  // namespace strongroom::recall
