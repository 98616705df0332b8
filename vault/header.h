// The header file: format number, feature sets and vault id, in clear. Its checksum finds damage;
// what makes it authentic is that the signed root binds the same hash.
#pragma once

#include <string>
#include <string_view>

#include "crypto/hash.h"
#include "vault/format.h"

namespace strongroom::vault {

inline constexpr std::size_t kHeaderBytes = 128;
inline constexpr std::uint32_t kFormatNumber = 1;

struct Header {
  std::uint64_t must_open = 0;   // features a reader must know
  std::uint64_t must_write = 0;  // features a writer must know
  std::uint64_t may_ignore = 0;
  VaultId vault_id{};
  TimeMs created = 0;
};

std::string encode_header(const Header& header);
/// Throws corrupt for damage, unsupported for a newer format or an unknown must-open feature.
Header decode_header(std::string_view bytes);
/// The hash that the root record binds.
crypto::Hash32 header_hash(std::string_view bytes);
/// True when this version knows all that a writer must know.
bool can_write(const Header& header) noexcept;

}  // namespace strongroom::vault
