#include "embed/calibrate.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "embed/calibration_pairs.h"
#include "recall/builtin_model.h"
#include "tests/embed/folder.h"

namespace strongroom::embed {
namespace {

using recall::Embedding;
using recall::Side;

// The built-in model with a part that all texts share, as models have that make unrelated texts
// alike: a cosine c becomes (c + b) / (1 + b).
class Shifted final : public recall::Embedder {
 public:
  explicit Shifted(float shared) : shared_(shared) {}
  std::string_view model_id() const noexcept override { return "shifted"; }
  std::size_t dimensions() const noexcept override { return inner_->dimensions() + 16; }
  recall::EvidenceCurve curve() const noexcept override { return {0, 1}; }
  void embed_batch(std::span<const std::string_view> texts, Side side,
                   std::span<Embedding> out) override {
    inner_->embed_batch(texts, side, out);
    for (Embedding& vector : out) {
      std::vector<float> longer;
      for (const std::int8_t value : vector.values()) longer.push_back(value * vector.scale);
      longer.resize(inner_->dimensions() + 16, std::sqrt(shared_ / 16));
      recall::quantise(longer, vector);
    }
  }

 private:
  std::unique_ptr<recall::Embedder> inner_ = recall::make_builtin_embedder();
  float shared_;
};

// Says the same of every text.
class Constant final : public recall::Embedder {
 public:
  std::string_view model_id() const noexcept override { return "constant"; }
  std::size_t dimensions() const noexcept override { return 16; }
  recall::EvidenceCurve curve() const noexcept override { return {0, 1}; }
  void embed_batch(std::span<const std::string_view>, Side, std::span<Embedding> out) override {
    for (Embedding& vector : out) recall::quantise(std::vector<float>(16, 1.0F), vector);
  }
};

}  // namespace

TEST_CASE("the table has questions and passages that are all different") {
  std::set<std::string_view> texts;
  for (const CalibrationPair& pair : calibration_pairs()) {
    texts.insert(pair.question);
    texts.insert(pair.passage);
  }
  CHECK(calibration_pairs().size() == 60);
  CHECK(texts.size() == 2 * calibration_pairs().size());
}

TEST_CASE("the built-in model gets the curve that it has") {
  const auto builtin = recall::make_builtin_embedder();
  const recall::EvidenceCurve curve = calibrate(*builtin);
  CHECK(curve.c0 == Approx(builtin->curve().c0).margin(1e-6));
  CHECK(curve.c1 == Approx(builtin->curve().c1).margin(1e-6));
}

TEST_CASE("the curve moves as the cosines of a model do") {
  const auto builtin = recall::make_builtin_embedder();
  for (const float shared : {0.5F, 1.0F, 3.0F}) {
    Shifted model(shared);
    const recall::EvidenceCurve curve = calibrate(model);
    // Quantising to 8 bits moves a cosine a little.
    CHECK(curve.c0 == Approx((builtin->curve().c0 + shared) / (1 + shared)).margin(0.01));
    CHECK(curve.c1 == Approx((builtin->curve().c1 + shared) / (1 + shared)).margin(0.01));
  }
}

TEST_CASE("a model that tells nothing apart is refused") {
  Constant constant;
  CHECK(refusal([&] { calibrate(constant); }).code == Code::invalid);
  // As random weights are, when nobody gives a curve.
  Folder folder;
  fill_encoder(folder);
  FolderOptions options = given();
  options.curve.reset();
  CHECK(refusal([&] {
          inspect_folder(folder.path(), options);
        }).text.find("does not tell passages that answer a question from others") !=
        std::string::npos);
}

}  // namespace strongroom::embed
