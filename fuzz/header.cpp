// The header file of a vault. The checksum would keep every mutation out, so it is also put right.
#include "vault/header.h"

#include <string>

#include "crypto/hash.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

namespace {

void read(std::string_view bytes) {
  vault::Header header;
  if (!fuzz::accepts({Code::corrupt, Code::unsupported},
                     [&] { header = vault::decode_header(bytes); })) {
    return;
  }
  // But for the reserved bytes, which a reader of this format passes over.
  const std::string again = vault::encode_header(header);
  fuzz::require(
      again.substr(0, 12) == bytes.substr(0, 12) && again.substr(16, 48) == bytes.substr(16, 48),
      "an accepted header is written the same");
  (void)vault::can_write(header);
}

}  // namespace

FUZZ_TARGET(input) {
  read(input);
  if (input.size() != vault::kHeaderBytes) return;
  std::string summed(input);
  summed.replace(96, 32,
                 crypto::view(crypto::hash32(crypto::labels::kHeader, {input.substr(0, 96)})));
  read(summed);
}
