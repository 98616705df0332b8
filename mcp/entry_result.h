// The answers of the entry tools, in the shapes of the contract.
#pragma once

#include <cstdint>
#include <string_view>

#include "mcp/server.h"
#include "mcp/tool_output.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

ToolResult remembered(const service::RememberResult& result);
ToolResult forgotten(std::string_view key, const service::ForgetResult& result);

/// A hit, or the part of it that starts at `offset`.
ToolResult recalled(std::string_view key, std::uint64_t offset, const service::RecalledValue& hit,
                    Notes notes);

/// Lists names, as many as fit into one result.
ToolResult listed(service::MemoryService& service, service::ListRequest request);

}  // namespace strongroom::mcp
