// Texts as reflect compares them: the terms of the search, each with the word that it came from.
// Internal to service/.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recall/analyzer.h"

namespace strongroom::service {

/// Runs of characters without white space, brackets and quotes, and without punctuation around
/// them, as they stand in `text`.
std::vector<std::string_view> text_chunks(std::string_view text);

/// Has it characters of a script without spaces between words?
bool has_ideographs(std::string_view text);

struct TermWords {
  std::vector<std::string> terms;  // sorted, distinct
  /// The shortest run of the text that has the term; where words have no spaces, the term itself.
  std::unordered_map<std::string, std::string> word_of;

  bool has(const std::string& term) const;
};
TermWords term_words(recall::Analyzer& analyzer, std::string_view text);

}  // namespace strongroom::service
