#include "recall/analyzer.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/utf8.h"
#include "recall/tokens.h"
#include "tests/recall/random_text.h"

namespace strongroom::recall {
namespace {

using Strings = std::vector<std::string>;

Strings terms_of(std::string_view text) {
  Analyzer analyzer;
  Strings out;
  for (const auto& term : analyzer.analyze(text).terms) out.emplace_back(term.text);
  return out;
}

Strings words_of(std::string_view text) {
  Analyzer analyzer;
  const AnalyzedText& analyzed = analyzer.analyze(text);
  return {analyzed.words.begin(), analyzed.words.end()};
}

std::uint32_t length_of(std::string_view text) {
  return Analyzer().analyze(text).length;
}

bool has(const Strings& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("tokens are a quarter of the ASCII bytes, rounded up, and the other code points") {
  CHECK(count_tokens("") == 0);
  CHECK(count_tokens("a") == 1);
  CHECK(count_tokens("abcd") == 1);
  CHECK(count_tokens("abcde") == 2);
  CHECK(count_tokens("\u00e9") == 1);
  CHECK(count_tokens("\u65e5\u672c\U0001F600") == 3);
  CHECK(count_tokens("caf\u00e9 noir") == 3);
}

TEST_CASE("texts have these terms, in this order") {
  struct Row {
    std::string_view text;
    Strings terms;
    std::uint32_t length;
  };
  const std::vector<Row> rows = {
      {"", {}, 0},
      {"the and of what is it", {}, 0},
      {"The gardens, gardening!", {"garden"}, 2},
      {"\"Quoted\" (parenthesised) [bracketed].", {"quot", "parenthesis", "bracket"}, 3},
      {"Caroline's dog", {"carolin", "dog"}, 2},
      {"Caroline\u2019s dog", {"carolin", "dog"}, 2},
      {"don't can't it's I'll they've", {}, 0},
      {"don\u2019t", {}, 0},
      {"the dogs' owner", {"dog", "owner"}, 2},
      {"'quoted'", {"quot"}, 1},
      {"URLs and APIs", {"url", "api"}, 2},
      {"well-known", {"well-known", "well", "known"}, 1},
      {"snake_case_name", {"snake_case_name", "snake", "case", "name"}, 1},
      {"src/vault/bank.cpp:42",
       {"src/vault/bank.cpp:42", "src", "vault", "bank.cpp", "bank", "cpp", "42"},
       1},
      {"see bank.cpp.", {"see", "bank.cpp", "bank", "cpp"}, 2},
      {"std::vector", {"std::vector", "std", "vector"}, 1},
      {"user@example.com", {"user@example.com", "user", "example.com", "exampl", "com"}, 1},
      {"https://a.b/c?d=e", {"https://a.b/c?d=e", "http", "a.b"}, 1},
      {"/etc/passwd", {"etc/passwd", "etc", "passwd"}, 1},
      {"README.md", {"readme.md", "readm", "md"}, 1},
      {"--no-verify", {"no-verify", "verifi"}, 1},
      {"foo() bar();", {"foo", "bar"}, 2},
      {"node.js", {"node.js", "node", "js"}, 1},
      {".NET", {".net", "net"}, 1},
      {"C++, C# and C++20", {"c++", "c#", "c++20", "20"}, 3},
      {"C++/Rust", {"c++/rust", "c++", "rust"}, 1},
      {"__init__", {"__init__", "init"}, 1},
      {"ECONNREFUSED", {"econnrefus"}, 1},
      {"TS2345", {"ts2345", "ts", "2345"}, 1},
      {"ed25519", {"ed25519", "ed", "25519"}, 1},
      {"v1.2.3", {"v1.2.3", "v1", "1", "2", "3"}, 1},
      {"1,234.5", {"1,234.5", "1", "234", "5"}, 1},
      {"2023-05-08", {"2023-05-08", "2023", "05", "08"}, 1},
      {"one,two", {"on", "two"}, 2},
      {"getUserName", {"getusername", "getusernam", "get", "user", "name"}, 1},
      {"HTTPServer", {"httpserver", "http", "server"}, 1},
      {"GitHub", {"github", "git", "hub"}, 1},
      {"O'Brien", {"obrien"}, 1},
      {"9f86d081884c7d659a2feaa0c55ad015", {"9f86d081884c7d659a2feaa0c55ad015"}, 1},
      {"{\"key\":\"value\"}", {"kei", "valu"}, 2},
      {"\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!",
       {"\u043f\u0440\u0438\u0432\u0435\u0442", "\u043c\u0438\u0440"},
       2},
      {"\u65e5\u672c\u8a9e", {"\u65e5", "\u672c", "\u65e5\u672c", "\u8a9e", "\u672c\u8a9e"}, 3},
      {"\u65e5 \u672c", {"\u65e5", "\u672c"}, 2},
      {"\uff26\uff55\uff4c\uff4c\u3000\uff57\uff49\uff44\uff54\uff48", {"full", "width"}, 2},
      {"so\u00adft zero\u200bwidth", {"soft", "zerowidth"}, 2},
      {"cafe\u0301", {"caf\u00e9"}, 1},
      {"Stra\u00dfe", {"strass"}, 1},
      {"\U0001F600\U0001F44D", {"\U0001F600", "\U0001F44D"}, 2},
      {"\u2500\u2502 \u2014 \u20ac", {}, 0},
      {"\u0939\u093f\u0928\u094d\u0926\u0940", {"\u0939\u093f\u0928\u094d\u0926\u0940"}, 1},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(terms_of(row.text) == row.terms);
    CHECK(length_of(row.text) == row.length);
  }
}

TEST_CASE("a name in any case and in any sentence is found by the name itself") {
  for (const std::string name : {"C++",
                                 "C#",
                                 ".NET",
                                 "node.js",
                                 "std::vector",
                                 "--no-verify",
                                 "foo()",
                                 "user@example.com",
                                 "https://a.b/c?d=e",
                                 "/etc/passwd",
                                 "src/vault/bank.cpp:42",
                                 "README.md",
                                 "ECONNREFUSED",
                                 "TS2345",
                                 "0x8007000E",
                                 "E11000",
                                 "v1.2.3",
                                 "550e8400-e29b-41d4-a716-446655440000",
                                 "YouTube",
                                 "snake_case",
                                 "1,234.5",
                                 "2023-05-08",
                                 "\u65e5\u672c",
                                 "na\u00efve"}) {
    for (const std::string& text :
         {"see " + name + ".", "(" + name + ")", "\"" + name + "\", and", name + "? yes"}) {
      INFO(text);
      const Strings found = terms_of(text);
      Analyzer analyzer;
      const auto query = analyzer.query(name);
      CHECK(!query.empty());
      for (const QueryTerm& term : query) CHECK(has(found, term.text));
    }
  }
  CHECK(has(terms_of("we use YouTube"), terms_of("youtube").at(0)));
  CHECK(has(terms_of("in src/vault/bank.cpp:42"), "bank.cpp"));
}

TEST_CASE("words have the stems that Porter's algorithm gives") {
  const std::vector<std::pair<std::string_view, std::string_view>> pairs = {
      {"caresses", "caress"},
      {"ponies", "poni"},
      {"cats", "cat"},
      {"feed", "feed"},
      {"agreed", "agre"},
      {"plastered", "plaster"},
      {"motoring", "motor"},
      {"sing", "sing"},
      {"conflated", "conflat"},
      {"hopping", "hop"},
      {"falling", "fall"},
      {"filing", "file"},
      {"happy", "happi"},
      {"sky", "sky"},
      {"relational", "relat"},
      {"conditional", "condit"},
      {"digitizer", "digit"},
      {"operator", "oper"},
      {"hopefulness", "hope"},
      {"formality", "formal"},
      {"triplicate", "triplic"},
      {"electrical", "electr"},
      {"goodness", "good"},
      {"revival", "reviv"},
      {"allowance", "allow"},
      {"adjustment", "adjust"},
      {"adoption", "adopt"},
      {"effective", "effect"},
      {"probate", "probat"},
      {"controlling", "control"},
      {"generalizations", "gener"},
      {"as", "as"},
      {"us", "us"},
  };
  Analyzer analyzer;
  for (const auto& [word, stem] : pairs) CHECK(analyzer.stem(word) == stem);
}

TEST_CASE("words to compare with are distinct, of letters alone, and not stemmed") {
  CHECK(words_of("Deploying the YouTube importer, deploying v2 cat GitHub_tool 12345") ==
        Strings{"deploying", "youtube", "tube", "importer", "github", "tool"});
  CHECK(words_of("\u65e5\u672c\u8a9e\u6587 \u043c\u0438\u0440\u043e\u0432\u043e\u0439") ==
        Strings{"\u043c\u0438\u0440\u043e\u0432\u043e\u0439"});
}

TEST_CASE("frequencies count every occurrence in the text at hand alone") {
  Analyzer analyzer;
  analyzer.analyze("vault vaults key");
  const AnalyzedText& text = analyzer.analyze("key vault key, keys!");
  REQUIRE(text.terms.size() == 2);
  CHECK(text.terms[0].text == "kei");
  CHECK(text.terms[0].frequency == 3);
  CHECK(text.terms[1].text == "vault");
  CHECK(text.terms[1].frequency == 1);
  CHECK(text.length == 4);
  CHECK(analyzer.analyze("GitHub").terms[0].frequency == 1);
}

TEST_CASE("a query says what was typed and what is whole") {
  Analyzer analyzer;
  const auto terms = analyzer.query("Where is the deploying of bank.cpp deploying?");
  REQUIRE(terms.size() == 4);
  CHECK(terms[0].text == "deploi");
  CHECK(terms[0].word == "deploying");
  CHECK(terms[0].frequency == 2);
  CHECK(!terms[0].whole);
  CHECK(terms[1].text == "bank.cpp");
  CHECK(terms[1].word.empty());
  CHECK(terms[1].whole);
  CHECK(terms[2].text == "bank");
  CHECK(terms[3].word == "cpp");
  CHECK(analyzer.query("what did they do, and why?").empty());
}

TEST_CASE("an analyzer gives the same for a text, whatever it read before") {
  std::mt19937 random(7);
  Analyzer used;
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_text(random, random() % 60);
    const AnalyzedText& again = used.analyze(text);
    Analyzer fresh;
    const AnalyzedText& first = fresh.analyze(text);
    REQUIRE(again.length == first.length);
    REQUIRE(again.words == first.words);
    REQUIRE(again.terms.size() == first.terms.size());
    std::set<std::string_view> distinct;
    for (std::size_t i = 0; i < first.terms.size(); ++i) {
      REQUIRE(again.terms[i].text == first.terms[i].text);
      REQUIRE(again.terms[i].frequency == first.terms[i].frequency);
      REQUIRE(first.terms[i].text.size() <= kMaxTermBytes);
      REQUIRE(!first.terms[i].text.empty());
      REQUIRE(valid_utf8(first.terms[i].text));
      REQUIRE(distinct.insert(first.terms[i].text).second);
    }
  }
}

TEST_CASE("many different words outlast the clearing of remembered ones") {
  Analyzer analyzer;
  for (int round = 0; round < 4; ++round) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += std::to_string(round * 20000 + i) + " ";
    const AnalyzedText& analyzed = analyzer.analyze(text);
    REQUIRE(analyzed.terms.size() == 20000);
    REQUIRE(analyzed.terms.front().text == std::to_string(round * 20000));
    REQUIRE(analyzed.length == 20000);
  }
  CHECK(analyzer.analyze("small step").terms.size() == 2);
}

TEST_CASE("huge runs are one term, cut, with few parts") {
  std::string base64;
  std::mt19937 random(3);
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (base64.size() < 1 << 20) base64 += digits[random() % 64];
  base64[0] = 'Q';
  Analyzer analyzer;
  const AnalyzedText& blob = analyzer.analyze(base64);
  CHECK(blob.length == 1);
  CHECK(blob.terms.size() <= 65);
  CHECK(blob.terms[0].text.size() == kMaxTermBytes);
  const std::string word(1 << 20, 'a');
  const AnalyzedText& one = analyzer.analyze(word);
  CHECK(one.terms.size() == 1);
  CHECK(one.terms[0].text.size() == kMaxTermBytes);
  std::string marks = "a";
  while (marks.size() < 1 << 20) marks += "\u0301\u0323";
  CHECK(analyzer.analyze(marks).terms.size() == 1);
  std::string repeated;
  while (repeated.size() < 1 << 20) repeated += "word ";
  CHECK(analyzer.analyze(repeated).terms.at(0).frequency == repeated.size() / 5);
}

}  // namespace strongroom::recall
