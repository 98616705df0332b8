#include "embed/http_answer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"

namespace strongroom::embed {
namespace {

using recall::Embedding;
using Shape = HttpEndpoint::Shape;
using Catch::Contains;

constexpr std::size_t kDimensions = 16;

// A vector whose component `at` is 1 and whose others are 0.
std::string axis(std::size_t at, std::size_t dimensions = kDimensions) {
  std::string out = "[";
  for (std::size_t d = 0; d < dimensions; ++d) {
    out += d == 0 ? "" : ",";
    out += d == at ? "1.0" : "0";
  }
  return out + "]";
}

std::string item(const std::string& index, const std::string& vector) {
  return R"({"object":"embedding","embedding":)" + vector + R"(,"index":)" + index + "}";
}

std::string ollama(const std::string& vectors) {
  return R"({"model":"m","embeddings":[)" + vectors + R"(],"total_duration":7})";
}

std::string openai(const std::string& items) {
  return R"({"object":"list","data":[)" + items + R"(],"usage":{"total_tokens":1}})";
}

struct Vectors {
  explicit Vectors(std::size_t count) : all(count) {
    for (Embedding& vector : all) pointers.push_back(&vector);
  }
  std::vector<Embedding> all;
  std::vector<Embedding*> pointers;

  // Which component is the largest.
  std::size_t axis_of(std::size_t i) const {
    const auto values = all[i].values();
    return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) -
                                    values.begin());
  }
};

std::string refusal(Shape shape, const std::string& body, std::size_t count,
                    std::size_t dimensions = kDimensions, Code code = Code::io) {
  Vectors out(count);
  try {
    read_answer(shape, body, dimensions, out.pointers, "The server ");
  } catch (const Error& error) {
    CHECK(error.code() == code);
    CHECK_THAT(error.text(), Catch::StartsWith("The server "));
    return error.text();
  }
  return "accepted";
}

TEST_CASE("Ollama's vectors come in the order of the texts", "[embed][answer]") {
  Vectors out(2);
  read_answer(Shape::ollama, ollama(axis(3) + "," + axis(5)), kDimensions, out.pointers, "");
  CHECK(out.axis_of(0) == 3);
  CHECK(out.axis_of(1) == 5);
  CHECK(out.all[0].values()[3] == 127);
}

TEST_CASE("OpenAI's vectors say whose they are", "[embed][answer]") {
  Vectors out(3);
  const std::string body =
      openai(item("2", axis(7)) + "," + item("0", axis(1)) + "," + item("1.0", axis(4)));
  read_answer(Shape::openai, body, 0, out.pointers, "");
  CHECK(out.axis_of(0) == 1);
  CHECK(out.axis_of(1) == 4);
  CHECK(out.axis_of(2) == 7);
}

TEST_CASE("a vector of any length is a direction", "[embed][answer]") {
  for (const char* number : {"1e-40", "0.5", "3e38"}) {
    Vectors out(1);
    std::string vector = axis(2);
    vector.replace(vector.find("1.0"), 3, number);
    read_answer(Shape::ollama, ollama(vector), kDimensions, out.pointers, "");
    CHECK(out.axis_of(0) == 2);
    CHECK(out.all[0].values()[2] == 127);
  }
}

TEST_CASE("the wrong number of vectors is refused", "[embed][answer]") {
  CHECK_THAT(refusal(Shape::ollama, ollama(""), 1), Contains("0 vectors for 1 texts"));
  CHECK_THAT(refusal(Shape::ollama, ollama(axis(0)), 2), Contains("1 vectors for 2 texts"));
  CHECK_THAT(refusal(Shape::openai, openai(item("0", axis(0)) + "," + item("1", axis(1))), 1),
             Contains("2 vectors for 1 texts"));
}

TEST_CASE("each text has one vector", "[embed][answer]") {
  const auto two = [](const std::string& a, const std::string& b) {
    return refusal(Shape::openai, openai(item(a, axis(0)) + "," + item(b, axis(1))), 2);
  };
  CHECK(two("0", "1") == "accepted");
  CHECK_THAT(two("0", "0"), Contains("two vectors with index 0"));
  for (const char* index : {"2", "-1", "0.5", "\"1\"", "null", "18446744073709551616", "[1]"}) {
    CAPTURE(index);
    CHECK_THAT(two("0", index), Contains("index is not the number of a text"));
  }
}

TEST_CASE("dimensions are those of the model, or can be indexed", "[embed][answer]") {
  CHECK_THAT(refusal(Shape::ollama, ollama(axis(0, 32)), 1),
             Contains("32 dimensions where 16 are expected"));
  CHECK_THAT(refusal(Shape::ollama, ollama("[]"), 1), Contains("0 dimensions where 16"));
  CHECK_THAT(refusal(Shape::ollama, ollama(axis(0) + "," + axis(0, 32)), 2, 0),
             Contains("32 dimensions where 16 are expected"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{15}, std::size_t{1040}}) {
    CAPTURE(size);
    CHECK_THAT(refusal(Shape::ollama, ollama(axis(0, size)), 1, 0, Code::unsupported),
               Contains("vectors of " + std::to_string(size) + " dimensions"));
  }
  CHECK(refusal(Shape::ollama, ollama(axis(0, 1024)), 1, 0) == "accepted");
}

TEST_CASE("components are finite numbers and not all zero", "[embed][answer]") {
  const auto with = [](const char* component) {
    std::string vector = axis(2);
    vector.replace(vector.find("1.0"), 3, component);
    return refusal(Shape::ollama, ollama(vector), 1);
  };
  for (const char* text : {"NaN", "Infinity", "-Infinity", "nan", "0x1", "+1", ".5", "1.", "01"}) {
    CAPTURE(text);
    CHECK_THAT(with(text), Contains("not valid JSON"));
  }
  for (const char* text : {"null", "\"0.5\"", "true", "[]", "{}"}) {
    CAPTURE(text);
    CHECK_THAT(with(text), Contains("component that is not a number"));
  }
  for (const char* text : {"1e400", "-1e400", "1e39", "3.5e38"}) {
    CAPTURE(text);
    CHECK_THAT(with(text), Contains("number out of range"));
  }
  CHECK_THAT(with("0"), Contains("vector of zeros"));
  CHECK_THAT(with("-0.0"), Contains("vector of zeros"));
  CHECK_THAT(with("1e-60"), Contains("vector of zeros"));
}

TEST_CASE("what is no such answer is named without its words", "[embed][answer]") {
  for (const char* body :
       {"7", "null", "[]", "{}", R"({"data":7})", R"({"data":{}})", R"({"embeddings":[[1]]})"}) {
    CAPTURE(body);
    CHECK_THAT(refusal(Shape::openai, body, 1), Contains("without a list \"data\""));
  }
  CHECK_THAT(refusal(Shape::openai, openai("7"), 1), Contains("without \"embedding\""));
  CHECK_THAT(refusal(Shape::openai, openai(item("0", "\"AAAA\"")), 1),
             Contains("not a list of numbers"));
  CHECK_THAT(refusal(Shape::ollama, ollama("7"), 1), Contains("not a list of numbers"));
  CHECK_THAT(refusal(Shape::ollama, ollama("[1,"), 1), Contains("answer.embeddings[0][1]"));
  const std::string named = refusal(Shape::ollama, R"({"hunter2":[)", 1);
  CHECK_THAT(named, Contains("no JSON that can be read: answer ") && !Contains("hunter2"));
  CHECK_THAT(refusal(Shape::ollama, R"({"data":{"hunter2":x}})", 1), !Contains("hunter2"));
}

TEST_CASE("an answer with all its digits is within the limit", "[embed][answer]") {
  std::string vector = "[\n";
  for (std::size_t d = 0; d < recall::kMaxDimensions; ++d) {
    vector += std::string(20, ' ') + "-0.12345678901234567890123e-100" + ",\n";
  }
  std::string all;
  for (int i = 0; i < 64; ++i) all += item(std::to_string(i), vector);
  CHECK(openai(all).size() < largest_answer(64, recall::kMaxDimensions));
  CHECK(largest_answer(64, recall::kMaxDimensions) < (8u << 20));
}

TEST_CASE("a failure's words", "[embed][answer]") {
  const auto words = [](std::string_view body) { return failure_words("application/json", body); };
  CHECK(words(R"({"error":"not found"})") == "not found");
  CHECK(words(R"({"error":{"message":"bad key","code":7}})") == "bad key");
  CHECK(words(R"({"message":"m"})") == "m");
  CHECK(words(R"({"detail":"d"})") == "d");
  CHECK(words(R"({"detail":[{"loc":1}]})").empty());
  CHECK(words(R"({"error":{"code":7}})").empty());
  CHECK(words("[]").empty());
  CHECK(words("{").empty());
  CHECK(words("").empty());
  CHECK(failure_words("text/plain; charset=utf-8", "no room") == "no room");
  CHECK(failure_words("text/html", "no room").empty());
}

TEST_CASE("content types", "[embed][answer]") {
  CHECK(is_type("application/json", "application/json"));
  CHECK(is_type("Application/JSON; charset=utf-8", "application/json"));
  CHECK(is_type("application/json ;x", "application/json"));
  CHECK_FALSE(is_type("application/jsonp", "application/json"));
  CHECK_FALSE(is_type("application/jso", "application/json"));
  CHECK_FALSE(is_type("text/plain, application/json", "application/json"));
  CHECK_FALSE(is_type("", "application/json"));
}

}  // namespace
}  // namespace strongroom::embed
