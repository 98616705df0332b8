// What Strongroom offers over MCP in this release: named entries, the project context, and the
// resources and the prompt beside them.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

/// Which tools are offered: those that agents need, or also those that tend a bank.
enum class Profile { standard, full };

/// The service must outlive the table.
ToolTable make_tool_table(service::MemoryService& service, Profile profile = Profile::standard);

ServerInfo server_info();

}  // namespace strongroom::mcp
