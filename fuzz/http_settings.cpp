// The URL of an endpoint, and a stored model.
#include <string>

#include "embed/endpoint.h"
#include "embed/http_embedder.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  fuzz::accepts({Code::invalid}, [&] {
    const embed::Endpoint endpoint = embed::parse_endpoint(input);
    const embed::Endpoint again = embed::parse_endpoint(endpoint.url());
    fuzz::require(again.url() == endpoint.url(), "a URL that was read is read again");
    fuzz::require(endpoint.port != 0 && endpoint.path.starts_with('/'), "it has all its parts");
    const bool digits_only = endpoint.host.find_first_not_of("0123456789.") == std::string::npos;
    if (endpoint.on_this_machine()) {
      fuzz::require(endpoint.host == "localhost" || endpoint.host == "[::1]" ||
                        (digits_only && endpoint.host.starts_with("127.")),
                    "this machine has few names");
    }
  });
  fuzz::accepts({Code::invalid, Code::too_large}, [&] {
    const embed::HttpModel model = embed::http_model_from_json(input);
    const std::string json = embed::to_json(model);
    fuzz::require(embed::to_json(embed::http_model_from_json(json)) == json,
                  "a model that was read is written and read again");
  });
}
