#include "service/reflect_words.h"

#include <algorithm>

#include "recall/word_break.h"

namespace strongroom::service {

namespace {

using recall::CharClass;

constexpr CharClass kInChunk =
    recall::kInWord | recall::kJoins | recall::kApostrophe | recall::kIdeograph | recall::kSymbol;
constexpr CharClass kNamed =
    recall::kAlnum | recall::kFollows | recall::kIdeograph | recall::kSymbol;

// Runs of bytes that have one of the classes in `wanted`.
std::vector<std::string_view> runs(std::string_view text, CharClass wanted) {
  std::vector<CharClass> kinds;
  recall::classify(text, kinds);
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (kinds[end] & wanted) != 0) ++end;
    if (end > at) out.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return out;
}

// Without what only stands around a name: "(port 5433)." says 5433.
std::string_view without_edges(std::string_view chunk) {
  std::vector<CharClass> kinds;
  recall::classify(chunk, kinds);
  std::size_t begin = 0, end = chunk.size();
  while (begin < end && (kinds[begin] & kNamed) == 0) ++begin;
  while (end > begin && (kinds[end - 1] & kNamed) == 0) --end;
  return chunk.substr(begin, end - begin);
}

}  // namespace

std::vector<std::string_view> text_chunks(std::string_view text) {
  std::vector<std::string_view> chunks;
  for (const std::string_view run : runs(text, kInChunk)) {
    const std::string_view chunk = without_edges(run);
    if (!chunk.empty()) chunks.push_back(chunk);
  }
  return chunks;
}

bool has_ideographs(std::string_view text) {
  std::vector<CharClass> kinds;
  recall::classify(text, kinds);
  return std::any_of(kinds.begin(), kinds.end(),
                     [](CharClass kind) { return (kind & recall::kIdeograph) != 0; });
}

bool TermWords::has(const std::string& term) const {
  return std::binary_search(terms.begin(), terms.end(), term);
}

TermWords term_words(recall::Analyzer& analyzer, std::string_view text) {
  TermWords out;
  const auto note = [&](std::string_view word) {
    const bool whole_terms = has_ideographs(word);
    for (const recall::AnalyzedText::Term& term : analyzer.analyze(word).terms) {
      const std::string_view said = whole_terms ? term.text : word;
      const auto [at, fresh] = out.word_of.try_emplace(std::string(term.text), said);
      if (!fresh && said.size() < at->second.size()) at->second = said;
    }
  };
  for (const std::string_view chunk : text_chunks(text)) {
    note(chunk);
    for (const std::string_view part : runs(chunk, kNamed)) {
      if (part.size() < chunk.size()) note(part);
    }
  }
  for (const recall::AnalyzedText::Term& term : analyzer.analyze(text).terms) {
    out.terms.emplace_back(term.text);
    out.word_of.try_emplace(out.terms.back(), term.text);
  }
  std::sort(out.terms.begin(), out.terms.end());
  return out;
}

}  // namespace strongroom::service
