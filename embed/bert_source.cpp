#include "embed/bert_source.h"

#include <algorithm>
#include <cmath>

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxRows = 1u << 20;

bool all_finite(std::span<const float> values) noexcept {
  // A sum of products with 0 is 0, unless one of them is not finite.
  float sum = 0;
  for (const float value : values) sum += value * 0.0F;
  return sum == 0;
}

Norm read_norm(const BertSource& source, std::string_view name, std::size_t size) {
  const std::string prefix(name);
  // The names of the first releases.
  const bool old = source.has_vector(prefix + ".gamma");
  return {source.vector(prefix + (old ? ".gamma" : ".weight"), size),
          source.vector(prefix + (old ? ".beta" : ".bias"), size)};
}

// Three matrices of the same inputs beside each other, so that one product does for all.
Linear beside(const Linear& query, const Linear& key, const Linear& value) {
  const std::size_t size = query.outputs;
  Linear out{query.inputs, 3 * size, std::vector<float>(query.inputs * 3 * size), {}};
  auto at = out.weight.begin();
  for (std::size_t row = 0; row < out.inputs; ++row) {
    for (const Linear* const part : {&query, &key, &value}) {
      at = std::copy_n(part->weight.begin() + static_cast<std::ptrdiff_t>(row * size), size, at);
    }
  }
  for (const Linear* const part : {&query, &key, &value}) {
    out.bias.insert(out.bias.end(), part->bias.begin(), part->bias.end());
  }
  return out;
}

Layer read_layer(const BertSource& source, const std::string& prefix, std::size_t hidden) {
  const auto square = [&](std::string_view name) {
    return source.linear(prefix + std::string(name), hidden, hidden);
  };
  Layer layer;
  layer.attention = beside(square(".attention.self.query"), square(".attention.self.key"),
                           square(".attention.self.value"));
  layer.attention_output = square(".attention.output.dense");
  layer.attention_norm = read_norm(source, prefix + ".attention.output.LayerNorm", hidden);
  layer.intermediate = source.linear(prefix + ".intermediate.dense", hidden, 0);
  layer.output = source.linear(prefix + ".output.dense", layer.intermediate.outputs, hidden);
  layer.output_norm = read_norm(source, prefix + ".output.LayerNorm", hidden);
  return layer;
}

Table read_table(const BertSource& source, std::string_view name, std::size_t columns) {
  Table table = source.table(name);
  if (columns != 0 && table.columns != columns) {
    refuse_tensor(Code::invalid, source.file(), name, "has a wrong shape");
  }
  return table;
}

std::string layer_name(std::size_t i) {
  return "encoder.layer." + std::to_string(i);
}

// Up to the last one; a layer of which nothing is left is missed.
std::size_t count_layers(const BertSource& source) {
  std::size_t count = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i <= kMaxLayers; ++i) {
    if (!source.has_any(layer_name(i) + ".")) continue;
    ++count;
    last = i + 1;
    if (count != last) {
      refuse(Code::invalid, source.file(), "lacks layer " + std::to_string(count - 1));
    }
  }
  if (count > kMaxLayers) refuse(Code::too_large, source.file(), "has too many layers");
  return std::max<std::size_t>(count, 1);  // the first is missed by its parts
}

}  // namespace

std::vector<float> finite_floats(const Tensor& tensor, std::string_view file,
                                 std::string_view name) {
  if (tensor.type == Type::other) {
    refuse_tensor(Code::unsupported, file, name, "has a type that weights cannot have");
  }
  std::vector<float> out(tensor.elements());
  read_floats(tensor, 0, out);
  if (!all_finite(out)) {
    refuse_tensor(Code::corrupt, file, name, "holds a number that is not finite");
  }
  return out;
}

std::vector<float> transposed(std::span<const float> matrix, std::size_t rows,
                              std::size_t columns) {
  constexpr std::size_t kBlock = 16;  // so that both sides stay in the cache
  std::vector<float> out(matrix.size());
  for (std::size_t r = 0; r < rows; r += kBlock) {
    for (std::size_t c = 0; c < columns; c += kBlock) {
      for (std::size_t i = r; i < std::min(r + kBlock, rows); ++i) {
        for (std::size_t j = c; j < std::min(c + kBlock, columns); ++j) {
          out[j * rows + i] = matrix[i * columns + j];
        }
      }
    }
  }
  return out;
}

Table make_table(const Tensor& tensor, std::string_view file, std::string_view name) {
  if (tensor.shape.size() != 2 || tensor.shape[0] == 0 || tensor.shape[0] > kMaxRows ||
      tensor.shape[1] == 0 || tensor.shape[1] > kMaxHidden) {
    refuse_tensor(Code::invalid, file, name, "has a wrong shape");
  }
  if (tensor.type == Type::other) {
    refuse_tensor(Code::unsupported, file, name, "has a type that weights cannot have");
  }
  Table table;
  table.rows = tensor.shape[0];
  table.columns = tensor.shape[1];
  table.type = tensor.type;
  std::vector<float> row(table.columns);
  for (std::size_t i = 0; i < table.rows; ++i) {
    read_floats(tensor, i * table.columns, row);
    if (!all_finite(row)) {
      refuse_tensor(Code::corrupt, file, name, "holds a number that is not finite");
    }
  }
  table.bytes.assign(tensor.bytes.begin(), tensor.bytes.end());
  return table;
}

BertWeights assemble_bert(const BertSource& source) {
  BertWeights out;
  out.words = read_table(source, "embeddings.word_embeddings", 0);
  out.hidden = out.words.columns;
  out.positions = read_table(source, "embeddings.position_embeddings", out.hidden);
  out.types = read_table(source, "embeddings.token_type_embeddings", out.hidden);
  out.embedding_norm = read_norm(source, "embeddings.LayerNorm", out.hidden);
  const std::size_t layers = count_layers(source);
  for (std::size_t i = 0; i < layers; ++i) {
    out.layers.push_back(read_layer(source, layer_name(i), out.hidden));
    const std::size_t wide = out.layers.back().intermediate.outputs;
    if (out.intermediate != 0 && out.intermediate != wide) {
      refuse(Code::unsupported, source.file(), "has layers of different sizes");
    }
    out.intermediate = wide;
  }
  if (source.has_linear("classifier")) {
    out.pooler = source.linear("pooler.dense", out.hidden, out.hidden);
    out.classifier = source.linear("classifier", out.hidden, 0);
    if (out.classifier->outputs != 1) {
      refuse_tensor(Code::unsupported, source.file(), "classifier.weight",
                    "has more than one label: it is no reranker");
    }
  }
  return out;
}

}  // namespace strongroom::embed
