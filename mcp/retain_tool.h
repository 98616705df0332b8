// retain: facts to be found again by meaning.
#pragma once

#include "mcp/server.h"
#include "mcp/tools.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool retain_tool(service::MemoryService& service, Profile profile);

}  // namespace strongroom::mcp
