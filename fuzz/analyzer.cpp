// Text to terms, by an analyzer that has seen other texts and by a new one.
#include "recall/analyzer.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz.h"

using namespace strongroom;
using recall::AnalyzedText;
using recall::Analyzer;

namespace {

std::size_t points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Owns what an AnalyzedText shows.
struct Result {
  std::vector<std::pair<std::string, std::uint32_t>> terms;
  std::vector<std::string> words;
  std::uint32_t length = 0;
  friend bool operator==(const Result&, const Result&) = default;
};

Result analyzed(Analyzer& analyzer, std::string_view text) {
  const AnalyzedText& found = analyzer.analyze(text);
  Result out;
  for (const AnalyzedText::Term& term : found.terms) {
    out.terms.emplace_back(term.text, term.frequency);
  }
  out.words.assign(found.words.begin(), found.words.end());
  out.length = found.length;
  return out;
}

void check(const Result& result) {
  std::set<std::string> terms, words;
  for (const auto& [text, frequency] : result.terms) {
    fuzz::require(!text.empty() && text.size() <= recall::kMaxTermBytes, "a term has its size");
    fuzz::require(valid_utf8(text), "a term is UTF-8");
    fuzz::require(frequency >= 1, "a term occurs");
    fuzz::require(terms.insert(text).second, "terms are distinct");
  }
  for (const std::string& word : result.words) {
    fuzz::require(word.size() <= recall::kMaxTermBytes, "a word has its size");
    fuzz::require(valid_utf8(word), "a word is UTF-8");
    fuzz::require(points(word) >= 4, "a word has four letters");
    fuzz::require(word.find_first_of("0123456789'") == std::string::npos, "a word is of letters");
    fuzz::require(words.insert(word).second, "words are distinct");
  }
}

}  // namespace

FUZZ_TARGET(input) {
  static Analyzer used;
  const std::string text = fuzz::valid_text(input);
  const Result result = analyzed(used, text);
  check(result);
  Analyzer fresh;
  fuzz::require(analyzed(fresh, text) == result, "what was seen before does not matter");

  const std::vector<recall::QueryTerm> query = used.query(text);
  fuzz::require(query.size() == result.terms.size(), "a query has a text's terms");
  for (std::size_t i = 0; i < query.size(); ++i) {
    fuzz::require(
        query[i].text == result.terms[i].first && query[i].frequency == result.terms[i].second,
        "a query has a text's terms, in order");
    fuzz::require(query[i].whole == query[i].word.empty(), "a term is a word or a whole");
    if (query[i].whole) continue;
    fuzz::require(fresh.stem(query[i].word) == query[i].text, "a term is the stem of its word");
  }

  // White space ends every run, so that the parts of a text add up.
  const std::size_t at = text.find_first_of(" \t\n\v\f\r", text.size() / 2);
  if (at == std::string::npos) return;
  const std::string_view whole = text;
  const Result left = analyzed(used, whole.substr(0, at)), right = analyzed(used, whole.substr(at));
  fuzz::require(left.length + right.length == result.length, "lengths add up");
  std::vector<std::pair<std::string, std::uint32_t>> terms = left.terms;
  for (const auto& term : right.terms) {
    const auto same = std::find_if(terms.begin(), terms.end(),
                                   [&](const auto& have) { return have.first == term.first; });
    if (same == terms.end()) {
      terms.push_back(term);
    } else {
      same->second += term.second;
    }
  }
  fuzz::require(terms == result.terms, "terms add up");
}
