// The audit log of a bank (docs/format.md, "log"). Every writing process has a session: a random
// key, sealed once to the owner's audit key, kept in RAM and evolved one way a record. Sequence
// number and chain hash live in the bank head, so that several processes make one chain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/hash.h"
#include "crypto/secret_key.h"
#include "vault/bank_head.h"
#include "vault/engine.h"
#include "vault/format.h"

namespace strongroom::vault {

/// Reads of one record within an event.
struct AuditedRecord {
  RecordId id = 0;
  std::uint64_t count = 1;
  std::uint64_t bytes = 0;
};

/// What is logged of a call: ids and fixed words, never names or content. Many reads that differ
/// only in their record are one event with a list: a row a read would cost more than the read.
struct AuditEvent {
  TimeMs time = 0;
  std::string principal, tool;
  bool permitted = true;
  std::string rule;
  RecordId record = 0;      // 0 = none
  std::uint64_t count = 1;  // equal calls in one record
  std::uint64_t bytes = 0;
  std::string error;                   // code name; empty for success
  std::vector<AuditedRecord> records;  // instead of record, count and bytes; at most kMaxRecords
  static constexpr std::size_t kMaxRecords = 256;
};

/// One process's session in one bank. Not thread-safe.
class AuditSession {
 public:
  explicit AuditSession(const Id16& session);

  /// Appends the session row, if the log does not have it (it may be an older one, that was
  /// restored), and one row an event; moves sequence and chain in `head`. Call committed() after
  /// the transaction committed; without it the steps are skipped.
  void append(WriteTxn& txn, BankHead& head, const VaultId& vault, const BankId& bank,
              const crypto::SecretKey& log_key, std::string_view audit_public_key,
              const std::vector<AuditEvent>& events);
  void committed() { announced_ = true; }

 private:
  Id16 session_;
  crypto::SecretKey key_;
  std::uint32_t step_ = 0;
  bool announced_ = false;
  std::uint64_t announced_in_ = 0;  // sequence number of the session row
};

struct LoggedEvent {
  std::uint64_t sequence = 0;
  Id16 session{};
  AuditEvent event;
};

/// Walks the chain from the first row and compares its end with the head. Without `audit_secret`
/// only the chain is checked. An event with a list is visited once a record. Throws corrupt.
void read_log(ReadTxn& txn, const BankHead& head, const VaultId& vault, const BankId& bank,
              const crypto::SecretKey& log_key, const crypto::SecretKey* audit_secret,
              const std::function<void(const LoggedEvent&)>& visit);

}  // namespace strongroom::vault
