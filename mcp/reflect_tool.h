// reflect: what a question finds, in themes, for the model to conclude from.
#pragma once

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

Tool reflect_tool(service::MemoryService& service);

}  // namespace strongroom::mcp
