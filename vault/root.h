// The root record: what the admin key signs. It binds the header, every recipient, the policy and
// the vault's public keys; nobody else writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/box.h"
#include "crypto/hash.h"
#include "crypto/key_slot.h"
#include "crypto/sign.h"
#include "vault/format.h"

namespace strongroom::vault {

struct RootRecipient {
  Id16 id{};
  crypto::SlotRole role = crypto::SlotRole::owner;
  std::uint8_t flags = 0;
  std::array<char, 32> public_key{};
  TimeMs expires = 0;              // 0 = never
  std::vector<Id16> banks, tools;  // hashes; empty for owner and admin
};

struct RootRecord {
  std::uint64_t version = 0;
  crypto::Hash32 header_hash{};
  crypto::SignPublicKey admin_public_key{};
  crypto::BoxPublicKey box_public_key{};
  crypto::BoxPublicKey audit_public_key{};
  std::uint64_t policy_version = 0;
  crypto::Hash32 policy_hash{};
  std::vector<RootRecipient> recipients;  // ascending by id
  crypto::Hash32 previous_hash{};
  TimeMs signed_at = 0;
  std::string unknown;  // optional fields of a newer version, carried on
};

/// A signed root row, and what heads remember of it.
struct RootSeen {
  std::uint64_t version = 0;
  crypto::Hash32 hash{};
  crypto::Signature signature{};
};

std::string sign_root(const RootRecord& root, const VaultId& vault,
                      const crypto::SecretKey& admin_seed);

/// Reads and verifies the signature against the admin key that the row itself names; the caller
/// compares that key with the one in the associated data of its own slot. Throws corrupt.
RootRecord read_root(std::string_view row, const VaultId& vault);

RootSeen root_seen(std::string_view row, std::uint64_t version);
crypto::Hash32 root_hash(std::string_view row);
crypto::Hash32 policy_row_hash(std::string_view row);

/// Keys of the table `root`.
inline constexpr std::uint64_t kRootKey = 0, kPolicyKey = 1;

}  // namespace strongroom::vault
