#include "crypto/key_slot.h"

#include <cstring>
#include <sys/sysinfo.h>

#include <sodium.h>

#include "base/error.h"
#include "crypto/aead.h"
#include "crypto/hash.h"
#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

// Offsets in a slot.
constexpr std::size_t kPasses = 4, kKib = 8, kSalt = 16, kAdmin = 32, kCommit = 64, kSealedAt = 96,
                      kPublicAt = 168;
constexpr std::size_t kSealedBytes = kNonceBytes + kKeyBytes + kTagBytes;
static_assert(kSealedAt + kSealedBytes == kPublicAt);
static_assert(crypto_pwhash_argon2id_SALTBYTES == kAdmin - kSalt);

void put_u32(std::string& out, std::size_t at, std::uint32_t value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}
std::uint32_t get_u32(std::string_view in, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

std::string associated_data(const SlotPlace& place, std::string_view slot) {
  std::string aad;
  aad.append(label_view(labels::kAadSlot)).append(place.vault_id).append(place.recipient_id);
  aad.append(slot.substr(0, kCommit)).append(slot.substr(kPublicAt, 32));
  return aad;
}

SecretKey argon2(const SecretBytes& passphrase, std::string_view salt, std::uint32_t passes,
                 std::uint32_t kib) {
  initialise();
  SecretKey out = SecretKey::zeros();
  if (crypto_pwhash_argon2id(out.mutable_data(), kKeyBytes, passphrase.data(), passphrase.size(),
                             reinterpret_cast<const unsigned char*>(salt.data()), passes,
                             std::size_t{kib} * 1024, crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0) {
    throw Error(Code::locked, "Not enough memory to derive the key: the passphrase slot needs " +
                                  std::to_string(kib / 1024) + " MiB.");
  }
  return out;
}

// The key-encryption key, or nullopt when a needed secret is not there.
std::optional<SecretKey> wrapping_key(SlotMethod method, const SlotSecrets& secrets,
                                      std::string_view salt, std::uint32_t passes,
                                      std::uint32_t kib) {
  switch (method) {
    case SlotMethod::passphrase:
      if (!secrets.passphrase) return std::nullopt;
      return argon2(*secrets.passphrase, salt, passes, kib);
    case SlotMethod::key_file:
      if (!secrets.key_file) return std::nullopt;
      return derive(*secrets.key_file, labels::kSlotFile, salt);
    case SlotMethod::code:
      if (!secrets.code) return std::nullopt;
      return derive(*secrets.code, labels::kSlotFile, salt);
    case SlotMethod::both: {
      if (!secrets.passphrase || !secrets.key_file) return std::nullopt;
      const SecretKey stretched = argon2(*secrets.passphrase, salt, passes, kib);
      SecretBytes message(secrets.key_file->view());
      message.append(salt);
      return derive(stretched, labels::kSlotFile, message.view());
    }
  }
  return std::nullopt;
}

bool uses_passphrase(SlotMethod method) {
  return method == SlotMethod::passphrase || method == SlotMethod::both;
}

}  // namespace

std::string_view slot_method_name(SlotMethod method) noexcept {
  switch (method) {
    case SlotMethod::passphrase:
      return "passphrase";
    case SlotMethod::key_file:
      return "keyfile";
    case SlotMethod::both:
      return "passphrase+keyfile";
    case SlotMethod::code:
      return "code";
  }
  return "unknown";
}

std::string make_slot(const SlotPlace& place, SlotRole role, SlotMethod method,
                      const SlotSecrets& secrets, const PassphraseCost& cost,
                      std::string_view admin_public_key, std::string_view public_key,
                      const SecretKey& secret) {
  std::string slot(kSlotBytes, '\0');
  slot[0] = 1;  // version
  slot[1] = 1;  // suite
  slot[2] = static_cast<char>(role);
  slot[3] = static_cast<char>(method);
  if (uses_passphrase(method)) {
    put_u32(slot, kPasses, cost.passes);
    put_u32(slot, kKib, cost.kib);
  }
  random_bytes(slot.data() + kSalt, 16);
  std::memcpy(slot.data() + kAdmin, admin_public_key.data(), 32);
  std::memcpy(slot.data() + kPublicAt, public_key.data(), 32);
  check_slot_cost(read_slot(slot));
  const auto kek = wrapping_key(method, secrets, std::string_view(slot).substr(kSalt, 16),
                                cost.passes, cost.kib);
  if (!kek) throw Error(Code::internal, "A slot was asked for without its secret.");
  const SecretKey commit = derive(*kek, labels::kSlotCommit, {});
  std::memcpy(slot.data() + kCommit, commit.data(), kKeyBytes);
  const SecretKey wrap = derive(*kek, labels::kSlotWrap, {});
  seal_into(wrap, associated_data(place, slot), secret.view(), slot.data() + kSealedAt);
  return slot;
}

SlotHeader read_slot(std::string_view slot) {
  if (slot.size() != kSlotBytes) throw Error(Code::corrupt, "A key slot has the wrong size.");
  if (slot[0] != 1 || slot[1] != 1) {
    throw Error(Code::unsupported, "A key slot was made by a newer version.");
  }
  const auto role = static_cast<std::uint8_t>(slot[2]);
  const auto method = static_cast<std::uint8_t>(slot[3]);
  if (role < 1 || role > 3 || method < 1 || method > 4) {
    throw Error(Code::corrupt, "A key slot is malformed.");
  }
  return {static_cast<SlotRole>(role), static_cast<SlotMethod>(method), get_u32(slot, kPasses),
          get_u32(slot, kKib),         slot.substr(kAdmin, 32),         slot.substr(kPublicAt, 32)};
}

void check_slot_cost(const SlotHeader& header) {
  if (!uses_passphrase(header.method)) {
    if (header.passes != 0 || header.kib != 0) {
      throw Error(Code::corrupt, "A key slot is malformed.");
    }
    return;
  }
  using Cost = PassphraseCost;
  if (header.passes < Cost::kMinPasses || header.passes > Cost::kMaxPasses ||
      header.kib < Cost::kMinKib || header.kib > Cost::kMaxKib) {
    throw Error(Code::corrupt, "A key slot asks for work outside the allowed range.");
  }
  struct sysinfo info {};
  if (::sysinfo(&info) == 0) {
    const unsigned long long ram = static_cast<unsigned long long>(info.totalram) * info.mem_unit;
    if (header.kib * 1024ull > ram / 2) {
      throw Error(Code::locked, "The passphrase slot needs " + std::to_string(header.kib / 1024) +
                                    " MiB, more than half of this machine's memory.");
    }
  }
}

std::optional<SecretKey> open_slot(const SlotPlace& place, std::string_view slot,
                                   const SlotSecrets& secrets) {
  const SlotHeader header = read_slot(slot);
  check_slot_cost(header);
  const auto kek =
      wrapping_key(header.method, secrets, slot.substr(kSalt, 16), header.passes, header.kib);
  if (!kek) return std::nullopt;
  const SecretKey commit = derive(*kek, labels::kSlotCommit, {});
  if (!equal(commit.view(), slot.substr(kCommit, 32))) return std::nullopt;
  const SecretKey wrap = derive(*kek, labels::kSlotWrap, {});
  SecretBytes plain;
  if (!open(wrap, associated_data(place, slot), slot.substr(kSealedAt, kSealedBytes), plain) ||
      plain.size() != kKeyBytes) {
    throw Error(Code::corrupt, "A key slot is damaged.");
  }
  return SecretKey::from_bytes(plain.view());
}

}  // namespace strongroom::crypto
