// memory_get: one memory or document, whole and verbatim, with where it came from.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool get_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
