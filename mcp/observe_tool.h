// observe: an observation with the memories that it rests on.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool observe_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
