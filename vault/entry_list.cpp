#include <algorithm>

#include "base/error.h"
#include "vault/entries.h"

namespace strongroom::vault {

std::vector<EntryLine> list_entries(BankRead& bank) {
  // In order of record id: neighbouring rows share pages, and the names table is in hash order.
  std::vector<RecordId> ids;
  for_each_name(bank.txn(), [&](const NamePair& pair) { ids.push_back(pair.record); });
  std::sort(ids.begin(), ids.end());
  std::vector<EntryLine> lines;
  lines.reserve(ids.size());
  SecretBytes plain;
  for (const RecordId id : ids) {
    if (read_envelope(bank.row(id)).kind != Kind::entry) continue;
    const Entry entry = open_entry(bank, id, plain);
    lines.push_back({std::string(entry.name), entry.id, entry.revision, entry.updated,
                     entry.expires, entry.tags(), entry.bytes, entry.entry_class});
  }
  std::sort(lines.begin(), lines.end(),
            [](const EntryLine& a, const EntryLine& b) { return a.name < b.name; });
  return lines;
}

}  // namespace strongroom::vault
