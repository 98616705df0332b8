// Checks a whole vault: signatures, heads, set hashes, every row, every chain, the anchor. Reads
// only; what it finds it lists, and goes on with the next bank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "vault/vault.h"

namespace strongroom::vault {

struct VerifyProblem {
  Code code;
  std::string where;  // "vault", "bank NAME"
  std::string text;
};

struct VerifyReport {
  std::uint64_t banks = 0, records = 0, names = 0, chunks = 0, log_records = 0;
  std::uint64_t memories = 0, documents = 0, links = 0, index_rows = 0;
  std::vector<VerifyProblem> problems;
};

enum class VerifyDepth {
  fast,  // heads, anchor, ends of the logs
  full,  // every row as well
};

/// Compares the index of a bank with its memories; what it throws is a problem of that bank.
using IndexCheck = std::function<void(BankRead&, const BankInfo&)>;

/// `progress` is told the rows done so far, now and then. `check_index` is called once for each
/// bank but bank 0, at full depth, also when other rows of the bank are damaged.
VerifyReport verify_vault(Vault& vault, VerifyDepth depth,
                          const std::function<void(std::uint64_t rows)>& progress = {},
                          const IndexCheck& check_index = {});

}  // namespace strongroom::vault
