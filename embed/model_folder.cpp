#include "embed/model_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "crypto/sha256.h"
#include "embed/calibrate.h"
#include "embed/loaded_model.h"
#include "embed/reranker.h"
#include "embed/tensor.h"

namespace strongroom::embed {

namespace {

constexpr std::string_view kIdPrefix = "tf-";
constexpr std::size_t kIdDigits = 16;

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::canonical(path, failed);
  if (failed) throw Error(Code::not_found, "The folder of the model does not exist.");
  return whole.string();
}

// Runs texts through the model; an encoder's curve comes of it.
void try_out(ModelFolder& folder, LoadedModel model, const FolderOptions& options) {
  constexpr std::string_view kPassage = "The deploy key was rotated on Monday.";
  if (folder.kind == Kind::cross_encoder) {
    float score = 0;
    make_reranker(folder, std::move(model))
        ->score("When was the key rotated?", {&kPassage, 1}, {&score, 1});
    if (score >= 0 && score <= 1) return;
    refuse(Code::invalid, folder.files.front().name, "gives no score for a plain text");
  }
  const std::unique_ptr<recall::Embedder> encoder = make_encoder(folder, std::move(model));
  recall::Embedding vector;
  if (!encoder->embed(kPassage, recall::Side::passage, vector)) {
    refuse(Code::invalid, folder.files.front().name, "gives no vector for a plain text");
  }
  folder.curve = options.curve ? *options.curve : calibrate(*encoder);
}

}  // namespace

// Everything that a vector depends on, each part with its name, so that no two folders read alike.
std::string make_model_id(const ModelFolder& folder) {
  JsonWriter out;
  out.begin_object();
  out.member("kind", folder.kind == Kind::encoder ? "encoder" : "cross_encoder");
  out.member("pooling", folder.pooling == Pooling::mean ? "mean" : "cls");
  out.member("query_prefix", folder.query_prefix);
  out.member("passage_prefix", folder.passage_prefix);
  out.member("max_tokens", std::uint64_t{folder.max_tokens});
  out.member("heads", std::uint64_t{folder.heads});
  out.member("lower_case", folder.lower_case);
  out.key("files").begin_array();
  for (const PinnedFile& file : folder.files) out.string(file.name).string(file.sha256);
  out.end_array().end_object();
  return std::string(kIdPrefix) + crypto::sha256_hex(out.text()).substr(0, kIdDigits);
}

ModelFolder inspect_folder(const std::string& path, const FolderOptions& options) {
  ModelFolder out;
  out.path = absolute(path);
  ModelFiles files(out.path);
  LoadedModel model = load_model(files, options);
  out.kind = model.kind;
  out.dimensions = model.weights.hidden;
  out.files = files.files();
  out.pooling = model.pooling;
  out.query_prefix = model.query_prefix;
  out.passage_prefix = model.passage_prefix;
  out.max_tokens = model.max_tokens;
  out.heads = model.weights.heads;
  out.lower_case = model.lower_case;
  out.model_id = make_model_id(out);
  try_out(out, std::move(model), options);
  return out;
}

}  // namespace strongroom::embed
