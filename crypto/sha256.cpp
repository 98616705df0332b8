#include "crypto/sha256.h"

#include <array>

#include <sodium.h>

#include "crypto/process.h"

namespace strongroom::crypto {

std::string sha256_hex(std::string_view bytes) {
  initialise();
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  std::array<char, digest.size() * 2 + 1> text;
  sodium_bin2hex(text.data(), text.size(), digest.data(), digest.size());
  return {text.data(), digest.size() * 2};
}

}  // namespace strongroom::crypto
