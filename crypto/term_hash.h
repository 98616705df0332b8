// SipHash-2-4 under a key of its own, for numbers that stand for terms inside the sealed index:
// short inputs, millions of them, and nobody without the key may find two that collide (Aumasson
// and Bernstein, "SipHash: a fast short-input PRF", 2012).
#pragma once

#include <cstdint>
#include <string_view>

#include "crypto/labels.h"
#include "crypto/secret_key.h"

namespace strongroom::crypto {

class TermHash {
 public:
  /// The key is derived from `key` under `label`.
  TermHash(const SecretKey& key, const Label& label);
  std::uint64_t operator()(std::string_view bytes) const noexcept;

 private:
  SecretKey key_;
};

}  // namespace strongroom::crypto
