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
  std::vector<VerifyProblem> problems;
};

enum class VerifyDepth {
  fast,  // heads, anchor, ends of the logs
  full,  // every row as well
};

/// `progress` is told the rows done so far, now and then.
VerifyReport verify_vault(Vault& vault, VerifyDepth depth,
                          const std::function<void(std::uint64_t rows)>& progress = {});

}  // namespace strongroom::vault
