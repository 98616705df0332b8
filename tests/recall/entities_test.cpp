#include "recall/entities.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/utf8.h"

namespace strongroom::recall {
namespace {

std::string answer(EntityFinder& finder, std::string_view text) {
  std::string out;
  for (const Entity& one : finder.find(text)) {
    out += (out.empty() ? "" : " | ") + std::string(one.canonical);
  }
  return out.empty() ? "-" : out;
}

// What holds of every text.
void check(EntityFinder& finder, std::string_view text) {
  const auto& found = finder.find(text);
  REQUIRE(found.size() <= kEntities);
  std::set<std::string_view> seen;
  std::size_t begin = 0;
  for (const Entity& one : found) {
    REQUIRE(one.begin >= begin);
    REQUIRE(one.end > one.begin);
    REQUIRE(one.end <= text.size());
    begin = one.begin;
    const std::string_view shown = text.substr(one.begin, one.end - one.begin);
    REQUIRE(valid_utf8(shown));
    REQUIRE(canonical_entity(shown) == one.canonical);
    REQUIRE(canonical_entity(one.canonical) == one.canonical);
    REQUIRE(!one.canonical.empty());
    REQUIRE(one.canonical.size() <= kMaxEntityBytes);
    REQUIRE(seen.insert(one.canonical).second);
  }
}

std::ifstream open_cases() {
  std::ifstream in(STRONGROOM_ENTITY_CASES);
  REQUIRE(in.good());
  return in;
}

EntityKind kind_of(std::string_view text) {
  EntityFinder finder;
  const auto& found = finder.find(text);
  REQUIRE(found.size() == 1);
  return found[0].kind;
}

}  // namespace

TEST_CASE("entities are found where a text has them and nowhere else", "[recall][entities]") {
  std::ifstream in = open_cases();
  EntityFinder finder;
  std::string line;
  std::size_t with = 0, without = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line.starts_with("//")) continue;
    INFO(line);
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    const std::string text = line.substr(0, tab), expected = line.substr(tab + 1);
    CHECK(answer(finder, text) == expected);
    check(finder, text);
    ++(expected == "-" ? without : with);
  }
  REQUIRE(with >= 150);
  REQUIRE(without >= 60);
}

TEST_CASE("any order of the words of entities gives entities in order", "[recall][entities]") {
  std::ifstream in = open_cases();
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::mt19937_64 random(7);
  const std::string_view joints[] = {" ", " ", " ", ", ", "-", ". ", "\n", "", "\"", "`", "/"};
  EntityFinder finder;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t size = random() % 12;
    for (std::size_t i = 0; i < size; ++i) {
      text += words[random() % words.size()];
      text += joints[random() % std::size(joints)];
    }
    INFO(text);
    check(finder, text);
  }
}

TEST_CASE("entities have kinds", "[recall][entities]") {
  CHECK(kind_of("met Caroline Smith") == EntityKind::name);
  CHECK(kind_of("ask @alice") == EntityKind::mention);
  CHECK(kind_of("see #release") == EntityKind::tag);
  CHECK(kind_of("the merge_worker") == EntityKind::identifier);
  CHECK(kind_of("a GitHub thing") == EntityKind::identifier);
  CHECK(kind_of("in src/main.cpp:42") == EntityKind::path);
  CHECK(kind_of("at https://example.com/a") == EntityKind::url);
  CHECK(kind_of("at bob@example.com") == EntityKind::email);
  CHECK(kind_of("fixes ABC-123") == EntityKind::ticket);
  CHECK(kind_of("commit 3f2a91c0") == EntityKind::hash);
  CHECK(kind_of("the \"few left\" label") == EntityKind::quoted);
  CHECK(kind_of("on 10.0.0.1:80") == EntityKind::address);
  CHECK(entity_kind_name(EntityKind::hash) == "hash");
}

TEST_CASE("names that mean the same have one form", "[recall][entities]") {
  CHECK(canonical_entity("  Caroline   Smith ") == "caroline smith");
  CHECK(canonical_entity("Caroline's") == "caroline");
  CHECK(canonical_entity("Caroline\xE2\x80\x99s") == "caroline");
  CHECK(canonical_entity("(\"NASA\")") == "nasa");
  CHECK(canonical_entity("https://Example.com/A/") == "example.com/a");
  CHECK(canonical_entity("@alice") == "alice");
  CHECK(canonical_entity("refreshQuote()") == "refreshquote");
  CHECK(canonical_entity("f(x)") == "f(x)");
  CHECK(canonical_entity("C++") == "c++");
  CHECK(canonical_entity("C#") == "c#");
  CHECK(canonical_entity(".NET") == ".net");
  CHECK(canonical_entity("\xC3\x89LODIE") == canonical_entity("E\xCC\x81lodie"));
  CHECK(canonical_entity("\xE3\x80\x8C\xE4\xB8\x89\xE4\xBD\x93\xE3\x80\x8D") ==
        "\xE4\xB8\x89\xE4\xBD\x93");
  CHECK(canonical_entity("...").empty());
  CHECK(canonical_entity("").empty());
}

TEST_CASE("given entities come with the text's", "[recall][entities]") {
  EntityFinder finder;
  finder.find("Priya likes Stripe.");
  finder.add_given("Stripe's");
  finder.add_given("");
  const auto& found = finder.add_given("Project Kestrel");
  REQUIRE(found.size() == 3);
  CHECK(found[0].canonical == "priya");
  CHECK(found[1].canonical == "stripe");
  CHECK(found[1].kind == EntityKind::given);
  CHECK(found[1].begin == 12);
  CHECK(found[2].canonical == "project kestrel");
  CHECK(found[2].end == 0);
  CHECK(finder.find("nothing here").empty());
}

TEST_CASE("of many entities the most specific stay", "[recall][entities]") {
  std::string text;
  for (std::size_t i = 0; i < 100; ++i) {
    text += "then Qor" + std::string(1 + i / 26, 'z');
    text += static_cast<char>('a' + i % 26);
    text += " came, ";
  }
  text += "with src/main.cpp and ABC-123";
  EntityFinder finder;
  const auto& found = finder.find(text);
  REQUIRE(found.size() == kEntities);
  CHECK(found[0].canonical == "qorza");
  CHECK(found[kEntities - 2].canonical == "src/main.cpp");
  CHECK(found[kEntities - 1].canonical == "abc-123");
}

TEST_CASE("hostile texts take linear time", "[recall][entities]") {
  const std::string_view parts[] = {
      "A",   "a",        "\"",           "\"a ",      "`a\n",     "\xE2\x80\x9C",
      "Aa ", "Aa.",      "a.",           "/",         "::",       "://a",
      "'",   "A'",       "-A",           "_",         "@",        "#",
      "1",   "\xD0\x96", "\xE4\xB8\x80", "e\xCC\x81", "\xCC\x81", "A of ",
      "(",   ")",        "x://",         "'s",        ")'s",      "A.A",
      "#a:"};
  EntityFinder finder;
  for (const std::string_view part : parts) {
    INFO(part);
    std::string text;
    while (text.size() < (1 << 20)) text += part;
    check(finder, text);
    static_cast<void>(canonical_entity(text));
    static_cast<void>(canonical_entity("(a" + text));
  }
}

}  // namespace strongroom::recall
