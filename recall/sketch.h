// Sketches of texts, by which memories that say nearly the same are found: the least hashes of the
// pairs of neighbouring words (A. Z. Broder, "On the resemblance and containment of documents",
// 1997). Two texts share a band as likely as a pair that one of them has is in both. What a sketch
// finds is a candidate: whoever asks compares the texts themselves.
//
// Words are those of the normalised text, stop words too, unstemmed; a character of a script
// without spaces is one. Pairs of two short words ("of the") do not count. Texts of fewer than four
// distinct pairs have no sketch: "yes, of course" is like too much. Hashes are keyed: without the
// bank's key a sketch says nothing of its text.
//
// Deterministic, linear in the text. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "crypto/term_hash.h"
#include "recall/index.h"
#include "recall/word_break.h"

namespace strongroom::recall {

/// Of 100 texts that share 80 % of their pairs, three bands find 99.
inline constexpr std::size_t kSketchBands = 3;
inline constexpr std::size_t kSketchPairs = 4;    // distinct, at least
inline constexpr std::size_t kRareBand = 16;      // rows, at most, for a band to count in full
inline constexpr std::size_t kBandRows = 256;     // of a common band that are looked at
inline constexpr std::size_t kSketchMatches = 8;  // candidates for a text, at most

/// Terms (segment.h), one a band; two texts share a band when the terms are equal.
using Sketch = std::array<TermId, kSketchBands>;

class Sketcher {
 public:
  explicit Sketcher(const crypto::SecretKey& key);
  /// `text` is normalized().
  std::optional<Sketch> operator()(std::string_view text);

 private:
  crypto::TermHash words_;
  std::vector<CharClass> classes_;
};

/// Adds `row`, whose ascending terms are given, to the rows of each band that it has.
void add_bands(const std::vector<TermId>& bands,
               const std::vector<std::pair<TermId, std::uint8_t>>& terms, Row row,
               std::vector<std::vector<Row>>& rows);

/// The rows of each band, ascending: those that share most first, then the newest; at most
/// kSketchMatches of those that are `live`. A band that many rows have says little: it weighs half,
/// alone it makes no match, and its newest rows stand for all.
std::vector<Row> best_matches(const std::vector<std::vector<Row>>& rows_of_bands,
                              const std::function<bool(Row)>& live);

}  // namespace strongroom::recall
