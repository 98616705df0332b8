// The two forms of what recall found.
#pragma once

#include "mcp/server.h"
#include "service/memories.h"

namespace strongroom::mcp {

/// `full`: every member of each result. What does not fit below 48,000 bytes is counted in `cut`.
ToolResult searched(service::SearchResult result, bool full);

}  // namespace strongroom::mcp
