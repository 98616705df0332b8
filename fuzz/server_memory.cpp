// The file of the reference memory server.
#include "cli/server_memory.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  static const UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) std::abort();
  write_all(file.get(), input, "write a fuzz file");
  const cli::LineFile lines("/proc/self/fd/" + std::to_string(file.get()), "PATH");
  lines.each([&](const cli::Line& line, std::string_view text) {
    fuzz::require(lines.text(line) == text, "a line is read again");
  });

  const cli::ServerMemory graph = cli::read_server_memory(lines);
  fuzz::require(graph.entities + graph.relations.size() <= graph.lines, "a line is one thing");
  for (const auto& named : graph.items) {
    fuzz::require(named.line > 0 && valid_utf8(named.item.content), "a memory is UTF-8");
    fuzz::require(
        !named.item.content.empty() && named.item.content.size() <= service::kMaxContentBytes,
        "a memory has its size");
    fuzz::require(named.item.entities.size() == 1 && !named.item.entities[0].empty() &&
                      named.item.content.find(named.item.entities[0]) != std::string::npos,
                  "a memory says what it is about");
  }
  for (const auto& relation : graph.relations) {
    for (const std::string& name : {relation.from, relation.to, relation.relation}) {
      fuzz::require(!name.empty() && name.size() <= service::kMaxNameBytes, "a name has its size");
    }
  }
}
