// quantise(), StaticEmbedder over small models, and the built-in model against its reference.
#include "recall/embedder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "recall/builtin_model.h"
#include "recall/dot.h"
#include "recall/static_embedder.h"
#include "tests/recall/static_model.h"

namespace strongroom::recall {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::int8_t>;

Floats first(std::initializer_list<float> values) {
  Floats out(values);
  out.resize(kDimensionStep);
  return out;
}

Bytes bytes_of(const Embedding& embedding) {
  return {embedding.values().begin(), embedding.values().end()};
}

Bytes first_bytes(std::initializer_list<int> values) {
  Bytes out(kDimensionStep);
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

Embedding quantised(const Floats& vector) {
  Embedding out;
  quantise(vector, out);
  return out;
}

SmallModel small_model() {
  SmallModel model;
  model.unknown = 0;
  model.tokens = {{"[UNK]", 1, {100, 100, 100}},
                  {"tea", 0.5F, {127, 0, 10}},
                  {"coffee", 0.25F, {100, 0, -127}},
                  {"the", 0, {}},
                  {"##s", 2, {0, 3}}};
  return model;
}

std::string refusal(const std::string& bytes) {
  try {
    const StaticEmbedder embedder(as_model(bytes));
    return "";
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return error.text();
  }
}

float cosine(const Embedding& a, const Embedding& b) {
  const auto product = dot(a.values().data(), b.values().data(), a.values().size());
  return static_cast<float>(product) * a.scale * b.scale;
}

std::filesystem::path reference(const char* name) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return root / "models" / "reference" / name;
}

std::vector<std::string> lines_of(const char* name) {
  std::ifstream file(reference(name), std::ios::binary);
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("the largest component of a vector becomes 127, halves go away from zero") {
  const Embedding axis = quantised(first({0, -3}));
  CHECK(bytes_of(axis) == first_bytes({0, -127}));
  CHECK(axis.scale == 1.0F / 127);
  // In units of the scale these are the numbers themselves.
  const Embedding halves = quantised(first({127, 0.5F, -0.5F, 1.5F, -2.5F, 0.49999997F, -0.25F}));
  CHECK(bytes_of(halves) == first_bytes({127, 1, -1, 2, -3, 0, 0}));
}

TEST_CASE("a quantised vector has length one, whatever length the vector had") {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const float length : {1.0F, 1e-30F, 1e30F, 1e-44F, 123.0F}) {
    Floats vector(256);
    for (float& x : vector) x = normal(random) * length;
    const Embedding out = quantised(vector);
    REQUIRE_FALSE(out.empty());
    CHECK(cosine(out, out) == Approx(1).margin(length < 1e-40F ? 0.02 : 0.002));
  }
}

TEST_CASE("a vector of nothing or with no number is empty") {
  Embedding out = quantised(first({1}));
  quantise(first({0, -0.0F}), out);
  CHECK(out.empty());
  CHECK(out.scale == 0);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    CHECK(quantised(first({1, bad, 2})).empty());
    CHECK(quantised(first({bad})).empty());
  }
}

TEST_CASE("a text is the sum of its tokens") {
  const std::string bytes = small_model().bytes();
  StaticEmbedder embedder(as_model(bytes));
  CHECK(embedder.model_id() == "test-1");
  CHECK(embedder.dimensions() == 16);
  CHECK(embedder.curve().c0 == 0.25F);
  CHECK(embedder.curve().c1 == 4);

  Embedding out;
  REQUIRE(embedder.embed("Tea, coffees", Side::passage, out));
  const Floats sum = first({0.5F * 127 + 0.25F * 100, 6, 5 - 0.25F * 127});
  CHECK(bytes_of(out) == bytes_of(quantised(sum)));
  CHECK(out.scale == quantised(sum).scale);
}

TEST_CASE("what the model does not know says nothing") {
  const std::string bytes = small_model().bytes();
  StaticEmbedder embedder(as_model(bytes));
  Embedding tea;
  Embedding out;
  REQUIRE(embedder.embed("tea", Side::passage, tea));
  REQUIRE(embedder.embed("the unknown: tea!", Side::query, out));
  CHECK(bytes_of(out) == bytes_of(tea));
  for (const char* const nothing : {"", " \n", "the", "unknown words", "tea9", "\xff"}) {
    INFO(nothing);
    CHECK_FALSE(embedder.embed(nothing, Side::passage, out));
    CHECK(out.empty());
  }
}

TEST_CASE("the texts of a batch do not change each other") {
  const std::string bytes = small_model().bytes();
  StaticEmbedder embedder(as_model(bytes));
  const std::vector<std::string_view> texts = {"tea", "nothing", "coffee tea", "teas"};
  std::vector<Embedding> out(texts.size());
  for (int round = 0; round < 2; ++round) {
    embedder.embed_batch(texts, Side::passage, out);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      Embedding alone;
      embedder.embed(texts[i], Side::passage, alone);
      CHECK(bytes_of(out[i]) == bytes_of(alone));
      CHECK(out[i].scale == alone.scale);
    }
  }
}

TEST_CASE("only the first tokens of a long text count, unknown ones among them") {
  const std::string bytes = small_model().bytes();
  StaticEmbedder embedder(as_model(bytes));
  std::string unknown;
  for (std::size_t i = 1; i < StaticEmbedder::kMaxTokens; ++i) unknown += "x ";
  Embedding out;
  CHECK(embedder.embed(unknown + "tea", Side::passage, out));
  CHECK_FALSE(embedder.embed(unknown + "x tea", Side::passage, out));
  std::string teas;
  for (int i = 0; i < 100000; ++i) teas += "tea";
  CHECK_FALSE(embedder.embed(teas, Side::passage, out));
}

TEST_CASE("a model that is cut off or too long is refused") {
  const std::string whole = small_model().bytes();
  CHECK(refusal(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that a sanitizer sees a read beyond it.
    REQUIRE_FALSE(refusal(whole.substr(0, size)).empty());
  }
  CHECK(refusal(whole + '\0') == "Invalid: model has bytes left over. [invalid]");
}

TEST_CASE("a model with a field out of its range is refused") {
  const auto with = [](std::size_t at, std::uint32_t value) {
    std::string bytes = small_model().bytes();
    std::memcpy(bytes.data() + at, &value, 4);
    return refusal(bytes);
  };
  const std::uint32_t nan = 0x7FC00000;
  // 64 + 6 * 4 + 19, aligned, and 72 of the lookup, aligned.
  const std::size_t scales = 256;
  REQUIRE(with(0, 0x54535253).empty());  // the same bytes: the offsets are right
  CHECK_FALSE(with(0, 0x54535254).empty());
  CHECK_FALSE(with(4, 0).empty());
  CHECK_FALSE(with(8, 1).empty());
  for (const std::uint32_t tokens : {0u, 4u, 6u, 1u << 20, 0x40000000u, 0xFFFFFFFFu}) {
    CHECK_FALSE(with(12, tokens).empty());
  }
  for (const std::uint32_t dimensions : {0u, 8u, 24u, 32u, 1040u, 0x80000010u, 0xFFFFFFF0u}) {
    CHECK_FALSE(with(16, dimensions).empty());
  }
  CHECK_FALSE(with(20, 4).empty());
  CHECK_FALSE(with(24, 5).empty());
  CHECK_FALSE(with(28, 18).empty());
  CHECK_FALSE(with(28, 0xFFFFFFFF).empty());
  CHECK_FALSE(with(32, 0).empty());
  CHECK_FALSE(with(44, 1).empty());
  CHECK_FALSE(with(48, nan).empty());
  CHECK_FALSE(with(52, 0x7F800000).empty());
  CHECK_FALSE(with(64, 1).empty());
  CHECK_FALSE(with(68, 0).empty());
  CHECK_FALSE(with(84, 0xFFFFFFFF).empty());
  CHECK(with(scales, 0x3F800000).empty());
  for (const std::uint32_t scale : {nan, 0x7F800000u, 0xBF800000u, 0x7F000000u}) {
    CHECK_FALSE(with(scales, scale).empty());
  }
}

TEST_CASE("a wrong lookup makes other tokens and nothing worse") {
  const std::size_t lookup = 128, end = lookup + WordPiece::lookup_bytes(5);
  const std::string whole = small_model().bytes();
  const std::string text = "tea coffees, the t te teas coffeecoffee " + std::string(200, 's');
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (std::size_t at = lookup; at < end; ++at) {
      if (random() % 4 == 0) bytes[at] = static_cast<char>(round == 0 ? 0xFF : random());
    }
    StaticEmbedder embedder(as_model(bytes));
    std::vector<std::uint32_t> ids;
    embedder.tokenizer().tokenize(text, 1000, ids);
    for (const std::uint32_t id : ids) REQUIRE(id < 5);
    Embedding out;
    embedder.embed(text, Side::passage, out);
  }
}

TEST_CASE("the built-in model's lookup is that of its vocabulary") {
  const StaticEmbedder embedder(builtin_model());
  const WordPiece& built_in = embedder.tokenizer();
  std::string offsets, text;
  for (std::uint32_t id = 0; id < built_in.size(); ++id) {
    vault::append_le(offsets, static_cast<std::uint32_t>(text.size()));
    text += built_in.token(id);
  }
  vault::append_le(offsets, static_cast<std::uint32_t>(text.size()));
  const WordPiece made({offsets, text, {}}, {.unknown = kNoToken});
  REQUIRE(made.lookup() == built_in.lookup());
  CHECK(made.lookup().data() != built_in.lookup().data());
}

TEST_CASE("the built-in model is read") {
  const auto embedder = make_builtin_embedder();
  CHECK_FALSE(embedder->model_id().empty());
  CHECK(embedder->dimensions() % kDimensionStep == 0);
  Embedding car;
  Embedding automobile;
  Embedding soup;
  REQUIRE(embedder->embed("He bought a car.", Side::query, car));
  REQUIRE(embedder->embed("He purchased an automobile.", Side::passage, automobile));
  REQUIRE(embedder->embed("Chicken soup with noodles", Side::passage, soup));
  CHECK(cosine(car, automobile) > cosine(car, soup) + 0.2F);
}

// The reference cuts every word; to the model one of more than kMostPieces is unknown.
std::vector<std::uint32_t> without_long_words(const WordPiece& pieces,
                                              const std::vector<std::uint32_t>& ids) {
  std::vector<std::uint32_t> kept;
  for (std::size_t at = 0; at < ids.size();) {
    std::size_t end = at + 1;
    while (end < ids.size() && pieces.token(ids[end]).starts_with("##")) ++end;
    if (end - at > StaticEmbedder::kMostPieces) {
      kept.push_back(1);  // [UNK]
    } else {
      kept.insert(kept.end(), ids.begin() + static_cast<std::ptrdiff_t>(at),
                  ids.begin() + static_cast<std::ptrdiff_t>(end));
    }
    at = end;
  }
  return kept;
}

std::vector<std::uint32_t> numbers_of(const std::string& line) {
  std::vector<std::uint32_t> numbers;
  std::istringstream in(line);
  for (std::uint32_t number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

TEST_CASE("the built-in model makes the tokens of the reference") {
  const StaticEmbedder embedder(builtin_model());
  const auto lines = lines_of("lines.txt");
  const auto expected = lines_of("ids.txt");
  REQUIRE(lines.size() == 10000);
  REQUIRE(expected.size() == lines.size());
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    embedder.tokenizer().tokenize(lines[i], 100000, ids);
    INFO("line " << i << ": " << lines[i]);
    REQUIRE(ids == without_long_words(embedder.tokenizer(), numbers_of(expected[i])));
  }
}

TEST_CASE("the built-in model makes the vectors of the reference") {
  const auto embedder = make_builtin_embedder();
  const StaticEmbedder model(builtin_model());
  const auto lines = lines_of("lines.txt");
  const auto ids = lines_of("ids.txt");
  std::size_t compared = 0;
  for (const std::string& row : lines_of("vectors.txt")) {
    std::istringstream in(row);
    std::size_t line = 0;
    in >> line;
    REQUIRE(line < lines.size());
    const auto all = numbers_of(ids[line]);
    if (without_long_words(model.tokenizer(), all) != all) continue;
    Embedding out;
    const bool known = embedder->embed(lines[line], Side::passage, out);
    INFO("line " << line << ": " << lines[line]);
    for (std::size_t d = 0; d < embedder->dimensions(); ++d) {
      double wanted = 0;
      REQUIRE(in >> wanted);
      const double found = known ? static_cast<double>(out.values()[d]) * out.scale : 0;
      // Half a step of the quantisation and the reference's own rounding.
      REQUIRE(std::abs(found - wanted * 1e-5) <= out.scale / 2 + 2e-5);
    }
    compared += known ? 1 : 0;
  }
  CHECK(compared > 120);
}

TEST_CASE("vectors have the same bits with every kernel") {
  const auto embedder = make_builtin_embedder();
  const auto lines = lines_of("lines.txt");
  std::vector<Bytes> plain;
  for (const std::string_view name : kernels()) {
    REQUIRE(use_kernel(name));
    for (std::size_t i = 0; i < 1000; ++i) {
      Embedding out;
      embedder->embed(lines[i], Side::passage, out);
      if (name == "plain") plain.push_back(bytes_of(out));
      REQUIRE(bytes_of(out) == plain[i]);
    }
  }
}

}  // namespace strongroom::recall
