// The tools that tend a bank: lists, statistics, new banks, removal in bulk.
#pragma once

#include <vector>

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

/// In the order in which they are listed.
std::vector<Tool> full_profile_tools(service::MemoryService& service);

}  // namespace strongroom::mcp
