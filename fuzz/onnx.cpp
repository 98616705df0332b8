// An ONNX file: whatever is accepted has tensors as long as their shapes, and weights that fit.
#include "embed/bert.h"
#include "embed/onnx.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  // A copy of its own, so that a read beyond it is seen.
  const std::string file(input);
  const auto refused = {Code::corrupt, Code::invalid, Code::unsupported, Code::too_large};
  fuzz::accepts(refused, [&] {
    const embed::OnnxGraph graph = embed::read_onnx(file, "f");
    for (const auto& [name, tensor] : graph.tensors) {
      if (tensor.type == embed::Type::other) continue;
      std::uint64_t elements = 0;
      fuzz::require(embed::count_elements(tensor.shape, file.size(), elements), "a shape fits");
      fuzz::require(elements == tensor.elements(), "a tensor is as long as its shape");
      std::vector<float> values(tensor.elements());
      embed::read_floats(tensor, 0, values);
    }
    for (const embed::OnnxNode& node : graph.nodes) {
      fuzz::require(node.name.empty() || fuzz::inside(node.name, file), "a name is inside");
    }
  });
  fuzz::accepts(refused, [&] {
    const embed::BertWeights weights = embed::bert_from_onnx(file, "f");
    fuzz::require(!weights.layers.empty(), "a model has a layer");
    for (const embed::Layer& layer : weights.layers) {
      fuzz::require(layer.output.weight.size() == layer.output.inputs * weights.hidden &&
                        layer.output.bias.size() == weights.hidden,
                    "a layer fits");
    }
  });
}
