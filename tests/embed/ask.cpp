// Asks endpoints as it is told, for http_test.py and http_reach_test.py. A line of JSON each on
// standard input:
//   {"inspect": {options}}   -> {"model": {...}}, which is then open
//   {"open": {model}}        -> {"model": {...}}
//   {"embed": [texts], "side": "query" | "passage"} -> {"vectors": [[whole numbers], ...]}
//   {"repeat": text, "times": n, "side": ...} -> the same, for one text that is made here
// and {"error": "..."} for an Error. With --readable the process leaves its memory open to its
// parent, for a test that searches it.
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/wipe.h"
#include "crypto/process.h"
#include "embed/http_embedder.h"

using namespace strongroom;

namespace {

template <class Use>
void with(const Json& object, std::string_view name, Use use) {
  if (const Json* const found = object.find(name)) use(*found);
}

embed::HttpOptions options_of(const Json& json) {
  embed::HttpOptions out;
  const auto text = [&](std::string_view name, std::string& into) {
    with(json, name, [&](const Json& value) { into = value.as_string(); });
  };
  const auto time = [&](std::string_view name, std::chrono::milliseconds& into) {
    with(json, name,
         [&](const Json& value) { into = std::chrono::milliseconds(value.as_int().value()); });
  };
  text("url", out.url);
  text("model", out.model);
  text("token_file", out.token_file);
  text("query_prefix", out.query_prefix);
  text("passage_prefix", out.passage_prefix);
  time("query_timeout_ms", out.query_timeout);
  time("passage_timeout_ms", out.passage_timeout);
  with(json, "shape", [&](const Json& value) {
    if (value.as_string() == "ollama") out.shape = embed::HttpEndpoint::Shape::ollama;
  });
  with(json, "allow_remote", [&](const Json& value) { out.allow_remote = value.as_bool(); });
  with(json, "max_text_bytes", [&](const Json& value) {
    out.max_text_bytes = static_cast<std::size_t>(value.as_int().value());
  });
  return out;
}

class Asker {
 public:
  std::string answer(const Json& request) {
    if (const Json* const options = request.find("inspect")) {
      return open(embed::inspect_endpoint(options_of(*options)));
    }
    if (const Json* const model = request.find("open")) {
      return open(embed::http_model_from_json(model->raw()));
    }
    if (const Json* const part = request.find("repeat")) {
      SecretBytes text;
      const std::int64_t times = request.find("times")->as_int().value();
      for (std::int64_t i = 0; i < times; ++i) text.append(part->as_string());
      return embed({text.view()}, request);
    }
    std::vector<std::string_view> texts;
    for (const Json& text : request.find("embed")->items()) texts.push_back(text.as_string());
    return embed(texts, request);
  }

 private:
  std::string open(const embed::HttpModel& model) {
    embedder_ = embed::open_http(model);
    return "{\"model\":" + embed::to_json(model) + "}";
  }

  std::string embed(const std::vector<std::string_view>& texts, const Json& request) {
    const bool query = request.find("side")->as_string() == "query";
    std::vector<recall::Embedding> out(texts.size());
    embedder_->embed_batch(texts, query ? recall::Side::query : recall::Side::passage, out);
    JsonWriter writer;
    writer.begin_object().key("vectors").begin_array();
    for (const recall::Embedding& vector : out) {
      writer.begin_array();
      for (const std::int8_t value : vector.values()) writer.integer(value);
      writer.end_array();
    }
    return writer.end_array().end_object().take();
  }

  std::unique_ptr<recall::Embedder> embedder_;
};

}  // namespace

int main(int count, char** arguments) {
  const bool readable = count > 1 && std::string_view(arguments[1]) == "--readable";
  if (!readable) crypto::harden_process();
  Asker asker;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      answer = asker.answer(Json::parse(line));
    } catch (const Error& error) {
      answer = "{\"error\":" + json_quoted(error.text()) + "}";
    }
    std::cout << answer << std::endl;
  }
  return 0;
}
