// A bank head's body.
#include <string>

#include "fuzz/fuzz.h"
#include "vault/bank_head.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  vault::BankHead head;
  if (!fuzz::accepts({Code::corrupt, Code::unsupported},
                     [&] { head = vault::decode_head(input); })) {
    return;
  }
  // A newer version's optional fields come after those of this one.
  if (!head.unknown.empty()) return;
  const std::string once(vault::encode_head(head).view());
  const std::string twice(vault::encode_head(vault::decode_head(once)).view());
  fuzz::require(once == twice, "a head is written the same");
}
