// Public ids of memories.
#include <string>

#include "fuzz/fuzz.h"
#include "vault/format.h"
#include "vault/memories.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  if (const auto id = vault::parse_memory_id(input)) {
    fuzz::require(id->first != 0, "a record has a number");
    fuzz::require(vault::memory_id(id->tag, id->first) == input, "an id has one form");
  }
  if (input.size() < 8) return;
  const auto first = vault::load_le<vault::RecordId>(input);
  if (first == 0) return;
  const auto id = vault::parse_memory_id(vault::memory_id("k7q2m", first));
  fuzz::require(id && id->tag == "k7q2m" && id->first == first, "an id that is made is read");
  fuzz::require(vault::MemoryName(first).view() == std::to_string(first), "a name is the number");
}
