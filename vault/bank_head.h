// The bank head: one sealed record, rewritten in the same transaction as every change. It carries
// what single rows cannot prove of themselves: how many there are and which, where the log ends,
// which generation this is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/hash.h"
#include "vault/format.h"
#include "vault/root.h"
#include "vault/version_vector.h"

namespace strongroom::vault {

/// Current objects of a bank, by kind.
struct BankCounts {
  /// Tombstones of entries and memories; memories that are valid.
  std::uint64_t entries = 0, secrets = 0, tombstones = 0, memories = 0, documents = 0, links = 0;
};

struct BankHead {
  /// Rows of names, records, chunks and index (and recipients and root in bank 0) under one key
  /// version.
  struct RowSet {
    std::uint32_t key_version = 0;
    std::uint64_t rows = 0;
    crypto::MultisetHash sum;
    friend bool operator==(const RowSet&, const RowSet&) = default;
  };

  std::uint64_t generation = 0;
  VersionVector vector;
  std::vector<RowSet> sets;  // ascending by key version
  RecordId next_record_id = 1;
  std::uint64_t log_next = 1;  // next sequence number
  crypto::Hash32 log_chain{};  // chain hash of the last log row
  RootSeen root;               // the newest root that a writer of this bank saw
  Id16 previous_tag{};         // AEAD tag of the head before this one
  std::array<std::uint64_t, 3> features{};
  BankCounts counts;
  std::vector<RecordId> erase_pending;
  RecordId operation_cursor = 1;  // records below hold no operation that has run out
  std::string unknown;            // optional fields of a newer version, carried on

  RowSet& set(std::uint32_t key_version);
};

/// The body, without the tag of its own.
SecretBytes encode_head(const BankHead& head);
BankHead decode_head(std::string_view body);

}  // namespace strongroom::vault
