// Getting to know an endpoint.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "embed/http_asker.h"

namespace strongroom::embed {

namespace {

using recall::Embedding;
using recall::Side;

constexpr std::string_view kFirst = "The spare key hangs beside the back door.";
constexpr std::string_view kSecond = "Trains to the coast leave twice an hour.";

bool same(const Embedding& a, const Embedding& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
}

}  // namespace

HttpModel inspect_endpoint(const HttpOptions& options) {
  check_endpoint(options);
  check_curve(options.curve);
  HttpAsker asker(options);
  Embedding first, second, question;
  const std::array<Embedding*, 2> passages{&first, &second};
  const std::array<Embedding*, 1> questions{&question};
  asker.ask(std::array{kFirst, kSecond}, Side::passage, 0, passages);
  asker.ask(std::array{kFirst}, Side::query, first.bytes.size(), questions);
  if (same(first, second)) {
    throw Error(Code::io,
                "The embedding server gives different texts the same vector, so nothing could be "
                "found by it.");
  }
  HttpModel model;
  static_cast<HttpEndpoint&>(model) = options;
  model.dimensions = first.bytes.size();
  model.curve = options.curve;
  model.model_id = id_of(model);
  return model;
}

}  // namespace strongroom::embed
