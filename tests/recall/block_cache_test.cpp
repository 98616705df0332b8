#include "recall/block_cache.h"

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include "recall/share_work.h"

namespace strongroom::recall {
namespace {

using vault::Kind;

constexpr std::array kKinds = {Kind::index_postings, Kind::index_attributes, Kind::index_codes};

std::uint64_t random_key(std::mt19937& random, std::uint32_t blocks) {
  const Kind kind = kKinds[random() % kKinds.size()];
  const auto segment = static_cast<std::uint32_t>(random() % 3);
  return block_key(kind, segment, static_cast<std::uint32_t>(random() % blocks));
}

// A block that tells which one it is.
void fill(char* block, std::uint64_t key) {
  for (std::size_t at = 0; at + sizeof key <= kBlockBytes; at += sizeof key) {
    std::memcpy(block + at, &key, sizeof key);
  }
}
bool holds(const char* block, std::uint64_t key) {
  std::uint64_t first = 0, last = 0;
  std::memcpy(&first, block, sizeof first);
  std::memcpy(&last, block + (kBlockBytes / sizeof last - 1) * sizeof last, sizeof last);
  return first == key && last == key;
}

}  // namespace

TEST_CASE("a cache with room keeps every block until it is erased") {
  std::mt19937 random(1);
  BlockCache cache(std::size_t{2048} * 4096);
  std::map<std::uint64_t, bool> there;
  for (int step = 0; step < 60'000; ++step) {
    const std::uint64_t key = random_key(random, 100);
    const char* const found = cache.find(key);
    REQUIRE((found != nullptr) == there[key]);
    if (found != nullptr) REQUIRE(holds(found, key));
    if (found == nullptr) fill(cache.insert(key), key);
    there[key] = true;
    const std::uint64_t gone = random_key(random, 100);
    if (random() % 2 == 0) cache.erase(gone);
    there[gone] = cache.find(gone) != nullptr;
  }
  cache.erase_kinds([](Kind kind) { return kind == Kind::index_codes; });
  for (const auto& [key, known] : there) {
    const bool codes = (key >> 58) + 31 == static_cast<std::uint64_t>(Kind::index_codes);
    REQUIRE((cache.find(key) != nullptr) == (known && !codes));
  }
}

TEST_CASE("a full cache stays within its limit and never mixes blocks up") {
  std::mt19937 random(2);
  constexpr std::size_t kSlots = 700;  // one slab and a part of the next
  BlockCache cache(kSlots * 4096);
  for (int step = 0; step < 60'000; ++step) {
    const std::uint64_t key = random_key(random, 2000);
    const char* const found = cache.find(key);
    if (found != nullptr) {
      REQUIRE(holds(found, key));
    } else {
      fill(cache.insert(key), key);
    }
    if (random() % 50 == 0) cache.erase(random_key(random, 2000));
  }
  REQUIRE(cache.bytes() == kSlots * 4096);
}

TEST_CASE("what was just inserted outlives as many inserts as are safe") {
  std::mt19937 random(3);
  BlockCache cache(0);  // as small as it can be
  for (int round = 0; round < 200; ++round) {
    std::map<std::uint64_t, char*> places;
    for (std::size_t i = 0; i < cache.safe_inserts(); ++i) {
      const std::uint64_t key = random_key(random, 5000);
      if (cache.find(key) == nullptr) places[key] = cache.insert(key);
      // Being looked for does not protect others.
      cache.find(random_key(random, 5000));
    }
    for (const auto& [key, place] : places) REQUIRE(cache.find(key) == place);
  }
}

TEST_CASE("shared work is all done, and a failure is told when all have stopped") {
  constexpr std::size_t kCount = 5000;
  std::vector<std::atomic<int>> done(kCount);
  share_work(kCount, 10, [&](std::size_t i, std::size_t end) {
    for (; i < end; ++i) ++done[i];
  });
  for (const auto& each : done) REQUIRE(each == 1);

  std::atomic<int> running = 0;
  const auto fail = [&](std::size_t first, std::size_t) {
    ++running;
    if (first >= kCount / 2) {
      --running;
      throw std::runtime_error("the second half");
    }
    --running;
  };
  REQUIRE_THROWS_AS(share_work(kCount, 10, fail), std::runtime_error);
  REQUIRE(running == 0);
  share_work(0, 10, [](std::size_t, std::size_t) { FAIL("there is no work"); });
}

}  // namespace strongroom::recall
