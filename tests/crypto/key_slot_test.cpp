#include "crypto/key_slot.h"

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "crypto/hash.h"
#include "crypto/process.h"
#include "tests/crypto/vectors.h"

namespace strongroom::crypto {
namespace {

using testing::bytes_of;
using testing::for_each_vector;
using testing::key_of;
using testing::text_of;

constexpr PassphraseCost kCheap{2, 64 * 1024};  // the floor

// Offsets of the clear parts of a slot.
constexpr std::size_t kRoleAt = 2, kMethodAt = 3, kPassesAt = 4, kKibAt = 8, kCommitAt = 64,
                      kSealedAt = 96, kPublicAt = 168;

struct Owned {
  std::string vault_id = random_bytes(16), recipient_id = random_bytes(16);
  std::string admin_public_key = random_bytes(32);
  BoxKeyPair pair = make_box_key();
  SlotPlace place() const { return {vault_id, recipient_id}; }
  std::string make(SlotRole role, SlotMethod method, const SlotSecrets& secrets) const {
    return make_slot(place(), role, method, secrets, kCheap, admin_public_key,
                     view(pair.public_key), pair.secret);
  }
};

SlotSecrets all_secrets() {
  SlotSecrets secrets;
  secrets.passphrase = SecretBytes("correct horse battery staple");
  secrets.key_file = SecretKey::random();
  secrets.code = SecretKey::random();
  return secrets;
}

enum class Outcome { opened, nothing, corrupt, unsupported, locked, other };

Outcome outcome(const std::function<bool()>& call) {
  try {
    return call() ? Outcome::opened : Outcome::nothing;
  } catch (const Error& error) {
    switch (error.code()) {
      case Code::corrupt:
        return Outcome::corrupt;
      case Code::unsupported:
        return Outcome::unsupported;
      case Code::locked:
        return Outcome::locked;
      default:
        return Outcome::other;
    }
  }
}

Outcome try_slot(const SlotPlace& place, const std::string& slot, const SlotSecrets& secrets) {
  return outcome([&] { return open_slot(place, slot, secrets).has_value(); });
}

Outcome try_cost(const std::string& slot) {
  return outcome([&] {
    check_slot_cost(read_slot(slot));
    return true;
  });
}

std::string flipped(std::string text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  return text;
}

std::string with_u32(std::string slot, std::size_t at, std::uint32_t value) {
  std::memcpy(slot.data() + at, &value, sizeof value);
  return slot;
}

constexpr SlotMethod kMethods[] = {SlotMethod::passphrase, SlotMethod::key_file, SlotMethod::both,
                                   SlotMethod::code};

}  // namespace

TEST_CASE("key slots made elsewhere open", "[crypto][slot]") {
  const std::map<std::string, SlotRole> roles = {
      {"owner", SlotRole::owner}, {"grant", SlotRole::grant}, {"admin", SlotRole::admin}};
  CHECK(for_each_vector("key_slot.jsonl", [&](const Json& vector) {
          INFO(text_of(vector, "method"));
          const std::string slot = bytes_of(vector, "slot");
          const std::string vault = bytes_of(vector, "vault_id");
          const std::string recipient = bytes_of(vector, "recipient_id");
          SlotSecrets secrets;
          const std::string& method = text_of(vector, "method");
          if (vector.find("passphrase") != nullptr) {
            secrets.passphrase = SecretBytes(text_of(vector, "passphrase"));
          }
          if (vector.find("key_file") != nullptr) {
            (method == "code" ? secrets.code : secrets.key_file) = key_of(vector, "key_file");
          }
          const auto opened = open_slot({vault, recipient}, slot, secrets);
          REQUIRE(opened.has_value());
          CHECK(opened->view() == bytes_of(vector, "secret"));
          const SlotHeader header = read_slot(slot);
          CHECK(header.role == roles.at(text_of(vector, "role")));
          CHECK(header.admin_public_key == bytes_of(vector, "admin_public_key"));
          CHECK(header.public_key == bytes_of(vector, "public_key"));
          CHECK(view(box_public_key(*opened)) == bytes_of(vector, "public_key"));
        }) == 5);
}

TEST_CASE("every slot method round trips", "[crypto][slot]") {
  const Owned owned;
  const SlotSecrets secrets = all_secrets();
  for (const SlotMethod method : kMethods) {
    INFO(slot_method_name(method));
    const std::string slot = owned.make(SlotRole::owner, method, secrets);
    REQUIRE(slot.size() == kSlotBytes);
    const SlotHeader header = read_slot(slot);
    CHECK(header.method == method);
    CHECK(header.role == SlotRole::owner);
    const bool stretched = method == SlotMethod::passphrase || method == SlotMethod::both;
    CHECK(header.passes == (stretched ? 2u : 0u));
    CHECK(header.kib == (stretched ? 65536u : 0u));
    const auto opened = open_slot(owned.place(), slot, secrets);
    REQUIRE(opened.has_value());
    CHECK(opened->view() == owned.pair.secret.view());
    // Nothing of the secret lies in the slot in clear.
    CHECK(slot.find(std::string(owned.pair.secret.view())) == std::string::npos);
    // Without what the method needs there is nothing to try, and it costs nothing.
    CHECK(try_slot(owned.place(), slot, SlotSecrets{}) == Outcome::nothing);
  }
  CHECK(slot_method_name(SlotMethod::both) == "passphrase+keyfile");
}

TEST_CASE("a slot asks for all its secrets", "[crypto][slot]") {
  const Owned owned;
  const SlotSecrets secrets = all_secrets();
  const std::string both = owned.make(SlotRole::owner, SlotMethod::both, secrets);
  SlotSecrets part;
  part.passphrase = SecretBytes("correct horse battery staple");
  CHECK(try_slot(owned.place(), both, part) == Outcome::nothing);
  part.key_file = SecretKey::random();
  CHECK(try_slot(owned.place(), both, part) == Outcome::nothing);  // another key file
  part.passphrase.reset();
  part.key_file = secrets.key_file->clone();
  CHECK(try_slot(owned.place(), both, part) == Outcome::nothing);
  part.passphrase = SecretBytes("Correct horse battery staple");
  CHECK(try_slot(owned.place(), both, part) == Outcome::nothing);  // another passphrase
  part.passphrase = SecretBytes("correct horse battery staple");
  CHECK(try_slot(owned.place(), both, part) == Outcome::opened);

  // A code is no key file, although both derive alike.
  const std::string file = owned.make(SlotRole::grant, SlotMethod::key_file, secrets);
  SlotSecrets code_only;
  code_only.code = secrets.key_file->clone();
  CHECK(try_slot(owned.place(), file, code_only) == Outcome::nothing);
  CHECK_THROWS_AS(owned.make(SlotRole::owner, SlotMethod::code, part), Error);
}

TEST_CASE("two slots of one secret share nothing", "[crypto][slot]") {
  const Owned owned;
  const SlotSecrets secrets = all_secrets();
  const std::string a = owned.make(SlotRole::grant, SlotMethod::key_file, secrets);
  const std::string b = owned.make(SlotRole::grant, SlotMethod::key_file, secrets);
  CHECK(a.substr(16, 16) != b.substr(16, 16));
  CHECK(a.substr(kCommitAt, 32) != b.substr(kCommitAt, 32));
  CHECK(a.substr(kSealedAt, 72) != b.substr(kSealedAt, 72));
}

TEST_CASE("every flipped bit of a slot keeps it shut", "[crypto][slot]") {
  const Owned owned;
  const SlotSecrets secrets = all_secrets();
  std::map<Outcome, int> seen;
  for (const SlotMethod method : {SlotMethod::key_file, SlotMethod::code}) {
    const std::string slot = owned.make(SlotRole::grant, method, secrets);
    for (std::size_t bit = 0; bit < kSlotBytes * 8; ++bit) {
      const std::size_t byte = bit / 8;
      const Outcome result = try_slot(owned.place(), flipped(slot, bit), secrets);
      INFO("byte " << byte << ", bit " << bit % 8);
      CHECK((result == Outcome::nothing || result == Outcome::corrupt ||
             (result == Outcome::unsupported && byte < 2)));
      // A damaged commitment reads as another secret; a damaged ciphertext is told apart.
      if (byte >= kCommitAt && byte < kSealedAt) CHECK(result == Outcome::nothing);
      if (byte >= kSealedAt) CHECK(result == Outcome::corrupt);
      if (byte >= 32 && byte < kCommitAt) CHECK(result == Outcome::corrupt);
      ++seen[result];
    }
    for (std::size_t cut = 0; cut < kSlotBytes; ++cut) {
      CHECK(try_slot(owned.place(), slot.substr(0, cut), secrets) == Outcome::corrupt);
    }
    CHECK(try_slot(owned.place(), slot + '\0', secrets) == Outcome::corrupt);
  }
  CHECK(seen[Outcome::opened] == 0);
  CHECK(seen[Outcome::other] == 0);

  // With a passphrase every try costs, so one bit of each part.
  const std::string slot = owned.make(SlotRole::owner, SlotMethod::passphrase, secrets);
  struct Part {
    std::size_t byte;
    Outcome outcome;
  };
  for (const Part part :
       {Part{kRoleAt, Outcome::corrupt}, Part{12, Outcome::corrupt}, Part{16, Outcome::nothing},
        Part{32, Outcome::corrupt}, Part{kCommitAt, Outcome::nothing},
        Part{kSealedAt, Outcome::corrupt}, Part{kPublicAt - 1, Outcome::corrupt},
        Part{kPublicAt, Outcome::corrupt}, Part{kSlotBytes - 1, Outcome::corrupt}}) {
    INFO("byte " << part.byte);
    CHECK(try_slot(owned.place(), flipped(slot, part.byte * 8 + 1), secrets) == part.outcome);
  }
  // Another cost gives another key.
  CHECK(try_slot(owned.place(), with_u32(slot, kPassesAt, 3), secrets) == Outcome::nothing);
  CHECK(try_slot(owned.place(), with_u32(slot, kKibAt, 65537), secrets) == Outcome::nothing);
}

TEST_CASE("a slot opens only in its place", "[crypto][slot]") {
  const Owned owned, other;
  const SlotSecrets secrets = all_secrets();
  const std::string slot = owned.make(SlotRole::grant, SlotMethod::key_file, secrets);
  CHECK(try_slot({other.vault_id, owned.recipient_id}, slot, secrets) == Outcome::corrupt);
  CHECK(try_slot({owned.vault_id, other.recipient_id}, slot, secrets) == Outcome::corrupt);
  CHECK(try_slot({owned.recipient_id, owned.vault_id}, slot, secrets) == Outcome::corrupt);
  for (const char role : {'\1', '\3'}) {
    std::string swapped = slot;
    swapped[kRoleAt] = role;
    CHECK(try_slot(owned.place(), swapped, secrets) == Outcome::corrupt);
  }
  // The same secret under the other method that derives alike: the commitment holds, the rest not.
  std::string as_code = slot;
  as_code[kMethodAt] = static_cast<char>(SlotMethod::code);
  SlotSecrets code;
  code.code = secrets.key_file->clone();
  CHECK(try_slot(owned.place(), as_code, code) == Outcome::corrupt);
  // Another admin's key, another public key.
  std::string foreign = slot;
  foreign.replace(32, 32, other.admin_public_key);
  CHECK(try_slot(owned.place(), foreign, secrets) == Outcome::corrupt);
  foreign = slot;
  foreign.replace(kPublicAt, 32, view(other.pair.public_key));
  CHECK(try_slot(owned.place(), foreign, secrets) == Outcome::corrupt);
  // The ciphertext of one slot in another.
  const std::string second = owned.make(SlotRole::grant, SlotMethod::key_file, secrets);
  std::string mixed = slot;
  mixed.replace(kSealedAt, 72, second.substr(kSealedAt, 72));
  CHECK(try_slot(owned.place(), mixed, secrets) == Outcome::corrupt);
  mixed = slot;
  mixed.replace(kCommitAt, 32, second.substr(kCommitAt, 32));
  CHECK(try_slot(owned.place(), mixed, secrets) == Outcome::nothing);
  CHECK(try_slot(owned.place(), slot, secrets) == Outcome::opened);
}

TEST_CASE("work outside floor and ceiling is refused", "[crypto][slot]") {
  const Owned owned;
  const SlotSecrets secrets = all_secrets();
  using Cost = PassphraseCost;
  for (const SlotMethod method : {SlotMethod::passphrase, SlotMethod::both}) {
    std::string slot(kSlotBytes, '\0');
    slot[0] = slot[1] = slot[kRoleAt] = 1;
    slot[kMethodAt] = static_cast<char>(method);
    const auto cost = [&](std::uint32_t passes, std::uint32_t kib) {
      return with_u32(with_u32(slot, kPassesAt, passes), kKibAt, kib);
    };
    for (const std::uint32_t passes : {0u, 1u, Cost::kMinPasses - 1, Cost::kMaxPasses + 1,
                                       0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
      CHECK(try_slot(owned.place(), cost(passes, Cost::kMinKib), secrets) == Outcome::corrupt);
    }
    for (const std::uint32_t kib : {0u, 1u, Cost::kMinKib - 1, Cost::kMaxKib + 1, 0x3FFFFFu,
                                    0x400000u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
      CHECK(try_slot(owned.place(), cost(Cost::kMinPasses, kib), secrets) == Outcome::corrupt);
    }
    CHECK(try_cost(cost(Cost::kMinPasses, Cost::kMinKib)) == Outcome::opened);
    // The ceiling passes, unless this machine is too small for it.
    const Outcome ceiling = try_cost(cost(Cost::kMaxPasses, Cost::kMaxKib));
    CHECK((ceiling == Outcome::opened || ceiling == Outcome::locked));
    for (const PassphraseCost bad :
         {PassphraseCost{1, Cost::kMinKib}, PassphraseCost{11, Cost::kMinKib},
          PassphraseCost{2, 1024}, PassphraseCost{2, Cost::kMaxKib + 1}}) {
      CHECK_THROWS_AS(
          make_slot(owned.place(), SlotRole::owner, method, secrets, bad, owned.admin_public_key,
                    view(owned.pair.public_key), owned.pair.secret),
          Error);
    }
  }
  // A method that does no such work has no parameters.
  std::string file = owned.make(SlotRole::grant, SlotMethod::key_file, secrets);
  CHECK(try_cost(file) == Outcome::opened);
  CHECK(try_cost(with_u32(file, kPassesAt, 2)) == Outcome::corrupt);
  CHECK(try_cost(with_u32(file, kKibAt, 65536)) == Outcome::corrupt);
}

TEST_CASE("random slots never open and never crash", "[crypto][slot]") {
  const Owned owned;
  const SlotSecrets secrets = all_secrets();
  std::map<Outcome, int> seen;
  for (int round = 0; round < 10'000; ++round) {
    std::string slot = random_bytes(kSlotBytes);
    // Mostly plausible in front, so that the later checks are reached too.
    if (round % 8 != 0) slot[0] = slot[1] = 1;
    if (round % 4 != 0) {
      slot[kRoleAt] = static_cast<char>(1 + (slot[kRoleAt] & 0x7F) % 3);
      slot[kMethodAt] = static_cast<char>(1 + (slot[kMethodAt] & 0x7F) % 4);
    }
    if (round % 3 == 0) slot.replace(kPassesAt, 8, std::string(8, '\0'));
    Outcome result = try_cost(slot);
    if (result == Outcome::opened) {
      const SlotHeader header = read_slot(slot);
      CHECK(
          (header.method == SlotMethod::key_file || header.method == SlotMethod::code ||
           (header.passes <= PassphraseCost::kMaxPasses && header.kib <= PassphraseCost::kMaxKib)));
      if (header.passes != 0) continue;  // real work, which this test is not about
      result = try_slot(owned.place(), slot, secrets);
      CHECK(result == Outcome::nothing);
    } else {
      CHECK(try_slot(owned.place(), slot, secrets) == result);
    }
    ++seen[result];
  }
  CHECK(seen[Outcome::opened] == 0);
  CHECK(seen[Outcome::other] == 0);
  CHECK(seen[Outcome::nothing] > 500);
  CHECK(seen[Outcome::corrupt] > 500);
  CHECK(seen[Outcome::unsupported] > 500);
}

}  // namespace strongroom::crypto
