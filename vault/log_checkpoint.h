// A log that was cut: its beginning is a checkpoint, signed with the admin key, that says where the
// chain stood and how many rows there were (docs/format.md, "Log").
#pragma once

#include <cstdint>
#include <string_view>

#include "vault/bank.h"

namespace strongroom::vault {

/// Takes all rows of a bank's log away and begins it again with a checkpoint. Sessions that go on
/// announce themselves anew.
void prune_log(BankWrite& bank, const crypto::SecretKey& admin, TimeMs now);

/// How many rows were taken away; 0 for a whole log. Throws corrupt unless the checkpoint that the
/// log begins with is signed by that key.
std::uint64_t check_log_start(BankRead& bank, std::string_view admin_public_key);

}  // namespace strongroom::vault
