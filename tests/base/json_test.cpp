#include "base/json.h"

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"

namespace strongroom {
namespace {

std::string refusal(std::string_view text, std::string_view field = "body") {
  try {
    Json::parse(text, field);
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return error.text();
  }
  return "accepted";
}

std::string nested(std::size_t depth, std::string_view inside = "") {
  return std::string(depth, '[') + std::string(inside) + std::string(depth, ']');
}

}  // namespace

TEST_CASE("JSON values", "[base][json]") {
  const std::string text = R"( {"s": "a\u00e9\n", "n": -1.50, "t": true, "f": false, "z": null,
      "a": [1, [], {}], "o": {"": 0}} )";
  const Json json = Json::parse(text);
  REQUIRE(json.is_object());
  CHECK(json.members().size() == 7);
  CHECK(json.find("s")->as_string() == "a\xC3\xA9\n");
  CHECK(json.find("s")->raw() == R"("a\u00e9\n")");
  CHECK(json.find("n")->raw() == "-1.50");
  CHECK(json.find("n")->as_double() == -1.5);
  CHECK_FALSE(json.find("n")->as_int().has_value());
  CHECK(json.find("t")->as_bool());
  CHECK(json.find("f")->is_bool());
  CHECK_FALSE(json.find("f")->as_bool());
  CHECK(json.find("z")->is_null());
  CHECK(json.find("a")->items().size() == 3);
  CHECK(json.find("a")->raw() == "[1, [], {}]");
  CHECK(json.find("o")->find("")->as_int() == 0);
  CHECK(json.find("absent") == nullptr);
  CHECK(json.find("s")->find("x") == nullptr);
  CHECK_FALSE(json.find("s")->as_int().has_value());
  CHECK_FALSE(json.find("t")->as_double().has_value());
  CHECK(json.members()[1].name == "n");  // in the order sent
  CHECK(json.raw() == std::string_view(text).substr(1, text.size() - 2));
}

TEST_CASE("JSON strings", "[base][json]") {
  struct Row {
    std::string_view text;
    std::string value;
  };
  const std::vector<Row> rows = {
      {R"("")", ""},
      {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
      {R"("\u0000")", std::string(1, '\0')},
      {R"("\u007f\u0080\u07FF\u0800\uFFFF")", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF"},
      {R"("\ud834\uDD1E")", "\xF0\x9D\x84\x9E"},
      {R"("\uD800\uDC00\uDBFF\uDFFF")", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
      {"\"\xF0\x9D\x84\x9E\x7F\"", "\xF0\x9D\x84\x9E\x7F"},
      {R"("\u00e9tude \u2028 and a text longer than any small-string buffer")",
       "\xC3\xA9tude \xE2\x80\xA8 and a text longer than any small-string buffer"},
  };
  for (const Row& row : rows) CHECK(Json::parse(row.text).as_string() == row.value);
}

TEST_CASE("JSON errors name the place and never the input", "[base][json]") {
  struct Row {
    std::string_view text, message;
  };
  const std::vector<Row> rows = {
      {"", "body ends too early"},
      {"  \n", "body ends too early"},
      {"{", "body is not valid JSON"},
      {"hunter2", "body is not valid JSON"},
      {"{} hunter2", "body has text after its end"},
      {"1 2", "body has text after its end"},
      {"nul", "body is not valid JSON"},
      {"nullx", "body has text after its end"},
      {"NaN", "body is not valid JSON"},
      {"-Infinity", "body is not valid JSON"},
      {"01", "body has text after its end"},
      {"-", "body is not valid JSON"},
      {"+1", "body is not valid JSON"},
      {".5", "body is not valid JSON"},
      {"1.", "body is not valid JSON"},
      {"1e", "body is not valid JSON"},
      {"0x10", "body has text after its end"},
      {"'hunter2'", "body is not valid JSON"},
      {"\"hunter2", "body ends inside a string"},
      {"\"hunter2\\", "body has an unknown escape"},
      {"\"hunter2\\q\"", "body has an unknown escape"},
      {"\"\\u12\"", "body has a malformed \\u escape"},
      {"\"\\u", "body has a malformed \\u escape"},
      {"\"\\ud800\"", "body has a lone surrogate"},
      {"\"\\ud800\\n\"", "body has a lone surrogate"},
      {"\"\\ud800\\u0041\"", "body has a lone surrogate"},
      {"\"\\udc00\"", "body has a lone surrogate"},
      {"\"\\ud800", "body has a lone surrogate"},
      {"\"a\tb\"", "body has a raw control character in a string"},
      {std::string_view("\"a\0b\"", 5), "body has a raw control character in a string"},
      {"\"\xFF\"", "body is not valid UTF-8"},
      {"\"\xC0\x80\"", "body is not valid UTF-8"},
      {"\"\xED\xA0\x80\"", "body is not valid UTF-8"},
      {"\xEF\xBB\xBF{}", "body is not valid JSON"},
      {"[1,]", "body[1] is not valid JSON"},
      {"[,1]", "body[0] is not valid JSON"},
      {"[1 2]", "body is not valid JSON"},
      {"[1", "body is not valid JSON"},
      {"[1,", "body[1] ends too early"},
      {"{\"a\":1,}", "body is not valid JSON"},
      {"{a:1}", "body is not valid JSON"},
      {"{\"a\" 1}", "body.a is not valid JSON"},
      {"{\"a\":}", "body.a is not valid JSON"},
      {"{\"a\":1 \"b\":2}", "body.a is not valid JSON"},
      {"{\"a\":1,\"a\":2}", "body.a is a duplicate member"},
      {"{\"a\":1,\"\\u0061\":2}", "body.a is a duplicate member"},
      {"{\"items\":[{\"tags\":[\"x\",{\"n\":hunter2}]}]}",
       "body.items[0].tags[1].n is not valid JSON"},
      {"{\"hunter2 is the password\":x}", "body.? is not valid JSON"},
      {"{\"\":x}", "body.? is not valid JSON"},
      {"[1] // hunter2", "body has text after its end"},
  };
  for (const Row& row : rows) {
    const std::string got = refusal(row.text);
    CHECK(got == "Invalid: " + std::string(row.message) + ". [invalid]");
    CHECK(got.find("hunter2") == std::string::npos);
  }
  CHECK(refusal("x", "policy") == "Invalid: policy is not valid JSON. [invalid]");
}

TEST_CASE("JSON depth", "[base][json]") {
  CHECK(Json::parse(nested(64)).is_array());
  CHECK(Json::parse(nested(64, "1")).is_array());
  CHECK(refusal(nested(65)).find("is nested deeper than 64 levels") != std::string::npos);
  std::string objects;
  for (int i = 0; i < 64; ++i) objects += "{\"a\":";
  CHECK(Json::parse(objects + "1" + std::string(64, '}')).is_object());
  CHECK(refusal(objects + "[" + "]" + std::string(64, '}')).find("64 levels") != std::string::npos);
  CHECK(refusal(std::string(1'000'000, '[')).find("64 levels") != std::string::npos);
}

TEST_CASE("JSON duplicates in large objects", "[base][json]") {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i)
    text += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  const std::string unique = text + "\"last\":0}";
  CHECK(Json::parse(unique).members().size() == 1001);
  for (const int again : {0, 1, 15, 16, 17, 500, 999}) {
    CHECK(refusal(text + "\"key" + std::to_string(again) + "\":0}") ==
          "Invalid: body.key" + std::to_string(again) + " is a duplicate member. [invalid]");
  }
}

TEST_CASE("JSON numbers keep what was sent", "[base][json]") {
  using std::nullopt;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  struct Row {
    std::string text;
    std::optional<std::int64_t> whole;
    std::optional<double> real;
  };
  const std::vector<Row> rows = {
      {"0", 0, 0.0},
      {"-0", 0, -0.0},
      {"-0.0", 0, -0.0},
      {"0e999", 0, 0.0},
      {"1", 1, 1.0},
      {"-3", -3, -3.0},
      {"1.0", 1, 1.0},
      {"1e3", 1000, 1000.0},
      {"1E+3", 1000, 1000.0},
      {"1000e-3", 1, 1.0},
      {"1200.00e-2", 12, 12.0},
      {"0.5e1", 5, 5.0},
      {"0.05", nullopt, 0.05},
      {"1.5", nullopt, 1.5},
      {"1e-1", nullopt, 0.1},
      {"12345678901234567890123", nullopt, 12345678901234567890123.0},
      {"9007199254740993", 9007199254740993, 9007199254740992.0},
      {"9007199254740993.0", 9007199254740993, 9007199254740992.0},
      {"0.99999999999999999999", nullopt, 1.0},
      {"1.00000000000000000001", nullopt, 1.0},
      {"9223372036854775807", kMax, 9223372036854775807.0},
      {"9223372036854775807.000", kMax, 9223372036854775807.0},
      {"9223372036854775808", nullopt, 9223372036854775808.0},
      {"-9223372036854775808", kMin, -9223372036854775808.0},
      {"-9223372036854775809", nullopt, -9223372036854775808.0},
      {"9e18", 9000000000000000000, 9e18},
      {"1e19", nullopt, 1e19},
      {"1e400", nullopt, nullopt},
      {"-1e400", nullopt, nullopt},
      {"1e99999999999999999999999", nullopt, nullopt},
      {"1e-99999999999999999999999", nullopt, nullopt},
      {"0e99999999999999999999999", 0, 0.0},
      {"1" + std::string(1000, '0') + "e-1000", 1, 1.0},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Json json = Json::parse(row.text);
    CHECK(json.raw() == row.text);
    CHECK(json.as_int() == row.whole);
    // What happens to exponents beyond long is the library's matter: only the rest is compared.
    if (row.text.find("9999") == std::string::npos) CHECK(json.as_double() == row.real);
    CHECK(json_compact(" " + row.text + "\n") == row.text);
    JsonWriter writer(JsonWriter::Style::indented);
    CHECK(writer.raw(row.text).text() == row.text);
  }
}

TEST_CASE("JSON compact keeps tokens", "[base][json]") {
  struct Row {
    std::string_view text, compact;
  };
  const std::vector<Row> rows = {
      {" { } ", "{}"},
      {"[ 1 , 2.50 ,\t-0 ,\r\n1E5 ]", "[1,2.50,-0,1E5]"},
      {R"({ "a b" : " c  \" d \\" , "\\" : [ ] })", R"({"a b":" c  \" d \\","\\":[]})"},
      {R"( "\u0041 \/" )", R"("\u0041 \/")"},
      {" null ", "null"},
  };
  for (const Row& row : rows) {
    CHECK(json_compact(row.text) == row.compact);
    CHECK(json_compact(row.compact) == row.compact);
  }
}

TEST_CASE("JSON quoting", "[base][json]") {
  CHECK(json_quoted("") == "\"\"");
  CHECK(json_quoted("a\"b\\c/d") == R"("a\"b\\c/d")");
  CHECK(json_quoted("\b\f\n\r\t") == R"("\b\f\n\r\t")");
  CHECK(json_quoted(std::string_view("\0\x01\x1f\x7f", 4)) == "\"\\u0000\\u0001\\u001f\x7f\"");
  CHECK(json_quoted("\xC3\xA9\xE2\x80\xA8\xF0\x9D\x84\x9E") ==
        "\"\xC3\xA9\xE2\x80\xA8\xF0\x9D\x84\x9E\"");
  CHECK(json_quoted("a\xFFz\xC3") == "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(Json::parse(json_quoted(one)).as_string() == one);
  }
}

// Expectations as JSON.stringify(value) and JSON.stringify(value, null, 2) write them.
TEST_CASE("JSON writer", "[base][json]") {
  struct Row {
    std::function<void(JsonWriter&)> write;
    std::string_view compact, indented;
  };
  const std::vector<Row> rows = {
      {[](JsonWriter& w) { w.null(); }, "null", "null"},
      {[](JsonWriter& w) { w.boolean(true); }, "true", "true"},
      {[](JsonWriter& w) { w.string("x"); }, "\"x\"", "\"x\""},
      {[](JsonWriter& w) { w.begin_object().end_object(); }, "{}", "{}"},
      {[](JsonWriter& w) { w.begin_array().end_array(); }, "[]", "[]"},
      {[](JsonWriter& w) { w.begin_array().integer(1).integer(-2).end_array(); }, "[1,-2]",
       "[\n  1,\n  -2\n]"},
      {[](JsonWriter& w) {
         w.begin_object().member("ok", true).key("data").begin_object();
         w.member("key", "a\nb").member("n", std::int64_t{-7}).end_object().end_object();
       },
       R"({"ok":true,"data":{"key":"a\nb","n":-7}})",
       "{\n  \"ok\": true,\n  \"data\": {\n    \"key\": \"a\\nb\",\n    \"n\": -7\n  }\n}"},
      {[](JsonWriter& w) {
         w.begin_array().begin_array().end_array().begin_object().end_object().begin_array();
         w.null().end_array().end_array();
       },
       "[[],{},[null]]", "[\n  [],\n  {},\n  [\n    null\n  ]\n]"},
      {[](JsonWriter& w) {
         w.begin_object().member("", "").member("u", std::uint64_t{18446744073709551615u});
         w.member("s", std::string_view("v")).end_object();
       },
       R"({"":"","u":18446744073709551615,"s":"v"})",
       "{\n  \"\": \"\",\n  \"u\": 18446744073709551615,\n  \"s\": \"v\"\n}"},
      {[](JsonWriter& w) {
         w.begin_object().key("v").raw(
             " { \"a\" : [ 1 , { } , [ ] , [ [ 2 ] ] ] , \"b,:{\" : 1.0 } ");
         w.member("after", false).end_object();
       },
       R"({"v":{"a":[1,{},[],[[2]]],"b,:{":1.0},"after":false})",
       "{\n  \"v\": {\n    \"a\": [\n      1,\n      {},\n      [],\n      [\n        [\n          "
       "2\n"
       "        ]\n      ]\n    ],\n    \"b,:{\": 1.0\n  },\n  \"after\": false\n}"},
      {[](JsonWriter& w) {
         w.begin_array()
             .raw("12345678901234567890123")
             .raw("\"\\u0041\\\"[\"")
             .raw("[]")
             .raw("{ }");
         w.end_array();
       },
       R"([12345678901234567890123,"\u0041\"[",[],{}])",
       "[\n  12345678901234567890123,\n  \"\\u0041\\\"[\",\n  [],\n  {}\n]"},
      {[](JsonWriter& w) { w.raw("\n[\ttrue ]"); }, "[true]", "[\n  true\n]"},
  };
  for (const Row& row : rows) {
    JsonWriter compact, indented(JsonWriter::Style::indented);
    row.write(compact);
    row.write(indented);
    CHECK(compact.text() == row.compact);
    CHECK(indented.text() == row.indented);
    CHECK(json_compact(indented.text()) == row.compact);
    CHECK_NOTHROW(Json::parse(indented.text()));
    CHECK(compact.take() == row.compact);
  }
}

TEST_CASE("JSON writer numbers are ECMAScript's", "[base][json]") {
  struct Row {
    double number;
    std::string_view text;
  };
  const std::vector<Row> rows = {
      {0.0, "0"},
      {-0.0, "0"},
      {1, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {100, "100"},
      {123456789.125, "123456789.125"},
      {1e20, "100000000000000000000"},
      {1.5e20, "150000000000000000000"},
      {123456789012345680000.0, "123456789012345680000"},
      {1e21, "1e+21"},
      {-1.5e21, "-1.5e+21"},
      {1e-6, "0.000001"},
      {1.25e-6, "0.00000125"},
      {1e-7, "1e-7"},
      {-1.25e-7, "-1.25e-7"},
      {9007199254740993.0, "9007199254740992"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::infinity(), "null"},
      {-std::numeric_limits<double>::infinity(), "null"},
      {std::numeric_limits<double>::quiet_NaN(), "null"},
  };
  for (const Row& row : rows) {
    JsonWriter writer;
    CHECK(writer.number(row.number).text() == row.text);
    if (std::isfinite(row.number)) {
      CHECK(Json::parse(writer.text()).as_double() == row.number);
    }
  }
}

}  // namespace strongroom
