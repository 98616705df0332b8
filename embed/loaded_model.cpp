#include "embed/loaded_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "embed/tensor.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxWeightBytes = std::size_t{4} << 30;
constexpr std::size_t kMaxVocabularyBytes = 64u << 20;
constexpr std::size_t kMaxConfigBytes = 1u << 20;
constexpr std::size_t kMaxPrefixBytes = 1024;
constexpr std::size_t kLeastTokens = 8, kMostTokens = 4096;
constexpr std::size_t kUsualTokens = 512;

constexpr std::array<std::string_view, 5> kWeightFiles = {"model.safetensors", "model.onnx",
                                                          "model_quantized.onnx", "onnx/model.onnx",
                                                          "onnx/model_quantized.onnx"};
constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kTokenizerConfig = "tokenizer_config.json";
constexpr std::string_view kSentenceConfig = "sentence_bert_config.json";
constexpr std::string_view kPrompts = "config_sentence_transformers.json";
constexpr std::string_view kPooling = "1_Pooling/config.json";
constexpr std::string_view kModules = "modules.json";

// A JSON file that need not be there.
struct Config {
  std::string_view name;
  std::optional<std::string> text;
  Json root;

  Config(ModelFiles& files, std::string_view file) : name(file) {
    text = files.read(file, kMaxConfigBytes);
    if (text) root = Json::parse(*text, file);
  }

  const Json* find(std::string_view member) const {
    const Json* const value = root.find(member);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  std::optional<std::size_t> number(std::string_view member) const {
    const Json* const value = find(member);
    if (value == nullptr) return std::nullopt;
    const auto out = value->as_int();
    if (!out || *out <= 0) refuse(Code::invalid, name, std::string(member) + " is wrong");
    return static_cast<std::size_t>(*out);
  }

  std::optional<bool> boolean(std::string_view member) const {
    const Json* const value = find(member);
    if (value == nullptr) return std::nullopt;
    if (!value->is_bool()) refuse(Code::invalid, name, std::string(member) + " is wrong");
    return value->as_bool();
  }

  // A member that must have one value, if it is there.
  void require(std::string_view member, std::string_view wanted) const {
    const Json* const value = find(member);
    if (value == nullptr || value->as_string() == wanted) return;
    refuse(Code::unsupported, name,
           std::string(member) + " is not " + std::string(wanted) +
               ": only BERT's encoders are known");
  }
};

BertWeights read_weights(ModelFiles& files, const FolderOptions& options) {
  const auto read = [&](std::string_view name) -> std::optional<BertWeights> {
    const std::optional<std::string> bytes = files.read(name, kMaxWeightBytes);
    if (!bytes) return std::nullopt;
    return name.ends_with(".onnx") ? bert_from_onnx(*bytes, name)
                                   : bert_from_safetensors(*bytes, name);
  };
  if (!options.weights.empty()) {
    const std::string& name = options.weights;
    const bool inside = name.front() != '/' && name.find("..") == std::string::npos &&
                        valid_utf8(name) && name.find('\0') == std::string::npos;
    const bool known = name.ends_with(".onnx") || name.ends_with(".safetensors");
    if (!inside || !known) {
      throw Error::invalid("weights", "is no .safetensors or .onnx file of the folder");
    }
    if (auto weights = read(name)) return std::move(*weights);
    refuse(Code::not_found, name, "is missing");
  }
  for (const std::string_view name : kWeightFiles) {
    if (auto weights = read(name)) return std::move(*weights);
  }
  throw Error(Code::not_found,
              "The folder has no weights: model.safetensors, model.onnx, model_quantized.onnx, or "
              "one of these in onnx/ (pytorch_model.bin cannot be read).");
}

BertVocabulary read_vocabulary(ModelFiles& files) {
  if (const auto text = files.read("vocab.txt", kMaxVocabularyBytes)) {
    return read_vocab_txt(*text, "vocab.txt");
  }
  if (const auto text = files.read("tokenizer.json", kMaxVocabularyBytes)) {
    return read_tokenizer_json(*text, "tokenizer.json");
  }
  throw Error(Code::not_found, "The folder has no vocabulary: vocab.txt or tokenizer.json.");
}

// Vocabularies of models that keep the case have capitals, apart from special tokens.
bool has_capitals(const BertVocabulary& vocabulary) {
  const recall::WordPiece pieces(vocabulary.view(), {.unknown = vocabulary.unknown});
  for (std::uint32_t id = 0; id < pieces.size(); ++id) {
    const std::string_view token = pieces.token(id);
    const bool special = token.front() == '[' && token.back() == ']';
    if (!special &&
        std::any_of(token.begin(), token.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
      return true;
    }
  }
  return false;
}

bool read_lower_case(ModelFiles& files, const FolderOptions& options,
                     const BertVocabulary& vocabulary) {
  const Config config(files, kTokenizerConfig);
  const std::optional<bool> lower = config.boolean("do_lower_case");
  const std::optional<bool> strip = config.boolean("strip_accents");
  if (options.lower_case) return *options.lower_case;
  if (lower && strip && *lower != *strip) {
    refuse(Code::unsupported, kTokenizerConfig, "strip_accents is not what do_lower_case is");
  }
  if (vocabulary.lower_case) return *vocabulary.lower_case;
  return lower ? *lower : !has_capitals(vocabulary);
}

// Of the heads that BERTs have had: 32 floats each in small models of 384, else 64.
std::size_t usual_heads(std::size_t hidden) {
  if (hidden == 384) return 12;
  return hidden % 64 == 0 ? hidden / 64 : 0;
}

void read_config(ModelFiles& files, const FolderOptions& options, BertWeights& weights) {
  const Config config(files, kConfig);
  config.require("model_type", "bert");
  config.require("hidden_act", "gelu");
  config.require("position_embedding_type", "absolute");
  const auto same = [&](std::string_view member, std::size_t have) {
    const std::optional<std::size_t> said = config.number(member);
    if (said && *said != have) {
      refuse(Code::invalid, kConfig,
             std::string(member) + " is not " + std::to_string(have) + ", which the weights have");
    }
  };
  same("hidden_size", weights.hidden);
  same("num_hidden_layers", weights.layers.size());
  same("intermediate_size", weights.intermediate);
  same("vocab_size", weights.words.rows);
  if (const Json* const epsilon = config.find("layer_norm_eps")) {
    const std::optional<double> value = epsilon->as_double();
    if (!value) refuse(Code::invalid, kConfig, "layer_norm_eps is no number");
    weights.norm_epsilon = static_cast<float>(*value);
  }
  if (!(weights.norm_epsilon > 0 && weights.norm_epsilon < 0.01F)) {
    refuse(Code::invalid, kConfig, "layer_norm_eps is out of its range");
  }
  const std::optional<std::size_t> said = config.number("num_attention_heads");
  if (options.heads) {
    weights.heads = *options.heads;
  } else if (said) {
    weights.heads = *said;
  } else if (weights.heads == 0) {
    weights.heads = usual_heads(weights.hidden);
  }
  if (weights.heads == 0) {
    refuse(Code::invalid, kConfig, "is missing, so the number of attention heads has to be given");
  }
  if (weights.heads > weights.hidden || weights.hidden % weights.heads != 0) {
    throw Error::invalid("heads", "does not divide the size of the model's vectors");
  }
}

Pooling read_pooling(ModelFiles& files, const FolderOptions& options) {
  const Config modules(files, kModules);
  for (const Json& module : modules.root.items()) {
    const Json* const type = module.find("type");
    const std::string_view name = type == nullptr ? std::string_view() : type->as_string();
    const bool known = name.ends_with(".Transformer") || name.ends_with(".Pooling") ||
                       name.ends_with(".Normalize");
    if (!known) refuse(Code::unsupported, kModules, "has a step that is not known");
  }
  const Config config(files, kPooling);
  if (options.pooling) return *options.pooling;
  if (!config.text) {
    throw Error::invalid("pooling",
                         "has to be given (mean or cls): the folder has no 1_Pooling/config.json");
  }
  std::vector<std::string> used;
  for (const Json::Member& member : config.root.members()) {
    if (member.name.starts_with("pooling_mode_") && member.value.as_bool()) {
      used.push_back(member.name);
    }
  }
  if (used == std::vector<std::string>{"pooling_mode_mean_tokens"}) return Pooling::mean;
  if (used == std::vector<std::string>{"pooling_mode_cls_token"}) return Pooling::cls;
  refuse(Code::unsupported, kPooling, "asks for something else than mean or cls");
}

std::string checked_prefix(std::string_view field, const std::string& prefix) {
  if (prefix.size() > kMaxPrefixBytes) {
    throw Error::too_large(field, prefix.size(), kMaxPrefixBytes);
  }
  if (!valid_utf8(prefix)) throw Error::invalid(field, "is not UTF-8");
  return prefix;
}

void read_prefixes(ModelFiles& files, const FolderOptions& options, LoadedModel& model) {
  const Config config(files, kPrompts);
  const Json* const prompts = config.find("prompts");
  const auto prompt = [&](std::initializer_list<std::string_view> names) -> std::string {
    for (const std::string_view name : names) {
      const Json* const found = prompts == nullptr ? nullptr : prompts->find(name);
      if (found != nullptr && found->is_string()) return found->as_string();
    }
    return {};
  };
  model.query_prefix = checked_prefix(
      "query_prefix", options.query_prefix ? *options.query_prefix : prompt({"query"}));
  model.passage_prefix = checked_prefix(
      "passage_prefix",
      options.passage_prefix ? *options.passage_prefix : prompt({"passage", "document", "corpus"}));
}

std::size_t read_max_tokens(ModelFiles& files, const FolderOptions& options,
                            std::size_t positions) {
  const Config config(files, kSentenceConfig);
  const std::size_t most = std::min(positions, kMostTokens);
  if (options.max_tokens) {
    if (*options.max_tokens < kLeastTokens || *options.max_tokens > most) {
      throw Error::invalid("max_tokens", "is not from " + std::to_string(kLeastTokens) + " to " +
                                             std::to_string(most));
    }
    return *options.max_tokens;
  }
  const std::size_t said = config.number("max_seq_length").value_or(kUsualTokens);
  return std::max(kLeastTokens, std::min(said, most));
}

}  // namespace

recall::WordPiece LoadedModel::tokenizer() const {
  return {vocabulary.view(),
          {.lower_case = lower_case, .strip_accents = lower_case, .unknown = vocabulary.unknown}};
}

LoadedModel load_model(ModelFiles& files, const FolderOptions& options) {
  LoadedModel model;
  model.weights = read_weights(files, options);
  const std::string weights_file = files.files().back().name;
  model.vocabulary = read_vocabulary(files);
  if (model.vocabulary.size != model.weights.words.rows) {
    refuse(Code::invalid, files.files().back().name,
           "has " + std::to_string(model.vocabulary.size) + " tokens, but " + weights_file +
               " has vectors for " + std::to_string(model.weights.words.rows));
  }
  if (model.weights.positions.rows < kLeastTokens) {
    refuse(Code::invalid, weights_file, "has vectors for too few positions");
  }
  read_config(files, options, model.weights);
  model.kind = model.weights.classifier ? Kind::cross_encoder : Kind::encoder;
  if (model.kind == Kind::cross_encoder) {
    if (model.weights.types.rows < 2) {
      refuse(Code::unsupported, weights_file, "does not tell a question from a passage");
    }
  } else {
    if (model.weights.hidden % recall::kDimensionStep != 0 ||
        model.weights.hidden > recall::kMaxDimensions) {
      refuse(Code::unsupported, weights_file,
             "makes vectors of " + std::to_string(model.weights.hidden) +
                 " dimensions; a multiple of 16 up to 1024 is supported");
    }
    model.pooling = read_pooling(files, options);
    read_prefixes(files, options, model);
  }
  model.lower_case = read_lower_case(files, options, model.vocabulary);
  model.max_tokens = read_max_tokens(files, options, model.weights.positions.rows);
  return model;
}

LoadedModel load_model(const ModelFolder& folder) {
  if (folder.files.empty()) throw Error::invalid("files", "is empty");
  ModelFiles files(folder.path, folder.files);
  FolderOptions options;
  options.weights = folder.files.front().name;
  options.pooling = folder.pooling;
  options.query_prefix = folder.query_prefix;
  options.passage_prefix = folder.passage_prefix;
  options.max_tokens = folder.max_tokens;
  options.heads = folder.heads;
  options.lower_case = folder.lower_case;
  LoadedModel model = load_model(files, options);
  if (model.kind != folder.kind ||
      (model.kind == Kind::encoder && model.weights.hidden != folder.dimensions)) {
    throw Error::invalid("model", "is of another kind or size than its files");
  }
  return model;
}

}  // namespace strongroom::embed
