// A key slot: 200 bytes in which a secret of the user's (passphrase, key file, both, printed code)
// wraps one 32-byte private key. docs/format.md, "recipient", has the bytes.
//
// A 32-byte commitment to the wrapping key is compared before anything is decrypted, because the
// AEAD alone does not commit to its key. Parameters are in the associated data and are checked
// against a floor and a ceiling before any work is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/wipe.h"
#include "crypto/box.h"
#include "crypto/secret_key.h"
#include "crypto/sign.h"

namespace strongroom::crypto {

enum class SlotRole : std::uint8_t { owner = 1, grant = 2, admin = 3 };
enum class SlotMethod : std::uint8_t { passphrase = 1, key_file = 2, both = 3, code = 4 };

std::string_view slot_method_name(SlotMethod method) noexcept;

/// What a user may hold. Several may be set; a slot takes what its method needs.
struct SlotSecrets {
  std::optional<SecretBytes> passphrase;
  std::optional<SecretKey> key_file;  // the file's 32 bytes
  std::optional<SecretKey> code;
};

/// Argon2id cost. Defaults are libsodium's MODERATE.
struct PassphraseCost {
  std::uint32_t passes = 3;
  std::uint32_t kib = 256 * 1024;

  static constexpr std::uint32_t kMinPasses = 2, kMaxPasses = 10;
  static constexpr std::uint32_t kMinKib = 64 * 1024, kMaxKib = 1024 * 1024;
};

/// Where a slot stands; goes into its associated data.
struct SlotPlace {
  std::string_view vault_id;      // 16 bytes
  std::string_view recipient_id;  // 16 bytes
};

inline constexpr std::size_t kSlotBytes = 200;

struct SlotHeader {
  SlotRole role;
  SlotMethod method;
  std::uint32_t passes, kib;
  std::string_view admin_public_key;  // 32
  std::string_view public_key;        // 32: X25519 of an owner or grant, Ed25519 of an admin
};

/// Makes a slot that wraps `secret` (an X25519 secret or an Ed25519 seed).
std::string make_slot(const SlotPlace& place, SlotRole role, SlotMethod method,
                      const SlotSecrets& secrets, const PassphraseCost& cost,
                      std::string_view admin_public_key, std::string_view public_key,
                      const SecretKey& secret);

/// Reads the clear part. Throws corrupt for a wrong size or unknown role or method, unsupported for
/// a newer version or suite.
SlotHeader read_slot(std::string_view slot);

/// Throws locked ("needs N MiB") when this machine may not do the work, corrupt when the parameters
/// are outside floor and ceiling. Cheap.
void check_slot_cost(const SlotHeader& header);

/// The wrapped key; nullopt when `secrets` lacks what the method needs, or is not the right secret.
/// Throws corrupt when the commitment matches and the rest does not open.
std::optional<SecretKey> open_slot(const SlotPlace& place, std::string_view slot,
                                   const SlotSecrets& secrets);

}  // namespace strongroom::crypto
