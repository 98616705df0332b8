#include "embed/onnx.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "vault/format.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxNodes = 200'000;  // tensors too
constexpr std::size_t kMaxExtents = 16;     // of a shape, and inputs of a node that matters here

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// The fields of one protobuf message, from its start.
class Message {
 public:
  Message(std::string_view bytes, std::string_view file) : rest_(bytes), file_(file) {}

  /// False at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = take_varint();
    if (key >> 3 == 0 || key >> 3 > std::numeric_limits<std::uint32_t>::max()) fail();
    field_ = static_cast<std::uint32_t>(key >> 3);
    wire_ = static_cast<Wire>(key & 7);
    switch (wire_) {
      case Wire::varint: number_ = take_varint(); return true;
      case Wire::fixed64: value_ = take(8); return true;
      case Wire::fixed32: value_ = take(4); return true;
      case Wire::bytes: value_ = take(take_varint()); return true;
    }
    fail();
  }

  std::uint32_t field() const noexcept { return field_; }

  std::string_view bytes() const {
    if (wire_ != Wire::bytes) fail();
    return value_;
  }
  std::uint64_t number() const {
    if (wire_ != Wire::varint) fail();
    return number_;
  }
  std::int64_t signed_number() const { return static_cast<std::int64_t>(number()); }

  /// A repeated number, which may be one field each or all in one.
  template <class Take>
  void each_number(Take take_one) const {
    if (wire_ == Wire::varint) return take_one(number_);
    Message packed(bytes(), file_);
    while (!packed.rest_.empty()) take_one(packed.take_varint());
  }
  /// Repeated numbers of `size` bytes each, as the bytes they are.
  std::string_view fixed_numbers(std::size_t size) const {
    if (wire_ == Wire::varint || value_.size() % size != 0) fail();
    return value_;
  }

  [[noreturn]] void fail() const { refuse(Code::corrupt, file_, "is cut off, or no ONNX model"); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::uint64_t take_varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      if (shift == 63 && byte > 1) fail();
      out |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return out;
    }
    fail();
  }

  std::string_view rest_, file_;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t number_ = 0;
  std::string_view value_;
};

// Numbers of fields and of types, from onnx.proto3.
namespace field {
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphNode = 1, kGraphTensor = 5, kGraphInput = 11, kGraphOutput = 12;
constexpr std::uint32_t kValueName = 1;
constexpr std::uint32_t kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperation = 4;
constexpr std::uint32_t kNodeAttribute = 5;
constexpr std::uint32_t kAttributeName = 1, kAttributeFloat = 2, kAttributeInt = 3;
constexpr std::uint32_t kAttributeTensor = 5, kAttributeInts = 8;
constexpr std::uint32_t kTensorDims = 1, kTensorType = 2, kTensorFloats = 4, kTensorInt32s = 5;
constexpr std::uint32_t kTensorInt64s = 7, kTensorName = 8, kTensorRaw = 9, kTensorExternal = 13;
constexpr std::uint32_t kTensorLocation = 14;
}  // namespace field

Type type_of(std::uint64_t number) noexcept {
  switch (number) {
    case 1: return Type::f32;
    case 2: return Type::u8;
    case 3: return Type::i8;
    case 6: return Type::i32;
    case 7: return Type::i64;
    case 10: return Type::f16;
    case 16: return Type::bf16;
    default: return Type::other;
  }
}

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  OnnxGraph read() {
    std::optional<std::string_view> graph;
    for (Message model(bytes_, file_); model.next();) {
      if (model.field() != field::kModelGraph) continue;
      if (graph) refuse(Code::corrupt, file_, "has two graphs");
      graph = model.bytes();
    }
    if (!graph) refuse(Code::corrupt, file_, "is no ONNX model: it has no graph");
    read_graph(*graph);
    return std::move(out_);
  }

 private:
  void read_graph(std::string_view bytes) {
    for (Message graph(bytes, file_); graph.next();) {
      switch (graph.field()) {
        case field::kGraphNode: read_node(graph.bytes()); break;
        case field::kGraphTensor: {
          auto [name, tensor] = read_tensor(graph.bytes(), "");
          insert(std::move(name), std::move(tensor));
          break;
        }
        case field::kGraphInput: out_.inputs.push_back(value_name(graph.bytes())); break;
        case field::kGraphOutput: out_.outputs.push_back(value_name(graph.bytes())); break;
        default: break;
      }
      if (out_.nodes.size() > kMaxNodes || out_.tensors.size() > kMaxNodes) {
        refuse(Code::too_large, file_, "has too many nodes or tensors");
      }
    }
  }

  void insert(std::string name, Tensor tensor) {
    const auto [at, added] = out_.tensors.emplace(std::move(name), std::move(tensor));
    if (!added) refuse_tensor(Code::corrupt, file_, at->first, "is there twice");
  }

  std::string_view value_name(std::string_view bytes) const {
    std::string_view name;
    for (Message value(bytes, file_); value.next();) {
      if (value.field() == field::kValueName) name = value.bytes();
    }
    return name;
  }

  void read_node(std::string_view bytes) {
    OnnxNode node;
    std::vector<std::string_view> attributes;
    for (Message message(bytes, file_); message.next();) {
      switch (message.field()) {
        case field::kNodeInput: node.inputs.push_back(message.bytes()); break;
        case field::kNodeOutput: node.outputs.push_back(message.bytes()); break;
        case field::kNodeName: node.name = message.bytes(); break;
        case field::kNodeOperation: node.operation = message.bytes(); break;
        case field::kNodeAttribute: attributes.push_back(message.bytes()); break;
        default: break;
      }
    }
    const std::string_view output = node.outputs.empty() ? "" : node.outputs.front();
    const bool constant = node.operation == "Constant" && !output.empty();
    for (const std::string_view attribute : attributes) {
      node.attributes.push_back(read_attribute(attribute, constant ? output : ""));
    }
    out_.nodes.push_back(std::move(node));
  }

  // A tensor that it has becomes one of the graph's, if `constant` names it.
  OnnxAttribute read_attribute(std::string_view bytes, std::string_view constant) {
    OnnxAttribute out;
    for (Message message(bytes, file_); message.next();) {
      switch (message.field()) {
        case field::kAttributeName: out.name = message.bytes(); break;
        case field::kAttributeFloat:
          out.real = vault::load_le<float>(message.fixed_numbers(4).substr(0, 4));
          break;
        case field::kAttributeInt: out.integer = message.signed_number(); break;
        case field::kAttributeInts:
          message.each_number([&](std::uint64_t number) {
            if (out.integers.size() < kMaxExtents) {
              out.integers.push_back(static_cast<std::int64_t>(number));
            }
          });
          break;
        case field::kAttributeTensor:
          if (!constant.empty()) {
            insert(std::string(constant), read_tensor(message.bytes(), constant).second);
          }
          break;
        default: break;
      }
    }
    return out;
  }

  struct Raw {
    std::optional<std::string_view> bytes;
    std::string floats;
    std::vector<std::int64_t> integers;
  };

  std::pair<std::string, Tensor> read_tensor(std::string_view bytes, std::string_view known_as) {
    std::string name(known_as);
    Tensor tensor;
    Raw raw;
    bool external = false;
    for (Message message(bytes, file_); message.next();) {
      switch (message.field()) {
        case field::kTensorDims:
          message.each_number([&](std::uint64_t extent) { tensor.shape.push_back(extent); });
          break;
        case field::kTensorType: tensor.type = type_of(message.number()); break;
        case field::kTensorFloats: raw.floats += message.fixed_numbers(4); break;
        case field::kTensorInt32s:
        case field::kTensorInt64s:
          message.each_number(
              [&](std::uint64_t n) { raw.integers.push_back(static_cast<std::int64_t>(n)); });
          break;
        case field::kTensorName:
          if (known_as.empty()) name = message.bytes();
          break;
        case field::kTensorRaw: raw.bytes = message.bytes(); break;
        case field::kTensorExternal: external = true; break;
        case field::kTensorLocation: external = external || message.number() != 0; break;
        default: break;
      }
    }
    if (external) {
      refuse_tensor(Code::unsupported, file_, name, "is kept in another file");
    }
    if (tensor.shape.size() > kMaxExtents) {
      refuse_tensor(Code::corrupt, file_, name, "has too many dimensions");
    }
    fill(tensor, raw, name);
    return {std::move(name), std::move(tensor)};
  }

  // A tensor of a type that is never read keeps no bytes.
  void fill(Tensor& tensor, Raw& raw, std::string_view name) {
    const std::size_t size = type_bytes(tensor.type);
    if (size == 0) return;
    if (raw.bytes) {
      tensor.bytes = *raw.bytes;
    } else if (tensor.type == Type::f32) {
      tensor.bytes = out_.unpacked.emplace_back(std::move(raw.floats));
    } else {
      tensor.bytes = out_.unpacked.emplace_back(pack(raw.integers, tensor.type, name));
    }
    std::uint64_t elements = 0;
    if (!count_elements(tensor.shape, bytes_.size(), elements) ||
        elements != tensor.bytes.size() / size || tensor.bytes.size() % size != 0) {
      refuse_tensor(Code::corrupt, file_, name, "has a shape that does not fit its bytes");
    }
  }

  std::string pack(const std::vector<std::int64_t>& numbers, Type type, std::string_view name) {
    const auto append = [&]<class T>(T) {
      std::string out;
      for (const std::int64_t number : numbers) {
        if (!std::in_range<T>(number)) {
          refuse_tensor(Code::corrupt, file_, name, "has a number that is out of its range");
        }
        vault::append_le(out, static_cast<T>(number));
      }
      return out;
    };
    switch (type) {
      case Type::i8: return append(std::int8_t{});
      case Type::u8: return append(std::uint8_t{});
      case Type::i32: return append(std::int32_t{});
      case Type::i64: return append(std::int64_t{});
      default: return append(std::uint16_t{});  // the bits of a short float
    }
  }

  std::string_view bytes_, file_;
  OnnxGraph out_;
};

}  // namespace

const OnnxAttribute* OnnxNode::find(std::string_view attribute) const noexcept {
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [&](const OnnxAttribute& each) { return each.name == attribute; });
  return at == attributes.end() ? nullptr : &*at;
}

OnnxGraph read_onnx(std::string_view bytes, std::string_view file) {
  return Reader(bytes, file).read();
}

}  // namespace strongroom::embed
