// The engine port: what the vault asks of an ordered key-value store. The LMDB engine is beside it;
// another store can stand there later without touching the layers above.
//
// Views returned by a transaction live until the next write in it or until it ends. A transaction
// belongs to one thread. Errors: corrupt (the store is damaged), no_space, io, busy; a failed
// commit is no_space when nothing was stored, else uncertain.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "vault/timed_lock.h"

namespace strongroom::vault {

/// The tables, and their numbers in the set hash. `names`, `records` and `log` have u64 keys in
/// native byte order; the others order by bytes.
enum class Table : std::uint8_t {
  names = 1,
  records = 2,
  chunks = 3,
  recipients = 4,
  root = 5,
  head = 6,
  log = 7,
  index = 8,  // younger than the format: a file that lacks it is read as if it were empty
};
inline constexpr int kTableCount = 8;

class ReadTxn {
 public:
  /// Called with key and value in ascending order of key; false stops the scan.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~ReadTxn() = default;
  virtual std::optional<std::string_view> get(Table table, std::string_view key) = 0;
  /// From the first key >= `from` (empty: from the start).
  virtual void scan(Table table, std::string_view from, const Visitor& visit) = 0;
  virtual std::optional<std::uint64_t> last_integer_key(Table table) = 0;
  virtual std::uint64_t rows(Table table) = 0;
  /// Tells the system that these values, views from get() or scan(), are about to be read, so that
  /// a cold file gives them in few large reads. Never fails; may do nothing.
  virtual void prefetch(const std::vector<std::string_view>& values) { static_cast<void>(values); }
};

class WriteTxn : public ReadTxn {
 public:
  /// Inserts or replaces.
  virtual void put(Table table, std::string_view key, std::string_view value) = 0;
  /// Inserts a key greater than all others: cheaper, and fills pages.
  virtual void append(Table table, std::string_view key, std::string_view value) = 0;
  virtual bool erase(Table table, std::string_view key) = 0;
  /// Durable when it returns. A transaction that is destroyed uncommitted changes nothing.
  virtual void commit() = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::unique_ptr<ReadTxn> begin_read() = 0;
  /// One writer at a time over all processes; waits for the others so long, then throws busy.
  virtual std::unique_ptr<WriteTxn> begin_write(Patience patience = kWriterPatience) = 0;
  /// The id of the newest committed transaction; cheap, for noticing another process's writes.
  virtual std::uint64_t last_transaction() = 0;
  virtual bool read_only() const = 0;
  /// False when the file, or the one that its locks live in, is no longer the one that was opened:
  /// deleted or replaced behind the vault's back.
  virtual bool in_place() const = 0;
};

}  // namespace strongroom::vault
