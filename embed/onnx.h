// The part of the ONNX format (onnx/onnx.proto3 of github.com/onnx/onnx) that weights are found by:
// nodes, their inputs, outputs and attributes, and the tensors.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "embed/tensor.h"

namespace strongroom::embed {

/// A value of the kind that the attribute has; the others are empty.
struct OnnxAttribute {
  std::string_view name;
  std::int64_t integer = 0;
  float real = 0;
  std::vector<std::int64_t> integers;
};

struct OnnxNode {
  std::string_view name, operation;
  std::vector<std::string_view> inputs, outputs;
  std::vector<OnnxAttribute> attributes;

  const OnnxAttribute* find(std::string_view attribute) const noexcept;
};

/// Views of the file's bytes.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  Tensors tensors;  // the graph's own, and what its Constant nodes give, by the name of the output
  std::vector<std::string_view> inputs, outputs;
  std::deque<std::string> unpacked;  // what tensors do not hold as plain bytes in the file
};

/// `file` is its name in errors. Throws Error corrupt for a file that is cut off or is no ONNX
/// model, and for tensors that do not fit their shapes; unsupported for tensors kept in other
/// files.
OnnxGraph read_onnx(std::string_view bytes, std::string_view file);

}  // namespace strongroom::embed
