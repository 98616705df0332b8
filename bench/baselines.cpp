#include "bench/baselines.h"

#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "crypto/aead.h"
#include "vault/format.h"
#include "vault/lmdb_engine.h"

namespace strongroom::bench {
namespace {

std::string_view must(std::optional<std::string_view> row) {
  if (!row) throw std::runtime_error("a row of the benchmark is missing");
  return *row;
}

std::string_view record_of(vault::ReadTxn& txn, std::string_view name_key) {
  const std::string_view names = must(txn.get(vault::Table::names, name_key));
  return must(txn.get(vault::Table::records, names.substr(12, 8)));
}

}  // namespace

std::string_view floor_get(const vault::Bank& bank, std::string_view name, SecretBytes& plain) {
  char prefix[2] = {static_cast<char>(vault::Kind::entry), static_cast<char>(name.size())};
  const crypto::Hash16 hash =
      crypto::keyed_hash16(bank.keys().names, crypto::labels::kName, {{prefix, 2}, name});
  const auto txn = bank.engine().begin_read();
  const std::string_view names = must(txn->get(vault::Table::names, {hash.data(), 8}));
  const std::string_view row = must(txn->get(vault::Table::records, names.substr(12, 8)));
  const auto aad = vault::row_aad(crypto::labels::kAadRecord,
                                  bank.place(vault::Kind::entry, bank.keys().version,
                                             vault::load_le<vault::RecordId>(names, 12)));
  if (!crypto::open(bank.keys().records, {aad.data(), aad.size()}, row.substr(7), plain)) {
    throw std::runtime_error("a row of the benchmark does not open");
  }
  return plain.view();
}

void raw_get(const vault::Bank& bank, std::string_view name_key, std::string& out) {
  const auto txn = bank.engine().begin_read();
  out.assign(record_of(*txn, name_key));
}

RowSizes newest_rows(const vault::Bank& bank) {
  const auto txn = bank.engine().begin_read();
  const auto newest = [&](vault::Table table) -> std::size_t {
    const auto key = txn->last_integer_key(table);
    if (!key) return 0;
    return must(txn->get(table, vault::IntegerKey(*key).view())).size();
  };
  RowSizes sizes;
  sizes.record = newest(vault::Table::records);
  sizes.log = newest(vault::Table::log);
  sizes.head = must(txn->get(vault::Table::head, vault::IntegerKey(0).view())).size();
  return sizes;
}

RawStore::RawStore(const std::string& path, const RowSizes& sizes) {
  vault::EngineOptions options;
  options.create = true;
  engine_ = vault::open_lmdb(path, options);
  set_sizes(sizes);
}

void RawStore::set_sizes(const RowSizes& sizes) {
  record_.assign(sizes.record, 'r');
  head_.assign(sizes.head, 'h');
  log_.assign(sizes.log, 'l');
}

void RawStore::put(const std::vector<std::uint64_t>& names) {
  const auto txn = engine_->begin_write();
  std::string name_row(vault::kNamePairBytes, 'n');
  for (const std::uint64_t name : names) {
    const vault::IntegerKey id(next_record_++);
    name_row.replace(12, 8, id.view());
    txn->append(vault::Table::records, id.view(), record_);
    txn->put(vault::Table::names, vault::IntegerKey(name).view(), name_row);
  }
  txn->put(vault::Table::head, vault::IntegerKey(0).view(), head_);
  if (!log_.empty()) txn->append(vault::Table::log, vault::IntegerKey(next_log_++).view(), log_);
  txn->commit();
}

std::shared_ptr<vault::Engine> open_and_get(const std::string& path, std::uint64_t name) {
  auto engine = vault::open_lmdb(path, {});
  const std::string copy(record_of(*engine->begin_read(), vault::IntegerKey(name).view()));
  return engine;
}

FileSize file_size(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw std::runtime_error("a file is missing");
  return {static_cast<double>(info.st_blocks) * 512, static_cast<double>(info.st_size)};
}

void drop_cache(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw std::runtime_error("a file is missing");
  ::fsync(fd.get());
  if (::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) {
    throw std::runtime_error("a file cannot be dropped from the cache");
  }
}

}  // namespace strongroom::bench
