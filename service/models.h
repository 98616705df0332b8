// The models that the owner added beside the one in the program, and which of them a bank uses.
// One setting of the vault holds it all, sealed like every record. Internal to service/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "embed/reranker.h"
#include "recall/embedder.h"

namespace strongroom::service {

inline constexpr std::string_view kModelsSetting = "models";

struct RegisteredModel {
  enum class Kind { folder, reranker, http };
  std::string id;
  Kind kind = Kind::folder;
  std::string description;  // JSON of embed::ModelFolder or embed::HttpModel
};

struct ModelRegistry {
  /// What a bank uses beside the model in the program; empty: nothing.
  struct Choice {
    std::string embedder, reranker;
    bool empty() const { return embedder.empty() && reranker.empty(); }
  };

  /// Empty text: no models. Throws corrupt.
  static ModelRegistry parse(std::string_view text);
  std::string text() const;

  const RegisteredModel* find(std::string_view id) const;
  /// Of the bank with this tag; nullptr: the model in the program alone.
  const RegisteredModel* embedder_of(std::string_view tag) const;
  const RegisteredModel* reranker_of(std::string_view tag) const;

  std::vector<RegisteredModel> models;  // by id
  // By a bank's tag, since another bank may get the name of one that went.
  std::map<std::string, Choice, std::less<>> banks;
};

/// The models of this process, opened at their first use. One that does not open is tried again
/// after a while, and so is an endpoint that did not answer: nobody waits for it at every call. Not
/// thread-safe.
class OpenModels {
 public:
  OpenModels();
  ~OpenModels();
  recall::Embedder& builtin();
  /// Throws what opening it throws: a file that changed, OpenBLAS that is not there.
  recall::Embedder& embedder(const RegisteredModel& model);
  embed::Reranker& reranker(const RegisteredModel& model);
  static constexpr TimeMs kRetry = 30'000;  // ms

 private:
  struct Opened;
  Opened& open(const RegisteredModel& model);

  std::unique_ptr<recall::Embedder> builtin_;
  std::map<std::string, std::unique_ptr<Opened>, std::less<>> opened_;
};

}  // namespace strongroom::service
