// SHA-256 (FIPS 180-4), for digests that others make and print too; the program's own hashes are
// crypto/hash.h.
#pragma once

#include <string>
#include <string_view>

namespace strongroom::crypto {

/// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace strongroom::crypto
