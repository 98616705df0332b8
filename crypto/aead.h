// XChaCha20-Poly1305-IETF with a fresh random nonce a seal. Associated data is not optional: it
// binds a ciphertext to its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/wipe.h"
#include "crypto/secret_key.h"

namespace strongroom::crypto {

inline constexpr std::size_t kNonceBytes = 24;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kSealOverhead = kNonceBytes + kTagBytes;

/// Appends nonce | ciphertext | tag to `out`.
void seal(const SecretKey& key, std::string_view associated_data, std::string_view plain,
          std::string& out);

/// As seal(), but encrypts in place into `out`, which has room for plain.size() + kSealOverhead
/// bytes; returns the bytes written.
std::size_t seal_into(const SecretKey& key, std::string_view associated_data,
                      std::string_view plain, char* out);

/// Opens nonce | ciphertext | tag into `plain` (resized). False when it is not authentic under this
/// key and associated data; `plain` is then empty. Why is not told.
[[nodiscard]] bool open(const SecretKey& key, std::string_view associated_data,
                        std::string_view sealed, SecretBytes& plain);

/// As open(), into memory of the caller of exactly `size` bytes: no allocation, no zero-fill. False
/// too when the plain text has another size; `out` then holds nothing of it.
[[nodiscard]] bool open_into(const SecretKey& key, std::string_view associated_data,
                             std::string_view sealed, char* out, std::size_t size);

/// The primitive with a given nonce, for test vectors: ciphertext | tag.
std::string seal_with_nonce(const SecretKey& key, std::string_view nonce,
                            std::string_view associated_data, std::string_view plain);

/// Padme (Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and Communication with
/// PURBs", 2019): the padded length of n bytes; at most 12 % more, leaks O(log log n) bits.
std::size_t padme(std::size_t n) noexcept;

}  // namespace strongroom::crypto
