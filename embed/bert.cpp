#include "embed/bert.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/wipe.h"
#include "embed/bert_kernels.h"

namespace strongroom::embed {

namespace {

void wipe_floats(std::vector<float>& values) noexcept {
  wipe(values.data(), values.capacity() * sizeof(float));
}

// At least `size` floats that hold anything; what a smaller buffer held is wiped.
float* room(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) {
    wipe_floats(buffer);
    buffer = std::vector<float>(size);
  }
  return buffer.data();
}

}  // namespace

void Table::add_row(std::size_t i, std::span<float> row, std::span<float> sum) const noexcept {
  const Tensor all{type, {}, {bytes.data(), bytes.size()}};
  read_floats(all, i * columns, row.first(columns));
  for (std::size_t d = 0; d < columns; ++d) sum[d] += (row[d] - zero) * scale;
}

Bert::Workspace::~Workspace() {
  for (auto* const each : {&hidden_, &projected_, &context_, &wide_, &scores_}) wipe_floats(*each);
}

Bert::Bert(BertWeights weights) : weights_(std::move(weights)), blas_(Blas::instance()) {}

void Bert::apply(const Linear& linear, const float* in, std::size_t count, float* out) const {
  for (std::size_t i = 0; i < count; ++i) {
    std::copy(linear.bias.begin(), linear.bias.end(), out + i * linear.outputs);
  }
  blas_.multiply({.m = count,
                  .n = linear.outputs,
                  .k = linear.inputs,
                  .a = in,
                  .lda = linear.inputs,
                  .b = linear.weight.data(),
                  .ldb = linear.outputs,
                  .c = out,
                  .ldc = linear.outputs,
                  .beta = 1});
}

void Bert::embed(std::span<const std::uint32_t> tokens, std::span<const std::uint32_t> types,
                 Workspace& work) const {
  const std::size_t hidden = weights_.hidden;
  const std::span<float> row(work.context_.data(), hidden);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::span<float> sum(work.hidden_.data() + i * hidden, hidden);
    std::fill(sum.begin(), sum.end(), 0.0F);
    weights_.words.add_row(tokens[i], row, sum);
    weights_.types.add_row(types.empty() ? 0 : types[i], row, sum);
    weights_.positions.add_row(i, row, sum);
  }
  normalise(work.hidden_.data(), tokens.size(), hidden, weights_.embedding_norm.weight.data(),
            weights_.embedding_norm.bias.data(), weights_.norm_epsilon);
}

// From query, key and value of every head in projected_ to what the heads see, in context_.
void Bert::attend(std::size_t count, Workspace& work) const {
  const std::size_t hidden = weights_.hidden;
  const std::size_t size = hidden / weights_.heads;
  const std::size_t stride = 3 * hidden;
  const float factor = 1.0F / std::sqrt(static_cast<float>(size));
  float* const scores = work.scores_.data();
  for (std::size_t at = 0; at < hidden; at += size) {
    const float* const query = work.projected_.data() + at;
    blas_.multiply({.m = count,
                    .n = count,
                    .k = size,
                    .a = query,
                    .lda = stride,
                    .b = query + hidden,
                    .ldb = stride,
                    .c = scores,
                    .ldc = count,
                    .transposed = true});
    softmax(scores, count, count, factor);
    blas_.multiply({.m = count,
                    .n = size,
                    .k = count,
                    .a = scores,
                    .lda = count,
                    .b = query + 2 * hidden,
                    .ldb = stride,
                    .c = work.context_.data() + at,
                    .ldc = hidden});
  }
}

std::span<const float> Bert::run(std::span<const std::uint32_t> tokens,
                                 std::span<const std::uint32_t> types, Workspace& work) const {
  const std::size_t count = tokens.size();
  const std::size_t size = count * weights_.hidden;
  float* const hidden = room(work.hidden_, size);
  float* const projected = room(work.projected_, 3 * size);
  float* const context = room(work.context_, size);
  float* const wide = room(work.wide_, count * weights_.intermediate);
  room(work.scores_, count * count);

  embed(tokens, types, work);
  // What a part makes is added to what it was given, and then normalised.
  const auto add_norm = [&](const float* made, const Norm& norm) {
    add(hidden, made, size);
    normalise(hidden, count, weights_.hidden, norm.weight.data(), norm.bias.data(),
              weights_.norm_epsilon);
  };
  for (const Layer& layer : weights_.layers) {
    apply(layer.attention, hidden, count, projected);
    attend(count, work);
    apply(layer.attention_output, context, count, projected);
    add_norm(projected, layer.attention_norm);
    apply(layer.intermediate, hidden, count, wide);
    gelu(wide, count * weights_.intermediate);
    apply(layer.output, wide, count, projected);
    add_norm(projected, layer.output_norm);
  }
  return {hidden, size};
}

float Bert::classify(std::span<const float> first, Workspace& work) const {
  float* const pooled = room(work.projected_, weights_.hidden);
  apply(*weights_.pooler, first.data(), 1, pooled);
  for (std::size_t i = 0; i < weights_.hidden; ++i) pooled[i] = std::tanh(pooled[i]);
  float logit = 0;
  apply(*weights_.classifier, pooled, 1, &logit);
  return logit;
}

}  // namespace strongroom::embed
