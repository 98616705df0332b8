#include "crypto/box.h"

#include <sodium.h>

#include "base/error.h"
#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

unsigned char* bytes(char* p) {
  return reinterpret_cast<unsigned char*>(p);
}
const unsigned char* bytes(std::string_view v) {
  return reinterpret_cast<const unsigned char*>(v.data());
}

constexpr std::size_t kMac = crypto_box_curve25519xchacha20poly1305_MACBYTES;
constexpr std::size_t kNonce = crypto_box_curve25519xchacha20poly1305_NONCEBYTES;
constexpr std::size_t kSealed = crypto_box_curve25519xchacha20poly1305_SEALBYTES;

void require_public_key(std::string_view key) {
  if (key.size() != 32) throw Error(Code::internal, "A public key has the wrong size.");
}

}  // namespace

BoxKeyPair make_box_key() {
  BoxKeyPair pair{{}, SecretKey::random()};
  pair.public_key = box_public_key(pair.secret);
  return pair;
}

BoxPublicKey box_public_key(const SecretKey& secret) {
  initialise();
  BoxPublicKey public_key{};
  crypto_scalarmult_curve25519_base(bytes(public_key.data()), secret.data());
  return public_key;
}

std::string box_seal(const SecretKey& sender, std::string_view recipient, std::string_view plain) {
  require_public_key(recipient);
  std::string box(kNonce + kMac + plain.size(), '\0');
  random_bytes(box.data(), kNonce);
  if (crypto_box_curve25519xchacha20poly1305_easy(bytes(box.data() + kNonce), bytes(plain),
                                                  plain.size(), bytes(box.data()), bytes(recipient),
                                                  sender.data()) != 0) {
    throw Error::invalid("recipient", "has an unusable public key");
  }
  return box;
}

bool box_open(const SecretKey& recipient, std::string_view sender, std::string_view box,
              SecretBytes& plain) {
  plain.clear();
  if (sender.size() != 32 || box.size() < kNonce + kMac) return false;
  const std::string_view body = box.substr(kNonce);
  plain.resize(body.size() - kMac);
  if (crypto_box_curve25519xchacha20poly1305_open_easy(bytes(plain.data()), bytes(body),
                                                       body.size(), bytes(box), bytes(sender),
                                                       recipient.data()) != 0) {
    plain.clear();
    return false;
  }
  return true;
}

std::string sealed_box(std::string_view recipient, std::string_view plain) {
  require_public_key(recipient);
  initialise();
  std::string box(kSealed + plain.size(), '\0');
  if (crypto_box_curve25519xchacha20poly1305_seal(bytes(box.data()), bytes(plain), plain.size(),
                                                  bytes(recipient)) != 0) {
    throw Error::invalid("recipient", "has an unusable public key");
  }
  return box;
}

bool sealed_box_open(const SecretKey& recipient, std::string_view box, SecretBytes& plain) {
  plain.clear();
  if (box.size() < kSealed) return false;
  const BoxPublicKey public_key = box_public_key(recipient);
  plain.resize(box.size() - kSealed);
  if (crypto_box_curve25519xchacha20poly1305_seal_open(
          bytes(plain.data()), bytes(box), box.size(),
          bytes(std::string_view(public_key.data(), public_key.size())), recipient.data()) != 0) {
    plain.clear();
    return false;
  }
  return true;
}

std::optional<std::string> x25519(const SecretKey& scalar, std::string_view point) {
  require_public_key(point);
  initialise();
  std::string out(32, '\0');
  if (crypto_scalarmult_curve25519(bytes(out.data()), scalar.data(), bytes(point)) != 0) {
    return std::nullopt;
  }
  return out;
}

}  // namespace strongroom::crypto
