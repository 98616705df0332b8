#include "service/memory_scan.h"

#include <algorithm>

namespace strongroom::service {

void for_each_newest_first(vault::BankRead& view, vault::RecordId below,
                           const std::function<bool(const vault::Memory&)>& visit) {
  SecretBytes plain;
  for (vault::RecordId id = std::min(below, view.head().next_record_id) - 1; id > 0; --id) {
    const auto row = view.txn().get(vault::Table::records, vault::IntegerKey(id).view());
    if (!row || vault::read_envelope(*row).kind != vault::Kind::memory) continue;
    const auto found = vault::find_memory(view, id, plain);
    if (found && found->memory && !visit(*found->memory)) return;
  }
}

}  // namespace strongroom::service
