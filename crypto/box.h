// X25519 boxes (crypto_box_curve25519xchacha20poly1305): from a known sender, or anonymous.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/wipe.h"
#include "crypto/secret_key.h"

namespace strongroom::crypto {

using BoxPublicKey = std::array<char, 32>;

struct BoxKeyPair {
  BoxPublicKey public_key;
  SecretKey secret;
};

BoxKeyPair make_box_key();
BoxPublicKey box_public_key(const SecretKey& secret);

/// nonce 24 | ciphertext with tag, from `sender` to `recipient`: only who holds one of the two
/// secrets can make or open it. Throws invalid for a public key of low order.
std::string box_seal(const SecretKey& sender, std::string_view recipient, std::string_view plain);
[[nodiscard]] bool box_open(const SecretKey& recipient, std::string_view sender,
                            std::string_view box, SecretBytes& plain);

/// An anonymous sealed box: anybody can make one, only the recipient opens it.
std::string sealed_box(std::string_view recipient, std::string_view plain);
[[nodiscard]] bool sealed_box_open(const SecretKey& recipient, std::string_view box,
                                   SecretBytes& plain);

/// The raw X25519 function, for test vectors. nullopt when the result is all zero (low order).
std::optional<std::string> x25519(const SecretKey& scalar, std::string_view point);

}  // namespace strongroom::crypto
