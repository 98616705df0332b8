#include "service/reflect_gaps.h"

#include <algorithm>
#include <set>

#include "service/reflect_words.h"

namespace strongroom::service {

namespace {

std::set<std::string, std::less<>> terms_of(recall::Analyzer& analyzer,
                                            const std::vector<FoundMemory>& results) {
  std::set<std::string, std::less<>> terms;
  const auto add = [&](std::string_view text) {
    for (const auto& term : analyzer.analyze(text).terms) terms.emplace(term.text);
  };
  for (const FoundMemory& found : results) {
    add(found.text);
    add(found.context);
    add(found.speaker);
    for (const std::string& entity : found.entities) add(entity);
  }
  return terms;
}

}  // namespace

std::vector<std::string> uncovered_words(recall::Analyzer& analyzer, std::string_view query,
                                         const std::vector<FoundMemory>& results) {
  const auto covered = terms_of(analyzer, results);
  std::vector<std::string> words;
  for (const std::string_view word : text_chunks(query)) {
    const std::vector<recall::QueryTerm> terms = analyzer.query(word);
    const auto has = [&](const recall::QueryTerm& term) {
      return covered.find(term.text) != covered.end();
    };
    const auto part = [](const recall::QueryTerm& term) { return !term.whole; };
    bool there = terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
                   return has(term) && (!part(term) || has_ideographs(word));
                 });
    // The whole name is nowhere; are its parts?
    if (!there && std::any_of(terms.begin(), terms.end(), part)) {
      there = std::all_of(terms.begin(), terms.end(),
                          [&](const auto& term) { return !part(term) || has(term); });
    }
    if (!there && std::find(words.begin(), words.end(), word) == words.end()) {
      words.emplace_back(word);
    }
  }
  return words;
}

std::vector<std::string> arm_gaps(const std::vector<ArmReport>& arms) {
  std::vector<std::string> gaps;
  for (const ArmReport& arm : arms) {
    const bool weak = arm.state == "unavailable" || arm.state == "behind";
    if (!weak && !arm.cut) continue;
    std::string gap = "The " + arm.name + " arm ";
    gap += arm.state == "unavailable" ? "could not run"
           : arm.state == "behind"    ? "is behind"
                                      : "was cut";
    gaps.push_back(gap + (arm.reason.empty() ? "." : ": " + arm.reason));
  }
  return gaps;
}

}  // namespace strongroom::service
