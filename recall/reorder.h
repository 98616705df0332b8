// Changes of the order that look at the memories found, not at the query alone. Internal to
// recall/.
#pragma once

#include <vector>

#include "recall/rank.h"
#include "recall/search_state.h"

namespace strongroom::recall {

/// Behind the first places turns of a conversation move up that are near in meaning to the best
/// memories (pseudo relevance feedback; Rocchio, 1971) or stand beside what is near the query. The
/// first places stay: there it costs more than it brings.
void look_again(SearchState& state, std::vector<Ranked>& ranked);

/// Near-copies of what ranks better move behind what says something else (maximal marginal
/// relevance; Carbonell and Goldstein, 1998). Scores go on descending, nothing is left out.
void set_copies_apart(SearchState& state, std::vector<Ranked>& ranked);

}  // namespace strongroom::recall
