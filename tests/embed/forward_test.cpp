// The encoder and the cross-encoder against onnxruntime, numpy and Hugging Face's tokenizers
// (make_data.py), from every format.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "embed/bert.h"
#include "embed/reranker.h"
#include "embed/vocabulary.h"
#include "recall/wordpiece.h"
#include "tests/embed/folder.h"

namespace strongroom::embed {
namespace {

struct Case {
  std::string text;
  std::vector<std::uint32_t> ids;
  std::vector<double> mean, cls, quantised_mean;
};

struct Pair {
  std::string query, passage;
  double score;
};

struct Reference {
  std::vector<Case> texts;
  std::vector<Pair> pairs;
};

std::vector<double> numbers(const Json& list) {
  std::vector<double> out;
  for (const Json& item : list.items()) out.push_back(item.as_double().value());
  return out;
}

const Reference& reference() {
  static const Reference all = [] {
    const std::string text = read_data("reference.json");
    const Json root = Json::parse(text);
    Reference out;
    for (const Json& item : root.find("texts")->items()) {
      Case each{item.find("text")->as_string(),
                {},
                numbers(*item.find("mean")),
                numbers(*item.find("cls")),
                numbers(*item.find("quantised_mean"))};
      for (const double id : numbers(*item.find("ids"))) {
        each.ids.push_back(static_cast<std::uint32_t>(id));
      }
      out.texts.push_back(std::move(each));
    }
    for (const Json& item : root.find("pairs")->items()) {
      out.pairs.push_back({item.find("query")->as_string(), item.find("passage")->as_string(),
                           item.find("score")->as_double().value()});
    }
    return out;
  }();
  return all;
}

double cosine(const recall::Embedding& a, const std::vector<double>& b) {
  double dot = 0;
  double aa = 0;
  double bb = 0;
  REQUIRE(a.values().size() == b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double x = a.values()[i];
    dot += x * b[i];
    aa += x * x;
    bb += b[i] * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

// The largest difference of the mean vectors to the reference, over all texts.
double worst(const BertWeights& weights, std::vector<double> Case::*wanted) {
  Bert bert(weights);
  Bert::Workspace work;
  double most = 0;
  for (const Case& each : reference().texts) {
    const std::span<const float> vectors = bert.run(each.ids, {}, work);
    const std::size_t size = weights.hidden;
    REQUIRE(vectors.size() == each.ids.size() * size);
    for (std::size_t d = 0; d < size; ++d) {
      double sum = 0;
      for (std::size_t i = d; i < vectors.size(); i += size) sum += double{vectors[i]};
      const double mean = sum / static_cast<double>(each.ids.size());
      most = std::max(most, std::abs(mean - (each.*wanted)[d]));
    }
  }
  return most;
}

BertWeights with_heads(BertWeights weights) {
  weights.heads = 4;
  return weights;
}

// Every text through the embedder of a folder.
void check_folder(const Folder& folder, Pooling pooling, std::vector<double> Case::*wanted) {
  const ModelFolder model = inspect_folder(folder.path(), given(pooling));
  CHECK(model.kind == Kind::encoder);
  CHECK(model.dimensions == 32);
  CHECK(model.max_tokens == 40);
  CHECK(model.heads == 4);
  CHECK(model.lower_case);
  const auto encoder = open_encoder(model);
  CHECK(encoder->model_id() == model.model_id);
  CHECK(encoder->dimensions() == 32);
  for (const Case& each : reference().texts) {
    recall::Embedding vector;
    REQUIRE(encoder->embed(each.text, recall::Side::passage, vector));
    INFO(each.text);
    CHECK(cosine(vector, each.*wanted) > 1 - 1e-4);
  }
}

}  // namespace

TEST_CASE("the vectors of tokens are those of onnxruntime, from every format") {
  const std::string f16 = read_data("encoder_f16.safetensors");
  const std::string f32 = safetensors_of(tensors_of(f16));
  CHECK(worst(with_heads(bert_from_safetensors(f16, "a")), &Case::mean) < 1e-5);
  CHECK(worst(with_heads(bert_from_safetensors(f32, "a")), &Case::mean) < 1e-5);
  const BertWeights plain = bert_from_onnx(read_data("model.onnx"), "a");
  CHECK(plain.heads == 4);
  CHECK(plain.norm_epsilon == Approx(1e-12));
  CHECK(worst(plain, &Case::mean) < 1e-5);
  const BertWeights quantised = bert_from_onnx(read_data("model_quantized.onnx"), "a");
  CHECK(quantised.heads == 4);
  CHECK(worst(quantised, &Case::quantised_mean) < 1e-5);
  // Fewer bits of the weights: near, and not the same.
  const std::string bf16 = safetensors_of(tensors_of(f16, "BF16"));
  const double cut = worst(with_heads(bert_from_safetensors(bf16, "a")), &Case::mean);
  CHECK(cut < 0.1);
  CHECK(cut > 1e-5);
}

TEST_CASE("a folder's embedder makes the same vectors of texts") {
  Folder folder;
  fill_encoder(folder);
  check_folder(folder, Pooling::mean, &Case::mean);
  check_folder(folder, Pooling::cls, &Case::cls);
  folder.copy("encoder_f16.safetensors", "model.safetensors");
  check_folder(folder, Pooling::mean, &Case::mean);
  // The graph tells the heads.
  folder.remove("model.safetensors").remove("config.json").copy("model.onnx");
  check_folder(folder, Pooling::mean, &Case::mean);
  folder.remove("model.onnx").copy("model_quantized.onnx", "onnx/model_quantized.onnx");
  folder.remove("vocab.txt").copy("tokenizer.json");
  check_folder(folder, Pooling::mean, &Case::quantised_mean);
}

TEST_CASE("both forms of a vocabulary give the tokens of Hugging Face's tokenizers") {
  const BertVocabulary lines = read_vocab_txt(read_data("vocab.txt"), "vocab.txt");
  const BertVocabulary json = read_tokenizer_json(read_data("tokenizer.json"), "tokenizer.json");
  CHECK(lines.text == json.text);
  CHECK(lines.offsets == json.offsets);
  CHECK(json.lower_case == true);
  const recall::WordPiece pieces(lines.view(), {.unknown = lines.unknown});
  for (const Case& each : reference().texts) {
    std::vector<std::uint32_t> ids;
    pieces.tokenize(each.text, 38, ids);
    ids.insert(ids.begin(), lines.start);
    ids.push_back(lines.end);
    CHECK(ids == each.ids);
  }
}

TEST_CASE("a text has the same vector in a batch, in two threads and alone") {
  Folder folder;
  fill_encoder(folder);
  const auto encoder = open_encoder(inspect_folder(folder.path(), given()));
  std::vector<std::string_view> texts;
  for (int round = 0; round < 5; ++round) {
    for (const Case& each : reference().texts) texts.push_back(each.text);
    texts.push_back("");
  }
  std::vector<recall::Embedding> all(texts.size());
  encoder->embed_batch(texts, recall::Side::query, all);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    recall::Embedding alone;
    CHECK(encoder->embed(texts[i], recall::Side::query, alone) == !texts[i].empty());
    CHECK(alone.bytes.view() == all[i].bytes.view());
    CHECK(alone.scale == all[i].scale);
  }
}

TEST_CASE("a prefix is read before each text of its side, and is no text of its own") {
  Folder folder;
  fill_encoder(folder);
  FolderOptions options = given();
  options.query_prefix = "port: ";
  const auto encoder = open_encoder(inspect_folder(folder.path(), options));
  recall::Embedding asked;
  recall::Embedding stored;
  REQUIRE(encoder->embed("the cat", recall::Side::query, asked));
  REQUIRE(encoder->embed("port: the cat", recall::Side::passage, stored));
  CHECK(asked.bytes.view() == stored.bytes.view());
  REQUIRE(encoder->embed("the cat", recall::Side::passage, stored));
  CHECK(asked.bytes.view() != stored.bytes.view());
  CHECK_FALSE(encoder->embed("", recall::Side::query, asked));
  CHECK_FALSE(encoder->embed(" \n", recall::Side::query, asked));
  CHECK_FALSE(encoder->embed("", recall::Side::passage, asked));
}

TEST_CASE("a text is read up to the limit of tokens") {
  Folder folder;
  fill_encoder(folder);
  FolderOptions options = given();
  options.max_tokens = 8;
  const auto encoder = open_encoder(inspect_folder(folder.path(), options));
  recall::Embedding shorter;
  recall::Embedding longer;
  encoder->embed("the cat sat on the mat", recall::Side::query, shorter);
  encoder->embed("the cat sat on the mat when where why", recall::Side::query, longer);
  CHECK(shorter.bytes.view() == longer.bytes.view());
  encoder->embed("the cat sat on the", recall::Side::query, longer);
  CHECK(shorter.bytes.view() != longer.bytes.view());
}

TEST_CASE("a cross-encoder's scores are those of numpy") {
  Folder folder;
  folder.copy("cross_f16.safetensors", "model.safetensors").copy("vocab.txt").copy("config.json");
  const ModelFolder model = inspect_folder(folder.path());
  CHECK(model.kind == Kind::cross_encoder);
  const auto reranker = open_reranker(model);
  CHECK(reranker->model_id() == model.model_id);
  for (const Pair& pair : reference().pairs) {
    const std::vector<std::string_view> passages = {"port", pair.passage, "new memory"};
    std::vector<float> scores(3);
    reranker->score(pair.query, passages, scores);
    INFO(pair.query);
    CHECK(double{scores[1]} == Approx(pair.score).margin(1e-5));
    float alone = 0;
    reranker->score(pair.query, {&passages[1], 1}, {&alone, 1});
    CHECK(alone == scores[1]);
  }
  CHECK(refusal([&] { open_encoder(model); }).text == "Invalid: model is no encoder. [invalid]");
}

}  // namespace strongroom::embed
