// recall: memories found by a question.
#pragma once

#include "mcp/server.h"
#include "mcp/tools.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool search_tool(service::MemoryService& service, Profile profile);

}  // namespace strongroom::mcp
