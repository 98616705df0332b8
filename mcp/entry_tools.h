// agent_remember, agent_recall, agent_forget: values by exact name.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool remember_tool(service::MemoryService& service);
Tool recall_tool(service::MemoryService& service);
Tool forget_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
