// The part of verify that looks into the records of one bank.
#pragma once

#include <functional>

#include "vault/bank.h"

namespace strongroom::vault {

/// Opens every record and value; checks that names and records lead to each other, that lists of
/// revisions, parts and links hold what is there and nothing else, and that the bank's counts are
/// those. Throws corrupt at the first thing that is not so. `row_done` is called for each record.
/// Returns what it counted.
BankCounts check_records(BankRead& view, const std::function<void()>& row_done);

}  // namespace strongroom::vault
