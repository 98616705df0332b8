// What an embedding server sends: an answer with vectors, and the words of a failure. The first
// byte chooses the shape, the number of texts and whether dimensions are known; up to a NUL follows
// a text that was sent, the rest is the body.
#include "embed/http_answer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string>

#include "embed/server_words.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

namespace {

void check_vectors(embed::HttpEndpoint::Shape shape, std::size_t texts, std::size_t dimensions,
                   std::string_view body) {
  std::array<recall::Embedding, 4> vectors;
  std::array<recall::Embedding*, 4> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = &vectors[i];
  const std::span wanted = std::span<recall::Embedding* const>(out).first(texts);
  const bool accepted = fuzz::accepts({Code::io, Code::unsupported}, [&] {
    embed::read_answer(shape, body, dimensions, wanted, "The server ");
  });
  if (!accepted) return;
  const std::size_t size = vectors[0].values().size();
  fuzz::require(size > 0 && size <= recall::kMaxDimensions && size % recall::kDimensionStep == 0,
                "dimensions can be indexed");
  fuzz::require(dimensions == 0 || size == dimensions, "dimensions are those of the model");
  for (const recall::Embedding* vector : wanted) {
    fuzz::require(vector->values().size() == size, "all vectors are alike");
    int most = 0;
    for (const std::int8_t value : vector->values()) most = std::max(most, std::abs(int{value}));
    fuzz::require(most == 127, "no vector is zero");
  }
}

void check_words(std::string_view sent, std::string_view body) {
  const std::array<std::string_view, 2> all{"a text that was sent", sent};
  for (const std::string_view type : {"application/json", "text/plain"}) {
    const std::string shown = embed::server_words(embed::failure_words(type, body), all);
    fuzz::require(valid_utf8(shown), "words are UTF-8");
    fuzz::require(shown.find('\n') == std::string::npos, "words are one line");
    fuzz::require(shown.size() <= 200 * 10, "words are few");
    // Longer than any of the usual words, so that one in a row was not omitted.
    const bool word = sent.size() > 16 && std::all_of(sent.begin(), sent.end(), [](char c) {
                        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
                      });
    fuzz::require(!word || shown.find(sent) == std::string::npos, "no text is shown");
  }
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const auto flags = static_cast<unsigned char>(input[0]);
  input.remove_prefix(1);
  const std::string_view sent = fuzz::take_part(input);
  const std::string body(input);  // a copy of its own, so that a read beyond it is seen
  using Shape = embed::HttpEndpoint::Shape;
  check_vectors((flags & 1) != 0 ? Shape::openai : Shape::ollama, 1 + (flags >> 1 & 3),
                (flags & 8) != 0 ? 16 : 0, body);
  check_words(sent, body);
}
