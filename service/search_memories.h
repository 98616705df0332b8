// A search for whoever calls it: recall itself, and what is built on it. Internal to service/.
#pragma once

#include <string_view>

#include "service/memories.h"
#include "service/state.h"

namespace strongroom::service {

/// Throws invalid. Looks at no vault.
void check_search(const SearchRequest& request);

/// What recall finds, decided by the policy as a call of `tool`. Inside a call, for a request that
/// was checked. A denial is logged; what was read is the caller's to log. Throws as
/// MemoryService::search.
SearchResult search_unlogged(MemoryService::State& state, const SearchRequest& request,
                             std::string_view tool);

}  // namespace strongroom::service
