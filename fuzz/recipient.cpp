// A recipient's row: key slot, cost of opening it, and box.
#include "vault/recipient.h"

#include "crypto/key_slot.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  vault::RecipientRow row;
  if (!fuzz::accepts({Code::corrupt}, [&] { row = vault::read_recipient(input); })) return;
  fuzz::require(row.slot.size() == crypto::kSlotBytes, "a slot has its size");
  fuzz::require(vault::recipient_row(row.slot, row.box) == input, "a row is written the same");

  const std::string_view id = "0123456789abcdef";
  static const crypto::SlotSecrets secrets = [] {
    crypto::SlotSecrets all;
    all.key_file = crypto::SecretKey::from_bytes(std::string(32, 'k'));
    all.code = crypto::SecretKey::from_bytes(std::string(32, 'c'));
    return all;  // no passphrase: opening must stay cheap
  }();
  crypto::SlotHeader header{};
  const bool read = fuzz::accepts({Code::corrupt, Code::unsupported},
                                  [&] { header = crypto::read_slot(row.slot); });
  const bool affordable =
      read && fuzz::accepts({Code::corrupt, Code::locked}, [&] { check_slot_cost(header); });
  if (affordable) {
    fuzz::require(header.passes <= crypto::PassphraseCost::kMaxPasses &&
                      header.kib <= crypto::PassphraseCost::kMaxKib,
                  "work has a ceiling");
  }
  const bool tried = fuzz::accepts({Code::corrupt, Code::unsupported, Code::locked}, [&] {
    fuzz::require(!crypto::open_slot({id, id}, row.slot, secrets), "no slot opens by itself");
  });
  fuzz::require(!tried || affordable, "nothing is tried beyond the ceiling");

  static const crypto::SecretKey secret = crypto::SecretKey::from_bytes(std::string(32, 'r'));
  const vault::Id16 sixteen = vault::id_from(id);
  fuzz::require(
      !fuzz::accepts(
          {Code::corrupt},
          [&] { vault::open_owner_box(secret, std::string(32, 'v'), row.box, sixteen, sixteen); }),
      "no box opens by itself");
}
