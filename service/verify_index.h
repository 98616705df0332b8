// The index of a bank against its memories, row by row: for verify. Internal to service/.
#pragma once

#include "vault/vault.h"

namespace strongroom::service {

/// Throws corrupt when the index is damaged, or says anything else than the memories do.
void verify_index(vault::BankRead& bank, const vault::BankInfo& info);

}  // namespace strongroom::service
