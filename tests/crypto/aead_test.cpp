#include "crypto/aead.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_set>
#include <vector>

#include <catch2/catch.hpp>

#include "crypto/process.h"
#include "tests/crypto/vectors.h"

namespace strongroom::crypto {
namespace {

using testing::bytes_of;
using testing::for_each_vector;
using testing::key_of;

std::string sealed_text(const SecretKey& key, std::string_view aad, std::string_view plain) {
  std::string out;
  seal(key, aad, plain, out);
  return out;
}

std::string flipped(std::string text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  return text;
}

}  // namespace

TEST_CASE("XChaCha20-Poly1305 known answers", "[crypto][aead]") {
  const auto check = [](const Json& vector) {
    const SecretKey key = key_of(vector, "key");
    const std::string nonce = bytes_of(vector, "nonce"), aad = bytes_of(vector, "aad");
    const std::string plain = bytes_of(vector, "plain"), sealed = bytes_of(vector, "sealed");
    CHECK(seal_with_nonce(key, nonce, aad, plain) == sealed);
    SecretBytes opened;
    CHECK(open(key, aad, nonce + sealed, opened));
    CHECK(opened.view() == plain);
  };
  CHECK(for_each_vector("xchacha20poly1305.jsonl", check) == 10);
  int published = 0;
  for_each_vector("rfc.jsonl", [&](const Json& vector) {
    if (testing::text_of(vector, "kind") != "xchacha20poly1305") return;
    check(vector);
    ++published;
  });
  CHECK(published == 1);
}

TEST_CASE("sealing round trips at every size", "[crypto][aead]") {
  const SecretKey key = SecretKey::random();
  for (std::size_t size = 0; size <= 300; ++size) {
    const std::string plain = random_bytes(size), aad = random_bytes(size % 64);
    const std::string sealed = sealed_text(key, aad, plain);
    REQUIRE(sealed.size() == size + kSealOverhead);
    SecretBytes opened(std::string_view("what was here before"));
    REQUIRE(open(key, aad, sealed, opened));
    REQUIRE(opened.view() == plain);
    std::string in_place(size + kSealOverhead, '\0');
    REQUIRE(seal_into(key, aad, plain, in_place.data()) == in_place.size());
    REQUIRE(open(key, aad, in_place, opened));
    REQUIRE(opened.view() == plain);
  }
}

TEST_CASE("seal appends", "[crypto][aead]") {
  const SecretKey key = SecretKey::random();
  std::string out = "header";
  seal(key, "aad", "plain", out);
  CHECK(out.substr(0, 6) == "header");
  SecretBytes opened;
  CHECK(open(key, "aad", std::string_view(out).substr(6), opened));
  CHECK(opened.view() == "plain");
}

TEST_CASE("every flipped bit is refused", "[crypto][aead]") {
  const SecretKey key = SecretKey::random();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    const std::string plain = random_bytes(size), aad = random_bytes(63);
    const std::string sealed = sealed_text(key, aad, plain);
    SecretBytes opened;
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
      opened.append("old");
      refused += !open(key, aad, flipped(sealed, bit), opened) && opened.empty() ? 1u : 0u;
    }
    CHECK(refused == sealed.size() * 8);
    refused = 0;
    for (std::size_t bit = 0; bit < aad.size() * 8; ++bit) {
      refused += open(key, flipped(aad, bit), sealed, opened) ? 0u : 1u;
    }
    CHECK(refused == aad.size() * 8);
    refused = 0;
    for (std::size_t bit = 0; bit < kKeyBytes * 8; ++bit) {
      const SecretKey other = SecretKey::from_bytes(flipped(std::string(key.view()), bit));
      refused += open(other, aad, sealed, opened) ? 0u : 1u;
    }
    CHECK(refused == kKeyBytes * 8);
    for (std::size_t cut = 0; cut < sealed.size(); ++cut) {
      CHECK_FALSE(open(key, aad, std::string_view(sealed).substr(0, cut), opened));
    }
    CHECK_FALSE(open(key, aad, sealed + '\0', opened));
    CHECK_FALSE(open(key, aad + '\0', sealed, opened));
    CHECK_FALSE(open(key, "", sealed, opened));
    CHECK(open(key, aad, sealed, opened));
  }
}

TEST_CASE("nonces never repeat", "[crypto][aead]") {
  const SecretKey key = SecretKey::random();
  constexpr std::size_t kSeals = 100'000;
  std::unordered_set<std::string> nonces;
  std::string sealed(kSealOverhead, '\0');
  for (std::size_t i = 0; i < kSeals; ++i) {
    seal_into(key, "", "", sealed.data());
    nonces.insert(sealed.substr(0, kNonceBytes));
  }
  CHECK(nonces.size() == kSeals);

  // A forked child must not draw the nonces of its parent or of its siblings.
  constexpr std::size_t kChildren = 4, kEach = 500;
  for (std::size_t child = 0; child < kChildren; ++child) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      bool ok = true;
      for (std::size_t i = 0; i < kEach; ++i) {
        seal_into(key, "", "", sealed.data());
        ok = ok && ::write(ends[1], sealed.data(), kNonceBytes) == ssize_t{kNonceBytes};
      }
      ::_exit(ok ? 0 : 1);
    }
    ::close(ends[1]);
    std::string drawn;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      drawn.append(buffer, static_cast<std::size_t>(n));
    }
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    REQUIRE(status == 0);
    REQUIRE(drawn.size() == kEach * kNonceBytes);
    for (std::size_t at = 0; at < drawn.size(); at += kNonceBytes) {
      nonces.insert(drawn.substr(at, kNonceBytes));
    }
    seal_into(key, "", "", sealed.data());  // the parent draws as well
    nonces.insert(sealed.substr(0, kNonceBytes));
  }
  CHECK(nonces.size() == kSeals + kChildren * (kEach + 1));
}

namespace {

// The paper's algorithm 1, with its logarithms taken by counting.
std::size_t slow_padme(std::size_t length) {
  const auto floor_log2 = [](std::size_t n) {
    std::size_t log = 0;
    while (n > 1) {
      n /= 2;
      ++log;
    }
    return log;
  };
  const std::size_t exponent = floor_log2(length);
  const std::size_t size = floor_log2(exponent) + 1;
  std::size_t step = 1;
  for (std::size_t bit = size; bit < exponent; ++bit) step *= 2;
  while (length % step != 0) ++length;
  return length;
}

}  // namespace

TEST_CASE("Padme", "[crypto][padme]") {
  CHECK(padme(0) == 0);
  CHECK(padme(1) == 1);
  std::size_t last = 0;
  for (std::size_t n = 2; n <= 200'000; ++n) {
    const std::size_t padded = padme(n);
    if (padded != slow_padme(n) || padded < last || padded < n || padme(padded) != padded ||
        (padded - n) * 100 > n * 12) {
      FAIL("padme(" << n << ") = " << padded);
    }
    last = padded;
  }
  for (unsigned exponent = 18; exponent < 62; ++exponent) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{12345}}) {
      const std::size_t n = (std::size_t{1} << exponent) + offset;
      CHECK(padme(n) >= n);
      CHECK((padme(n) - n) / 12 <= n / 100 + 1);
      CHECK(padme(padme(n)) == padme(n));
    }
  }
  CHECK(for_each_vector("padme.jsonl", [](const Json& vector) {
          const auto n = static_cast<std::size_t>(vector.find("n")->as_int().value());
          CHECK(padme(n) == static_cast<std::size_t>(vector.find("padded")->as_int().value()));
        }) == 81);
}

}  // namespace strongroom::crypto
