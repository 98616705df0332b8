#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/wipe.h"
#include "embed/loaded_model.h"

namespace strongroom::embed {

namespace {

using recall::Embedding;
using recall::Side;
using recall::WordPiece;

// Fewer texts are not worth a thread; queries come one by one.
constexpr std::size_t kTextsOfThread = 4;
constexpr std::size_t kMostThreads = 2;

// What one thread works with; wiped when it goes.
class Worker {
 public:
  Worker(const LoadedModel& model, const Bert& bert, const WordPiece& tokenizer)
      : model_(model), bert_(bert), tokenizer_(tokenizer), sum_(bert.weights().hidden) {
    tokens_.reserve(model.max_tokens + WordPiece::kMostPieces);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    wipe(tokens_.data(), tokens_.capacity() * sizeof tokens_[0]);
    wipe(sum_.data(), sum_.size() * sizeof sum_[0]);
  }

  void embed(std::string_view text, const std::string& prefix, Embedding& out) {
    if (!tokenize(text, prefix)) {
      std::fill(sum_.begin(), sum_.end(), 0.0F);
    } else {
      pool(bert_.run(tokens_, {}, work_));
    }
    recall::quantise(sum_, out);
  }

 private:
  // False when there is nothing of the text to read.
  bool tokenize(std::string_view text, const std::string& prefix) {
    const std::size_t most = model_.max_tokens - 2;  // [CLS] and [SEP]
    std::size_t prefix_tokens = 0;
    if (!prefix.empty()) {
      tokenizer_.tokenize(prefix, most, tokens_);
      prefix_tokens = tokens_.size();
      text_.clear();
      text_.append(prefix);
      text_.append(text);
      text = text_.view();
    }
    tokenizer_.tokenize(text, most, tokens_);
    if (tokens_.size() <= prefix_tokens) return false;
    tokens_.insert(tokens_.begin(), model_.vocabulary.start);
    tokens_.push_back(model_.vocabulary.end);
    return true;
  }

  void pool(std::span<const float> vectors) {
    const std::size_t size = sum_.size();
    std::copy_n(vectors.begin(), size, sum_.begin());
    if (model_.pooling == Pooling::cls) return;
    for (std::size_t at = size; at < vectors.size(); at += size) {
      for (std::size_t d = 0; d < size; ++d) sum_[d] += vectors[at + d];
    }
  }

  const LoadedModel& model_;
  const Bert& bert_;
  const WordPiece& tokenizer_;
  Bert::Workspace work_;
  SecretBytes text_;
  std::vector<std::uint32_t> tokens_;
  std::vector<float> sum_;
};

class TransformerEmbedder final : public recall::Embedder {
 public:
  TransformerEmbedder(const ModelFolder& folder, LoadedModel model)
      : id_(folder.model_id),
        curve_(folder.curve),
        model_(std::move(model)),
        bert_(std::move(model_.weights)),
        tokenizer_(model_.tokenizer()) {
    workers_.push_back(std::make_unique<Worker>(model_, bert_, tokenizer_));
  }

  std::string_view model_id() const noexcept override { return id_; }
  std::size_t dimensions() const noexcept override { return bert_.weights().hidden; }
  recall::EvidenceCurve curve() const noexcept override { return curve_; }

  void embed_batch(std::span<const std::string_view> texts, Side side,
                   std::span<Embedding> out) override {
    const std::string& prefix = side == Side::query ? model_.query_prefix : model_.passage_prefix;
    const std::size_t threads =
        std::min({texts.size() / kTextsOfThread, kMostThreads,
                  std::size_t{std::max(1u, std::thread::hardware_concurrency())}});
    if (threads < 2) {
      for (std::size_t i = 0; i < texts.size(); ++i) workers_[0]->embed(texts[i], prefix, out[i]);
      return;
    }
    while (workers_.size() < threads) {
      workers_.push_back(std::make_unique<Worker>(model_, bert_, tokenizer_));
    }
    share(texts, prefix, out, threads);
  }

 private:
  // Whoever is free takes the next text.
  void share(std::span<const std::string_view> texts, const std::string& prefix,
             std::span<Embedding> out, std::size_t threads) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failed;
    const auto work = [&](Worker& worker) noexcept {
      try {
        for (std::size_t i = next++; i < texts.size(); i = next++) {
          worker.embed(texts[i], prefix, out[i]);
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failed = std::current_exception();
        next = texts.size();
      }
    };
    {
      std::vector<std::jthread> others;
      try {
        for (std::size_t i = 1; i < threads; ++i) {
          others.emplace_back([&work, worker = workers_[i].get()] { work(*worker); });
        }
      } catch (const std::system_error&) {
        // No thread is to be had: this one does it all.
      }
      work(*workers_[0]);
    }
    if (failed) std::rethrow_exception(failed);
  }

  std::string id_;
  recall::EvidenceCurve curve_;
  LoadedModel model_;  // without its weights, which are in bert_
  Bert bert_;
  WordPiece tokenizer_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

std::unique_ptr<recall::Embedder> make_encoder(const ModelFolder& folder, LoadedModel model) {
  return std::make_unique<TransformerEmbedder>(folder, std::move(model));
}

std::unique_ptr<recall::Embedder> open_encoder(const ModelFolder& folder) {
  if (folder.kind != Kind::encoder) throw Error::invalid("model", "is no encoder");
  return make_encoder(folder, load_model(folder));
}

}  // namespace strongroom::embed
