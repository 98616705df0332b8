// Ed25519 signatures. The private key is kept as its 32-byte seed.
#pragma once

#include <array>
#include <string_view>

#include "crypto/secret_key.h"

namespace strongroom::crypto {

using SignPublicKey = std::array<char, 32>;
using Signature = std::array<char, 64>;

struct SignKeyPair {
  SignPublicKey public_key;
  SecretKey seed;
};

SignKeyPair make_sign_key();
SignPublicKey sign_public_key(const SecretKey& seed);
Signature sign(const SecretKey& seed, std::string_view message);
[[nodiscard]] bool verify_signature(std::string_view public_key, std::string_view message,
                                    std::string_view signature) noexcept;

}  // namespace strongroom::crypto
