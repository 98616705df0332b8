// get_project_context: what an agent should know first, never values. The status resource and the
// bootstrap prompt say the same.
#pragma once

#include <string>
#include <vector>

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

/// `tools` are the names that the server offers.
Tool context_tool(service::MemoryService& service, std::vector<std::string> tools);

/// The context under short headings.
std::string context_text(const service::ProjectContext& context);

/// The state of the vault as one JSON object, without names.
std::string status_json(const service::ProjectContext& context);

inline constexpr std::uint64_t kContextTokens = 1500;

}  // namespace strongroom::mcp
