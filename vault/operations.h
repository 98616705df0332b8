// Idempotent writes: an operation id, its payload's hash and its reply, kept for 30 days in the
// bank.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vault/bank.h"

namespace strongroom::vault {

inline constexpr TimeMs kOperationLife = TimeMs{30} * 24 * 3600 * 1000;

struct Operation {
  crypto::Hash32 payload{};
  TimeMs time = 0;
  std::string reply;  // what the caller needs to answer again
};

/// A keyed hash of what an operation does.
crypto::Hash32 operation_payload(const Bank& bank, std::string_view bytes);

/// The operation of that principal and id, if it has not run out at `now`.
std::optional<Operation> find_operation(BankRead& bank, std::string_view principal,
                                        std::string_view operation_id, TimeMs now);
void put_operation(BankWrite& bank, std::string_view principal, std::string_view operation_id,
                   const Operation& operation);

/// Removes all of them: their replies may hold names.
void drop_operations(BankWrite& bank);

/// Removes operations that have run out, a bounded share a call; run in write transactions.
void sweep_operations(BankWrite& bank, TimeMs now);

}  // namespace strongroom::vault
