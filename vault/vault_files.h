// Operations on the files of an open vault as wholes: rewriting one. They need a file for
// themselves, so other processes that have it open make them busy.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "vault/vault.h"

namespace strongroom::vault {

struct Compacted {
  std::uint64_t bytes_before = 0, bytes_after = 0;  // on disk
  std::uint64_t erased = 0;                         // pending erasures that this completed
};

class VaultFiles {
 public:
  explicit VaultFiles(Vault& vault) : vault_(vault) {}

  /// Takes what was forgotten out of a bank's rows, in transactions of its own.
  using EraseContent = std::function<void(Bank& bank)>;

  /// Rewrites a bank's file, or with an empty name root.mdb, row by row into a fresh one and puts
  /// it in its place: after a kill there is the old file or the new one. Where erasures are pending
  /// `erase` is called first, with the file to itself, and they are complete in the new file. The
  /// bank is closed before; nobody may hold it.
  ///
  /// Throws not_found, busy (somebody has it open), corrupt (its rows are not those that its head
  /// counts: nothing is changed), no_space, io. When root.mdb cannot be opened again afterwards the
  /// vault is closed and of no more use.
  Compacted compact(std::string_view bank, AuditEvent event, const EraseContent& erase = {});

  /// Forgets entries that have expired. Their number.
  std::uint64_t drop_expired(Bank& bank, TimeMs now, AuditEvent event);

 private:
  struct Target;
  Compacted rewrite(const Target& target, AuditEvent event, const EraseContent& erase);
  Vault& vault_;
};

}  // namespace strongroom::vault
