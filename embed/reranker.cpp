#include "embed/reranker.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/wipe.h"
#include "embed/loaded_model.h"

namespace strongroom::embed {

namespace {

using Ids = std::vector<std::uint32_t>;

void wipe_ids(Ids& ids) noexcept {
  wipe(ids.data(), ids.capacity() * sizeof ids[0]);
}

class TransformerReranker final : public Reranker {
 public:
  TransformerReranker(const ModelFolder& folder, LoadedModel model)
      : id_(folder.model_id),
        model_(std::move(model)),
        bert_(std::move(model_.weights)),
        tokenizer_(model_.tokenizer()) {
    constexpr std::size_t kMore = recall::WordPiece::kMostPieces;
    for (Ids* const each : {&query_, &passage_, &tokens_, &types_}) {
      each->reserve(model_.max_tokens + kMore);
    }
  }
  TransformerReranker(const TransformerReranker&) = delete;
  TransformerReranker& operator=(const TransformerReranker&) = delete;
  ~TransformerReranker() override {
    for (Ids* const each : {&query_, &passage_, &tokens_, &types_}) wipe_ids(*each);
  }

  std::string_view model_id() const noexcept override { return id_; }

  void score(std::string_view query, std::span<const std::string_view> passages,
             std::span<float> out) override {
    const std::size_t most = model_.max_tokens - 3;  // [CLS], and [SEP] twice
    tokenizer_.tokenize(query, most / 2, query_);
    for (std::size_t i = 0; i < passages.size(); ++i) {
      tokenizer_.tokenize(passages[i], most - query_.size(), passage_);
      pair_up();
      const std::span<const float> vectors = bert_.run(tokens_, types_, work_);
      const float logit = bert_.classify(vectors.first(bert_.weights().hidden), work_);
      out[i] = 1 / (1 + std::exp(-logit));
    }
  }

 private:
  // [CLS] query [SEP] passage [SEP]; what belongs to the passage is of type 1.
  void pair_up() {
    tokens_.assign(1, model_.vocabulary.start);
    tokens_.insert(tokens_.end(), query_.begin(), query_.end());
    tokens_.push_back(model_.vocabulary.end);
    types_.assign(tokens_.size(), 0);
    tokens_.insert(tokens_.end(), passage_.begin(), passage_.end());
    tokens_.push_back(model_.vocabulary.end);
    types_.resize(tokens_.size(), 1);
  }

  std::string id_;
  LoadedModel model_;  // without its weights, which are in bert_
  Bert bert_;
  recall::WordPiece tokenizer_;
  Bert::Workspace work_;
  Ids query_, passage_, tokens_, types_;
};

}  // namespace

std::unique_ptr<Reranker> make_reranker(const ModelFolder& folder, LoadedModel model) {
  return std::make_unique<TransformerReranker>(folder, std::move(model));
}

std::unique_ptr<Reranker> open_reranker(const ModelFolder& folder) {
  if (folder.kind != Kind::cross_encoder) throw Error::invalid("model", "is no cross-encoder");
  return make_reranker(folder, load_model(folder));
}

}  // namespace strongroom::embed
