// Folders that are refused, and why; files that change; what is kept of a model.
#include "tests/embed/folder.h"

#include <array>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "embed/blas.h"
#include "embed/reranker.h"

namespace strongroom::embed {
namespace {

constexpr const char* kQuery = "encoder.layer.1.attention.self.query.weight";
constexpr const char* kWords = "embeddings.word_embeddings.weight";

// What inspect_folder says of a whole folder after `damage`.
Refusal after(const std::function<void(Folder&)>& damage, const FolderOptions& options = given()) {
  Folder folder;
  fill_encoder(folder);
  damage(folder);
  return refusal([&] { inspect_folder(folder.path(), options); });
}

Refusal after_tensors(const std::function<void(OwnTensors&)>& damage) {
  return after([&](Folder& folder) {
    OwnTensors tensors = tensors_of(read_data("encoder_f16.safetensors"));
    damage(tensors);
    folder.write("model.safetensors", safetensors_of(tensors));
  });
}

Refusal after_header(std::string_view from, std::string_view to) {
  return after([&](Folder& folder) { folder.replace("model.safetensors", from, to); });
}

void check(const Refusal& refused, Code code, std::string_view text) {
  INFO(refused.text);
  CHECK_THAT(refused.text, Catch::Contains(std::string(text)));
  CHECK(refused.code == code);
}

std::string first_bytes(const std::string& file, std::size_t size) {
  return file.substr(0, size);
}

std::string floats(std::size_t count, float value) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) vault::append_le(out, value);
  return out;
}

}  // namespace

TEST_CASE("a folder without weights, vocabulary or pooling says what is missing") {
  check(refusal([] { inspect_folder("/nowhere/at/all"); }), Code::not_found,
        "The folder of the model does not exist");
  check(after([](Folder& f) { f.remove("model.safetensors"); }), Code::not_found,
        "The folder has no weights: model.safetensors, model.onnx");
  check(after([](Folder& f) { f.remove("vocab.txt"); }), Code::not_found,
        "The folder has no vocabulary: vocab.txt or tokenizer.json");
  check(after([](Folder&) {}, {}), Code::invalid, "pooling has to be given (mean or cls)");
  check(after([](Folder& f) { f.remove("config.json"); }), Code::invalid,
        "config.json: is missing, so the number of attention heads has to be given");
  FolderOptions options = given();
  options.weights = "onnx/other.onnx";
  check(after([](Folder&) {}, options), Code::not_found, "onnx/other.onnx: is missing");
  for (const char* name : {"../model.onnx", "/model.onnx", "weights.bin"}) {
    options.weights = name;
    check(after([](Folder&) {}, options), Code::invalid,
          "weights is no .safetensors or .onnx file");
  }
  check(after([](Folder& f) { f.remove("vocab.txt").write("vocab.txt/x", ""); }), Code::invalid,
        "vocab.txt: is no plain file");
}

TEST_CASE("a safetensors file that is cut off or lies about itself is refused") {
  const std::string whole = safetensors_of(tensors_of(read_data("encoder_f16.safetensors")));
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{100},
                                 whole.size() / 2, whole.size() - 1}) {
    const Refusal refused =
        after([&](Folder& f) { f.write("model.safetensors", first_bytes(whole, size)); });
    check(refused, Code::corrupt, "model.safetensors: ");
  }
  check(after([&](Folder& f) { f.write("model.safetensors", whole + "x"); }), Code::corrupt,
        "model.safetensors: has bytes that belong to no tensor");
  check(after([&](Folder& f) { f.write("model.safetensors", std::string(100, '\xFF')); }),
        Code::corrupt, "model.safetensors: has a header of an impossible size");
  check(after_header("{\"emb", "[\"emb"), Code::invalid, "model.safetensors is not valid JSON");
  check(after_header("\"F32\"", "\"F33\""), Code::unsupported, "has a type that is not known");
  check(after_header("\"F32\"", "\"F16\""), Code::corrupt,
        "has a shape that does not fit its bytes");
  check(after_header("[40,32]", "[41,32]"), Code::corrupt,
        "tensor embeddings.position_embeddings.weight has a shape that does not fit its bytes");
  check(after_header("[40,32]", "[4,-32]"), Code::invalid, "has a wrong number");
  check(after_header("\"shape\":[32],\"data", "\"shape\":[-1],\"data"), Code::invalid,
        "has a wrong number");
  // The same range twice, in a header of the same length.
  check(after_header("\"data_offsets\":[128,256]", "\"data_offsets\":[000,128]"), Code::invalid,
        "not valid JSON");
  check(after_header("embeddings.LayerNorm.weight", "embeddings.LayerNorm.biasxx"), Code::invalid,
        "tensor embeddings.LayerNorm.weight is missing");
}

TEST_CASE("ranges that overlap, tensors twice and impossible sizes are refused") {
  const auto file = [](std::string_view header, std::string_view data) {
    std::string out;
    vault::append_le(out, std::uint64_t{header.size()});
    return out + std::string(header) + std::string(data);
  };
  const auto read = [&](std::string_view header, std::string_view data) {
    const std::string bytes = file(header, data);
    return refusal([&] { read_safetensors(bytes, "model.safetensors"); });
  };
  check(read(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
             R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
             "123456"),
        Code::corrupt, "model.safetensors: tensor b overlaps another tensor");
  check(read(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
             R"("b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})",
             "123456"),
        Code::corrupt, "has bytes that belong to no tensor");
  check(read(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
             R"("a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
             "1234"),
        Code::invalid, "model.safetensors.a is a duplicate member");
  check(read(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,2]}})", "12"),
        Code::corrupt, "tensor a has a shape that does not fit its bytes");
  check(read(R"({"a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,2]}})", "12"),
        Code::corrupt, "tensor a has a shape that does not fit its bytes");
  check(read(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", "12"), Code::corrupt,
        "tensor a lies outside the file");
  check(read(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "12"), Code::corrupt,
        "tensor a lies outside the file");
  check(read(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", "1"),
        Code::invalid, "tensor a has a wrong shape");
  check(read(R"({"a\u001b[2J":{"dtype":"U8"}})", ""), Code::invalid,
        R"(tensor a\u001b[2J lacks dtype, shape or data_offsets)");
}

TEST_CASE("weights that are missing, of a wrong shape or no numbers are refused by name") {
  check(after_tensors([](OwnTensors& t) { t.erase(kQuery); }), Code::invalid, kQuery);
  check(after([](Folder& f) {
          OwnTensors t = tensors_of(read_data("encoder_f16.safetensors"));
          std::erase_if(
              t, [](const auto& each) { return each.first.find("layer.0.") != std::string::npos; });
          f.remove("config.json").write("model.safetensors", safetensors_of(t));
        }),
        Code::invalid, "model.safetensors: lacks layer 0.");
  check(after([](Folder& f) {
          OwnTensors t = tensors_of(read_data("encoder_f16.safetensors"));
          t["encoder.layer.7.output.dense.bias"] = {"F32", {1}, floats(1, 0)};
          f.write("model.safetensors", safetensors_of(t));
        }),
        Code::invalid, "model.safetensors: lacks layer 2");
  check(after_tensors([](OwnTensors& t) { t.erase(kWords); }), Code::invalid,
        "is missing: this is no BERT model");
  check(after_tensors([](OwnTensors& t) {
          t[kQuery].shape = {16, 64};
        }),
        Code::invalid, std::string(kQuery) + " has a wrong shape");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const char* name : {kQuery, kWords, "embeddings.LayerNorm.bias"}) {
      check(after_tensors([&](OwnTensors& t) {
              t[name].bytes.replace(t[name].bytes.size() - 4, 4, floats(1, bad));
            }),
            Code::corrupt, std::string("tensor ") + name + " holds a number that is not finite");
    }
  }
  check(after_tensors([](OwnTensors& t) {
          t[kQuery].type = "F64";
          t[kQuery].bytes += t[kQuery].bytes;
        }),
        Code::unsupported, std::string(kQuery) + " has a type that weights cannot have");
  check(after_tensors([](OwnTensors& t) {
          t[kWords].shape[0] += 1;
          t[kWords].bytes += floats(32, 0.5F);
        }),
        Code::invalid, "vocab.txt: has ");
  check(after_tensors([](OwnTensors& t) {
          for (auto& [name, tensor] : t) tensor.bytes = floats(tensor.bytes.size() / 4, 1e30F);
        }),
        Code::invalid, "model.safetensors: gives no vector for a plain text");
  // A classifier of two labels tells a kind, not how well a passage answers.
  check(after([](Folder& f) {
          OwnTensors t = tensors_of(read_data("cross_f16.safetensors"));
          t["classifier.weight"] = {"F32", {2, 32}, floats(64, 0.5F)};
          t["classifier.bias"] = {"F32", {2}, floats(2, 0.5F)};
          f.write("model.safetensors", safetensors_of(t));
        }),
        Code::unsupported, "classifier.weight has more than one label");
}

TEST_CASE("an ONNX file that is cut off or lies about itself is refused") {
  const std::string whole = read_data("model.onnx");
  const auto with = [&](const std::string& bytes) {
    return after([&](Folder& f) { f.remove("model.safetensors").write("model.onnx", bytes); });
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{50}, whole.size() / 3,
                                 whole.size() / 2, whole.size() - 1}) {
    check(with(first_bytes(whole, size)), Code::corrupt, "model.onnx: is ");
  }
  check(with("{\"not\": \"onnx\"}"), Code::corrupt, "model.onnx: is ");
  check(with(whole + whole), Code::corrupt, "model.onnx: has two graphs");
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string bytes = whole;
    for (std::size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
      bytes.replace(at, from.size(), to);
    }
    return with(bytes);
  };
  check(changed("embeddings.LayerNorm.bias", "embeddings.LayerNorm.bixx"), Code::invalid,
        "tensor embeddings.LayerNorm.bias is missing");
  check(changed("Erf", "Cos"), Code::unsupported, "another activation than the exact gelu");
  check(changed("Softmax", "Attention"), Code::corrupt, "model.onnx: is cut off");
  // Neither the node nor the bias tells the part any more.
  check(changed("layer.1.output.dense.bias", "layer.1.outpux.dense.bias"), Code::invalid,
        "model.onnx: has no node that is encoder.layer.1.output.dense");
  check(changed("onnx::MatMul_101", "onnx::MatMul_102"), Code::corrupt,
        "tensor onnx::MatMul_102 is there twice");
}

TEST_CASE("quantised weights need scales that fit") {
  const std::string whole = read_data("model_quantized.onnx");
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string bytes = whole;
    const std::size_t at = bytes.rfind(from);
    REQUIRE(at != std::string::npos);
    bytes.replace(at, from.size(), to);
    return after([&](Folder& f) { f.remove("model.safetensors").write("model.onnx", bytes); });
  };
  check(changed("onnx::MatMul_104_scale", "onnx::MatMul_104_scalx"), Code::invalid,
        "has no node that is encoder.layer.0.attention.output.dense");
  check(
      changed("embeddings.word_embeddings.weight_scale", "embeddings.word_embeddings.weight_scalx"),
      Code::invalid, "is quantised without a scale");
}

TEST_CASE("a vocabulary that is malformed or does not fit the weights is refused") {
  const auto replaced = [](std::string_view from, std::string_view to) {
    return after([&](Folder& f) { f.replace("vocab.txt", from, to); });
  };
  check(replaced("[CLS]", "[CLX]"), Code::invalid, "vocab.txt: lacks the token [CLS]");
  check(replaced("[SEP]", "[SEX]"), Code::invalid, "vocab.txt: lacks the token [SEP]");
  check(replaced("[UNK]", "[UNX]"), Code::invalid, "vocab.txt: lacks the token [UNK]");
  check(replaced("rotated", "monday"), Code::invalid, " is there twice");
  check(replaced("rotated", ""), Code::invalid, "vocab.txt: has an empty token");
  check(replaced("rotated", "\xFF\xFE"), Code::invalid, " is not UTF-8");
  check(replaced("rotated\n", ""), Code::invalid, "but model.safetensors has vectors for ");
  check(after([](Folder& f) { f.write("vocab.txt", ""); }), Code::invalid,
        "vocab.txt: has no token or too many");

  const auto json = [](std::string_view from, std::string_view to) {
    return after([&](Folder& f) {
      f.remove("vocab.txt").copy("tokenizer.json").replace("tokenizer.json", from, to);
    });
  };
  check(json("WordPiece", "Unigram"), Code::unsupported, "tokenizer.json: is no WordPiece");
  check(json("BertPreTokenizer", "Whitespace"), Code::unsupported,
        "tokenizer.json: is no WordPiece");
  check(json("\"clean_text\":true", "\"clean_text\":false"), Code::unsupported, "clean_text");
  check(json("\"strip_accents\":null", "\"strip_accents\":false"), Code::unsupported,
        "strip_accents is not true");
  check(json("\"[UNK]\":1", "\"[UNK]\":2"), Code::invalid, "has two tokens of the number 2");
  check(json("\"[UNK]\":1", "\"[UNK]\":1000"), Code::invalid, "whose number is out of range");
  check(json("\"[UNK]\":1", "\"[PAD]\":1"), Code::invalid, "is a duplicate member");
  check(json("\"vocab\"", "\"vocax\""), Code::invalid, "tokenizer.json: has no vocab");
  check(json("{", "["), Code::invalid, "tokenizer.json");
}

TEST_CASE("a configuration that says something else than the weights is refused") {
  const auto replaced = [](std::string_view from, std::string_view to) {
    return after([&](Folder& f) { f.replace("config.json", from, to); });
  };
  check(replaced("\"bert\"", "\"mpnet\""), Code::unsupported,
        "config.json: model_type is not bert");
  check(replaced("\"gelu\"", "\"relu\""), Code::unsupported, "config.json: hidden_act is not gelu");
  check(replaced("\"absolute\"", "\"relative_key\""), Code::unsupported,
        "position_embedding_type is not absolute");
  check(replaced("\"hidden_size\": 32", "\"hidden_size\": 64"), Code::invalid,
        "config.json: hidden_size is not 32, which the weights have");
  check(replaced("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"), Code::invalid,
        "config.json: num_hidden_layers is not 2");
  check(replaced("\"num_attention_heads\": 4", "\"num_attention_heads\": 5"), Code::invalid,
        "heads does not divide");
  check(replaced("\"num_attention_heads\": 4", "\"num_attention_heads\": -4"), Code::invalid,
        "config.json: num_attention_heads is wrong");
  check(replaced("1e-12", "1.5"), Code::invalid, "layer_norm_eps is out of its range");
  check(after(
            [](Folder& f) {
              f.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true})");
            },
            {}),
        Code::unsupported, "1_Pooling/config.json: asks for something else than mean or cls");
  check(after([](Folder& f) {
          f.write("modules.json", R"([{"type": "sentence_transformers.models.Dense"}])");
        }),
        Code::unsupported, "modules.json: has a step that is not known");
  FolderOptions options = given();
  options.max_tokens = 41;
  check(after([](Folder&) {}, options), Code::invalid, "max_tokens is not from 8 to 40");
  options.max_tokens = 7;
  check(after([](Folder&) {}, options), Code::invalid, "max_tokens is not from 8 to 40");
  options = given();
  options.heads = 3;
  check(after([](Folder&) {}, options), Code::invalid, "heads does not divide");
  options = given();
  options.query_prefix = std::string(2000, 'x');
  check(after([](Folder&) {}, options), Code::too_large, "query_prefix is 2000 bytes");
}

TEST_CASE("what the folder says of pooling, prefixes and limits is used, and options win") {
  Folder folder;
  fill_encoder(folder);
  folder.write("1_Pooling/config.json",
               R"({"word_embedding_dimension": 32, "pooling_mode_cls_token": true})");
  folder.write("config_sentence_transformers.json",
               R"({"prompts": {"query": "ask: ", "document": "told: "}})");
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": false})");
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  FolderOptions options;
  options.curve = recall::EvidenceCurve{0.25F, 0.75F};
  const ModelFolder said = inspect_folder(folder.path(), options);
  CHECK(said.pooling == Pooling::cls);
  CHECK(said.query_prefix == "ask: ");
  CHECK(said.passage_prefix == "told: ");
  CHECK(said.max_tokens == 16);
  CHECK_FALSE(said.lower_case);
  CHECK(said.curve.c0 == 0.25F);
  CHECK(said.files.size() == 7);
  options.pooling = Pooling::mean;
  options.query_prefix = "";
  options.passage_prefix = "x";
  options.max_tokens = 12;
  options.heads = 2;
  options.lower_case = true;
  const ModelFolder wanted = inspect_folder(folder.path(), options);
  CHECK(wanted.pooling == Pooling::mean);
  CHECK(wanted.query_prefix.empty());
  CHECK(wanted.passage_prefix == "x");
  CHECK(wanted.max_tokens == 12);
  CHECK(wanted.heads == 2);
  CHECK(wanted.lower_case);
  CHECK(wanted.model_id != said.model_id);
  CHECK(wanted.files == said.files);
  CHECK(open_encoder(wanted)->curve().c1 == 0.75F);
}

TEST_CASE("a vocabulary with capitals keeps the case") {
  Folder folder;
  fill_encoder(folder);
  CHECK(inspect_folder(folder.path(), given()).lower_case);
  folder.replace("vocab.txt", "rotated", "Rotated");
  CHECK_FALSE(inspect_folder(folder.path(), given()).lower_case);
}

TEST_CASE("a file that changed or is gone is named, and a new one is not read") {
  Folder folder;
  fill_encoder(folder);
  const ModelFolder model = inspect_folder(folder.path(), given());
  CHECK(model.files.size() == 3);
  CHECK(model.files[0].name == "model.safetensors");
  const auto id = model.model_id;
  CHECK(id.size() == 19);
  CHECK(id.starts_with("tf-"));

  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(open_encoder(model)->model_id() == id);
  folder.write("tokenizer_config.json", "nonsense");
  CHECK(open_encoder(model)->model_id() == id);

  folder.replace("config.json", "\"gelu\", ", "\"gelu\",  ");
  check(refusal([&] { open_encoder(model); }), Code::conflict,
        "config.json: is not the file that it was when the model was added");
  folder.copy("config.json");
  open_encoder(model);
  folder.copy("encoder_f16.safetensors", "model.safetensors");
  check(refusal([&] { open_encoder(model); }), Code::conflict,
        "model.safetensors: is not the file");
  folder.remove("model.safetensors");
  check(refusal([&] { open_encoder(model); }), Code::not_found,
        "model.safetensors: is gone from the model's folder");
  fill_encoder(folder);
  folder.remove("vocab.txt");
  check(refusal([&] { open_encoder(model); }), Code::not_found, "vocab.txt: is gone");
}

TEST_CASE("what is kept of a model is read back, and nothing else") {
  Folder folder;
  fill_encoder(folder);
  FolderOptions options = given(Pooling::cls);
  options.query_prefix = "a \"query\": ";
  const ModelFolder model = inspect_folder(folder.path(), options);
  const std::string json = to_json(model);
  const ModelFolder back = model_folder_from_json(json);
  CHECK(to_json(back) == json);
  CHECK(back.files == model.files);
  CHECK(open_encoder(back)->model_id() == model.model_id);

  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string text = json;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return refusal([&] { model_folder_from_json(text); });
  };
  check(changed("\"format\":1", "\"format\":2"), Code::unsupported, "newer version");
  check(changed("\"cls\"", "\"max\""), Code::invalid, "pooling has a value that is not known");
  check(changed("\"cls\"", "\"mean\""), Code::invalid, "model_id does not fit");
  check(changed("\"heads\":4", "\"heads\":-4"), Code::invalid, "heads is no count");
  check(changed("\"heads\"", "\"headz\""), Code::invalid, "model has a member that is not known");
  check(changed("\"heads\":4,", ""), Code::invalid, "heads is missing");
  check(changed("\"c0\":0.25", "\"c0\":1e300"), Code::invalid, "c0 is out of its range");
  check(changed("\"name\":\"", "\"name\":\"../"), Code::invalid, "name is no file of the folder");
  check(changed("\"sha256\":\"", "\"sha256\":\"A"), Code::invalid, "sha256 is no digest");
  check(refusal([] { model_folder_from_json("[]"); }), Code::invalid, "model is no object");
}

TEST_CASE("without OpenBLAS the error names Debian's package") {
  constexpr std::array<const char*, 2> kNone = {"libstrongroom-no-such-blas.so.0", "libc.so.6"};
  check(refusal([&] { const Blas blas(kNone); }), Code::unsupported,
        "needs OpenBLAS, which is not installed; Debian's package is libopenblas0.");
  constexpr std::array<const char*, 2> kSecond = {"libstrongroom-no-such-blas.so.0",
                                                  "libopenblas.so.0"};
  const Blas blas(kSecond);
  const std::array<float, 4> a = {1, 2, 3, 4};
  const std::array<float, 4> b = {5, 6, 7, 8};
  std::array<float, 4> c = {1, 1, 1, 1};
  blas.multiply({.m = 2,
                 .n = 2,
                 .k = 2,
                 .a = a.data(),
                 .lda = 2,
                 .b = b.data(),
                 .ldb = 2,
                 .c = c.data(),
                 .ldc = 2,
                 .beta = 1});
  CHECK(c == std::array<float, 4>{20, 23, 44, 51});
  blas.multiply({.m = 2,
                 .n = 2,
                 .k = 2,
                 .a = a.data(),
                 .lda = 2,
                 .b = b.data(),
                 .ldb = 2,
                 .c = c.data(),
                 .ldc = 2,
                 .transposed = true});
  CHECK(c == std::array<float, 4>{17, 23, 39, 53});
}

}  // namespace strongroom::embed
