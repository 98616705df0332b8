// memory_link: a typed link between memories or entities.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool link_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
