#include "crypto/recovery_code.h"

#include <array>

#include "crypto/hash.h"
#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kSymbols = 32;  // 160 bits
constexpr std::size_t kCheck = 4;     // 20 bits

std::array<char, kCheck> check_group(std::string_view symbols) {
  const Hash32 hash = hash32(labels::kRecoveryCode, {symbols});
  std::array<char, kCheck> group{};
  for (std::size_t i = 0; i < kCheck; ++i) {
    group[i] = kAlphabet[static_cast<unsigned char>(hash[i]) & 31u];
  }
  return group;
}

char normalise(char c) {
  if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  if (c == 'O') return '0';
  if (c == 'I' || c == 'L') return '1';
  return c;
}

}  // namespace

SecretBytes make_recovery_code() {
  SecretBytes raw;
  raw.resize(kSymbols);
  random_bytes(raw.data(), raw.size());
  // 256 is a multiple of 32, so the low five bits of a random byte are uniform.
  for (std::size_t i = 0; i < kSymbols; ++i) {
    raw.data()[i] = kAlphabet[static_cast<unsigned char>(raw.data()[i]) & 31u];
  }
  const auto check = check_group(raw.view());
  SecretBytes code;
  code.reserve(kSymbols + kCheck + 8);
  for (std::size_t i = 0; i < kSymbols; i += 4) {
    code.append(raw.view().substr(i, 4));
    code.append("-");
  }
  code.append(view(check));
  return code;
}

std::optional<SecretKey> recovery_code_key(std::string_view typed) {
  SecretBytes symbols;
  symbols.reserve(kSymbols + kCheck);
  for (const char raw : typed) {
    if (raw == '-' || raw == ' ' || raw == '\n' || raw == '\r' || raw == '\t') continue;
    const char c = normalise(raw);
    if (kAlphabet.find(c) == std::string_view::npos) return std::nullopt;
    if (symbols.size() == kSymbols + kCheck) return std::nullopt;
    symbols.append({&c, 1});
  }
  if (symbols.size() != kSymbols + kCheck) return std::nullopt;
  const std::string_view code = symbols.view().substr(0, kSymbols);
  if (!equal(view(check_group(code)), symbols.view().substr(kSymbols))) return std::nullopt;
  return SecretKey::from_bytes(code);
}

}  // namespace strongroom::crypto
