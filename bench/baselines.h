// What ours is measured against: the same storage engine with nothing around it, and SQLite.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/wipe.h"
#include "vault/bank.h"
#include "vault/engine.h"

namespace strongroom::bench {

/// The floor of an encrypted get, on the bank's own file: name hash, two engine gets, one AEAD.
/// Returns the plain bytes, which live in `plain`.
std::string_view floor_get(const vault::Bank& bank, std::string_view name, SecretBytes& plain);

/// The honest raw get: the same two rows by a hash that is given, sealed bytes copied out.
void raw_get(const vault::Bank& bank, std::string_view name_key, std::string& out);

/// Sizes of the rows that one put writes; no log row where that is 0.
struct RowSizes {
  std::size_t record = 0, head = 0, log = 0;
};
/// Of the newest rows of a bank.
RowSizes newest_rows(const vault::Bank& bank);

/// The engine alone: the tables, keys and row sizes of a bank, all content zero.
class RawStore {
 public:
  RawStore(const std::string& path, const RowSizes& sizes);
  /// One transaction: `names` (a row each), as many records, one head, one log row.
  void put(const std::vector<std::uint64_t>& names);
  vault::Engine& engine() { return *engine_; }
  void set_sizes(const RowSizes& sizes);

 private:
  std::shared_ptr<vault::Engine> engine_;
  std::string record_, head_, log_;
  std::uint64_t next_record_ = 1, next_log_ = 1;
};

/// Opens a raw store's file and reads one entry.
std::shared_ptr<vault::Engine> open_and_get(const std::string& path, std::uint64_t name);

struct FileSize {
  double on_disk = 0, apparent = 0;  // bytes; files of the engine are sparse
};
FileSize file_size(const std::string& path);
/// Writes the file back and drops it from the page cache.
void drop_cache(const std::string& path);

#ifdef STRONGROOM_BENCH_SQLITE
/// SQLite: rowid table with a unique index on the name, WAL, synchronous=FULL, prepared statements.
class SqliteStore {
 public:
  explicit SqliteStore(const std::string& path);
  ~SqliteStore();
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  void begin();
  void commit();
  /// Inserts or replaces; a transaction of its own unless one is open.
  void put(std::string_view name, std::string_view value);
  /// False when it is not there.
  bool get(std::string_view name, std::string& out);
  /// Empties the log into the file.
  void checkpoint();

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};
#endif

}  // namespace strongroom::bench
