// Exports of other stores: the first byte picks the reader.
#include <array>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/import_formats.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

namespace {

cli::ImportPlan read(std::uint8_t kind, const std::string& path) {
  switch (kind % 4) {
    case 0: return cli::read_mnemopi(cli::LineFile(path, "PATH"));
    case 1: return cli::read_compartment(cli::LineFile(path, "PATH"));
    case 2: return cli::read_citadel(cli::LineFile(path, "PATH"));
    default: return cli::read_hindsight(path);
  }
}

// What the service would refuse a whole call for must not come out of a reader.
void check(const service::RetainItem& item) {
  const std::size_t most =
      item.document_id.empty() ? service::kMaxContentBytes : service::kMaxDocumentBytes;
  fuzz::require(!item.content.empty() && item.content.size() <= most, "a text has its size");
  fuzz::require(valid_utf8(item.content), "a text is UTF-8");
  fuzz::require(item.document_id.size() <= service::kMaxNameBytes &&
                    item.speaker.size() <= service::kMaxNameBytes &&
                    item.context.size() <= service::kMaxContextBytes,
                "names have their size");
  fuzz::require(item.tags.size() <= 64 && item.entities.size() <= service::kMaxEntities &&
                    item.metadata.size() <= service::kMaxMetadata,
                "lists have their length");
  for (const auto* const list : {&item.tags, &item.entities}) {
    for (const std::string& name : *list) {
      fuzz::require(!name.empty() && name.size() <= service::kMaxNameBytes, "a name has its size");
    }
  }
  fuzz::require(!item.importance || (*item.importance >= 0 && *item.importance <= 1),
                "an importance is in its range");
  fuzz::require(
      !item.occurred_start || !item.occurred_end || *item.occurred_start <= *item.occurred_end,
      "a span begins before it ends");
}

}  // namespace

FUZZ_TARGET(input) {
  static const UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (input.empty()) return;
  if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) std::abort();
  write_all(file.get(), input.substr(1), "write a fuzz file");
  cli::ImportPlan plan;
  const bool accepted = fuzz::accepts({Code::invalid, Code::too_large, Code::unsupported}, [&] {
    plan = read(static_cast<std::uint8_t>(input[0]), "/proc/self/fd/" + std::to_string(file.get()));
  });
  if (!accepted) return;
  std::unordered_set<std::string> keys;
  for (const auto& record : plan.records) {
    check(record.item);
    fuzz::require(!record.place.empty(), "a record has its place");
    fuzz::require(record.key.empty() || keys.insert(record.key).second, "a key is of one record");
  }
  for (const auto& record : plan.records) {
    fuzz::require(record.replaced_by.empty() || keys.count(record.replaced_by) == 1,
                  "what replaces a record is there");
  }
  for (const auto& link : plan.links) {
    fuzz::require(keys.count(link.from) == 1 && keys.count(link.to) == 1, "a link leads somewhere");
  }
}
