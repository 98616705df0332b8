// "Did you mean ...?": the nearest of some known words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strongroom {

/// Levenshtein distance over bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// At most `limit` of `known`, nearest first; only those near enough to be meant (a third of the
/// longer word's length, or sharing a prefix of three bytes).
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t limit);

}  // namespace strongroom
