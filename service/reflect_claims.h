// Do two texts say the same but for one thing? By rules over words alone: a hint for a reader, not
// a verdict. Internal to service/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recall/analyzer.h"

namespace strongroom::service {

/// What a text says, apart from its figures, negations and opposites.
struct Claim {
  std::vector<std::string> rest;                      // stems of all other words; sorted, distinct
  std::vector<std::string> numbers, versions, dates;  // sorted, distinct
  std::uint32_t opposites[2] = {0, 0};  // a bit a pair of words: which side of it is there
  bool negated = false;
};

class ClaimReader {
 public:
  explicit ClaimReader(recall::Analyzer& analyzer);
  Claim read(std::string_view text);

 private:
  recall::Analyzer& analyzer_;
  std::vector<std::string> opposites_[2];  // stems
};

/// The first rule by which two claims that are else alike disagree: "negation", "opposite", "date",
/// "version" or "number"; empty when none does. Alike: of the stems that one of them has, both have
/// three of five, and two at least.
std::string_view disagreement(const Claim& a, const Claim& b);

}  // namespace strongroom::service
