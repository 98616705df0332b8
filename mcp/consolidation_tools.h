// What needs a look, what may be put together, what memories are about.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool review_tool(service::MemoryService& service);
Tool candidates_tool(service::MemoryService& service);
Tool list_entities_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
