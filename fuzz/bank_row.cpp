// A row of the bank list, and a row of the table of names.
#include <string>

#include "fuzz/fuzz.h"
#include "vault/bank.h"
#include "vault/vault.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  vault::BankRow row;
  if (fuzz::accepts({Code::corrupt, Code::unsupported},
                    [&] { row = vault::decode_bank_row(input); })) {
    const SecretBytes once = vault::encode_bank_row(row.info, row.key, row.secret);
    const vault::BankRow again = vault::decode_bank_row(once.view());
    fuzz::require(again.info.id == row.info.id && again.info.name == row.info.name &&
                      again.key.view() == row.key.view() &&
                      again.secret.view() == row.secret.view(),
                  "a row is written the same");
  }
  std::vector<vault::NamePair> pairs;
  if (fuzz::accepts({Code::corrupt}, [&] { pairs = vault::decode_names(input); })) {
    fuzz::require(pairs.size() * vault::kNamePairBytes == input.size(), "every pair is read");
  }
}
