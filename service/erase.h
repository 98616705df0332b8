// Erasing: forgetting so that nothing of the content is left in the vault's files, for nobody.
// Internal to service/.
//
// A forget and a mark in the bank's head come first; they can be undone by nobody, but leave bytes
// in blocks of the index and in free pages. The next compaction of the bank takes them out.
#pragma once

#include <string>
#include <vector>

#include "service/memories.h"
#include "vault/vault.h"

namespace strongroom::service {

/// Marks a forgotten object as erased; `tombstone` stands for it in the log. Throws busy when too
/// many wait for a compaction.
EraseReceipt mark_erased(vault::BankWrite& bank, vault::RecordId tombstone, TimeMs now,
                         std::vector<std::string> destroyed);

/// Takes everything out of a bank's rows that only forgotten objects had: in the index, and replies
/// that are kept for operations. Nobody else may write to the bank meanwhile.
void erase_content(vault::Vault& vault, vault::Bank& bank);

}  // namespace strongroom::service
