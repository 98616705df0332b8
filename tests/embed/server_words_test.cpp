#include "embed/server_words.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/utf8.h"

namespace strongroom::embed {
namespace {

std::string shown(std::string_view said, std::vector<std::string_view> sent) {
  return server_words(said, sent);
}

TEST_CASE("what a server says is shown", "[embed][words]") {
  CHECK(shown("model \"zz\" not found, try pulling it first", {"my text"}) ==
        "model \"zz\" not found, try pulling it first");
  CHECK(shown("", {"my text"}).empty());
  CHECK(shown("all is shown when nothing was sent", {}) == "all is shown when nothing was sent");
  CHECK(shown("empty texts are in nothing", {"", ""}) == "empty texts are in nothing");
}

TEST_CASE("what was sent is not", "[embed][words]") {
  CHECK(shown("cannot embed 'hunter2'", {"the password is hunter2"}) == "cannot embed '…'");
  CHECK(shown("HUNTER2", {"the password is Hunter2"}) == "…");
  CHECK(shown("got: the password is hunter2!", {"the password is hunter2"}) == "got: the … is …!");
  CHECK(shown("a word, two words, three", {"words", "three"}) == "a …, two …, …");
  CHECK(shown("error: password and pass", {"my-password-here"}) == "error: … and …");
  CHECK(shown("swordfish", {"my password"}) == "…");
  CHECK(shown("sword", {"my pass wort"}) == "sword");
  CHECK(shown("xxhunter2xx", {"hunter2"}) == "…");
  CHECK(shown("tok-Aq3x_G7Lm", {"", "tok-Aq3x_G7Lm"}) == "…-…_…");
  CHECK(shown("4 7 1 1", {"4711"}) == "…");
}

TEST_CASE("what may be a text in another spelling is not shown either", "[embed][words]") {
  CHECK(shown("bad input \\u5bc6\\u7801 given", {"密码"}) == "bad input …");
  CHECK(shown("GET /x?q=%C3%A4 failed", {"ä"}) == "GET /x?q=…");
  CHECK(shown("50% of it, 100%", {"y"}) == "50% of it, 100%");
}

TEST_CASE("the usual words are shown even when they were sent", "[embed][words]") {
  CHECK(shown("the input length exceeds the context length", {"the input of my length"}) ==
        "the input length exceeds the context length");
}

TEST_CASE("beyond ASCII every character is a word", "[embed][words]") {
  CHECK(shown("错误：密码是", {"我的密码是"}) == "错误：…");
  CHECK(shown("schlüssel", {"Schlüssel"}) == "…");
}

TEST_CASE("what is shown is short, one line and UTF-8", "[embed][words]") {
  CHECK(shown(std::string(5000, 'w'), {}).size() == 200);
  CHECK(shown("a\nb\x1b[31m\tc", {}) == escape_for_display("a\nb\x1b[31m\tc"));
  CHECK(
      valid_utf8(shown("\xff\xfe"
                       "abc\xc3",
                       {"x"})));
  const std::string wide = [] {
    std::string text;
    for (int i = 0; i < 300; ++i) text += "ä";
    return text;
  }();
  CHECK(valid_utf8(shown(wide, {"x"})));
  CHECK(shown(wide, {"x"}).size() == 200);
  // A cut does not let a part of a word through.
  CHECK(shown(std::string(196, ' ') + "hunter2", {"hunter2"}) == std::string(196, ' ') + "…");
}

}  // namespace
}  // namespace strongroom::embed
