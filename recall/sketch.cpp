#include "recall/sketch.h"

#include <algorithm>
#include <limits>

#include "recall/segment.h"

namespace strongroom::recall {
namespace {

// Bytes of two words, both of letters, that are passed over: "of the", "in a", "it is" are pairs of
// every other text, and would make it a candidate.
constexpr std::size_t kShortPair = 7;

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;

// The finalizer of splitmix64 (Steele, Lea and Flood, 2014). Its input is keyed already.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// The least values so far, and whether there were enough distinct pairs.
class Least {
 public:
  Least() { values_.fill(std::numeric_limits<std::uint64_t>::max()); }

  void word(std::uint64_t hash, std::size_t size) {
    if (size_before_ != 0 && size_before_ + size > kShortPair) pair(before_ * kGolden + hash);
    before_ = hash;
    size_before_ = size;
  }
  std::optional<Sketch> sketch() const {
    if (distinct_ < kSketchPairs) return std::nullopt;
    Sketch sketch;
    // Mixed again: of all numbers, not of small ones alone, as filters want them.
    for (std::size_t i = 0; i < kSketchBands; ++i) sketch[i] = kSketchTerms | mix(values_[i]) >> 2;
    return sketch;
  }

 private:
  void pair(std::uint64_t hash) {
    std::uint64_t band = hash;
    for (std::uint64_t& value : values_) value = std::min(value, mix(band += kGolden));
    const auto end = seen_.begin() + distinct_;
    if (distinct_ < kSketchPairs && std::find(seen_.begin(), end, hash) == end) {
      seen_[distinct_++] = hash;
    }
  }

  std::array<std::uint64_t, kSketchBands> values_;
  std::array<std::uint64_t, kSketchPairs> seen_{};
  unsigned distinct_ = 0;
  std::uint64_t before_ = 0;
  std::size_t size_before_ = 0;
};

template <class ClassAt, class Visit>
void each_word(std::string_view text, const ClassAt& class_at, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const CharClass kind = class_at(at);
    std::size_t end = at + 1;
    if ((kind & kIdeograph) != 0) {
      while (end < text.size() && (class_at(end) & kFollows) != 0) ++end;
      visit(text.substr(at, end - at), kind);
    } else if ((kind & kAlnum) != 0) {
      while (end < text.size() && (class_at(end) & kInWord) != 0) ++end;
      visit(text.substr(at, end - at), kind);
    }
    at = end;
  }
}

}  // namespace

Sketcher::Sketcher(const crypto::SecretKey& key) : words_(key, crypto::labels::kSketch) {}

std::optional<Sketch> Sketcher::operator()(std::string_view text) {
  Least least;
  const auto add = [&](std::string_view word, CharClass kind) {
    least.word(words_(word), (kind & kLower) != 0 ? word.size() : kShortPair);
  };
  if (is_ascii(text)) {
    each_word(
        text, [&](std::size_t at) { return kAsciiClasses[static_cast<unsigned char>(text[at])]; },
        add);
  } else {
    classify(text, classes_);
    each_word(
        text, [&](std::size_t at) { return classes_[at]; }, add);
  }
  return least.sketch();
}

void add_bands(const std::vector<TermId>& bands,
               const std::vector<std::pair<TermId, std::uint8_t>>& terms, Row row,
               std::vector<std::vector<Row>>& rows) {
  // Bands are the last of a row's terms.
  for (auto at = terms.rbegin(); at != terms.rend() && at->first >= kSketchTerms; ++at) {
    for (std::size_t i = 0; i < bands.size(); ++i) {
      if (bands[i] == at->first) rows[i].push_back(row);
    }
  }
}

std::vector<Row> best_matches(const std::vector<std::vector<Row>>& rows_of_bands,
                              const std::function<bool(Row)>& live) {
  constexpr unsigned kMatch = 2;  // one rare band, or two common ones
  std::vector<std::pair<Row, unsigned>> weights;
  for (const std::vector<Row>& rows : rows_of_bands) {
    const unsigned weight = rows.size() <= kRareBand ? kMatch : 1;
    const std::size_t newest = rows.size() - std::min(rows.size(), kBandRows);
    for (std::size_t i = newest; i < rows.size(); ++i) weights.emplace_back(rows[i], weight);
  }
  std::sort(weights.begin(), weights.end());
  std::vector<std::pair<unsigned, Row>> matches;
  for (std::size_t i = 0; i < weights.size();) {
    const Row row = weights[i].first;
    unsigned weight = 0;
    for (; i < weights.size() && weights[i].first == row; ++i) weight += weights[i].second;
    if (weight >= kMatch) matches.emplace_back(weight, row);
  }
  std::sort(matches.rbegin(), matches.rend());
  std::vector<Row> best;
  for (const auto& [weight, row] : matches) {
    if (best.size() == kSketchMatches) break;
    if (live(row)) best.push_back(row);
  }
  return best;
}

}  // namespace strongroom::recall
