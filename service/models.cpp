#include "service/models.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"
#include "embed/http_embedder.h"
#include "embed/model_folder.h"
#include "recall/builtin_model.h"
#include "service/json_members.h"
#include "vault/format.h"

namespace strongroom::service {
namespace {

// In the order of RegisteredModel::Kind.
constexpr std::array<std::string_view, 3> kKinds = {"folder", "reranker", "http"};

void take(ModelRegistry& registry, const Json& json) {
  const JsonMembers all(json, {"models", "banks"});
  const Json* const models = all.array("models");
  const Json* const banks = all.array("banks");
  if (models == nullptr || banks == nullptr) throw Error::invalid("models", "is incomplete");
  for (const Json& item : models->items()) {
    const JsonMembers model(item, {"id", "kind", "model"});
    const auto kind = model.choice("kind", {kKinds.begin(), kKinds.end()});
    if (!kind || model.object("model") == nullptr) throw Error::invalid("models", "is incomplete");
    registry.models.push_back({std::string(model.required_string("id")),
                               static_cast<RegisteredModel::Kind>(*kind),
                               std::string(model.object("model")->raw())});
  }
  for (const Json& item : banks->items()) {
    const JsonMembers bank(item, {"tag", "embedder", "reranker"});
    registry.banks[std::string(bank.required_string("tag"))] = {bank.text("embedder"),
                                                                bank.text("reranker")};
  }
}

}  // namespace

ModelRegistry ModelRegistry::parse(std::string_view text) {
  ModelRegistry registry;
  if (text.empty()) return registry;
  try {
    take(registry, Json::parse(text, kModelsSetting));
  } catch (const Error& error) {
    // Only this program writes it.
    vault::throw_corrupt("the list of models cannot be read: " + error.text());
  }
  return registry;
}

std::string ModelRegistry::text() const {
  JsonWriter writer;
  writer.begin_object().key("models").begin_array();
  for (const RegisteredModel& model : models) {
    writer.begin_object().member("id", model.id);
    writer.member("kind", kKinds[static_cast<std::size_t>(model.kind)]);
    writer.key("model").raw(model.description).end_object();
  }
  writer.end_array().key("banks").begin_array();
  for (const auto& [tag, choice] : banks) {
    if (choice.empty()) continue;
    writer.begin_object().member("tag", tag).member("embedder", choice.embedder);
    writer.member("reranker", choice.reranker).end_object();
  }
  return writer.end_array().end_object().take();
}

const RegisteredModel* ModelRegistry::find(std::string_view id) const {
  const auto at = std::find_if(models.begin(), models.end(),
                               [&](const RegisteredModel& model) { return model.id == id; });
  return at == models.end() ? nullptr : &*at;
}

const RegisteredModel* ModelRegistry::embedder_of(std::string_view tag) const {
  const auto at = banks.find(tag);
  return at == banks.end() ? nullptr : find(at->second.embedder);
}

const RegisteredModel* ModelRegistry::reranker_of(std::string_view tag) const {
  const auto at = banks.find(tag);
  return at == banks.end() ? nullptr : find(at->second.reranker);
}

namespace {

struct Failure {
  std::string text;
  Code code = Code::internal;
  TimeMs time = 0;
};

// Remembers when the model did not answer.
class Watched final : public recall::Embedder {
 public:
  Watched(std::unique_ptr<recall::Embedder> model, Failure& failure)
      : model_(std::move(model)), failure_(failure) {}

  std::string_view model_id() const noexcept override { return model_->model_id(); }
  std::size_t dimensions() const noexcept override { return model_->dimensions(); }
  recall::EvidenceCurve curve() const noexcept override { return model_->curve(); }
  void embed_batch(std::span<const std::string_view> texts, recall::Side side,
                   std::span<recall::Embedding> out) override {
    try {
      model_->embed_batch(texts, side, out);
    } catch (const Error& error) {
      failure_ = {error.text(), error.code(), now_ms()};
      throw;
    }
  }

 private:
  std::unique_ptr<recall::Embedder> model_;
  Failure& failure_;
};

}  // namespace

struct OpenModels::Opened {
  std::string description;  // that it was opened with
  Failure failure;          // why it is not asked now
  std::unique_ptr<recall::Embedder> embedder;
  std::unique_ptr<embed::Reranker> reranker;
};

OpenModels::OpenModels() = default;
OpenModels::~OpenModels() = default;

recall::Embedder& OpenModels::builtin() {
  if (!builtin_) builtin_ = recall::make_builtin_embedder();
  return *builtin_;
}

OpenModels::Opened& OpenModels::open(const RegisteredModel& model) {
  std::unique_ptr<Opened>& at = opened_[model.id];
  if (!at || at->description != model.description) {
    at = std::make_unique<Opened>();
    at->description = model.description;
  }
  if (!at->failure.text.empty()) {
    if (now_ms() - at->failure.time < kRetry) {
      throw Error::verbatim(at->failure.code, at->failure.text);
    }
    at->failure = {};
  }
  if (at->embedder || at->reranker) return *at;
  try {
    switch (model.kind) {
      case RegisteredModel::Kind::folder:
        at->embedder = std::make_unique<Watched>(
            embed::open_encoder(embed::model_folder_from_json(model.description)), at->failure);
        break;
      case RegisteredModel::Kind::reranker:
        at->reranker = embed::open_reranker(embed::model_folder_from_json(model.description));
        break;
      case RegisteredModel::Kind::http:
        at->embedder = std::make_unique<Watched>(
            embed::open_http(embed::http_model_from_json(model.description)), at->failure);
        break;
    }
  } catch (const Error& error) {
    at->failure = {error.text(), error.code(), now_ms()};
    throw;
  }
  return *at;
}

recall::Embedder& OpenModels::embedder(const RegisteredModel& model) {
  const Opened& at = open(model);
  if (!at.embedder) throw Error(Code::internal, "A reranker was asked for vectors.");
  return *at.embedder;
}

embed::Reranker& OpenModels::reranker(const RegisteredModel& model) {
  const Opened& at = open(model);
  if (!at.reranker) throw Error(Code::internal, "An embedder was asked to rank.");
  return *at.reranker;
}

}  // namespace strongroom::service
