// The memories and queries of the recall benchmark: made up, and the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/world.h"
#include "service/memories.h"

namespace strongroom::bench {

/// A text has 25 to 55 words, drawn by Zipf's law from 60,000 pronounceable ones, and one
/// identifier that no other text has: 344 bytes on average. The words are no real ones, so that no
/// list of stop words drops any; queries leave out the 30 most frequent, which stand for them.
class Corpus {
 public:
  Corpus();

  std::string text(std::uint64_t i) const;
  /// The identifier of text `i`.
  static std::string id(std::uint64_t i);
  /// Half of the memories have tags, of 1,000 distinct sets: all of these kHalf, and as many of all
  /// memories as their names say kTenth and kHundredth.
  service::RetainItem item(std::uint64_t i) const;
  static constexpr const char* kHalf = "half";
  static constexpr const char* kTenth = "tenth";
  static constexpr const char* kHundredth = "hundredth";

  /// Distinct words of one text (of more, where it has too few) among the first `texts`.
  std::vector<std::string> query_words(std::uint64_t seed, std::uint64_t texts, std::size_t words,
                                       bool frequent = false) const;
  /// 3 to 5 of them.
  std::string query(std::uint64_t seed, std::uint64_t texts, bool frequent = false) const;
  /// A query of which one word, of eight letters or more, has a letter changed.
  std::string mistyped_query(std::uint64_t seed, std::uint64_t texts) const;
  /// As long as a query may be: 500 tokens.
  std::string long_query(std::uint64_t seed, std::uint64_t texts) const;

 private:
  std::vector<std::uint32_t> ranks(std::uint64_t i) const;

  std::vector<std::string> words_;  // most frequent first
  std::vector<double> cumulative_;
};

/// Words as one query.
std::string joined(const std::vector<std::string>& words, const char* between = " ");

}  // namespace strongroom::bench
