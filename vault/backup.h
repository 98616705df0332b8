// Backup and restore: whole vaults, copied row by row.
//
// A backup is a folder like a vault, with a mark that keeps people from going on with it. Each bank
// in it is as of one moment; they are not all of the same moment, but no bank is there that the
// copy of root.mdb does not list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "vault/vault.h"

namespace strongroom::vault {

struct CopiedVault {
  std::uint64_t banks = 0, rows = 0;
};

/// Copies an open vault into a new folder while others use it. `check` looks at the copy, complete
/// but under another name, before it gets its own; what it throws undoes the copy. Throws conflict
/// when something is at `path`, corrupt, no_space, io.
CopiedVault backup_vault(Vault& vault, const std::string& path,
                         const std::function<void(std::uint64_t rows)>& progress,
                         const std::function<void(const std::string& copy)>& check);

/// The check of the target alone: conflict when something is there.
void check_new_backup(const std::string& path);

struct RestoreOptions {
  std::string path;  // of the vault that is made, or replaced
  bool no_anchor = false;
  bool allow_fuse = false;
  AuditEvent event;
  /// The admin key of the vault, for a root record that is older than this machine has seen; may
  /// throw, and then everything is denied until the owner seals the policy.
  std::function<crypto::SecretKey(Vault&)> admin_key;
  std::function<void(std::uint64_t rows)> progress;
};
struct RestoredVault {
  CopiedVault copied;
  bool replaced = false;    // there was a vault
  bool older_root = false;  // than was seen, and not signed anew: everything is denied
};

/// Puts a copy of `backup`, opened as one, in the place of the vault at `path`, or where none is.
/// It goes on above everything that this machine has seen of the vault: ids are not used twice, and
/// neither the anchor nor the copy is taken for a rollback, whenever this is killed. The old vault
/// is gone. Throws conflict (another vault is there), invalid (something else is), busy, corrupt,
/// no_space, io.
RestoredVault restore_vault(Vault& backup, Unlocker& unlocker, const RestoreOptions& options);

/// What both do: header, root.mdb and banks of an open vault as a folder that must not exist.
CopiedVault copy_vault(Vault& from, const std::string& to,
                       const std::function<void(std::uint64_t rows)>& progress,
                       std::string_view doing);
/// The banks that a view of bank 0 lists, with their keys; by name.
std::vector<BankRow> listed_banks(BankRead& bank0);
std::string bank_file(const std::string& folder, const BankId& id);

}  // namespace strongroom::vault
