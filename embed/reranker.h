// A cross-encoder: question and passage are read together, so it tells better than two vectors
// whether the one answers the other, and takes a run through the model for each passage.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "embed/model_folder.h"

namespace strongroom::embed {

/// Reuses its buffers, which hold what the texts say, and wipes them; one thread at a time.
class Reranker {
 public:
  virtual ~Reranker() = default;

  /// Stands for one exact model, as recall::Embedder's does.
  virtual std::string_view model_id() const noexcept = 0;

  /// out[i] becomes how well passages[i] answers the query, from 0 to 1; both have the same size.
  /// Texts are valid UTF-8 of any length: a query is cut off at half of what the model reads, a
  /// passage where it is full. The same pair gives the same score, whatever else is in the span.
  /// Throws Error when the model fails.
  virtual void score(std::string_view query, std::span<const std::string_view> passages,
                     std::span<float> out) = 0;

 protected:
  Reranker() = default;
  Reranker(const Reranker&) = default;
  Reranker(Reranker&&) = default;
  Reranker& operator=(const Reranker&) = default;
  Reranker& operator=(Reranker&&) = default;
};

/// The reranker of a folder of kind cross_encoder that was inspected. Errors as open_encoder's.
std::unique_ptr<Reranker> open_reranker(const ModelFolder& folder);

}  // namespace strongroom::embed
