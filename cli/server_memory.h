// The file of the reference memory server: a knowledge graph, one JSON object a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/lines.h"
#include "cli/retain.h"

namespace strongroom::cli {

/// What the file says, in our terms: each observation a memory, each relation a link.
struct ServerMemory {
  struct Relation {
    std::uint64_t line = 0;
    std::string from, to, relation;
  };
  struct Skipped {
    std::uint64_t line = 0;
    std::string why;
  };
  std::uint64_t entities = 0, lines = 0;
  std::vector<ItemStore::Named> items;
  std::vector<Relation> relations;
  std::vector<Skipped> skipped;
};

ServerMemory read_server_memory(const LineFile& file);

}  // namespace strongroom::cli
