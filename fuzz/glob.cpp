// Globs against a slow reference: pattern NUL text.
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "policy/policy.h"

using namespace strongroom;

namespace {

// matches[j]: the pattern so far matches the first j bytes.
bool slow_match(std::string_view pattern, std::string_view text) {
  std::vector<bool> matches(text.size() + 1, false);
  matches[0] = true;
  for (const char c : pattern) {
    std::vector<bool> next(text.size() + 1, false);
    bool before = false;
    for (std::size_t j = 0; j <= text.size(); ++j) {
      if (c == '*') {
        before = before || matches[j];
        next[j] = before;
      } else if (j > 0) {
        next[j] = matches[j - 1] && text[j - 1] == c;
      }
    }
    matches = next;
  }
  return matches[text.size()];
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.size() > 512) return;
  const std::string_view pattern = fuzz::take_part(input);
  fuzz::require(policy::glob_match(pattern, input) == slow_match(pattern, input),
                "a glob is what the reference says");
}
