// Recovery codes as typed; the seeds pass the check group.
#include "crypto/recovery_code.h"

#include <cctype>
#include <string>

#include "fuzz/fuzz.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  const auto key = crypto::recovery_code_key(input);
  if (!key) return;
  fuzz::require(key->view().size() == crypto::kKeyBytes, "a key has 32 bytes");
  fuzz::require(
      key->view().find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ") == std::string_view::npos,
      "a key is made of the alphabet");
  std::string lower, spaced;
  for (const char c : input) {
    lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    spaced.append({' ', c});
  }
  for (const std::string& typed : {lower, spaced}) {
    const auto again = crypto::recovery_code_key(typed);
    fuzz::require(again && again->view() == key->view(), "case and spaces do not matter");
  }
  fuzz::require(!crypto::recovery_code_key(spaced + "0"), "a longer code is refused");
}
