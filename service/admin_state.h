// What the owner's operations share. Internal to service/.
#pragma once

#include <memory>
#include <string_view>

#include "service/vault_admin.h"
#include "vault/vault.h"

namespace strongroom::service {

struct VaultAdmin::State {
  vault::Vault& open();
  void require_write() const;
  crypto::SecretKey admin_key();
  /// The admin key of a vault that `unlocker` has opened.
  crypto::SecretKey admin_key(vault::Vault& opened);
  vault::AuditEvent event(std::string_view what) const;

  AdminOptions options;
  vault::Unlocker unlocker;  // keeps the owner's secrets, to tell whether they open the admin slot
  std::unique_ptr<vault::Vault> vault;
};

}  // namespace strongroom::service
