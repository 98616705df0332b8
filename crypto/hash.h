// BLAKE2b for every hash and derivation, always with a label, and the multiset hash over rows.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "crypto/labels.h"
#include "crypto/secret_key.h"

namespace strongroom::crypto {

using Hash16 = std::array<char, 16>;
using Hash32 = std::array<char, 32>;
using Hash64 = std::array<char, 64>;

template <std::size_t N>
std::string_view view(const std::array<char, N>& bytes) {
  return {bytes.data(), bytes.size()};
}

/// BLAKE2b of the concatenated parts; personal = label. The keyed forms take `key` as BLAKE2b's
/// key.
Hash32 hash32(const Label& label, std::initializer_list<std::string_view> parts);
Hash16 keyed_hash16(const SecretKey& key, const Label& label,
                    std::initializer_list<std::string_view> parts);
Hash32 keyed_hash32(const SecretKey& key, const Label& label,
                    std::initializer_list<std::string_view> parts);

/// derive(k, label, ctx) = BLAKE2b-256(key k, personal label, message ctx), straight into the
/// arena.
SecretKey derive(const SecretKey& key, const Label& label, std::string_view context);

/// A keyed multiset hash: the sum modulo 2^512 of BLAKE2b-512(key, element). Equal multisets have
/// equal sums in any order; finding two different ones with one sum needs the key or a break of
/// BLAKE2b (the additive construction of Clarke et al., "Incremental Multiset Hash Functions",
/// 2003).
class MultisetHash {
 public:
  void add(const SecretKey& key, std::initializer_list<std::string_view> element);
  void remove(const SecretKey& key, std::initializer_list<std::string_view> element);
  /// 64 bytes, little-endian.
  std::string bytes() const;
  static MultisetHash from_bytes(std::string_view bytes);
  bool zero() const noexcept;
  friend bool operator==(const MultisetHash&, const MultisetHash&) = default;

 private:
  using Limbs = std::array<std::uint64_t, 8>;
  static Limbs element_hash(const SecretKey& key, std::initializer_list<std::string_view> element);
  Limbs sum_{};
};

}  // namespace strongroom::crypto
