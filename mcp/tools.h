// What Strongroom offers over MCP in this release: named entries, the project context, and the
// resources and the prompt beside them.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

/// The service must outlive the table.
ToolTable make_tool_table(service::MemoryService& service);

ServerInfo server_info();

}  // namespace strongroom::mcp
