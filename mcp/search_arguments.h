// The input of recall: its schema, and a request out of it.
#pragma once

#include <string>

#include "base/json.h"
#include "mcp/tools.h"
#include "service/memory_json.h"

namespace strongroom::mcp {

/// JSON text. The full profile also shows what is known to scripts.
std::string search_input_schema(Profile profile);

/// Throws invalid or too_large; words of its own for a call that means agent_recall.
service::SearchOptions search_arguments(const Json& input);

}  // namespace strongroom::mcp
