// Copies of a bank's rows into another file, in the order of their keys: pages come out full, and
// nothing of what was deleted comes along. (LMDB's own compacting copy carries the unused ends of
// pages with it.)
#pragma once

#include <cstdint>
#include <functional>

#include "vault/bank.h"

namespace strongroom::vault {

/// Copies every row that `from` sees into the empty file `to`; durable when it returns. Throws
/// corrupt, and `to` is then worthless, when the rows are not those that the bank's head counts.
/// `progress` is told of the rows done so far, now and then.
void copy_bank(BankRead& from, Engine& to,
               const std::function<void(std::uint64_t rows)>& progress = {});

BankKeys clone_keys(const BankKeys& keys);

}  // namespace strongroom::vault
