#include "embed/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "embed/calibration_pairs.h"
#include "recall/builtin_model.h"

namespace strongroom::embed {

namespace {

using recall::Embedding;
using recall::Side;

// In deviations of what does not match. Random weights have 0; the built-in model and others that
// are in use have 2.5 to 5, also with the wrong pooling.
constexpr double kLeastDistance = 1;

struct Distribution {
  double mean, deviation;
};

struct Distributions {
  Distribution others, matching;
};

double cosine(const Embedding& a, const Embedding& b) noexcept {
  if (a.empty() || b.empty()) return 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) sum += a.values()[i] * b.values()[i];
  return static_cast<double>(sum) * double{a.scale} * double{b.scale};
}

Distribution describe(const std::vector<double>& values) noexcept {
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  double squares = 0;
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return {sum / count, std::sqrt(squares / count)};
}

std::vector<Embedding> embed_all(recall::Embedder& model, Side side) {
  std::vector<std::string_view> texts;
  for (const CalibrationPair& pair : calibration_pairs()) {
    texts.push_back(side == Side::query ? pair.question : pair.passage);
  }
  std::vector<Embedding> out(texts.size());
  model.embed_batch(texts, side, out);
  return out;
}

Distributions measure(recall::Embedder& model) {
  const std::vector<Embedding> questions = embed_all(model, Side::query);
  const std::vector<Embedding> passages = embed_all(model, Side::passage);
  std::vector<double> others;
  std::vector<double> matching;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    for (std::size_t p = 0; p < passages.size(); ++p) {
      (q == p ? matching : others).push_back(cosine(questions[q], passages[p]));
    }
  }
  return {describe(others), describe(matching)};
}

double same_quantile(double value, const Distribution& from, const Distribution& to) noexcept {
  return to.mean + to.deviation * (value - from.mean) / from.deviation;
}

}  // namespace

recall::EvidenceCurve calibrate(recall::Embedder& model) {
  const Distributions wanted = measure(model);
  const double distance = wanted.matching.mean - wanted.others.mean;
  const bool useful = distance > kLeastDistance * wanted.others.deviation &&
                      wanted.others.deviation > 0 && wanted.matching.deviation > 0;
  if (!useful) {
    throw Error::invalid("model",
                         "does not tell passages that answer a question from others; are pooling "
                         "and prefixes those it was trained with");
  }
  const auto builtin = recall::make_builtin_embedder();
  const Distributions known = measure(*builtin);
  const recall::EvidenceCurve curve = builtin->curve();
  const double c0 = same_quantile(double{curve.c0}, known.others, wanted.others);
  const double c1 = same_quantile(double{curve.c1}, known.matching, wanted.matching);
  return {static_cast<float>(c0), static_cast<float>(std::max(c1, c0 + distance))};
}

}  // namespace strongroom::embed
