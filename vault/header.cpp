#include "vault/header.h"

#include "base/error.h"
#include "crypto/process.h"

namespace strongroom::vault {
namespace {
constexpr std::string_view kMagic("\x89SRV\r\n\x1A\n", 8);
constexpr std::size_t kHashed = 96;
constexpr std::uint64_t kKnownMustOpen = 0, kKnownMustWrite = 0;
}  // namespace

std::string encode_header(const Header& header) {
  std::string bytes(kMagic);
  append_le(bytes, kFormatNumber);
  append_le(bytes, std::uint32_t{0});
  append_le(bytes, header.must_open);
  append_le(bytes, header.must_write);
  append_le(bytes, header.may_ignore);
  bytes.append(view(header.vault_id));
  append_le(bytes, header.created);
  bytes.resize(kHashed);
  bytes.append(crypto::view(header_hash(bytes)));
  return bytes;
}

crypto::Hash32 header_hash(std::string_view bytes) {
  return crypto::hash32(crypto::labels::kHeader, {bytes.substr(0, kHashed)});
}

Header decode_header(std::string_view bytes) {
  if (bytes.size() != kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    throw_corrupt("its header is not one");
  }
  if (!crypto::equal(crypto::view(header_hash(bytes)), bytes.substr(kHashed))) {
    throw_corrupt("its header does not match its checksum");
  }
  if (load_le<std::uint32_t>(bytes, 8) != kFormatNumber) {
    throw Error(Code::unsupported, "The vault has a newer format; use a newer Strongroom.");
  }
  Header header;
  header.must_open = load_le<std::uint64_t>(bytes, 16);
  header.must_write = load_le<std::uint64_t>(bytes, 24);
  header.may_ignore = load_le<std::uint64_t>(bytes, 32);
  header.vault_id = id_from(bytes.substr(40, 16));
  header.created = load_le<std::int64_t>(bytes, 56);
  if ((header.must_open & ~kKnownMustOpen) != 0) {
    throw Error(
        Code::unsupported,
        "The vault uses a feature that this version does not know; use a newer Strongroom.");
  }
  return header;
}

bool can_write(const Header& header) noexcept {
  return (header.must_write & ~kKnownMustWrite) == 0;
}

}  // namespace strongroom::vault
