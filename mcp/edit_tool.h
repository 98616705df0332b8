// memory_edit: update, forget, invalidate or restore one memory.
#pragma once

#include "mcp/server.h"
#include "mcp/tools.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool edit_tool(service::MemoryService& service, Profile profile);

}  // namespace strongroom::mcp
