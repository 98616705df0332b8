#include "embed/http_embedder.h"

#include <vector>

#include "embed/http_asker.h"

namespace strongroom::embed {

namespace {

using recall::Embedding;
using recall::Side;

bool says_nothing(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

class HttpEmbedder final : public recall::Embedder {
 public:
  explicit HttpEmbedder(const HttpModel& model) : model_(model), asker_(model) {}

  std::string_view model_id() const noexcept override { return model_.model_id; }
  std::size_t dimensions() const noexcept override { return model_.dimensions; }
  recall::EvidenceCurve curve() const noexcept override { return model_.curve; }

  void embed_batch(std::span<const std::string_view> texts, Side side,
                   std::span<Embedding> out) override {
    std::vector<std::string_view> batch;
    std::vector<Embedding*> vectors;
    std::size_t bytes = 0;
    const auto send = [&] {
      if (!batch.empty()) asker_.ask(batch, side, model_.dimensions, vectors);
      batch.clear();
      vectors.clear();
      bytes = 0;
    };
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string_view text = asker_.cut(texts[i]);
      if (says_nothing(text)) {
        out[i].bytes.clear();
        out[i].scale = 0;
        continue;
      }
      const std::size_t more = asker_.bytes(text, side);
      if (batch.size() == kMaxTexts || bytes + more > kMaxTextBytes) send();
      batch.push_back(text);
      vectors.push_back(&out[i]);
      bytes += more;
    }
    send();
  }

 private:
  const HttpModel model_;
  HttpAsker asker_;
};

}  // namespace

std::unique_ptr<recall::Embedder> open_http(const HttpModel& model) {
  check_model(model);
  return std::make_unique<HttpEmbedder>(model);
}

}  // namespace strongroom::embed
