#include "embed/bert_source.h"
#include "embed/safetensors.h"

namespace strongroom::embed {

namespace {

constexpr std::string_view kWords = "embeddings.word_embeddings.weight";

class SafetensorsSource final : public BertSource {
 public:
  SafetensorsSource(const Tensors& tensors, std::string_view file)
      : tensors_(tensors), file_(file), prefix_(find_prefix()) {}

  std::string_view file() const noexcept override { return file_; }

  bool has_linear(std::string_view name) const override {
    return find(std::string(name) + ".weight") != nullptr;
  }

  bool has_any(std::string_view start) const override {
    const std::string full = prefix_ + std::string(start);
    const auto at = tensors_.lower_bound(full);
    return at != tensors_.end() && at->first.starts_with(full);
  }

  Linear linear(std::string_view name, std::size_t inputs, std::size_t outputs) const override {
    const std::string full = std::string(name) + ".weight";
    const Tensor& tensor = get(full);
    const bool fits = tensor.shape.size() == 2 && tensor.shape[0] > 0 &&
                      (outputs == 0 || tensor.shape[0] == outputs) && tensor.shape[1] == inputs;
    if (!fits) refuse_tensor(Code::invalid, file_, full, "has a wrong shape");
    const std::size_t rows = tensor.shape[0];
    const std::vector<float> values = finite_floats(tensor, file_, full);
    return {inputs, rows, transposed(values, rows, inputs),
            vector(std::string(name) + ".bias", rows)};
  }

  Table table(std::string_view name) const override {
    const std::string full = std::string(name) + ".weight";
    return make_table(get(full), file_, full);
  }

  std::vector<float> vector(std::string_view name, std::size_t size) const override {
    const Tensor& tensor = get(name);
    if (tensor.shape.size() != 1 || tensor.shape[0] != size) {
      refuse_tensor(Code::invalid, file_, name, "has a wrong shape");
    }
    return finite_floats(tensor, file_, name);
  }

  bool has_vector(std::string_view name) const override { return find(name) != nullptr; }

 private:
  // Models of a task keep the encoder under a name ("bert."), and the classifier beside it.
  std::string find_prefix() const {
    for (const auto& [name, tensor] : tensors_) {
      if (name.ends_with(kWords)) return name.substr(0, name.size() - kWords.size());
    }
    refuse_tensor(Code::invalid, file_, kWords, "is missing: this is no BERT model");
  }

  const Tensor* find(std::string_view name) const {
    const bool beside = name.starts_with("classifier.");
    const auto at = tensors_.find((beside ? "" : prefix_) + std::string(name));
    return at == tensors_.end() ? nullptr : &at->second;
  }

  const Tensor& get(std::string_view name) const {
    const Tensor* const tensor = find(name);
    if (tensor == nullptr) refuse_tensor(Code::invalid, file_, name, "is missing");
    return *tensor;
  }

  const Tensors& tensors_;
  std::string_view file_;
  std::string prefix_;
};

}  // namespace

BertWeights bert_from_safetensors(std::string_view bytes, std::string_view file) {
  const Tensors tensors = read_safetensors(bytes, file);
  return assemble_bert(SafetensorsSource(tensors, file));
}

}  // namespace strongroom::embed
