// A tensor as a file holds it, and the one way in which a model's file is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace strongroom::embed {

/// Throws "FILE: PART WHY". A part ("tensor", a name) comes from the file: it is cut short, and
/// what does not print becomes escapes.
[[noreturn]] void refuse(Code code, std::string_view file, std::string_view why);
[[noreturn]] void refuse_tensor(Code code, std::string_view file, std::string_view tensor,
                                std::string_view why);

enum class Type : std::uint8_t { f32, f16, bf16, i8, u8, i32, i64, other };

/// Bytes of one element; 0 for other.
std::size_t type_bytes(Type type) noexcept;

/// Row-major and little-endian. The bytes are a view of the file, and are exactly as many as the
/// shape asks for.
struct Tensor {
  Type type = Type::other;
  std::vector<std::uint64_t> shape;
  std::string_view bytes;

  std::size_t elements() const noexcept {
    return type == Type::other ? 0 : bytes.size() / type_bytes(type);
  }
};

using Tensors = std::map<std::string, Tensor, std::less<>>;

/// What a shape has; no value when that is more than `limit`.
bool count_elements(std::span<const std::uint64_t> shape, std::uint64_t limit,
                    std::uint64_t& count) noexcept;

/// The elements from `first` as numbers, `out.size()` of them; the type is not `other`.
void read_floats(const Tensor& tensor, std::size_t first, std::span<float> out) noexcept;

}  // namespace strongroom::embed
