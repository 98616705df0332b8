#include "crypto/aead.h"

#include <bit>

#include <sodium.h>

#include "base/error.h"

namespace strongroom::crypto {
namespace {

unsigned char* bytes(char* p) {
  return reinterpret_cast<unsigned char*>(p);
}
const unsigned char* bytes(std::string_view v) {
  return reinterpret_cast<const unsigned char*>(v.data());
}

}  // namespace

std::size_t seal_into(const SecretKey& key, std::string_view associated_data,
                      std::string_view plain, char* out) {
  randombytes_buf(out, kNonceBytes);
  unsigned long long length = 0;
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytes(out + kNonceBytes), &length, bytes(plain), plain.size(), bytes(associated_data),
      associated_data.size(), nullptr, bytes(out), key.data());
  return kNonceBytes + static_cast<std::size_t>(length);
}

void seal(const SecretKey& key, std::string_view associated_data, std::string_view plain,
          std::string& out) {
  const std::size_t at = out.size();
  out.resize(at + plain.size() + kSealOverhead);
  seal_into(key, associated_data, plain, out.data() + at);
}

bool open(const SecretKey& key, std::string_view associated_data, std::string_view sealed,
          SecretBytes& plain) {
  plain.clear();
  if (sealed.size() < kSealOverhead) return false;
  plain.resize(sealed.size() - kSealOverhead);
  if (open_into(key, associated_data, sealed, plain.data(), plain.size())) return true;
  plain.clear();
  return false;
}

bool open_into(const SecretKey& key, std::string_view associated_data, std::string_view sealed,
               char* out, std::size_t size) {
  if (sealed.size() < kSealOverhead || sealed.size() - kSealOverhead != size) return false;
  const std::string_view nonce = sealed.substr(0, kNonceBytes);
  const std::string_view body = sealed.substr(kNonceBytes);
  return crypto_aead_xchacha20poly1305_ietf_decrypt(
             bytes(out), nullptr, nullptr, bytes(body), body.size(), bytes(associated_data),
             associated_data.size(), bytes(nonce), key.data()) == 0;
}

std::string seal_with_nonce(const SecretKey& key, std::string_view nonce,
                            std::string_view associated_data, std::string_view plain) {
  if (nonce.size() != kNonceBytes) throw Error(Code::internal, "A nonce has the wrong size.");
  std::string out(plain.size() + kTagBytes, '\0');
  crypto_aead_xchacha20poly1305_ietf_encrypt(bytes(out.data()), nullptr, bytes(plain), plain.size(),
                                             bytes(associated_data), associated_data.size(),
                                             nullptr, bytes(nonce), key.data());
  return out;
}

std::size_t padme(std::size_t n) noexcept {
  if (n < 2) return n;
  const auto exponent = static_cast<unsigned>(std::bit_width(n) - 1);
  const auto exponent_bits = static_cast<unsigned>(std::bit_width(exponent));
  const unsigned zero_bits = exponent - exponent_bits;
  if (exponent < exponent_bits) return n;
  const std::size_t mask = (std::size_t{1} << zero_bits) - 1;
  return (n + mask) & ~mask;
}

}  // namespace strongroom::crypto
