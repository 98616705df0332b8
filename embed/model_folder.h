// A language model in a folder of this machine: BERT's encoders as Hugging Face's tools lay them
// out, as recall::Embedder, and its cross-encoders as Reranker (embed/reranker.h).
//
//   weights    model.safetensors (F32, F16, BF16), else model.onnx or model_quantized.onnx, in the
//              folder or in onnx/ below it
//   tokens     vocab.txt, else tokenizer.json (WordPiece)
//   optional   config.json, tokenizer_config.json, sentence_bert_config.json,
//              config_sentence_transformers.json, 1_Pooling/config.json
//
// The owner looks at a folder once (inspect_folder), which pins every file that was read by its
// SHA-256; later only those files are read, and a changed one is refused. Nothing is fetched. The
// matrix products are OpenBLAS's (embed/blas.h), loaded when the first model is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recall/embedder.h"

namespace strongroom::embed {

/// How the vectors of a text's tokens become one: their mean, or that of the first ([CLS]).
enum class Pooling { mean, cls };

/// What a model says of a text: a vector, or how well it answers a question.
enum class Kind { encoder, cross_encoder };

/// What is given wins over what the folder says.
struct FolderOptions {
  std::string weights;  // a file of the folder; empty: the first of those above that is there
  std::optional<Pooling> pooling;
  std::optional<std::string> query_prefix, passage_prefix;  // set before every text of that side
  std::optional<std::size_t> max_tokens;                    // of a text, 8 to 4096
  std::optional<std::size_t> heads;                         // of attention
  std::optional<bool> lower_case;                           // accents go with the case
  std::optional<recall::EvidenceCurve> curve;               // else found by embed/calibrate.h
};

struct PinnedFile {
  std::string name;    // below the folder
  std::string sha256;  // 64 lower-case hex digits
  std::uint64_t size;  // bytes

  friend bool operator==(const PinnedFile&, const PinnedFile&) = default;
};

struct ModelFolder {
  std::string path;
  std::string model_id;        // "tf-" and 16 hex digits of a SHA-256 over all below but the curve
  std::size_t dimensions = 0;  // of a vector; a cross-encoder's are inside it
  Kind kind = Kind::encoder;
  std::vector<PinnedFile> files;  // the weights, the vocabulary, then what else was read
  Pooling pooling = Pooling::mean;
  std::string query_prefix, passage_prefix;
  std::size_t max_tokens = 0;
  std::size_t heads = 0;
  bool lower_case = true;
  recall::EvidenceCurve curve{0, 1};  // of no use to a cross-encoder
};

/// Reads the folder, checks all of it, runs texts through the model and finds its curve, which
/// takes a second or so. Throws Error naming the file, and the tensor or member where there is one:
/// not_found for a file that has to be there, invalid for what is malformed or has to be given as
/// an option, corrupt for weights that are cut off or are no numbers, unsupported for models of
/// another kind and where OpenBLAS is not installed, too_large.
ModelFolder inspect_folder(const std::string& path, const FolderOptions& options = {});

/// The embedder of a folder that was inspected. Reads the pinned files: Error conflict naming the
/// file that changed, not_found naming the one that is gone. A call of embed_batch with many texts
/// works on them in two threads, each text by itself; the same text gives the same bits on the same
/// processor, whatever else is in the batch.
std::unique_ptr<recall::Embedder> open_encoder(const ModelFolder& folder);

/// To be kept in a sealed setting. Reading is strict: Error invalid naming the member.
std::string to_json(const ModelFolder& folder);
ModelFolder model_folder_from_json(std::string_view json);

}  // namespace strongroom::embed
