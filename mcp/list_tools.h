// The lists of the full profile: memories, documents, tags, banks.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool list_memories_tool(service::MemoryService& service);
Tool list_documents_tool(service::MemoryService& service);
Tool list_tags_tool(service::MemoryService& service);
Tool list_banks_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
