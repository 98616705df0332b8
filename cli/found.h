// A memory that a search found, for people and for programs that read lines.
#pragma once

#include <string>

#include "cli/output.h"
#include "service/memories.h"

namespace strongroom::cli {

std::string two_decimals(double score);

/// For people: score and band before the text, and below it what the memory is.
void show_found(Output& out, const service::FoundMemory& found);

}  // namespace strongroom::cli
