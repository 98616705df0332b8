// X25519 boxes and Ed25519 signatures: published vectors, independent known answers, damage.
#include <string>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "crypto/box.h"
#include "crypto/hash.h"
#include "crypto/process.h"
#include "crypto/sign.h"
#include "tests/crypto/vectors.h"

namespace strongroom::crypto {
namespace {

using testing::bytes_of;
using testing::for_each_vector;
using testing::key_of;
using testing::text_of;

std::string flipped(std::string text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  return text;
}

}  // namespace

TEST_CASE("RFC 7748 and RFC 8032", "[crypto][box][sign]") {
  int x25519_vectors = 0, signatures = 0, iterated = 0;
  for_each_vector("rfc.jsonl", [&](const Json& vector) {
    const std::string& kind = text_of(vector, "kind");
    INFO(text_of(vector, "source"));
    if (kind == "x25519") {
      const SecretKey scalar = key_of(vector, "scalar");
      CHECK(x25519(scalar, bytes_of(vector, "point")) == bytes_of(vector, "result"));
      ++x25519_vectors;
    } else if (kind == "x25519 iterated") {
      std::string k = "\x09" + std::string(31, '\0'), u = k;
      for (int i = 1; i <= 1000; ++i) {
        const std::string next = x25519(SecretKey::from_bytes(k), u).value();
        u = k;
        k = next;
        if (i == 1) CHECK(k == bytes_of(vector, "once"));
      }
      CHECK(k == bytes_of(vector, "thousand"));
      ++iterated;
    } else if (kind == "ed25519") {
      const SecretKey seed = key_of(vector, "seed");
      const std::string message = bytes_of(vector, "message");
      CHECK(view(sign_public_key(seed)) == bytes_of(vector, "public_key"));
      CHECK(view(sign(seed, message)) == bytes_of(vector, "signature"));
      CHECK(
          verify_signature(bytes_of(vector, "public_key"), message, bytes_of(vector, "signature")));
      ++signatures;
    }
  });
  CHECK(x25519_vectors == 4);
  CHECK(iterated == 1);
  CHECK(signatures == 4);
}

TEST_CASE("boxes made elsewhere open", "[crypto][box]") {
  int boxes = 0, sealed_boxes = 0;
  for_each_vector("box.jsonl", [&](const Json& vector) {
    const SecretKey recipient = key_of(vector, "recipient");
    CHECK(view(box_public_key(recipient)) == bytes_of(vector, "recipient_public"));
    SecretBytes plain;
    if (vector.find("box") != nullptr) {
      const SecretKey sender = key_of(vector, "sender");
      CHECK(view(box_public_key(sender)) == bytes_of(vector, "sender_public"));
      CHECK(box_open(recipient, bytes_of(vector, "sender_public"), bytes_of(vector, "box"), plain));
      CHECK(plain.view() == bytes_of(vector, "plain"));
      // Either secret opens it: the shared key is the same.
      CHECK(box_open(sender, bytes_of(vector, "recipient_public"), bytes_of(vector, "box"), plain));
      CHECK(plain.view() == bytes_of(vector, "plain"));
      ++boxes;
    } else {
      CHECK(sealed_box_open(recipient, bytes_of(vector, "sealed_box"), plain));
      CHECK(plain.view() == bytes_of(vector, "plain"));
      ++sealed_boxes;
    }
  });
  CHECK(boxes == 10);
  CHECK(sealed_boxes == 3);
}

TEST_CASE("boxes are for one pair", "[crypto][box]") {
  const BoxKeyPair sender = make_box_key(), recipient = make_box_key(), other = make_box_key();
  SecretBytes plain;
  for (std::size_t size = 0; size <= 100; ++size) {
    const std::string text = random_bytes(size);
    const std::string box = box_seal(sender.secret, view(recipient.public_key), text);
    REQUIRE(box_open(recipient.secret, view(sender.public_key), box, plain));
    REQUIRE(plain.view() == text);
    const std::string sealed = sealed_box(view(recipient.public_key), text);
    REQUIRE(sealed_box_open(recipient.secret, sealed, plain));
    REQUIRE(plain.view() == text);
  }
  const std::string box = box_seal(sender.secret, view(recipient.public_key), "the key");
  CHECK_FALSE(box_open(other.secret, view(sender.public_key), box, plain));
  CHECK_FALSE(box_open(recipient.secret, view(other.public_key), box, plain));
  CHECK_FALSE(box_open(recipient.secret, "short", box, plain));
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < box.size() * 8; ++bit) {
    refused +=
        box_open(recipient.secret, view(sender.public_key), flipped(box, bit), plain) ? 0u : 1u;
    CHECK(plain.empty());
  }
  CHECK(refused == box.size() * 8);
  for (std::size_t cut = 0; cut < box.size(); ++cut) {
    CHECK_FALSE(box_open(recipient.secret, view(sender.public_key),
                         std::string_view(box).substr(0, cut), plain));
  }

  const std::string sealed = sealed_box(view(recipient.public_key), "the key");
  CHECK_FALSE(sealed_box_open(other.secret, sealed, plain));
  refused = 0;
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    // X25519 ignores the top bit of a point, but it goes into the nonce, so it counts here too.
    refused += sealed_box_open(recipient.secret, flipped(sealed, bit), plain) ? 0u : 1u;
  }
  CHECK(refused == sealed.size() * 8);
  for (std::size_t cut = 0; cut < sealed.size(); ++cut) {
    CHECK_FALSE(sealed_box_open(recipient.secret, std::string_view(sealed).substr(0, cut), plain));
  }

  const std::string low_order(32, '\0');
  CHECK_THROWS_AS(box_seal(sender.secret, low_order, "text"), Error);
  CHECK_THROWS_AS(sealed_box(low_order, "text"), Error);
  CHECK_FALSE(box_open(recipient.secret, low_order, box, plain));
  CHECK_THROWS_AS(box_seal(sender.secret, "short", "text"), Error);
}

TEST_CASE("signatures", "[crypto][sign]") {
  const SignKeyPair pair = make_sign_key(), other = make_sign_key();
  CHECK(sign_public_key(pair.seed) == pair.public_key);
  const std::string message = random_bytes(64);
  const std::string signature(view(sign(pair.seed, message)));
  const std::string public_key(view(pair.public_key));
  CHECK(verify_signature(public_key, message, signature));
  CHECK_FALSE(verify_signature(view(other.public_key), message, signature));
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 64 * 8; ++bit) {
    refused += verify_signature(public_key, message, flipped(signature, bit)) ? 0u : 1u;
    refused += verify_signature(public_key, flipped(message, bit), signature) ? 0u : 1u;
  }
  CHECK(refused == 2 * 64 * 8);
  refused = 0;
  for (std::size_t bit = 0; bit < 32 * 8; ++bit) {
    refused += verify_signature(flipped(public_key, bit), message, signature) ? 0u : 1u;
  }
  CHECK(refused == 32 * 8);
  CHECK_FALSE(verify_signature(public_key.substr(1), message, signature));
  CHECK_FALSE(verify_signature(public_key, message, signature.substr(1)));
  CHECK_FALSE(verify_signature(public_key, message, signature + '\0'));
  CHECK_FALSE(verify_signature("", message, ""));
  // All-zero public keys and signatures, which some libraries accept, are of small order.
  CHECK_FALSE(verify_signature(std::string(32, '\0'), message, std::string(64, '\0')));
  CHECK_FALSE(
      verify_signature("\x01" + std::string(31, '\0'), message, "\x01" + std::string(63, '\0')));
}

}  // namespace strongroom::crypto
