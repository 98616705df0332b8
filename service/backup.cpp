// backup and restore.
#include "vault/backup.h"

#include "base/error.h"
#include "service/admin_state.h"
#include "service/unlocker.h"
#include "vault/file_check.h"

namespace strongroom::service {
namespace {

// Every row of a backup, its index too.
void check_backup(VaultAdmin& backup, const std::function<void(std::uint64_t)>& progress) {
  const VerifyOutcome outcome = backup.verify(false, progress);
  if (outcome.problems.empty()) return;
  const VerifyLine& first = outcome.problems.front();
  throw Error(Code::corrupt, "The copy does not verify, in " + first.where + ": " + first.text);
}

AdminOptions options_of_backup(const AdminOptions& given, const std::string& path) {
  AdminOptions options = given;
  options.vault_path = path;
  options.as_backup = true;
  return options;
}

}  // namespace

BackupOutcome VaultAdmin::backup(const std::string& path,
                                 const std::function<void(std::uint64_t)>& progress) {
  vault::check_new_backup(path);
  vault::Vault& vault = state_->open();
  // Logged first, so that the copy says that it was made; a read-only process writes no log.
  if (!vault.options().read_only) {
    vault::BankWrite write = vault.bank0().write(vault.stamp());
    write.log(state_->event("backup"));
    write.commit();
  }
  const vault::CopiedVault copied =
      vault::backup_vault(vault, path, progress, [&](const std::string& copy) {
        VaultAdmin backup(options_of_backup(state_->options, copy));
        check_backup(backup, progress);
      });
  return {copied.banks, copied.rows};
}

RestoreOutcome VaultAdmin::restore(const std::string& path,
                                   const std::function<void(std::uint64_t)>& progress) {
  state_->require_write();
  state_->vault.reset();  // this process must not be in its own way
  VaultAdmin backup(options_of_backup(state_->options, path));
  check_backup(backup, progress);
  vault::RestoreOptions options;
  options.path = state_->options.vault_path;
  options.no_anchor = state_->options.no_anchor;
  options.allow_fuse = backup.state_->vault->options().allow_fuse;
  options.event = state_->event("restore");
  options.admin_key = [&](vault::Vault& vault) { return backup.state_->admin_key(vault); };
  options.progress = progress;
  const vault::RestoredVault restored =
      vault::restore_vault(*backup.state_->vault, backup.state_->unlocker, options);
  RestoreOutcome outcome;
  outcome.banks = restored.copied.banks;
  outcome.replaced = restored.replaced;
  if (restored.older_root) {
    outcome.notes.push_back(
        "Its policy is older than this machine has seen: everything is denied until the policy is "
        "sealed again (policy seal), which needs the admin secret.");
  }
  return outcome;
}

}  // namespace strongroom::service
