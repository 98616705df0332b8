// A folder's model in memory, from files that are pinned or are being looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "embed/bert.h"
#include "embed/model_files.h"
#include "embed/model_folder.h"
#include "embed/reranker.h"
#include "embed/vocabulary.h"
#include "recall/wordpiece.h"

namespace strongroom::embed {

/// What the files say, and what was given.
struct LoadedModel {
  Kind kind = Kind::encoder;
  BertWeights weights;
  BertVocabulary vocabulary;
  Pooling pooling = Pooling::mean;
  std::string query_prefix, passage_prefix;
  std::size_t max_tokens = 0;
  bool lower_case = true;

  recall::WordPiece tokenizer() const;
};

/// Reads and checks everything; errors as inspect_folder's.
LoadedModel load_model(ModelFiles& files, const FolderOptions& options);

/// The model of a folder that was inspected.
LoadedModel load_model(const ModelFolder& folder);

/// "tf-" and 16 hex digits: see ModelFolder.
std::string make_model_id(const ModelFolder& folder);

/// Above `model`, which it takes over, without a curve that was found. The members of `folder` that
/// an embedder shows are used.
std::unique_ptr<recall::Embedder> make_encoder(const ModelFolder& folder, LoadedModel model);
std::unique_ptr<Reranker> make_reranker(const ModelFolder& folder, LoadedModel model);

}  // namespace strongroom::embed
