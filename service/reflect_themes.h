// Evidence in themes: which memories belong together, and what to call them. Internal to service/.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "recall/analyzer.h"
#include "service/memories.h"

namespace strongroom::service {

using IndexPair = std::pair<std::size_t, std::size_t>;

/// Puts results (best first) into themes. Two belong together when a link joins them (`linked`,
/// pairs of indexes), when they are of one document, name one entity, or share two words that are
/// rare among the results; so do those that a third one joins. Words and entities of the query join
/// nothing: every result has them. What is left over is the theme "other", the last one. The same
/// results give the same themes.
std::vector<ReflectTheme> group_in_themes(recall::Analyzer& analyzer, std::string_view query,
                                          std::vector<FoundMemory> results,
                                          const std::vector<IndexPair>& linked);

}  // namespace strongroom::service
