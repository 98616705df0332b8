// Sketches: what shares a band, how often, and what has none.
#include "recall/sketch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "recall/segment.h"

namespace strongroom::recall {
namespace {

using Words = std::vector<std::string>;

crypto::SecretKey key(char fill) {
  return crypto::SecretKey::from_bytes(std::string(32, fill));
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

int shared_bands(const Sketch& a, const Sketch& b) {
  int shared = 0;
  for (std::size_t i = 0; i < kSketchBands; ++i) shared += a[i] == b[i] ? 1 : 0;
  return shared;
}

template <class T>
double jaccard(const std::set<T>& a, const std::set<T>& b) {
  std::vector<T> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(a.size() + b.size() - both.size());
}

// The pairs that count, by the words of sketch.h.
std::set<std::string> pairs_of(const Words& words) {
  std::set<std::string> pairs;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i - 1].size() + words[i].size() > 7) pairs.insert(words[i - 1] + " " + words[i]);
  }
  return pairs;
}

// English in its proportions: two words of five are among the commonest.
class Texts {
 public:
  std::string word() {
    static const Words kCommon = {"the", "of", "and", "to",   "a",    "in",   "is",  "that",
                                  "for", "it", "was", "with", "be",   "on",   "not", "he",
                                  "as",  "at", "by",  "from", "this", "have", "are", "they"};
    if (pick(5) < 2) return kCommon[std::min(pick(24), pick(24))];
    return "word" + std::to_string(std::min(pick(20'000), pick(20'000)));
  }
  Words text() {
    Words words;
    for (std::size_t n = 12 + pick(60); n > 0; --n) words.push_back(word());
    return words;
  }
  // Nearly the same: words changed, added and left out, one of twenty.
  Words edited(Words words) {
    for (std::size_t n = 1 + words.size() / 20; n > 0; --n) {
      const auto at = words.begin() + static_cast<std::ptrdiff_t>(pick(words.size()));
      switch (pick(3)) {
        case 0: *at = word(); break;
        case 1: words.insert(at, word()); break;
        default: words.erase(at);
      }
    }
    return words;
  }
  std::size_t pick(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

 private:
  std::mt19937 random_{20'240};
};

std::set<std::string> stems_of(Analyzer& analyzer, const Words& words) {
  std::set<std::string> stems;
  for (const auto& term : analyzer.analyze(joined(words)).terms) stems.emplace(term.text);
  return stems;
}

}  // namespace

TEST_CASE("a sketch is the text's and the key's alone", "[sketch]") {
  Sketcher sketcher(key('a')), again(key('a')), other(key('b'));
  const std::string text = "the release train leaves on thursdays after the smoke tests";
  const auto sketch = sketcher(text);
  REQUIRE(sketch);
  CHECK(sketcher("something else was looked at in between, of another length") != sketch);
  CHECK(sketcher(text) == sketch);
  CHECK(again(text) == sketch);
  REQUIRE(other(text));
  CHECK(shared_bands(*sketch, *other(text)) == 0);
  for (const TermId band : *sketch) CHECK(band >> 62 == 3);
  // Punctuation and spaces only separate.
  CHECK(sketcher("the release-train leaves;  on thursdays, after the \"smoke tests\".") == sketch);
}

TEST_CASE("short texts have no sketch", "[sketch]") {
  Sketcher sketcher(key('a'));
  for (const char* text :
       {"", "...", "yes", "yes, of course", "i am on it, as you are", "thank you very much",
        "again and again and again and again", "\u3053\u3093\u306b\u3061"}) {
    INFO(text);
    CHECK_FALSE(sketcher(text));
  }
  CHECK(sketcher("alice moved back to berlin monday"));
  CHECK(sketcher("\u3053\u3093\u306b\u3061\u306f"));
  CHECK(sketcher("port 1 2 3 4"));
  // Emoji separate.
  CHECK(sketcher("alice \U0001F680 moved back \U0001F680\U0001F680 to berlin") ==
        sketcher("alice moved back to berlin"));
}

TEST_CASE("texts share a band as likely as they share pairs", "[sketch]") {
  Sketcher sketcher(key('a'));
  Analyzer analyzer;
  Texts texts;
  int near = 0, near_found = 0, sketched = 0, found = 0;
  double expected = 0, variance = 0;
  while (sketched < 2000 || near < 2000) {
    const Words words = texts.text(), edited = texts.edited(words);
    const auto a = sketcher(joined(words)), b = sketcher(joined(edited));
    if (!a || !b) continue;
    const double chance =
        1 - std::pow(1 - jaccard(pairs_of(words), pairs_of(edited)), double{kSketchBands});
    const bool shared = shared_bands(*a, *b) > 0;
    ++sketched;
    found += shared ? 1 : 0;
    expected += chance;
    variance += chance * (1 - chance);
    if (jaccard(stems_of(analyzer, words), stems_of(analyzer, edited)) < 0.9) continue;
    ++near;
    near_found += shared ? 1 : 0;
  }
  CHECK(std::abs(found - expected) < 4 * std::sqrt(variance) + 1);
  CHECK(near_found >= near * 97 / 100);
}

TEST_CASE("texts that have nothing to do with one another share no band", "[sketch]") {
  Sketcher sketcher(key('a'));
  Texts texts;
  int shared = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto a = sketcher(joined(texts.text())), b = sketcher(joined(texts.text()));
    if (a && b && shared_bands(*a, *b) > 0) ++shared;
  }
  CHECK(shared <= 20);
}

TEST_CASE("rows come by the bands that they share, then the newest", "[sketch]") {
  const auto all = [](Row) { return true; };
  const auto odd = [](Row row) { return row % 2 != 0; };
  CHECK(best_matches({}, all).empty());
  const std::vector<std::vector<Row>> few = {{3, 5, 9}, {3, 5}, {3, 7, 8}};
  CHECK(best_matches(few, all) == std::vector<Row>{3, 5, 9, 8, 7});
  CHECK(best_matches(few, odd) == std::vector<Row>{3, 5, 9, 7});

  // A band of many rows makes no match alone; with another one it does.
  std::vector<Row> many;
  for (Row row = 1; row <= 1000; ++row) many.push_back(row);
  CHECK(best_matches({many, {}, {}}, all).empty());
  CHECK(best_matches({many, {990, 1001}, {}}, all) == std::vector<Row>{990, 1001});
  CHECK(best_matches({many, many, {}}, odd) ==
        std::vector<Row>{999, 997, 995, 993, 991, 989, 987, 985});
  // Its older rows are not looked at.
  CHECK(best_matches({many, {5, 800}, {}}, all) == std::vector<Row>{800, 5});
  many.resize(kRareBand);
  CHECK(best_matches({many, {}, {}}, all).size() == kSketchMatches);
}

}  // namespace strongroom::recall
