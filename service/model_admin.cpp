// Models: what the owner adds, which bank uses it, and vectors for what is stored already.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "base/json.h"
#include "embed/calibrate.h"
#include "embed/http_embedder.h"
#include "embed/model_folder.h"
#include "recall/builtin_model.h"
#include "recall/index.h"
#include "service/admin_state.h"
#include "service/fill_vectors.h"
#include "service/models.h"
#include "vault/vault.h"

namespace strongroom::service {
namespace {

using Kind = RegisteredModel::Kind;

constexpr std::string_view kNone = "none";
constexpr std::size_t kCacheBytes = std::size_t{64} << 20;

ModelRegistry load(vault::Vault& vault) {
  return ModelRegistry::parse(vault.setting(kModelsSetting).value_or(std::string()));
}

Error no_such_model(const std::string& id) {
  return Error(Code::not_found,
               "There is no model " + json_quoted(id) + " here; `strongroom model ls` lists them.");
}

embed::Pooling parse_pooling(const std::string& name) {
  if (name == "mean") return embed::Pooling::mean;
  if (name == "cls") return embed::Pooling::cls;
  throw Error::invalid("pooling", "must be mean or cls");
}

recall::EvidenceCurve parse_curve(const std::string& text) {
  recall::EvidenceCurve curve{};
  const char* const end = text.data() + text.size();
  const auto low = std::from_chars(text.data(), end, curve.c0);
  const bool comma = low.ec == std::errc() && low.ptr != end && *low.ptr == ',';
  const auto high = comma ? std::from_chars(low.ptr + 1, end, curve.c1) : low;
  const bool whole = comma && high.ec == std::errc() && high.ptr == end;
  if (!whole || !(curve.c0 >= -1 && curve.c0 < curve.c1 && curve.c1 <= 1)) {
    throw Error::invalid("curve", "must be two cosines, LOW,HIGH, as 0.1,0.8");
  }
  return curve;
}

RegisteredModel look_at_folder(const ModelSource& source) {
  embed::FolderOptions options;
  options.weights = source.weights.value_or(std::string());
  if (source.pooling) options.pooling = parse_pooling(*source.pooling);
  options.query_prefix = source.query_prefix;
  options.passage_prefix = source.passage_prefix;
  if (source.max_tokens) options.max_tokens = static_cast<std::size_t>(*source.max_tokens);
  if (source.heads) options.heads = static_cast<std::size_t>(*source.heads);
  if (source.curve) options.curve = parse_curve(*source.curve);
  // Another process may run anywhere.
  std::error_code failed;
  const auto path = std::filesystem::absolute(source.folder, failed);
  if (failed) throw Error::invalid("PATH", "cannot be made absolute: " + failed.message());
  const embed::ModelFolder folder = embed::inspect_folder(path.lexically_normal(), options);
  const bool ranks = folder.kind == embed::Kind::cross_encoder;
  return {folder.model_id, ranks ? Kind::reranker : Kind::folder, embed::to_json(folder)};
}

RegisteredModel look_at_endpoint(const ModelSource& source) {
  if (source.weights || source.pooling || source.max_tokens || source.heads) {
    throw Error::invalid("--url", "goes with no option of a folder");
  }
  embed::HttpOptions options;
  options.url = source.url;
  if (source.shape != "openai" && source.shape != "ollama") {
    throw Error::invalid("shape", "must be openai or ollama");
  }
  options.shape = source.shape == "openai" ? embed::HttpEndpoint::Shape::openai
                                           : embed::HttpEndpoint::Shape::ollama;
  options.model = source.name;
  options.allow_remote = source.allow_remote;
  if (!source.token_file.empty()) {
    options.token_file = std::filesystem::absolute(source.token_file).lexically_normal();
  }
  options.query_prefix = source.query_prefix.value_or(std::string());
  options.passage_prefix = source.passage_prefix.value_or(std::string());
  embed::HttpModel model = embed::inspect_endpoint(options);
  model.curve =
      source.curve ? parse_curve(*source.curve) : embed::calibrate(*embed::open_http(model));
  return {model.model_id, Kind::http, embed::to_json(model)};
}

ModelLine line_of(const RegisteredModel& model) {
  ModelLine line;
  line.id = model.id;
  if (model.kind == Kind::http) {
    const embed::HttpModel http = embed::http_model_from_json(model.description);
    line.kind = "http";
    line.where = http.url;
    line.dimensions = http.dimensions;
  } else {
    const embed::ModelFolder folder = embed::model_folder_from_json(model.description);
    line.kind = model.kind == Kind::reranker ? "reranker" : "folder";
    line.where = folder.path;
    line.dimensions = folder.dimensions;
  }
  return line;
}

ModelLine builtin_line() {
  const auto model = recall::make_builtin_embedder();
  return {std::string(model->model_id()), "built-in", {}, model->dimensions(), {}};
}

void change(vault::Vault& vault, vault::AuditEvent event,
            const std::function<void(ModelRegistry&)>& edit) {
  const auto edited = [&](std::string_view old) {
    ModelRegistry registry = ModelRegistry::parse(old);
    edit(registry);
    return registry.text();
  };
  vault.change_setting(kModelsSetting, edited, std::move(event));
}

void require_unused(const ModelRegistry& registry, const vault::BankInfo& bank,
                    const std::string& id) {
  const auto choice = registry.banks.find(bank.tag);
  if (choice == registry.banks.end()) return;
  if (choice->second.embedder != id && choice->second.reranker != id) return;
  throw Error(Code::conflict, "The bank " + json_quoted(bank.name) +
                                  " uses it: first `strongroom model use none --bank " +
                                  json_quoted(bank.name) + "`.");
}

std::shared_ptr<vault::Bank> require_bank(vault::Vault& vault, const std::string& name) {
  auto bank = vault.open_bank(name);
  if (!bank) throw Error(Code::not_found, "There is no bank " + json_quoted(name) + ".");
  return bank;
}

void drop_vectors(vault::Bank& bank, const std::string& model, const vault::WriteStamp& stamp,
                  vault::AuditEvent event) {
  recall::Index index(bank, {kCacheBytes, recall::kDefaultFanOut});
  vault::BankWrite write = bank.write(stamp);
  recall::IndexWriter rows(index, write);
  for (const recall::VectorSet& set : rows.vector_sets()) {
    if (set.model != model) continue;
    rows.drop_vector_set(set.number);
    rows.finish();
    write.log(std::move(event));
    write.commit();
    return;
  }
}

}  // namespace

std::vector<ModelLine> VaultAdmin::models() {
  vault::Vault& vault = state_->open();
  const ModelRegistry registry = load(vault);
  std::vector<ModelLine> lines = {builtin_line()};
  for (const RegisteredModel& model : registry.models) lines.push_back(line_of(model));
  for (const vault::BankInfo& bank : vault.list_banks()) {
    const auto choice = registry.banks.find(bank.tag);
    for (ModelLine& line : lines) {
      const bool used = choice == registry.banks.end()
                            ? line.id == lines.front().id
                            : line.id == choice->second.embedder ||
                                  line.id == choice->second.reranker ||
                                  (choice->second.embedder.empty() && line.kind == "built-in");
      if (used) line.banks.push_back(bank.name);
    }
  }
  return lines;
}

std::vector<BankVectors> VaultAdmin::bank_vectors() {
  vault::Vault& vault = state_->open();
  const ModelRegistry registry = load(vault);
  const std::string builtin = builtin_line().id;
  std::vector<BankVectors> lines;
  for (const vault::BankInfo& info : vault.list_banks()) {
    const auto bank = require_bank(vault, info.name);
    recall::Index index(*bank, {kCacheBytes, recall::kDefaultFanOut});
    vault::BankRead read = bank->read();
    const recall::IndexView view(index, read);
    const RegisteredModel* const own = registry.embedder_of(info.tag);
    bool own_seen = own == nullptr, own_answers = false;
    const std::size_t first = lines.size();
    for (const recall::VectorSet& set : view.vector_sets()) {
      BankVectors line{info.name, set.model, false, view.row_end() - 1,
                       view.row_end() - std::max<recall::Row>(set.filled, 1)};
      if (own != nullptr && set.model == own->id) {
        own_seen = true;
        own_answers = line.used = line.behind == 0;
      }
      lines.push_back(line);
    }
    if (!own_seen)
      lines.push_back({info.name, own->id, false, view.row_end() - 1, view.row_end() - 1});
    for (std::size_t i = first; i < lines.size(); ++i) {
      if (!own_answers && lines[i].model == builtin) lines[i].used = true;
    }
  }
  return lines;
}

ModelLine VaultAdmin::add_model(const ModelSource& source) {
  state_->require_write();
  if (source.folder.empty() == source.url.empty()) {
    throw Error::invalid("PATH", "or --url must be given, and not both");
  }
  vault::Vault& vault = state_->open();
  const RegisteredModel model =
      source.url.empty() ? look_at_folder(source) : look_at_endpoint(source);
  change(vault, state_->event("model add"), [&](ModelRegistry& registry) {
    std::erase_if(registry.models, [&](const RegisteredModel& old) { return old.id == model.id; });
    const auto at = std::find_if(registry.models.begin(), registry.models.end(),
                                 [&](const RegisteredModel& old) { return old.id > model.id; });
    registry.models.insert(at, model);
  });
  return line_of(model);
}

ModelLine VaultAdmin::use_model(const std::string& bank, const std::string& id, bool reranker) {
  state_->require_write();
  vault::Vault& vault = state_->open();
  const std::string tag = require_bank(vault, bank)->tag();
  ModelLine line = builtin_line();
  const bool none = id == kNone || id == line.id;
  change(vault, state_->event("model use"), [&](ModelRegistry& registry) {
    const RegisteredModel* const model = none ? nullptr : registry.find(id);
    if (!none && model == nullptr) throw no_such_model(id);
    if (model != nullptr) line = line_of(*model);
    const bool ranks = none ? reranker : model->kind == Kind::reranker;
    ModelRegistry::Choice& choice = registry.banks[tag];
    (ranks ? choice.reranker : choice.embedder) = none ? std::string() : id;
  });
  return line;
}

std::uint64_t VaultAdmin::fill_model(
    const std::string& name, const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  state_->require_write();
  vault::Vault& vault = state_->open();
  const auto bank = require_bank(vault, name);
  const ModelRegistry registry = load(vault);
  OpenModels open;
  recall::Index index(*bank, {kCacheBytes, recall::kDefaultFanOut});
  std::uint64_t made = 0;
  FillOptions options;
  options.event = state_->event("model fill");
  options.progress = progress;
  const auto fill = [&](recall::Embedder& model) {
    std::uint64_t behind = 0;
    {
      vault::BankRead read = bank->read();
      behind = rows_behind(recall::IndexView(index, read), model);
    }
    made += behind;
    made -= fill_vectors(
        *bank, index, model, [&] { return vault.stamp(); }, options);
  };
  fill(open.builtin());
  if (const RegisteredModel* own = registry.embedder_of(bank->tag())) fill(open.embedder(*own));
  return made;
}

void VaultAdmin::remove_model(const std::string& id) {
  state_->require_write();
  vault::Vault& vault = state_->open();
  if (id == builtin_line().id) {
    throw Error::invalid("ID", "names the built-in model, which is a part of the program");
  }
  const std::vector<vault::BankInfo> banks = vault.list_banks();
  if (load(vault).find(id) == nullptr) throw no_such_model(id);
  // Vectors say nearly what the texts say: they go with it. First, so that a model that is still
  // listed can be removed again when this is stopped half-way.
  for (const vault::BankInfo& bank : banks) {
    require_unused(load(vault), bank, id);
    drop_vectors(*require_bank(vault, bank.name), id, vault.stamp(), state_->event("model rm"));
  }
  change(vault, state_->event("model rm"), [&](ModelRegistry& registry) {
    for (const vault::BankInfo& bank : banks) require_unused(registry, bank, id);
    std::erase_if(registry.models, [&](const RegisteredModel& old) { return old.id == id; });
  });
}

}  // namespace strongroom::service
