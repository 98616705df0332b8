// Project Wycheproof's vectors through our own wrappers, every one accounted for.
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "crypto/aead.h"
#include "crypto/box.h"
#include "crypto/sign.h"
#include "tests/crypto/vectors.h"

namespace strongroom::crypto {
namespace {

using testing::bytes_of;
using testing::key_of;
using testing::text_of;

// The file's text, or nullopt (said aloud) where this machine has none.
std::optional<std::string> wycheproof(const std::string& name) {
  const char* const folder = std::getenv("STRONGROOM_TEST_DATA");
  if (folder != nullptr) {
    const auto file = open_file(std::string(folder) + "/vectors/" + name, O_RDONLY, name);
    if (file) return read_all(file->get(), std::size_t{1} << 24, name);
  }
  std::cout << "SKIPPED: " << name << ": no vectors/ in the folder that STRONGROOM_TEST_DATA names"
            << std::endl;
  WARN("skipped: " << name);
  return std::nullopt;
}

// Visits every vector with its group; returns how many the file says it has.
std::int64_t for_each_test(const Json& file,
                           const std::function<void(const Json& group, const Json& test)>& visit) {
  for (const Json& group : file.find("testGroups")->items()) {
    for (const Json& test : group.find("tests")->items()) {
      INFO("tcId " << test.find("tcId")->raw());
      visit(group, test);
    }
  }
  return file.find("numberOfTests")->as_int().value_or(0);
}

}  // namespace

TEST_CASE("Wycheproof: XChaCha20-Poly1305", "[crypto][wycheproof]") {
  const auto text = wycheproof("xchacha20_poly1305_test.json");
  if (!text) return;
  int sealed_and_opened = 0, refused = 0, other_nonce_size = 0;
  const Json file = Json::parse(*text);
  const auto said = for_each_test(file, [&](const Json&, const Json& test) {
    const SecretKey key = key_of(test, "key");
    const std::string nonce = bytes_of(test, "iv");
    const std::string aad = bytes_of(test, "aad");
    const std::string plain = bytes_of(test, "msg");
    const std::string sealed = bytes_of(test, "ct") + bytes_of(test, "tag");
    SecretBytes opened;
    if (nonce.size() != kNonceBytes) {
      // Our only nonce size is 24 bytes: sealing refuses any other, and a sealed text whose nonce
      // has another size is read as one with a 24-byte nonce, which is not authentic.
      REQUIRE(text_of(test, "result") == "invalid");
      CHECK_THROWS_AS(seal_with_nonce(key, nonce, aad, plain), Error);
      CHECK_FALSE(open(key, aad, nonce + sealed, opened));
      ++other_nonce_size;
    } else if (text_of(test, "result") == "valid") {
      CHECK(seal_with_nonce(key, nonce, aad, plain) == sealed);
      CHECK(open(key, aad, nonce + sealed, opened));
      CHECK(opened.view() == plain);
      ++sealed_and_opened;
    } else {
      REQUIRE(text_of(test, "result") == "invalid");
      CHECK_FALSE(open(key, aad, nonce + sealed, opened));
      CHECK(opened.empty());
      ++refused;
    }
  });
  CHECK(sealed_and_opened == 246);
  CHECK(refused == 60);
  CHECK(other_nonce_size == 9);
  CHECK(sealed_and_opened + refused + other_nonce_size == 315);
  CHECK(said == 315);
}

TEST_CASE("Wycheproof: X25519", "[crypto][wycheproof]") {
  const auto text = wycheproof("x25519_test.json");
  if (!text) return;
  int computed = 0, low_order = 0;
  const Json file = Json::parse(*text);
  const auto said = for_each_test(file, [&](const Json&, const Json& test) {
    const SecretKey scalar = key_of(test, "private");
    const std::string point = bytes_of(test, "public");
    const std::string shared = bytes_of(test, "shared");
    const auto result = x25519(scalar, point);
    if (shared == std::string(32, '\0')) {
      // A point of low order gives a key that everybody knows; boxes refuse it too.
      CHECK_FALSE(result.has_value());
      CHECK_THROWS_AS(box_seal(scalar, point, "text"), Error);
      ++low_order;
    } else {
      // "acceptable" ones (twist, non-canonical points) are computed as RFC 7748 says.
      REQUIRE(result.has_value());
      CHECK(*result == shared);
      ++computed;
    }
  });
  CHECK(computed == 487);
  CHECK(low_order == 31);
  CHECK(computed + low_order == 518);
  CHECK(said == 518);
}

TEST_CASE("Wycheproof: Ed25519", "[crypto][wycheproof]") {
  const auto text = wycheproof("ed25519_test.json");
  if (!text) return;
  int valid = 0, invalid = 0;
  const Json file = Json::parse(*text);
  const auto said = for_each_test(file, [&](const Json& group, const Json& test) {
    const std::string public_key = bytes_of(*group.find("publicKey"), "pk");
    const std::string message = bytes_of(test, "msg");
    const bool verified = verify_signature(public_key, message, bytes_of(test, "sig"));
    const std::string& expected = text_of(test, "result");
    REQUIRE((expected == "valid" || expected == "invalid"));
    CHECK(verified == (expected == "valid"));
    ++(expected == "valid" ? valid : invalid);
  });
  CHECK(valid == 88);
  CHECK(invalid == 63);
  CHECK(valid + invalid == 151);
  CHECK(said == 151);
}

}  // namespace strongroom::crypto
