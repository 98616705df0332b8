// Words and names in a run of characters without white space: what hangs together, and the parts
// that names have. No folding here; positions are bytes of the run.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "recall/word_break.h"

namespace strongroom::recall {

/// A run of characters with their classes, as classify() gives them.
struct Run {
  std::string_view text;
  const CharClass* kinds;
};

struct NamePart {
  enum class Kind {
    kWord,    // of letters: stemmed
    kNumber,  // of digits
    kWhole,   // kept as it is
    kCamel,   // the whole before it, again as a word: YouTube is also found by youtube
  };
  std::size_t begin;
  std::size_t end;
  Kind kind;
};

/// At most this many parts of one name, the name apart.
inline constexpr std::size_t kMaxNameParts = 64;

/// The end of the words from `at` on, a letter or digit, that hang together: a name.
std::size_t name_end(const Run& run, std::size_t at);

/// The name from `begin` to `end`, as name_end() found it: first the name itself, with punctuation
/// before and after that belongs to it and without endings like 's, then its parts. Nothing for
/// don't and its kind. Returns where the name's punctuation ends.
std::size_t split_name(const Run& run, std::size_t begin, std::size_t end,
                       std::vector<NamePart>& parts);

}  // namespace strongroom::recall
