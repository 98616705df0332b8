#include "embed/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/json.h"
#include "vault/format.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 16u << 20;
constexpr std::size_t kMaxDimensionsOfTensor = 8;

struct Range {
  std::uint64_t begin, end;
  std::string_view name;
};

struct NamedType {
  std::string_view name;
  Type type;
  std::uint64_t bytes;
};
// All that the format has: a tensor that nobody reads may be of any of them.
constexpr std::array kTypes = {
    NamedType{"F32", Type::f32, 4},       NamedType{"F16", Type::f16, 2},
    NamedType{"BF16", Type::bf16, 2},     NamedType{"I8", Type::i8, 1},
    NamedType{"U8", Type::u8, 1},         NamedType{"I32", Type::i32, 4},
    NamedType{"I64", Type::i64, 8},       NamedType{"F64", Type::other, 8},
    NamedType{"I16", Type::other, 2},     NamedType{"U16", Type::other, 2},
    NamedType{"U32", Type::other, 4},     NamedType{"U64", Type::other, 8},
    NamedType{"BOOL", Type::other, 1},    NamedType{"F8_E4M3", Type::other, 1},
    NamedType{"F8_E5M2", Type::other, 1},
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  Tensors read() {
    if (bytes_.size() < kLengthBytes) refuse(Code::corrupt, file_, "is cut off");
    const auto length = vault::load_le<std::uint64_t>(bytes_);
    if (length > kMaxHeader) refuse(Code::corrupt, file_, "has a header of an impossible size");
    if (length > bytes_.size() - kLengthBytes) refuse(Code::corrupt, file_, "is cut off");
    data_ = bytes_.substr(kLengthBytes + length);
    const Json header = Json::parse(bytes_.substr(kLengthBytes, length), file_);
    if (!header.is_object()) refuse(Code::invalid, file_, "has a header that is no object");
    Tensors out;
    for (const Json::Member& member : header.members()) {
      if (member.name != "__metadata__") out.emplace(member.name, read_tensor(member));
    }
    check_ranges();
    return out;
  }

 private:
  Tensor read_tensor(const Json::Member& member) {
    const std::string_view name = member.name;
    const auto fail = [&](Code code, std::string_view why) {
      refuse_tensor(code, file_, name, why);
    };
    const Json* const dtype = member.value.find("dtype");
    const Json* const shape = member.value.find("shape");
    const Json* const offsets = member.value.find("data_offsets");
    if (dtype == nullptr || !dtype->is_string() || shape == nullptr || !shape->is_array() ||
        offsets == nullptr || !offsets->is_array() || offsets->items().size() != 2) {
      fail(Code::invalid, "lacks dtype, shape or data_offsets");
    }
    const auto* const type = std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& each) {
      return each.name == dtype->as_string();
    });
    if (type == kTypes.end()) fail(Code::unsupported, "has a type that is not known");

    Tensor tensor;
    tensor.type = type->type;
    if (shape->items().size() > kMaxDimensionsOfTensor) fail(Code::invalid, "has a wrong shape");
    for (const Json& extent : shape->items()) tensor.shape.push_back(number(extent, name));
    const Range range{number(offsets->items()[0], name), number(offsets->items()[1], name), name};
    if (range.begin > range.end || range.end > data_.size()) {
      fail(Code::corrupt, "lies outside the file");
    }
    std::uint64_t elements = 0;
    if (!count_elements(tensor.shape, data_.size(), elements) ||
        elements > data_.size() / type->bytes ||
        elements * type->bytes != range.end - range.begin) {
      fail(Code::corrupt, "has a shape that does not fit its bytes");
    }
    tensor.bytes = data_.substr(range.begin, range.end - range.begin);
    ranges_.push_back(range);
    return tensor;
  }

  std::uint64_t number(const Json& json, std::string_view name) const {
    const auto value = json.as_int();
    if (!value || *value < 0) refuse_tensor(Code::invalid, file_, name, "has a wrong number");
    return static_cast<std::uint64_t>(*value);
  }

  void check_ranges() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t end = 0;
    for (const Range& range : ranges_) {
      if (range.begin < end) {
        refuse_tensor(Code::corrupt, file_, range.name, "overlaps another tensor");
      }
      if (range.begin > end) refuse(Code::corrupt, file_, "has bytes that belong to no tensor");
      end = range.end;
    }
    if (end != data_.size()) refuse(Code::corrupt, file_, "has bytes that belong to no tensor");
  }

  std::string_view bytes_, file_, data_;
  std::vector<Range> ranges_;  // the names are the header's, which outlives this
};

}  // namespace

Tensors read_safetensors(std::string_view bytes, std::string_view file) {
  return Reader(bytes, file).read();
}

}  // namespace strongroom::embed
