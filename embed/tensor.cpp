#include "embed/tensor.h"

#include <bit>

#include "base/utf8.h"
#include "vault/format.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kShownName = 120;  // bytes of a name in an error

// IEEE 754 binary16; every value of it is a float.
float from_half(std::uint16_t half) noexcept {
  constexpr std::uint32_t kFractionBits = 10;
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> kFractionBits) & 0x1F;
  const std::uint32_t fraction = half & 0x3FF;
  if (exponent == 0) {  // zero and subnormals: multiples of 2^-24
    const float value = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 127 - 15;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <class T, class Convert>
void convert(std::string_view bytes, std::span<float> out, Convert convert_one) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = convert_one(vault::load_le<T>(bytes, i * sizeof(T)));
  }
}

}  // namespace

void refuse(Code code, std::string_view file, std::string_view why) {
  throw Error(code, std::string(file) + ": " + std::string(why) + ".");
}

void refuse_tensor(Code code, std::string_view file, std::string_view tensor,
                   std::string_view why) {
  const std::string name = escape_for_display(utf8_prefix(tensor, kShownName));
  refuse(code, file, "tensor " + name + " " + std::string(why));
}

std::size_t type_bytes(Type type) noexcept {
  switch (type) {
    case Type::i8:
    case Type::u8: return 1;
    case Type::f16:
    case Type::bf16: return 2;
    case Type::f32:
    case Type::i32: return 4;
    case Type::i64: return 8;
    case Type::other: break;
  }
  return 0;
}

bool count_elements(std::span<const std::uint64_t> shape, std::uint64_t limit,
                    std::uint64_t& count) noexcept {
  count = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && count > limit / extent) return false;
    count *= extent;
  }
  return count <= limit;
}

void read_floats(const Tensor& tensor, std::size_t first, std::span<float> out) noexcept {
  const std::string_view bytes = tensor.bytes.substr(first * type_bytes(tensor.type));
  const auto same = [](auto value) { return static_cast<float>(value); };
  switch (tensor.type) {
    case Type::f32: return convert<float>(bytes, out, same);
    case Type::i8: return convert<std::int8_t>(bytes, out, same);
    case Type::u8: return convert<std::uint8_t>(bytes, out, same);
    case Type::i32: return convert<std::int32_t>(bytes, out, same);
    case Type::i64: return convert<std::int64_t>(bytes, out, same);
    case Type::f16: return convert<std::uint16_t>(bytes, out, from_half);
    case Type::bf16:
      return convert<std::uint16_t>(bytes, out, [](std::uint16_t high) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(high) << 16);
      });
    case Type::other: return;
  }
}

}  // namespace strongroom::embed
