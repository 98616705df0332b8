// The arena that keys live in, and what a process does before it touches one.
#include "crypto/secret_key.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

// The sanitizers make mlock do nothing and say that it worked.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLockingWorks = false;
#else
constexpr bool kLockingWorks = true;
#endif

bool all_zero(const unsigned char* bytes) {
  return std::all_of(bytes, bytes + kKeyBytes, [](unsigned char byte) { return byte == 0; });
}

// The VmFlags line of the mapping that holds `address`.
std::string mapping_flags(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.rfind("VmFlags:", 0) == 0) {
      return line.substr(8) + " ";
    }
  }
  return "";
}

// Runs `body` in a child; true when it returned true.
template <class Body>
bool in_child(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("keys are moved, never copied", "[crypto][key]") {
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<SecretKey>);
  STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<SecretKey>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<SecretKey>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<SecretKey>);

  const SecretKey none;
  CHECK(none.empty());
  CHECK(none.view().empty());
  SecretKey key = SecretKey::from_bytes("0123456789abcdef0123456789ABCDEF");
  CHECK(key.view() == "0123456789abcdef0123456789ABCDEF");
  const SecretKey copy = key.clone();
  CHECK(copy.view() == key.view());
  CHECK(copy.data() != key.data());
  const unsigned char* const place = key.data();
  const SecretKey moved = std::move(key);
  CHECK(moved.data() == place);
  CHECK(key.empty());  // NOLINT: what the header promises of a key that was moved from
  CHECK(all_zero(SecretKey::zeros().data()));
  for (const std::size_t size : {0u, 31u, 33u}) {
    CHECK_THROWS_AS(SecretKey::from_bytes(std::string(size, 'k')), Error);
  }
}

TEST_CASE("keys are wiped when released", "[crypto][key]") {
  const unsigned char* place = nullptr;
  {
    const SecretKey key = SecretKey::random();
    place = key.data();
    CHECK_FALSE(all_zero(place));
  }
  CHECK(all_zero(place));  // arena memory stays mapped

  // Assigning over a key wipes it at once and leaves nothing in the source.
  SecretKey key = SecretKey::random(), next = SecretKey::random();
  place = key.data();
  const unsigned char* const next_place = next.data();
  key = std::move(next);
  CHECK(all_zero(place));
  CHECK(key.data() == next_place);
  CHECK(next.empty());  // NOLINT
  SecretKey& self = key;
  key = std::move(self);
  CHECK(key.data() == next_place);
  CHECK_FALSE(all_zero(next_place));
  key = SecretKey();
  CHECK(key.empty());
  CHECK(all_zero(next_place));
}

TEST_CASE("ten thousand keys", "[crypto][key]") {
  std::vector<SecretKey> keys;
  std::set<std::string> values;
  std::set<const unsigned char*> places;
  for (int i = 0; i < 10'000; ++i) {
    keys.push_back(SecretKey::random());
    values.insert(std::string(keys.back().view()));
    places.insert(keys.back().data());
  }
  CHECK(values.size() == keys.size());
  CHECK(places.size() == keys.size());
  std::uintptr_t last = 0;
  for (const unsigned char* const place : places) {
    const auto at = reinterpret_cast<std::uintptr_t>(place);
    REQUIRE(at - last >= kKeyBytes);
    last = at;
  }
  // Released and taken again, the same memory serves.
  keys.clear();
  for (int i = 0; i < 10'000; ++i) {
    keys.push_back(SecretKey::zeros());
    REQUIRE(all_zero(keys.back().data()));
    REQUIRE(places.count(keys.back().data()) == 1);
  }
}

TEST_CASE("keys from several threads", "[crypto][key]") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t id = 0; id < wrong.size(); ++id) {
    threads.emplace_back([id, &wrong] {
      const std::string mine(kKeyBytes, static_cast<char>('a' + id));
      std::vector<SecretKey> held;
      for (int round = 0; round < 5'000; ++round) {
        held.push_back(SecretKey::from_bytes(mine));
        if (held.size() > 50) held.erase(held.begin(), held.begin() + 25);
        for (const SecretKey& key : held) wrong[id] += key.view() == mine ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) CHECK(count == 0);
}

TEST_CASE("the arena is locked and stays out of core dumps", "[crypto][key]") {
  std::vector<SecretKey> keys;
  for (int i = 0; i < 2'000; ++i) keys.push_back(SecretKey::random());
  for (const std::size_t index : {std::size_t{0}, std::size_t{999}, std::size_t{1999}}) {
    const std::string flags = mapping_flags(keys[index].data());
    if (flags.empty()) {
      WARN("skipped: /proc/self/smaps does not show VmFlags here");
      return;
    }
    INFO(flags);
    CHECK(flags.find(" dd ") != std::string::npos);
    if (!kLockingWorks) {
      WARN("skipped: sanitizers switch locking off");
    } else if (keys_are_locked()) {
      CHECK(flags.find(" lo ") != std::string::npos);
    } else {
      WARN("this machine does not lock the arena, and keys_are_locked() says so");
    }
  }
}

TEST_CASE("an arena that cannot be locked is reported", "[crypto][key]") {
  if (!kLockingWorks) {
    WARN("skipped: sanitizers switch locking off");
    return;
  }
  CHECK(in_child([] {
    // Without the capability, a limit of zero forbids every lock from here on.
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) return false;
    if (::geteuid() == 0 && ::setuid(65534) != 0) return true;  // cannot be tried here
    std::vector<SecretKey> keys;
    for (int i = 0; i < 100'000; ++i) keys.push_back(SecretKey::random());
    return !keys_are_locked() && !keys.back().empty();
  }));
}

TEST_CASE("harden_process", "[crypto][process]") {
  CHECK(in_child([] {
    harden_process();
    rlimit core{1, 1};
    return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && ::getrlimit(RLIMIT_CORE, &core) == 0 &&
           core.rlim_cur == 0 && core.rlim_max == 0 && ::umask(0) == 077;
  }));
}

TEST_CASE("random bytes and constant-time comparison", "[crypto][process]") {
  std::set<std::string> seen;
  for (int i = 0; i < 1'000; ++i) seen.insert(random_bytes(16));
  CHECK(seen.size() == 1'000);
  CHECK(random_bytes(0).empty());
  CHECK(equal("", ""));
  CHECK(equal("abc", "abc"));
  CHECK_FALSE(equal("abc", "abd"));
  CHECK_FALSE(equal("abc", "ab"));
  CHECK_FALSE(equal("", "a"));
}

}  // namespace strongroom::crypto
