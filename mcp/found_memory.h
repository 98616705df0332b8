// One memory that a search found, in both forms of an answer, and how large it is there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mcp/tool_output.h"
#include "service/memories.h"

namespace strongroom::mcp {

/// Its bullet, marked when it is no longer valid.
std::string found_bullet(const service::FoundMemory& found);

/// What it takes in both forms together. `full`: with every member.
std::size_t found_size(const service::FoundMemory& found, bool full);

/// A result whose labels alone would fill the answer is shown without them; true when it was so.
bool drop_wide_members(service::FoundMemory& found, bool full);

/// Shortens the only text there is to what `room` holds in both forms.
void shorten_found(service::FoundMemory& found, std::size_t room, bool full);

/// The second block of an answer: banks, arms and notes, a line each.
std::string search_notes_text(const std::vector<std::string>& banks,
                              const std::vector<service::ArmReport>& arms, const Notes& notes);

}  // namespace strongroom::mcp
