// The arguments of a tool call: members of a JSON object, checked by hand.
#pragma once

#include "service/json_members.h"

namespace strongroom::mcp {

using Arguments = service::JsonMembers;
using service::nearest_name;

}  // namespace strongroom::mcp
