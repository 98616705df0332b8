#include "crypto/sign.h"

#include <sodium.h>

#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

const unsigned char* bytes(std::string_view v) {
  return reinterpret_cast<const unsigned char*>(v.data());
}
template <std::size_t N>
unsigned char* bytes(std::array<char, N>& a) {
  return reinterpret_cast<unsigned char*>(a.data());
}

// libsodium signs with seed | public key; it lives on this stack only while it is used.
struct Expanded {
  explicit Expanded(const SecretKey& seed, SignPublicKey& public_key) {
    initialise();
    crypto_sign_seed_keypair(bytes(public_key), key, seed.data());
  }
  ~Expanded() { sodium_memzero(key, sizeof key); }
  unsigned char key[crypto_sign_SECRETKEYBYTES];
};

}  // namespace

SignKeyPair make_sign_key() {
  SignKeyPair pair{{}, SecretKey::random()};
  pair.public_key = sign_public_key(pair.seed);
  return pair;
}

SignPublicKey sign_public_key(const SecretKey& seed) {
  SignPublicKey public_key{};
  const Expanded expanded(seed, public_key);
  return public_key;
}

Signature sign(const SecretKey& seed, std::string_view message) {
  SignPublicKey public_key{};
  const Expanded expanded(seed, public_key);
  Signature signature{};
  crypto_sign_detached(bytes(signature), nullptr, bytes(message), message.size(), expanded.key);
  return signature;
}

bool verify_signature(std::string_view public_key, std::string_view message,
                      std::string_view signature) noexcept {
  if (public_key.size() != crypto_sign_PUBLICKEYBYTES || signature.size() != crypto_sign_BYTES) {
    return false;
  }
  return crypto_sign_verify_detached(bytes(signature), bytes(message), message.size(),
                                     bytes(public_key)) == 0;
}

}  // namespace strongroom::crypto
