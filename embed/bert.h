// BERT's encoder (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019):
// absolute positions, layer norm after each part, the exact gelu. One text at a time and without
// padding, so that nothing else in a batch can change a bit of its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "embed/blas.h"
#include "embed/tensor.h"

namespace strongroom::embed {

/// Rows that are looked up one by one stay as the file has them: (x - zero) * scale.
struct Table {
  std::size_t rows = 0, columns = 0;
  Type type = Type::f32;
  float scale = 1, zero = 0;
  std::vector<char> bytes;

  /// Adds row `i` to `sum`; `row` is for it to work in. Both have as many as there are columns.
  void add_row(std::size_t i, std::span<float> row, std::span<float> sum) const noexcept;
};

/// y = x weight + bias.
struct Linear {
  std::size_t inputs = 0, outputs = 0;
  std::vector<float> weight;  // row-major, a row for each input
  std::vector<float> bias;
};

struct Norm {
  std::vector<float> weight, bias;
};

struct Layer {
  Linear attention;  // query, key and value side by side
  Linear attention_output;
  Norm attention_norm;
  Linear intermediate;
  Linear output;
  Norm output_norm;
};

/// All numbers are finite and all shapes fit each other: see check_weights.
struct BertWeights {
  std::size_t hidden = 0, intermediate = 0;
  std::size_t heads = 0;  // 0 when the weights do not tell
  float norm_epsilon = 1e-12F;
  Table words, positions, types;
  Norm embedding_norm;
  std::vector<Layer> layers;
  std::optional<Linear> pooler, classifier;  // of a cross-encoder
};

inline constexpr std::size_t kMaxHidden = 4096;
inline constexpr std::size_t kMaxLayers = 96;

/// The weights of a file, by the names that Hugging Face's BertModel gives them, with any prefix.
/// `file` is its name in errors. Throws Error naming the tensor: invalid for one that is missing or
/// has the wrong shape, corrupt for numbers that are not finite, unsupported for other models.
BertWeights bert_from_safetensors(std::string_view bytes, std::string_view file);
/// Weights that exporters rename are found by the node that uses them, quantised ones become
/// floats.
BertWeights bert_from_onnx(std::string_view bytes, std::string_view file);

/// Shares its weights with any number of threads; buffers are of the caller.
class Bert {
 public:
  /// What of a text is being worked on; wiped when it goes.
  class Workspace {
   public:
    Workspace() = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace();

   private:
    friend class Bert;
    std::vector<float> hidden_, projected_, context_, wide_, scores_;
  };

  /// `weights.heads` is set and divides `hidden`. Throws as Blas::instance does.
  explicit Bert(BertWeights weights);

  const BertWeights& weights() const noexcept { return weights_; }

  /// The last layer's vectors, one of `hidden` floats a token; valid until the next call. There is
  /// at least one token, each below words.rows, and no more than positions.rows; `types` are as
  /// many, each below types.rows, or none for all 0.
  std::span<const float> run(std::span<const std::uint32_t> tokens,
                             std::span<const std::uint32_t> types, Workspace& work) const;

  /// A cross-encoder's answer to the vector of the first token: the logit of its one label.
  float classify(std::span<const float> first, Workspace& work) const;

 private:
  void embed(std::span<const std::uint32_t> tokens, std::span<const std::uint32_t> types,
             Workspace& work) const;
  void apply(const Linear& linear, const float* in, std::size_t count, float* out) const;
  void attend(std::size_t count, Workspace& work) const;

  BertWeights weights_;
  const Blas& blas_;
};

}  // namespace strongroom::embed
