// A safetensors file: whatever is accepted has tensors inside the file, as long as their shapes.
#include "embed/bert.h"
#include "embed/safetensors.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  // A copy of its own, so that a read beyond it is seen.
  const std::string file(input);
  const auto refused = {Code::corrupt, Code::invalid, Code::unsupported, Code::too_large};
  fuzz::accepts(refused, [&] {
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : embed::read_safetensors(file, "f")) {
      bytes += tensor.bytes.size();
      fuzz::require(tensor.bytes.empty() || fuzz::inside(tensor.bytes, file), "a tensor is inside");
      std::uint64_t elements = 0;
      fuzz::require(embed::count_elements(tensor.shape, file.size(), elements), "a shape fits");
      if (tensor.type == embed::Type::other) continue;
      fuzz::require(elements == tensor.elements(), "a tensor is as long as its shape");
      std::vector<float> values(tensor.elements());
      embed::read_floats(tensor, 0, values);
    }
    fuzz::require(bytes <= file.size(), "tensors do not overlap");
  });
  fuzz::accepts(refused, [&] {
    const embed::BertWeights weights = embed::bert_from_safetensors(file, "f");
    fuzz::require(!weights.layers.empty(), "a model has a layer");
    fuzz::require(weights.positions.columns == weights.hidden, "a table fits");
  });
}
