#include "vault/vault_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "vault/copy_bank.h"
#include "vault/directory.h"
#include "vault/entries.h"
#include "vault/guard.h"
#include "vault/lmdb_engine.h"

namespace strongroom::vault {
namespace {

constexpr std::string_view kDoing = "compact the vault";

std::uint64_t bytes_on_disk(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

// A file under construction, with LMDB's lock file; both are gone at the end unless it was put in
// place. What an earlier, killed one left goes first.
class NewBankFile {
 public:
  explicit NewBankFile(std::string path) : path_(std::move(path)) { remove(); }
  ~NewBankFile() { remove(); }
  NewBankFile(const NewBankFile&) = delete;
  NewBankFile& operator=(const NewBankFile&) = delete;

  void put_in_place_of(const std::string& old) {
    {
      const auto fd = open_file(path_, O_RDWR, "a file of the vault");
      if (!fd) throw_errno(kDoing, ENOENT);
      sync_fd(fd->get(), kDoing);
    }
    if (::rename(path_.c_str(), old.c_str()) != 0) throw_errno(kDoing, errno);
    // The old lock file knows the old file's transactions. Who opens the vault after a kill between
    // the two has it to itself, and then LMDB starts it anew.
    ::unlink((old + "-lock").c_str());
    sync_parent(old, kDoing);
  }

 private:
  // Its own names all begin alike: the file that is made empty first, too.
  void remove() noexcept {
    try {
      const std::string folder = parent_of(path_);
      const std::string name = path_.substr(folder.size() + 1);
      for (const std::string& entry : directory_entries(folder)) {
        if (entry.starts_with(name)) ::unlink((folder + "/" + entry).c_str());
      }
    } catch (const Error&) {
      // Where nothing can be listed nothing can be made either, which says why.
    }
  }
  std::string path_;
};

}  // namespace

struct VaultFiles::Target {
  BankId id{};
  std::string name, path;
  BankKeys keys;
  bool root = false;
};

Compacted VaultFiles::compact(std::string_view name, AuditEvent event, const EraseContent& erase) {
  Target target;
  target.root = name.empty();
  target.name = name;
  {
    const auto bank = target.root ? vault_.bank0_ : vault_.open_bank(name);
    if (!bank) throw Error(Code::not_found, "There is no bank of that name.");
    target.id = bank->id();
    target.keys = clone_keys(bank->keys());
    target.path = target.root ? vault_.root_path() : vault_.bank_path(bank->id());
  }
  if (!target.root) {
    vault_.close_bank(name);
    return rewrite(target, std::move(event), erase);
  }
  vault_.detach_root();
  Compacted result;
  try {
    result = rewrite(target, std::move(event), {});
  } catch (...) {
    vault_.attach_root(std::move(target.keys));
    throw;
  }
  vault_.attach_root(std::move(target.keys));
  return result;
}

Compacted VaultFiles::rewrite(const Target& target, AuditEvent event, const EraseContent& erase) {
  const Guard guard = Guard::exclusive(target.path);
  const VaultId& id = vault_.header_.vault_id;
  NewBankFile made(target.path + ".tmp");
  Compacted result;
  result.bytes_before = bytes_on_disk(target.path);
  BankHead head;
  Id16 head_tag{};
  {
    EngineOptions options;
    options.allow_fuse = vault_.options_.allow_fuse;
    options.root_tables = target.root;
    options.exclusive = &guard;
    // Sessions of their own: the new file may yet come to nothing.
    Bank old(open_lmdb(target.path, options), id, target.id, target.name, clone_keys(target.keys),
             vault_.anchor_, random_id());
    old.check_anchor();
    std::vector<RecordId> erased = old.read().head().erase_pending;
    if (!erase) erased.clear();
    if (!erased.empty()) erase(old);
    options.create = true;
    const auto engine = open_lmdb(target.path + ".tmp", options);
    {
      BankRead view = old.read();
      copy_bank(view, *engine);
    }
    // Until the new file is in place nobody may have seen its generation.
    const auto no_anchor = std::make_shared<Anchor>(id, false, false);
    Bank fresh(engine, id, target.id, target.name, clone_keys(target.keys), no_anchor, random_id());
    BankWrite write = fresh.write(vault_.stamp());
    if (!erased.empty()) write.mutable_head().erase_pending.clear();
    result.erased = erased.size();
    write.log(std::move(event));
    write.commit();
    head = write.head();
    head_tag = write.head_tag();
  }
  made.put_in_place_of(target.path);
  vault_.anchor_->note(target.id, head.vector, head_tag, head.root.version);
  result.bytes_after = bytes_on_disk(target.path);
  return result;
}

std::uint64_t VaultFiles::drop_expired(Bank& bank, TimeMs now, AuditEvent event) {
  std::vector<std::string> names;
  {
    BankRead view = bank.read();
    for (EntryLine& line : list_entries(view)) {
      if (line.expires && *line.expires <= now) names.push_back(std::move(line.name));
    }
  }
  if (names.empty()) return 0;
  BankWrite write = bank.write(vault_.stamp());
  std::uint64_t dropped = 0;
  SecretBytes plain;
  for (const std::string& name : names) {
    const auto found = find_entry(write, name, plain);
    if (!found || !found->entry || !found->entry->expired(now)) continue;
    event.records.push_back({forget_entry(write, *found->entry, event.principal, now), 1, 0});
    ++dropped;
    if (event.records.size() == AuditEvent::kMaxRecords) {
      write.log(event);
      event.records.clear();
    }
  }
  if (!event.records.empty()) write.log(std::move(event));
  write.commit();
  return dropped;
}

}  // namespace strongroom::vault
