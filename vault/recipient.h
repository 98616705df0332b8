// A recipient's row: its key slot, and the box that holds what it may open.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crypto/key_slot.h"
#include "crypto/secret_key.h"
#include "vault/format.h"

namespace strongroom::vault {

struct RecipientRow {
  std::string_view slot;  // 200 bytes
  std::string_view box;   // nonce and ciphertext; empty for an admin
};
/// Throws corrupt.
RecipientRow read_recipient(std::string_view row);
std::string recipient_row(std::string_view slot, std::string_view box);

/// The owner's box: vault id, recipient id and VMK, from the vault's box key to the recipient.
std::string make_owner_box(const crypto::SecretKey& vault_box_secret,
                           std::string_view recipient_key, const VaultId& vault,
                           const Id16& recipient, const crypto::SecretKey& vmk);

/// Opens it and compares both ids, so that a box of another vault or recipient is refused. Throws
/// corrupt.
crypto::SecretKey open_owner_box(const crypto::SecretKey& recipient_secret,
                                 std::string_view vault_box_key, std::string_view box,
                                 const VaultId& vault, const Id16& recipient);

}  // namespace strongroom::vault
