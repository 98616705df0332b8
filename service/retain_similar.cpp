// Memories that say nearly the same as one that is being stored: both are kept, and linked.
#include <algorithm>
#include <iterator>
#include <optional>

#include "service/retain.h"

namespace strongroom::service {
namespace {

// Of the stems of two texts, taken together, so many in both. One word of nine may be another, or
// one more of five be said; two texts of one pattern ("X prefers Y to Z") stay apart.
constexpr double kSimilar = 0.8;
// Of the words as they stand, inflected and with stop words: below it stems are not looked at.
constexpr double kWorthALook = 0.4;
constexpr std::size_t kMostLinks = 3;

// Distinct, ascending. They stay in memory: the bank's key need not protect them.
using Hashes = std::vector<std::uint64_t>;

Hashes distinct_of(Hashes hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

Hashes stems_of(recall::Analyzer& analyzer, std::string_view text) {
  Hashes stems;
  for (const auto& term : analyzer.analyze(text).terms) {
    stems.push_back(std::hash<std::string_view>()(term.text));
  }
  return distinct_of(std::move(stems));
}

// Runs of ASCII letters and digits, and other characters one by one: a tenth of the time that stems
// take, for candidates that have a pair of words in common and nothing else.
Hashes words_of(std::string_view text) {
  constexpr std::uint64_t kStart = 0xCBF29CE484222325u, kFactor = 0x100000001B3u;  // FNV-1a
  Hashes words;
  std::uint64_t hash = kStart;
  const auto end = [&] {
    if (hash != kStart) words.push_back(hash);
    hash = kStart;
  };
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const auto byte = static_cast<unsigned char>(upper ? c + ('a' - 'A') : c);
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
    if (!letter && (byte & 0xC0) != 0x80) end();
    if (letter || byte >= 0x80) hash = (hash ^ byte) * kFactor;
  }
  end();
  return distinct_of(std::move(words));
}

// Jaccard's index; 0 for texts of stop words alone.
double similarity(const Hashes& a, const Hashes& b) {
  Hashes both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t all = a.size() + b.size() - both.size();
  return all == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(all);
}

}  // namespace

// Best first. A text that is the same is none of them: it was a duplicate, or may not be seen.
std::vector<vault::RecordId> Retain::find_similar(std::string_view text,
                                                  std::string_view normalized) {
  std::vector<std::pair<double, vault::RecordId>> found;
  const std::vector<recall::Row> rows = changes_.rows().find_sketch(normalized);
  if (rows.empty()) return {};
  const Hashes words = words_of(text);
  std::optional<Hashes> stems;
  for (const recall::Row row : rows) {
    const recall::RowAttributes attributes = changes_.rows().attributes(row);
    const vault::Memory memory = open_row(changes_.bank(), row, attributes, plain_);
    if (!memory.current(changes_.now()) || !may_touch(memory)) continue;
    if (similarity(words, words_of(memory.text)) < kWorthALook) continue;
    if (!stems) stems = stems_of(state_.analyzer, text);
    const double alike = similarity(*stems, stems_of(state_.analyzer, memory.text));
    if (alike >= kSimilar) found.emplace_back(alike, memory.first);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<vault::RecordId> similar;
  for (const auto& [alike, memory] : found) {
    if (similar.size() < kMostLinks) similar.push_back(memory);
  }
  return similar;
}

void Retain::link_similar(std::size_t i, vault::RecordId memory,
                          const std::vector<vault::RecordId>& similar) {
  for (const vault::RecordId other : similar) changes_.link_similar(memory, other);
  result_->items[i].reason = "similar to " + public_id(similar.front());
}

}  // namespace strongroom::service
