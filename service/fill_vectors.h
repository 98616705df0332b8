// Vectors for rows that a model has not seen yet: those of before it was added, and those that were
// stored while it could not be asked. Internal to service/.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "recall/embedder.h"
#include "recall/index.h"
#include "vault/bank.h"

namespace strongroom::service {

/// Rows a transaction: a transformer takes about half a second for them.
inline constexpr std::size_t kFillBatch = 64;

struct FillOptions {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // rows
  std::size_t batch = kFillBatch;
  vault::AuditEvent event;  // logged with each batch
  std::function<void(std::uint64_t done, std::uint64_t rows)> progress;
};

/// Gives rows their vectors, oldest first, until the model has seen all of them or `most`. The
/// model is asked outside of any write transaction, so that nobody waits for it; each batch is
/// committed by itself, and whoever comes next goes on where this one stopped. The set is made when
/// the bank has none of this model. `stamp` is asked before each batch. Returns how many rows are
/// left. Throws what the model throws, busy, no_space; batches before that stay.
std::uint64_t fill_vectors(vault::Bank& bank, recall::Index& index, recall::Embedder& model,
                           const std::function<vault::WriteStamp()>& stamp,
                           const FillOptions& options);

/// Rows of a view that the model has not seen.
std::uint64_t rows_behind(const recall::IndexView& view, const recall::Embedder& model);

}  // namespace strongroom::service
