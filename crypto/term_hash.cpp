#include "crypto/term_hash.h"

#include <cstring>

#include <sodium.h>

#include "crypto/hash.h"

namespace strongroom::crypto {

// SipHash takes 16 of the 32 bytes.
static_assert(crypto_shorthash_KEYBYTES == 16 && crypto_shorthash_BYTES == 8);

TermHash::TermHash(const SecretKey& key, const Label& label) : key_(derive(key, label, {})) {}

std::uint64_t TermHash::operator()(std::string_view bytes) const noexcept {
  unsigned char out[crypto_shorthash_BYTES];
  crypto_shorthash(out, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                   key_.data());
  std::uint64_t value;
  std::memcpy(&value, out, sizeof value);
  return value;
}

}  // namespace strongroom::crypto
