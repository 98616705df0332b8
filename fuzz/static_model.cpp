// A static model and a text for it: the first two bytes are the length of the model, the rest of
// the input is the text. A text that is no UTF-8 must not matter.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "recall/static_embedder.h"

using namespace strongroom;
using recall::Embedding;
using recall::StaticEmbedder;

namespace {

void check_tokens(const recall::WordPiece& tokenizer, std::string_view text) {
  std::vector<std::uint32_t> all;
  tokenizer.tokenize(text, text.size(), all);
  std::vector<std::uint32_t> some;
  tokenizer.tokenize(text, all.size() / 2, some);
  fuzz::require(some.size() == all.size() / 2, "no more tokens than wanted, and no fewer");
  fuzz::require(std::equal(some.begin(), some.end(), all.begin()), "they are the first ones");
  std::size_t bytes = 0;
  for (const std::uint32_t id : all) {
    fuzz::require(id < tokenizer.size(), "a token is in the vocabulary");
    bytes += tokenizer.token(id).size();
  }
  fuzz::require(bytes > 0 || all.empty(), "a token has text");
}

void check_vector(const StaticEmbedder& model, const Embedding& vector) {
  fuzz::require(std::isfinite(vector.scale) && vector.scale >= 0, "a scale is a number");
  if (vector.empty()) return;
  fuzz::require(vector.values().size() == model.dimensions(), "a vector has its dimensions");
  int most = 0;
  for (const std::int8_t value : vector.values()) most = std::max(most, std::abs(int{value}));
  fuzz::require(most == 127, "the largest component is the largest number");
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.size() < 2) return;
  const std::size_t wanted =
      static_cast<unsigned char>(input[0]) * 256u + static_cast<unsigned char>(input[1]);
  // A copy of its own, so that a read beyond it is seen.
  const std::string blob(input.substr(2, wanted));
  const std::string_view text = input.substr(2 + blob.size());
  fuzz::accepts({Code::invalid}, [&] {
    StaticEmbedder model(std::as_bytes(std::span(blob.data(), blob.size())));
    check_tokens(model.tokenizer(), text);
    Embedding vector;
    model.embed(text, recall::Side::passage, vector);
    check_vector(model, vector);
  });
}
