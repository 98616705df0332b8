// Exporters rename weights that they transpose or quantise ("onnx::MatMul_123"), but nodes and
// biases keep the names of the model's parts, so a weight is found by the node that uses it:
//
//   x -> MatMul(weight) -> Add(bias)                  plain; the weight may come from a Transpose,
//                                                     a Cast or a DequantizeLinear
//   x -> Gemm(weight, bias)
//   x -> DynamicQuantizeLinear -> MatMulInteger(weight) -> Cast -> Mul(scale of x * scale) -> Add
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "embed/bert_source.h"
#include "embed/onnx.h"

namespace strongroom::embed {

namespace {

// The parts of a BERT whose weights are matrices; a name may have a prefix of the task.
constexpr std::array<std::string_view, 3> kParts = {"encoder.layer.", "pooler.dense", "classifier"};
// What optimisers for one runtime put in the place of several nodes.
constexpr std::array<std::string_view, 6> kFused = {"Attention",
                                                    "MultiHeadAttention",
                                                    "EmbedLayerNormalization",
                                                    "SkipLayerNormalization",
                                                    "FusedMatMul",
                                                    "BiasGelu"};
constexpr std::size_t kMostSteps = 4;  // between a file's tensor and the node that uses it

// (x - zero) * scale; numbers of the whole tensor or of each output.
struct Scaling {
  const Tensor* scale = nullptr;
  const Tensor* zero = nullptr;
};

struct Weight {
  std::string_view name;
  const Tensor* tensor = nullptr;
  bool rows_are_outputs = false;
  Scaling scaling;
};

struct Part {
  Weight weight;
  std::string_view bias;
};

class OnnxSource final : public BertSource {
 public:
  OnnxSource(const OnnxGraph& graph, std::string_view file) : graph_(graph), file_(file) {
    for (const OnnxNode& node : graph.nodes) {
      if (std::find(kFused.begin(), kFused.end(), node.operation) != kFused.end()) {
        refuse(Code::unsupported, file_,
               "is optimised for one runtime (it has a node " + std::string(node.operation) +
                   "); the plain export, model.onnx, can be read");
      }
      for (const std::string_view output : node.outputs) producers_.emplace(output, &node);
      for (const std::string_view input : node.inputs) users_.emplace(input, &node);
    }
    for (const OnnxNode& node : graph.nodes) find_part(node);
    find_prefix();
  }

  std::string_view file() const noexcept override { return file_; }

  bool has_linear(std::string_view name) const override { return parts_.contains(name); }

  bool has_any(std::string_view start) const override {
    const auto at = parts_.lower_bound(start);
    return at != parts_.end() && at->first.starts_with(start);
  }

  Linear linear(std::string_view name, std::size_t inputs, std::size_t outputs) const override {
    const auto at = parts_.find(name);
    if (at == parts_.end()) {
      refuse(Code::invalid, file_, "has no node that is " + std::string(name));
    }
    const Weight& weight = at->second.weight;
    const std::vector<std::uint64_t>& shape = weight.tensor->shape;
    if (shape.size() != 2) refuse_tensor(Code::invalid, file_, weight.name, "has a wrong shape");
    const std::size_t rows = shape[0];
    const std::size_t columns = shape[1];
    const std::size_t made = weight.rows_are_outputs ? rows : columns;
    const std::size_t taken = weight.rows_are_outputs ? columns : rows;
    if (taken != inputs || made == 0 || (outputs != 0 && made != outputs)) {
      refuse_tensor(Code::invalid, file_, weight.name, "has a wrong shape");
    }
    Linear out{inputs, made, finite_floats(*weight.tensor, file_, weight.name), {}};
    if (weight.rows_are_outputs) out.weight = transposed(out.weight, rows, columns);
    scale(out, weight);
    out.bias = vector(at->second.bias, made, name);
    return out;
  }

  Table table(std::string_view name) const override {
    std::string full = prefix_ + std::string(name) + ".weight";
    if (!graph_.tensors.contains(full)) full += "_quantized";
    const Tensor* const tensor = find(full);
    if (tensor == nullptr) {
      refuse_tensor(Code::invalid, file_, std::string(name) + ".weight", "is missing");
    }
    Table out = make_table(*tensor, file_, full);
    if (const std::optional<Scaling> scaling = scaling_after(full)) {
      out.scale = scalar(*scaling->scale, full);
      if (scaling->zero != nullptr) out.zero = scalar(*scaling->zero, full);
    } else if (tensor->type != Type::f32 && tensor->type != Type::f16 &&
               tensor->type != Type::bf16) {
      refuse_tensor(Code::invalid, file_, full, "is quantised without a scale");
    }
    return out;
  }

  std::vector<float> vector(std::string_view name, std::size_t size) const override {
    return vector(prefix_ + std::string(name), size, name);
  }

  bool has_vector(std::string_view name) const override {
    return graph_.tensors.contains(prefix_ + std::string(name));
  }

  // Shapes that cut a vector into heads end in two constants: how many, and their size.
  std::size_t heads(std::size_t hidden) const {
    for (const OnnxNode& node : graph_.nodes) {
      const std::vector<std::int64_t> tail = shape_tail(node);
      if (tail.size() < 2) continue;
      const std::int64_t count = tail[tail.size() - 2];
      const std::int64_t size = tail.back();
      const auto whole = static_cast<std::int64_t>(hidden);
      if (count > 1 && size > 1 && count <= whole && size <= whole && count * size == whole) {
        return static_cast<std::size_t>(count);
      }
    }
    return 0;
  }

  // What is added to a variance before its root is taken.
  std::optional<float> norm_epsilon() const {
    for (const OnnxNode& node : graph_.nodes) {
      if (node.operation == "LayerNormalization") {
        const OnnxAttribute* const epsilon = node.find("epsilon");
        return epsilon == nullptr ? 1e-5F : epsilon->real;  // the operator's default
      }
      if (node.operation != "Sqrt" || node.inputs.empty()) continue;
      const OnnxNode* const sum = producer(node.inputs[0]);
      if (sum == nullptr || sum->operation != "Add") continue;
      for (const std::string_view input : sum->inputs) {
        const Tensor* const number = find(input);
        if (number == nullptr || number->elements() != 1) continue;
        return finite_floats(*number, file_, input).front();
      }
    }
    return std::nullopt;
  }

  std::size_t count(std::string_view operation) const {
    return static_cast<std::size_t>(
        std::count_if(graph_.nodes.begin(), graph_.nodes.end(),
                      [&](const OnnxNode& node) { return node.operation == operation; }));
  }

 private:
  const Tensor* find(std::string_view name) const {
    const auto at = graph_.tensors.find(name);
    return at == graph_.tensors.end() ? nullptr : &at->second;
  }

  const OnnxNode* producer(std::string_view output) const {
    const auto at = producers_.find(output);
    return at == producers_.end() ? nullptr : at->second;
  }

  const OnnxNode* user(std::string_view input, std::string_view operation) const {
    for (auto [at, end] = users_.equal_range(input); at != end; ++at) {
      if (at->second->operation == operation) return at->second;
    }
    return nullptr;
  }

  static std::string_view output(const OnnxNode& node) {
    return node.outputs.empty() ? std::string_view() : node.outputs.front();
  }

  // The tensor behind an input, through the nodes that only write it differently.
  std::optional<Weight> resolve(std::string_view input) const {
    Weight weight;
    for (std::size_t step = 0; step <= kMostSteps; ++step) {
      weight.name = input;
      weight.tensor = find(input);
      if (weight.tensor != nullptr) return weight;
      const OnnxNode* const node = producer(input);
      if (node == nullptr || node->inputs.empty()) return std::nullopt;
      if (node->operation == "Transpose") {
        weight.rows_are_outputs = !weight.rows_are_outputs;
      } else if (node->operation == "DequantizeLinear") {
        if (weight.scaling.scale != nullptr || !read_scaling(*node, weight.scaling)) {
          return std::nullopt;
        }
      } else if (node->operation != "Cast" && node->operation != "Identity") {
        return std::nullopt;
      }
      input = node->inputs.front();
    }
    return std::nullopt;
  }

  bool read_scaling(const OnnxNode& dequantise, Scaling& scaling) const {
    if (dequantise.inputs.size() < 2) return false;
    scaling.scale = find(dequantise.inputs[1]);
    if (dequantise.inputs.size() > 2) scaling.zero = find(dequantise.inputs[2]);
    return scaling.scale != nullptr;
  }

  // Of a table, which is quantised before or after its rows are looked up.
  std::optional<Scaling> scaling_after(std::string_view table) const {
    Scaling scaling;
    const OnnxNode* node = user(table, "DequantizeLinear");
    if (const OnnxNode* const look_up = user(table, "Gather"); node == nullptr && look_up) {
      node = user(output(*look_up), "DequantizeLinear");
    }
    if (node == nullptr || !read_scaling(*node, scaling)) return std::nullopt;
    return scaling;
  }

  float scalar(const Tensor& tensor, std::string_view name) const {
    if (tensor.elements() != 1) {
      refuse_tensor(Code::unsupported, file_, name, "has more than one scale");
    }
    return finite_floats(tensor, file_, name).front();
  }

  // Keeps a matrix product with a weight under the name of its part, if it is one of a BERT.
  void find_part(const OnnxNode& node) {
    const bool integers = node.operation == "MatMulInteger";
    const bool gemm = node.operation == "Gemm";
    if ((!integers && !gemm && node.operation != "MatMul") || node.inputs.size() < 2) return;
    const std::optional<Weight> weight = resolve(node.inputs[1]);
    if (!weight) return;  // a product of two results
    Part part{*weight, {}};
    std::string_view result = output(node);
    if (integers) {
      result = read_integers(node, part.weight.scaling);
      if (result.empty()) return;
    }
    if (gemm) {
      for (const char* const factor : {"alpha", "beta"}) {
        const OnnxAttribute* const found = node.find(factor);
        if (found != nullptr && found->real != 1) {
          refuse(Code::unsupported, file_, "has a Gemm with a factor");
        }
      }
      const OnnxAttribute* const transpose = node.find("transB");
      if (transpose != nullptr && transpose->integer != 0) {
        part.weight.rows_are_outputs = !part.weight.rows_are_outputs;
      }
      if (node.inputs.size() > 2) part.bias = node.inputs[2];
    } else {
      part.bias = find_bias(result);
    }
    std::string name = part_name(part.bias);
    if (name.empty()) name = part_name(node.name.substr(0, node.name.rfind('/')));
    if (name.empty()) return;
    if (part.bias.empty()) refuse(Code::invalid, file_, "has no bias for " + name);
    if (!parts_.emplace(name, part).second) {
      refuse(Code::invalid, file_, "has two nodes that are " + name);
    }
  }

  // The scales of a product of integers; returns the name of the product as real numbers.
  std::string_view read_integers(const OnnxNode& node, Scaling& scaling) const {
    if (node.inputs.size() > 3) scaling.zero = find(node.inputs[3]);
    const OnnxNode* const cast = user(output(node), "Cast");
    const OnnxNode* const scaled = cast == nullptr ? nullptr : user(output(*cast), "Mul");
    if (scaled == nullptr) return {};
    for (const std::string_view input : scaled->inputs) {
      const OnnxNode* const scales = producer(input);
      if (scales == nullptr || scales->operation != "Mul") continue;
      for (const std::string_view scale : scales->inputs) {
        if (const Tensor* const found = find(scale)) scaling.scale = found;
      }
    }
    return scaling.scale == nullptr ? std::string_view() : output(*scaled);
  }

  std::string_view find_bias(std::string_view result) const {
    const OnnxNode* const sum = user(result, "Add");
    if (sum == nullptr) return {};
    for (const std::string_view input : sum->inputs) {
      if (find(input) != nullptr) return input;
    }
    return {};
  }

  // "a/encoder/layer.0/output/dense" and "a.encoder.layer.0.output.dense.bias" are
  // "encoder.layer.0.output.dense"; empty for what is no part.
  static std::string part_name(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '/', '.');
    if (out.ends_with(".bias")) out.resize(out.size() - 5);
    for (const std::string_view part : kParts) {
      const std::size_t at = out.find(part);
      if (at != std::string::npos && (at == 0 || out[at - 1] == '.')) return out.substr(at);
    }
    return {};
  }

  void find_prefix() {
    constexpr std::string_view kWords = "embeddings.word_embeddings.weight";
    for (const auto& [name, tensor] : graph_.tensors) {
      const std::size_t at = name.find(kWords);
      if (at != std::string::npos) {
        prefix_ = name.substr(0, at);
        return;
      }
    }
    refuse_tensor(Code::invalid, file_, kWords, "is missing: this is no BERT model");
  }

  std::vector<float> vector(std::string_view name, std::size_t size,
                            std::string_view known_as) const {
    const Tensor* const tensor = find(name);
    if (tensor == nullptr) refuse_tensor(Code::invalid, file_, known_as, "is missing");
    if (tensor->shape.size() != 1 || tensor->shape[0] != size) {
      refuse_tensor(Code::invalid, file_, name, "has a wrong shape");
    }
    return finite_floats(*tensor, file_, name);
  }

  void scale(Linear& linear, const Weight& weight) const {
    const bool integers = weight.tensor->type == Type::i8 || weight.tensor->type == Type::u8;
    if (weight.scaling.scale == nullptr) {
      if (integers) {
        refuse_tensor(Code::invalid, file_, weight.name, "is quantised without a scale");
      }
      return;
    }
    const std::vector<float> scales =
        for_outputs(*weight.scaling.scale, linear.outputs, weight.name);
    std::vector<float> zeros(linear.outputs, 0.0F);
    if (weight.scaling.zero != nullptr) {
      zeros = for_outputs(*weight.scaling.zero, linear.outputs, weight.name);
    }
    float* at = linear.weight.data();
    for (std::size_t row = 0; row < linear.inputs; ++row, at += linear.outputs) {
      for (std::size_t i = 0; i < linear.outputs; ++i) at[i] = (at[i] - zeros[i]) * scales[i];
    }
  }

  std::vector<float> for_outputs(const Tensor& tensor, std::size_t outputs,
                                 std::string_view name) const {
    std::vector<float> out = finite_floats(tensor, file_, name);
    if (out.size() == 1) out.assign(outputs, out.front());
    if (out.size() != outputs) {
      refuse_tensor(Code::invalid, file_, name, "has scales that do not fit its shape");
    }
    return out;
  }

  // The constants that the shape of a Reshape ends in.
  std::vector<std::int64_t> shape_tail(const OnnxNode& node) const {
    std::vector<std::int64_t> tail;
    const auto append = [&](const Tensor& tensor) {
      if (tensor.type != Type::i64 || tensor.elements() > 8) return;
      std::vector<float> numbers(tensor.elements());
      read_floats(tensor, 0, numbers);
      for (const float number : numbers) {
        if (std::abs(number) <= float{kMaxHidden})
          tail.push_back(static_cast<std::int64_t>(number));
      }
    };
    if (node.operation != "Reshape" || node.inputs.size() < 2) return tail;
    if (const Tensor* const shape = find(node.inputs[1])) {
      append(*shape);
      return tail;
    }
    const OnnxNode* const parts = producer(node.inputs[1]);
    if (parts == nullptr || parts->operation != "Concat") return tail;
    for (const std::string_view input : parts->inputs) {
      const Tensor* const part = find(input);
      if (part == nullptr) {
        tail.clear();
      } else {
        append(*part);
      }
    }
    return tail;
  }

  const OnnxGraph& graph_;
  std::string_view file_;
  std::map<std::string_view, const OnnxNode*> producers_;
  std::multimap<std::string_view, const OnnxNode*> users_;
  std::map<std::string, Part, std::less<>> parts_;
  std::string prefix_;
};

}  // namespace

BertWeights bert_from_onnx(std::string_view bytes, std::string_view file) {
  const OnnxGraph graph = read_onnx(bytes, file);
  const OnnxSource source(graph, file);
  BertWeights out = assemble_bert(source);
  if (source.count("Erf") + source.count("Gelu") < out.layers.size()) {
    refuse(Code::unsupported, file, "uses another activation than the exact gelu");
  }
  out.heads = source.heads(out.hidden);
  if (const std::optional<float> epsilon = source.norm_epsilon()) out.norm_epsilon = *epsilon;
  return out;
}

}  // namespace strongroom::embed
