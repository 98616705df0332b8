#include "vault/recipient.h"

#include "base/error.h"
#include "crypto/box.h"

namespace strongroom::vault {

RecipientRow read_recipient(std::string_view row) {
  if (row.size() < crypto::kSlotBytes + 4) throw_corrupt("a recipient is cut off");
  const auto length = load_le<std::uint32_t>(row, crypto::kSlotBytes);
  if (length != row.size() - crypto::kSlotBytes - 4) throw_corrupt("a recipient is malformed");
  return {row.substr(0, crypto::kSlotBytes), row.substr(crypto::kSlotBytes + 4)};
}

std::string recipient_row(std::string_view slot, std::string_view box) {
  std::string row(slot);
  append_le(row, static_cast<std::uint32_t>(box.size()));
  row.append(box);
  return row;
}

std::string make_owner_box(const crypto::SecretKey& vault_box_secret,
                           std::string_view recipient_key, const VaultId& vault,
                           const Id16& recipient, const crypto::SecretKey& vmk) {
  BodyWriter body;
  body.field(1, view(vault));
  body.field(3, view(recipient));
  body.field(5, vmk.view());
  return crypto::box_seal(vault_box_secret, recipient_key, body.body().view());
}

crypto::SecretKey open_owner_box(const crypto::SecretKey& recipient_secret,
                                 std::string_view vault_box_key, std::string_view box,
                                 const VaultId& vault, const Id16& recipient) {
  SecretBytes plain;
  if (!crypto::box_open(recipient_secret, vault_box_key, box, plain)) {
    throw_corrupt("an owner's box does not open");
  }
  crypto::SecretKey vmk;
  bool vault_matches = false, recipient_matches = false;
  for (BodyReader body(plain.view()); body.next();) {
    switch (body.id()) {
      case 1: vault_matches = body.bytes() == view(vault); break;
      case 3: recipient_matches = body.bytes() == view(recipient); break;
      case 5: vmk = crypto::SecretKey::from_bytes(body.exactly(32)); break;
      default: body.unknown();
    }
  }
  if (!vault_matches || !recipient_matches || vmk.empty()) {
    throw_corrupt("an owner's box belongs to another vault or slot");
  }
  return vmk;
}

}  // namespace strongroom::vault
