// Explicit links: from the best memories to those that somebody linked with them, and from entities
// that the query names. Internal to recall/, but for LinkSource, which the caller gives.
//
// A linked memory is worth a share at least of the one that it is linked with, the largest where
// there are several; with evidence of its own it gets a little more, never above that one. So a
// link brings a memory in or up, and a wrong one moves no first place. The filter decides before:
// what may not be found is not brought in.
#pragma once

#include <vector>

#include "recall/rank.h"
#include "recall/search_state.h"

namespace strongroom::recall {

/// What links give a row.
struct Lift {
  Row row = 0;      // the first passage of its memory, or one that is ranked already
  double lift = 0;  // the least that it is worth now
  double most = 0;  // what the memory is worth that it is linked with
};

/// Ascending by row. `ranked` is best first.
std::vector<Lift> follow_links(SearchState& state, const std::vector<Ranked>& ranked);

}  // namespace strongroom::recall
