#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "vault/backup.h"
#include "vault/backup_mark.h"
#include "vault/copy_bank.h"
#include "vault/directory.h"
#include "vault/file_check.h"
#include "vault/guard.h"
#include "vault/header.h"
#include "vault/lmdb_engine.h"

namespace strongroom::vault {
namespace {

constexpr std::string_view kDoing = "restore the vault";
// Above every id that may have been given since the backup was made, so that none means two things.
constexpr std::uint64_t kSkippedIds = 1 << 20;

bool same_folder(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// True when there is a vault of this id; false when there is nothing. Throws for anything else.
bool check_target(const std::string& path, const VaultId& id) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 && errno == ENOENT) return false;
  check_directory(path);
  const auto entries = directory_entries(path);
  if (entries.empty()) return false;
  const auto fd = open_file(path + "/header", O_RDONLY, "the vault's header");
  if (!fd && std::find(entries.begin(), entries.end(), "root.mdb") == entries.end()) {
    throw Error::invalid("vault", "is a directory that holds something else; nothing was changed");
  }
  if (read_backup_mark(path)) {
    throw Error(Code::conflict, "There is a backup already; nothing was changed.");
  }
  if (!fd) return true;  // it has lost its header
  const std::string bytes = read_all(fd->get(), 4096, "the vault's header");
  try {
    if (decode_header(bytes).vault_id != id) {
      throw Error(Code::conflict, "There is another vault already; nothing was changed.");
    }
  } catch (const Error& error) {
    if (error.code() != Code::corrupt) throw;  // a damaged one is what backups are for
  }
  return true;
}

// Nobody has a file of the vault open, or opens one, while these live.
std::vector<Guard> guard_all(const std::string& path) {
  std::vector<Guard> guards;
  guards.push_back(Guard::exclusive(path + "/root.mdb"));
  const std::string banks = path + "/banks";
  struct stat info {};
  if (::lstat(banks.c_str(), &info) != 0) return guards;
  for (const std::string& name : directory_entries(banks)) {
    if (name.ends_with(".mdb")) guards.push_back(Guard::exclusive(banks + "/" + name));
  }
  return guards;
}

class Restore {
 public:
  Restore(Vault& backup, Unlocker& unlocker, const RestoreOptions& options)
      : backup_(backup),
        unlocker_(unlocker),
        options_(options),
        path_(without_end_slashes(options.path)),
        building_(path_ + ".tmp" + std::to_string(::getpid())),
        anchor_(backup.header().vault_id, !options.no_anchor, false),
        replica_(options.no_anchor ? Id16{} : random_id()) {}

  RestoredVault run() {
    if (same_folder(path_, backup_.options().path)) {
      throw Error::invalid("vault", "is the backup itself");
    }
    make_directories(parent_of(path_));
    result_.replaced = check_target(path_, backup_.header().vault_id);
    std::vector<Guard> guards;
    if (result_.replaced) guards = guard_all(path_);
    remove_tree(building_);
    try {
      result_.copied = copy_vault(backup_, building_, options_.progress, kDoing);
      make_reserve(building_, kDoing);
      go_on_above_what_was_seen();
      sign_root_anew();
      sync_parent(building_ + "/x", kDoing);
      put_in_place();
    } catch (...) {
      remove_tree(building_);
      throw;
    }
    try {
      sync_parent(path_, kDoing);
    } catch (const Error&) {
      // The old vault stays beside: after a power failure it may have its name back.
      throw Error(Code::uncertain,
                  "The vault was restored, but the disk may not keep it; restore it again.");
    }
    // What is there dominates what was seen before, so a kill here leaves nothing to accept.
    try {
      anchor_.accept(replica_, heads_, root_version_);
    } catch (const Error&) {
      // `status` reports an anchor that cannot be written.
    }
    if (result_.replaced) remove_tree(building_);  // the old one, since both were exchanged
    return result_;
  }

 private:
  void go_on_above_what_was_seen() {
    seen_ = anchor_.seen();
    std::vector<BankRow> rows;
    {
      BankRead view = backup_.bank0().read();
      rows = listed_banks(view);
    }
    for (const BankRow& row : rows) {
      const auto bank = backup_.open_bank(row.info.name);
      raise(bank_file(building_, row.info.id), row.info.id, bank->keys(), false);
    }
    raise(building_ + "/root.mdb", BankId{}, backup_.bank0().keys(), true);
  }

  void raise(const std::string& path, const BankId& id, const BankKeys& keys, bool root) {
    EngineOptions options;
    options.allow_fuse = options_.allow_fuse;
    options.root_tables = root;
    Bank bank(open_lmdb(path, options), backup_.header().vault_id, id, std::string(),
              clone_keys(keys), no_anchor_, random_id());
    WriteStamp stamp = backup_.stamp();
    stamp.replica = replica_;
    BankWrite write = bank.write(stamp);
    BankHead& head = write.mutable_head();
    head.next_record_id += kSkippedIds;
    const auto seen = seen_.find(id);
    if (seen != seen_.end()) {
      head.vector.merge(seen->second.vector);
      head.generation = std::max(head.generation, head.vector.newest());
    }
    if (root) {
      // Who has seen a newer root will deny everything until there is one above it.
      head.root.version = std::max(head.root.version, anchor_.root_version());
      result_.older_root = head.root.version > backup_.root().version;
      write.log(options_.event);
    }
    write.commit();
    heads_[id] = {write.head().vector, write.head_tag()};
    root_version_ = std::max(root_version_, write.head().root.version);
  }

  void sign_root_anew() {
    if (!result_.older_root || !options_.admin_key || !backup_.policy().text) return;
    VaultOptions options;
    options.path = building_;
    options.no_anchor = true;
    options.allow_fuse = options_.allow_fuse;
    options.session = random_id();
    const auto vault = Vault::open(options, unlocker_);
    try {
      const crypto::SecretKey admin = options_.admin_key(*vault);
      vault->seal_policy(admin, backup_.policy().text->view(), backup_.root().policy_version,
                         options_.event);
    } catch (const Error& error) {
      if (error.code() != Code::locked && error.code() != Code::wrong_key) throw;
      return;
    }
    result_.older_root = false;
    BankRead view = vault->bank0().read();
    heads_[BankId{}] = {view.head().vector, view.head_tag()};
    root_version_ = vault->root().version;
  }

  void put_in_place() {
    const unsigned flags = result_.replaced ? RENAME_EXCHANGE : 0;
    if (::renameat2(AT_FDCWD, building_.c_str(), AT_FDCWD, path_.c_str(), flags) == 0) return;
    if (errno == ENOTEMPTY || errno == EEXIST) {
      throw Error(Code::conflict, "There is a vault by now; nothing was changed.");
    }
    throw_errno(kDoing, errno);
  }

  Vault& backup_;
  Unlocker& unlocker_;
  const RestoreOptions& options_;
  std::string path_, building_;
  Anchor anchor_;
  std::shared_ptr<Anchor> no_anchor_ =
      std::make_shared<Anchor>(backup_.header().vault_id, false, false);
  Id16 replica_;
  std::map<BankId, Anchor::Seen> seen_, heads_;
  std::uint64_t root_version_ = 0;
  RestoredVault result_;
};

}  // namespace

RestoredVault restore_vault(Vault& backup, Unlocker& unlocker, const RestoreOptions& options) {
  return Restore(backup, unlocker, options).run();
}

}  // namespace strongroom::vault
