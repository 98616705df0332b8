#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/json.h"
#include "embed/http_asker.h"
#include "embed/http_embedder.h"

namespace strongroom::embed {
namespace {

using Catch::Contains;
using Shape = HttpEndpoint::Shape;

HttpModel good_model() {
  HttpModel model;
  model.url = "http://127.0.0.1:11434/api/embed";
  model.shape = Shape::ollama;
  model.model = "nomic-embed-text \"x\"";
  model.token_file = "/home/me/token";
  model.query_prefix = "search_query: ";
  model.passage_prefix = "search_document: ä\n";
  model.dimensions = 768;
  model.curve = {0.35F, 0.85F};
  model.model_id = id_of(model);
  return model;
}

template <class Call>
std::string refusal(Call call, Code code = Code::invalid) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.text();
  }
  return "accepted";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string from_json_refusal(const std::string& json) {
  return refusal([&] { http_model_from_json(json); });
}

TEST_CASE("a model as JSON and back", "[embed][settings]") {
  const HttpModel model = good_model();
  const HttpModel read = http_model_from_json(to_json(model));
  CHECK(to_json(read) == to_json(model));
  CHECK(read.url == model.url);
  CHECK(read.shape == model.shape);
  CHECK(read.model == model.model);
  CHECK(read.allow_remote == model.allow_remote);
  CHECK(read.token_file == model.token_file);
  CHECK(read.query_prefix == model.query_prefix);
  CHECK(read.passage_prefix == model.passage_prefix);
  CHECK(read.query_timeout == model.query_timeout);
  CHECK(read.passage_timeout == model.passage_timeout);
  CHECK(read.max_text_bytes == model.max_text_bytes);
  CHECK(read.dimensions == model.dimensions);
  CHECK(read.curve.c0 == model.curve.c0);
  CHECK(read.curve.c1 == model.curve.c1);
  CHECK(read.model_id == model.model_id);
}

TEST_CASE("reading a model is strict", "[embed][settings]") {
  const std::string good = to_json(good_model());
  CHECK(from_json_refusal(good) == "accepted");
  CHECK_THAT(from_json_refusal("[]"), Contains("model is not a JSON object"));
  CHECK_THAT(from_json_refusal("{"), Contains("model"));
  CHECK_THAT(from_json_refusal(good + "x"), Contains("text after its end"));
  CHECK_THAT(from_json_refusal(replaced(good, "{", "{\"more\":1,")), Contains("not known"));
  const Json parsed = Json::parse(good);
  for (const Json::Member& member : parsed.members()) {
    CAPTURE(member.name);
    JsonWriter without;
    JsonWriter other;
    without.begin_object();
    other.begin_object();
    for (const Json::Member& each : parsed.members()) {
      if (each.name != member.name) without.key(each.name).raw(each.value.raw());
      other.key(each.name).raw(each.name == member.name ? "[]" : each.value.raw());
    }
    CHECK_THAT(from_json_refusal(without.end_object().take()),
               Contains("model." + member.name + " is missing"));
    CHECK_THAT(from_json_refusal(other.end_object().take()),
               Contains("model." + member.name + " is n"));
  }
  CHECK_THAT(from_json_refusal(replaced(good, "ollama", "openai")), Contains("model_id"));
  CHECK_THAT(from_json_refusal(replaced(good, "ollama", "other")), Contains("model.shape"));
  CHECK_THAT(from_json_refusal(replaced(good, ":768", ":784")), Contains("model_id"));
  CHECK_THAT(from_json_refusal(replaced(good, ":768", ":7.5")), Contains("model.dimensions"));
  CHECK_THAT(from_json_refusal(replaced(good, ":768", ":-16")), Contains("model.dimensions"));
  CHECK_THAT(from_json_refusal(replaced(good, ":768", ":2048")), Contains("model.dimensions"));
}

TEST_CASE("an id stands for all that makes a vector", "[embed][settings]") {
  std::set<std::string> ids;
  const auto add = [&](auto change) {
    HttpModel model = good_model();
    change(model);
    const std::string id = id_of(model);
    CHECK(id.size() == 21);
    CHECK(id.starts_with("http-"));
    CHECK(id.find_first_not_of("0123456789abcdef", 5) == std::string::npos);
    CHECK(ids.insert(id).second);
  };
  add([](HttpModel&) {});
  add([](HttpModel& m) { m.url += "x"; });
  add([](HttpModel& m) { m.shape = Shape::openai; });
  add([](HttpModel& m) { m.model += "x"; });
  add([](HttpModel& m) { m.query_prefix += "x"; });
  add([](HttpModel& m) { m.passage_prefix += "x"; });
  add([](HttpModel& m) { std::swap(m.query_prefix, m.passage_prefix); });
  add([](HttpModel& m) { m.max_text_bytes = 4000; });
  add([](HttpModel& m) { m.dimensions = 384; });

  HttpModel same = good_model();
  same.token_file = "/elsewhere";
  same.curve = {0, 1};
  same.query_timeout = std::chrono::seconds(1);
  CHECK(id_of(same) == good_model().model_id);
  CHECK(id_of(same) == "http-d6d14956cc6b3998");
}

TEST_CASE("settings are checked", "[embed][settings]") {
  const auto check = [](auto change) {
    HttpModel model = good_model();
    change(model);
    model.model_id = id_of(model);
    return refusal([&] { open_http(model); });
  };
  CHECK(check([](HttpModel&) {}) == "accepted");
  CHECK_THAT(check([](HttpModel& m) { m.url = "http://example.org/v1"; }),
             Contains("another machine"));
  CHECK_THAT(check([](HttpModel& m) { m.url = "nonsense"; }), Contains("url"));
  CHECK_THAT(check([](HttpModel& m) { m.model = ""; }), Contains("model name"));
  CHECK_THAT(check([](HttpModel& m) { m.model = std::string(257, 'm'); }), Contains("model name"));
  CHECK_THAT(check([](HttpModel& m) { m.model = "a\nb"; }), Contains("model name"));
  CHECK_THAT(check([](HttpModel& m) { m.token_file = "token"; }), Contains("absolute path"));
  CHECK_THAT(check([](HttpModel& m) { m.query_prefix = "\xff"; }), Contains("query prefix"));
  CHECK_THAT(check([](HttpModel& m) { m.query_timeout = std::chrono::milliseconds(0); }),
             Contains("query timeout"));
  CHECK_THAT(check([](HttpModel& m) { m.passage_timeout = std::chrono::hours(2); }),
             Contains("passage timeout"));
  CHECK_THAT(check([](HttpModel& m) { m.max_text_bytes = 63; }), Contains("text limit"));
  CHECK_THAT(check([](HttpModel& m) { m.max_text_bytes = 256u << 10; }), Contains("text limit"));
  CHECK_THAT(check([](HttpModel& m) { m.dimensions = 0; }), Contains("dimensions"));
  CHECK_THAT(check([](HttpModel& m) { m.dimensions = 100; }), Contains("dimensions"));
  CHECK_THAT(check([](HttpModel& m) { m.dimensions = 1040; }), Contains("dimensions"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const recall::EvidenceCurve curve :
       {recall::EvidenceCurve{0.5F, 0.5F}, {0.8F, 0.1F}, {nan, 1}, {0, nan}, {-2, 1}, {0, 2}}) {
    CHECK_THAT(check([&](HttpModel& m) { m.curve = curve; }), Contains("curve"));
  }
  const HttpModel long_prefix = [] {
    HttpModel model = good_model();
    model.passage_prefix = std::string(1025, 'p');
    return model;
  }();
  CHECK_THAT(refusal([&] { open_http(long_prefix); }, Code::too_large), Contains("passage prefix"));
}

TEST_CASE("opening asks nobody", "[embed][settings]") {
  HttpModel model = good_model();  // neither the server nor the token file is there
  const auto embedder = open_http(model);
  CHECK(embedder->model_id() == model.model_id);
  CHECK(embedder->dimensions() == 768);
  CHECK(embedder->curve().c1 == 0.85F);
  recall::Embedding out;
  CHECK_FALSE(embedder->embed(" ", recall::Side::query, out));
}

}  // namespace
}  // namespace strongroom::embed
