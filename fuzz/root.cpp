// The signed root record, under a fixed vault id. It is parsed before its signature can be checked,
// so the parser is what stands in front; mutations are also signed by a fixed admin key.
#include "vault/root.h"

#include <string>

#include "fuzz/fuzz.h"

using namespace strongroom;

namespace {

constexpr vault::VaultId kVault{'f', 'u', 'z', 'z'};

void read(std::string_view row) {
  vault::RootRecord root;
  if (!fuzz::accepts({Code::corrupt, Code::unsupported},
                     [&] { root = vault::read_root(row, kVault); })) {
    return;
  }
  const vault::RootSeen seen = vault::root_seen(row, root.version);
  fuzz::require(seen.hash == vault::root_hash(row), "what heads remember is the row's hash");
  for (std::size_t i = 1; i < root.recipients.size(); ++i) {
    fuzz::require(root.recipients[i - 1].id < root.recipients[i].id, "recipients ascend");
  }
  vault::VaultId other = kVault;
  other[15] = 1;
  fuzz::require(!fuzz::accepts({Code::corrupt}, [&] { vault::read_root(row, other); }),
                "a root is for one vault");
}

}  // namespace

FUZZ_TARGET(input) {
  read(input);
  if (input.size() < 72) return;
  // Sign it: admin key into field 5 where the seeds have it, signature at the end.
  static const crypto::SecretKey seed = crypto::SecretKey::from_bytes(std::string(32, 's'));
  static const crypto::SignPublicKey admin = crypto::sign_public_key(seed);
  std::string row(input);
  constexpr std::size_t kAdminAt = 8 + 10 + 34 + 2;  // prefix, version, header hash, id and length
  if (row.size() < kAdminAt + 32 + 64) return;
  row.replace(kAdminAt, 32, crypto::view(admin));
  std::string message(crypto::label_view(crypto::labels::kSignRoot));
  message.append(vault::view(kVault)).append(row, 0, row.size() - 64);
  row.replace(row.size() - 64, 64, crypto::view(crypto::sign(seed, message)));
  read(row);
}
