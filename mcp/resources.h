// Resources: strongroom://status, strongroom://guide, entry://{bank}/{key}, memory://{bank}/{id}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/server.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

std::vector<Resource> resource_list();
std::vector<ResourceTemplate> resource_templates();

/// nullopt: no such resource. `tools` are the names that the server offers.
std::optional<ResourceContent> read_resource(service::MemoryService& service,
                                             const std::vector<std::string>& tools,
                                             const std::string& uri);

}  // namespace strongroom::mcp
