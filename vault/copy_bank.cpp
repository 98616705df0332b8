#include "vault/copy_bank.h"

#include <algorithm>

#include "vault/root.h"

namespace strongroom::vault {
namespace {

// What one transaction writes: LMDB keeps it in memory until it commits.
constexpr std::size_t kBatchBytes = std::size_t{32} << 20;

class BankCopy {
 public:
  BankCopy(BankRead& from, Engine& to, const std::function<void(std::uint64_t)>& progress)
      : from_(from), to_(to), progress_(progress), write_(to.begin_write()) {}

  void run() {
    const bool root = from_.bank().id() == BankId{};
    copy(Table::names, false);
    copy(Table::records, true);
    copy(Table::chunks, true);
    copy(Table::index, true);
    if (root) {
      copy(Table::recipients, false);
      copy_root();
    }
    check_sum();
    copy_rows(Table::log, [](std::string_view, std::string_view) {});
    check_log();
    if (from_.txn().rows(Table::head) != 1) throw_corrupt("a bank has more than one head");
    copy_rows(Table::head, [](std::string_view, std::string_view) {});
    write_->commit();
  }

 private:
  template <class Count>
  void copy_rows(Table table, const Count& count) {
    from_.txn().scan(table, {}, [&](std::string_view key, std::string_view row) {
      count(key, row);
      write_->append(table, key, row);
      bytes_ += key.size() + row.size();
      if (bytes_ >= kBatchBytes) {
        write_->commit();
        write_ = to_.begin_write();
        bytes_ = 0;
      }
      if (progress_ && (++rows_ & 0x3FF) == 0) progress_(rows_);
      return true;
    });
  }

  void copy(Table table, bool sealed) {
    copy_rows(table,
              [&](std::string_view key, std::string_view row) { add(table, key, row, sealed); });
  }

  void copy_root() {
    copy_rows(Table::root, [&](std::string_view key, std::string_view row) {
      add(Table::root, key, row, key == IntegerKey(kPolicyKey).view());
    });
  }

  void add(Table table, std::string_view key, std::string_view row, bool sealed) {
    const std::uint32_t version =
        sealed ? read_envelope(row).key_version : from_.bank().keys().version;
    from_.bank().count_row(sum_, version, table, key, row, sealed, true);
  }

  void check_sum() {
    const std::uint32_t version = from_.bank().keys().version;
    BankHead stored = from_.head();
    if (stored.sets.size() > 1 || !(stored.set(version) == sum_.set(version))) {
      throw_corrupt("rows were removed, added, exchanged or put back");
    }
  }

  void check_log() {
    const std::uint64_t last = from_.txn().last_integer_key(Table::log).value_or(0);
    std::uint64_t first = 0;
    from_.txn().scan(Table::log, {}, [&](std::string_view key, std::string_view) {
      first = load_le<std::uint64_t>(key);
      return false;
    });
    const std::uint64_t rows = from_.txn().rows(Table::log);
    if (last + 1 != from_.head().log_next || (rows != 0 && rows != last - first + 1)) {
      throw_corrupt("records of the log are missing");
    }
  }

  BankRead& from_;
  Engine& to_;
  const std::function<void(std::uint64_t)>& progress_;
  std::unique_ptr<WriteTxn> write_;
  BankHead sum_;
  std::size_t bytes_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace

BankKeys clone_keys(const BankKeys& keys) {
  BankKeys copy;
  copy.version = keys.version;
  copy.names = keys.names.clone();
  copy.records = keys.records.clone();
  copy.chunks = keys.chunks.clone();
  copy.index = keys.index.clone();
  copy.set = keys.set.clone();
  copy.head = keys.head.clone();
  copy.log = keys.log.clone();
  if (!keys.secret.empty()) copy.secret = keys.secret.clone();
  return copy;
}

void copy_bank(BankRead& from, Engine& to, const std::function<void(std::uint64_t)>& progress) {
  BankCopy(from, to, progress).run();
}

}  // namespace strongroom::vault
