#include "vault/backup.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/time.h"
#include "vault/backup_mark.h"
#include "vault/copy_bank.h"
#include "vault/directory.h"
#include "vault/file_check.h"
#include "vault/guard.h"
#include "vault/lmdb_engine.h"

namespace strongroom::vault {
namespace {

constexpr std::string_view kDoing = "make the backup";

class VaultCopy {
 public:
  VaultCopy(Vault& from, std::string to, const std::function<void(std::uint64_t)>& progress,
            std::string_view doing)
      : from_(from), to_(std::move(to)), progress_(progress), doing_(doing) {}

  CopiedVault run() {
    if (::mkdir(to_.c_str(), 0700) != 0) throw_errno(doing_, errno);
    if (::mkdir((to_ + "/banks").c_str(), 0700) != 0) throw_errno(doing_, errno);
    create_file(to_ + "/header", from_.header_bytes(), 0600, doing_);
    // First: it says which banks there are.
    BankRead root = from_.bank0().read();
    copy(root, to_ + "/root.mdb", true);
    for (const BankRow& row : listed_banks(root)) {
      const auto bank = from_.open_bank(row.info.name);
      if (!bank || bank->id() != row.info.id) throw_corrupt("a bank's name does not lead to it");
      BankRead view = bank->read();
      copy(view, bank_file(to_, row.info.id), false);
      ++copied_.banks;
    }
    sync_parent(to_ + "/banks/x", doing_);
    sync_parent(to_ + "/x", doing_);
    return copied_;
  }

 private:
  void copy(BankRead& view, const std::string& path, bool root) {
    {
      EngineOptions options;
      options.create = true;
      options.allow_fuse = from_.options().allow_fuse;
      options.root_tables = root;
      const auto engine = open_lmdb(path, options);
      const std::uint64_t before = copied_.rows;
      copy_bank(view, *engine, [&](std::uint64_t rows) {
        copied_.rows = before + rows;
        if (progress_) progress_(copied_.rows);
      });
    }
    const auto fd = open_file(path, O_RDWR, "a file of the copy");
    if (!fd) throw_errno(doing_, ENOENT);
    sync_fd(fd->get(), doing_);
  }

  Vault& from_;
  std::string to_;
  const std::function<void(std::uint64_t)>& progress_;
  std::string_view doing_;
  CopiedVault copied_;
};

// What opening leaves beside a file, and a backup does not need.
void remove_locks(const std::string& folder) {
  for (const std::string& part : {folder, folder + "/banks"}) {
    for (const std::string& name : directory_entries(part)) {
      if (name.ends_with("-lock") || name.ends_with(".guard")) {
        ::unlink((part + "/" + name).c_str());
      }
    }
  }
}

}  // namespace

std::string bank_file(const std::string& folder, const BankId& id) {
  return folder + "/banks/" + hex(view(id)) + ".mdb";
}

std::vector<BankRow> listed_banks(BankRead& bank0) {
  std::vector<RecordId> ids;
  for_each_name(bank0.txn(), [&](const NamePair& pair) {
    if (read_envelope(bank0.row(pair.record)).kind == Kind::bank) ids.push_back(pair.record);
  });
  // A bank has two names, its own and its tag.
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<BankRow> banks;
  SecretBytes plain;
  for (const RecordId id : ids) banks.push_back(decode_bank_row(bank0.open(id, plain).body));
  std::sort(banks.begin(), banks.end(),
            [](const BankRow& a, const BankRow& b) { return a.info.name < b.info.name; });
  return banks;
}

CopiedVault copy_vault(Vault& from, const std::string& to,
                       const std::function<void(std::uint64_t)>& progress, std::string_view doing) {
  return VaultCopy(from, to, progress, doing).run();
}

void check_new_backup(const std::string& path) {
  struct stat info {};
  if (::lstat(without_end_slashes(path).c_str(), &info) == 0) {
    throw Error(Code::conflict, "There is something of that name already; nothing was copied.");
  }
}

CopiedVault backup_vault(Vault& vault, const std::string& given,
                         const std::function<void(std::uint64_t)>& progress,
                         const std::function<void(const std::string&)>& check) {
  const std::string path = without_end_slashes(given);
  check_new_backup(path);
  const std::string building = path + ".tmp" + std::to_string(::getpid());
  remove_tree(building);
  CopiedVault copied;
  try {
    copied = copy_vault(vault, building, progress, kDoing);
    create_file(building + "/" + std::string(kBackupMarkName),
                encode_backup_mark({hex(view(vault.header().vault_id)), format_time(now_ms())}),
                0600, kDoing);
    check(building);
    remove_locks(building);
    sync_parent(building + "/banks/x", kDoing);
    sync_parent(building + "/x", kDoing);
    if (::renameat2(AT_FDCWD, building.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) {
        throw Error(Code::conflict, "There is something of that name already; nothing was copied.");
      }
      throw_errno(kDoing, errno);
    }
  } catch (...) {
    remove_tree(building);
    throw;
  }
  sync_parent(path, kDoing);
  return copied;
}

}  // namespace strongroom::vault
