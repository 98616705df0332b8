#include "crypto/hash.h"

#include <cstring>

#include <sodium.h>

#include "base/error.h"
#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

const unsigned char* bytes(std::string_view v) {
  return reinterpret_cast<const unsigned char*>(v.data());
}

void blake2b(const SecretKey* key, const Label& label,
             std::initializer_list<std::string_view> parts, void* out, std::size_t size) {
  initialise();
  crypto_generichash_blake2b_state state;
  crypto_generichash_blake2b_init_salt_personal(&state, key == nullptr ? nullptr : key->data(),
                                                key == nullptr ? 0 : kKeyBytes, size, nullptr,
                                                bytes(label_view(label)));
  for (const std::string_view part : parts) {
    crypto_generichash_blake2b_update(&state, bytes(part), part.size());
  }
  crypto_generichash_blake2b_final(&state, static_cast<unsigned char*>(out), size);
  sodium_memzero(&state, sizeof state);  // it holds the key block
}

}  // namespace

Hash32 hash32(const Label& label, std::initializer_list<std::string_view> parts) {
  Hash32 out;
  blake2b(nullptr, label, parts, out.data(), out.size());
  return out;
}

Hash16 keyed_hash16(const SecretKey& key, const Label& label,
                    std::initializer_list<std::string_view> parts) {
  Hash16 out;
  blake2b(&key, label, parts, out.data(), out.size());
  return out;
}

Hash32 keyed_hash32(const SecretKey& key, const Label& label,
                    std::initializer_list<std::string_view> parts) {
  Hash32 out;
  blake2b(&key, label, parts, out.data(), out.size());
  return out;
}

SecretKey derive(const SecretKey& key, const Label& label, std::string_view context) {
  SecretKey out = SecretKey::zeros();
  blake2b(&key, label, {context}, out.mutable_data(), kKeyBytes);
  return out;
}

MultisetHash::Limbs MultisetHash::element_hash(const SecretKey& key,
                                               std::initializer_list<std::string_view> element) {
  Limbs limbs;
  blake2b(&key, labels::kSet, element, limbs.data(), sizeof limbs);
  return limbs;
}

void MultisetHash::add(const SecretKey& key, std::initializer_list<std::string_view> element) {
  const Limbs hash = element_hash(key, element);
  unsigned carry = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    std::uint64_t partial = 0;
    const bool first = __builtin_add_overflow(sum_[i], hash[i], &partial);
    const bool second = __builtin_add_overflow(partial, std::uint64_t{carry}, &sum_[i]);
    carry = first || second ? 1 : 0;
  }
}

void MultisetHash::remove(const SecretKey& key, std::initializer_list<std::string_view> element) {
  const Limbs hash = element_hash(key, element);
  unsigned borrow = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    std::uint64_t partial = 0;
    const bool first = __builtin_sub_overflow(sum_[i], hash[i], &partial);
    const bool second = __builtin_sub_overflow(partial, std::uint64_t{borrow}, &sum_[i]);
    borrow = first || second ? 1 : 0;
  }
}

std::string MultisetHash::bytes() const {
  std::string out(sizeof sum_, '\0');
  std::memcpy(out.data(), sum_.data(), sizeof sum_);
  return out;
}

MultisetHash MultisetHash::from_bytes(std::string_view bytes) {
  if (bytes.size() != sizeof(Limbs)) throw Error(Code::corrupt, "A set hash has the wrong size.");
  MultisetHash hash;
  std::memcpy(hash.sum_.data(), bytes.data(), sizeof(Limbs));
  return hash;
}

bool MultisetHash::zero() const noexcept {
  return sum_ == Limbs{};
}

}  // namespace strongroom::crypto
