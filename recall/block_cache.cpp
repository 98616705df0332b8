#include "recall/block_cache.h"

#include <algorithm>
#include <bit>
#include <new>
#include <sys/mman.h>

#include "base/wipe.h"

namespace strongroom::recall {

namespace {

char* map(std::size_t bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(at);
}

// Aligned to its size, a power of two, so that one huge page can hold it.
char* map_aligned(std::size_t bytes) {
  char* const whole = map(2 * bytes);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(whole) & (bytes - 1);
  if (before != 0) ::munmap(whole, before);
  ::munmap(whole + before + bytes, bytes - before);
  return whole + before;
}

}  // namespace

BlockCache::BlockCache(std::size_t limit_bytes)
    : limit_(std::max(limit_bytes / kSlotBytes, kLeastSlots)), table_(16, 0) {}

BlockCache::~BlockCache() {
  for (std::size_t i = 0; i < slabs_.size(); ++i) {
    const std::size_t slots = std::min(kSlabSlots, slots_.size() - i * kSlabSlots);
    wipe(slabs_[i], slots * kSlotBytes);
    ::munmap(slabs_[i], kSlabSlots * kSlotBytes);
  }
}

// The first slab's pages come one by one: most banks need few. Of a bank that needs more, a huge
// page is there sooner than its 512 small ones.
void BlockCache::add_slab() {
  constexpr std::size_t kSlabBytes = kSlabSlots * kSlotBytes;
  char* const slab = slabs_.empty() ? map(kSlabBytes) : map_aligned(kSlabBytes);
  ::madvise(slab, kSlabBytes, MADV_DONTDUMP);
  if (!slabs_.empty()) ::madvise(slab, kSlabBytes, MADV_HUGEPAGE);
  slabs_.push_back(slab);
  const std::size_t first = slots_.size();
  slots_.resize(first + std::min(kSlabSlots, limit_ - first));
  for (std::size_t i = slots_.size(); i-- > first;) free_.push_back(static_cast<std::uint32_t>(i));
  if (table_.size() >= slots_.size() * 4) return;
  table_.assign(std::bit_ceil(slots_.size() * 8), 0);
  for (std::size_t i = 0; i < first; ++i) {
    if (slots_[i].key != 0) place(i);
  }
}

// A free slot, or the first that was not used since the hand last came by (the "clock" rule).
std::size_t BlockCache::take_slot() {
  if (free_.empty() && slots_.size() < limit_) add_slab();
  if (!free_.empty()) {
    const std::size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  while (slots_[hand_].used) {
    slots_[hand_].used = false;
    hand_ = (hand_ + 1) % slots_.size();
  }
  const std::size_t slot = hand_;
  hand_ = (hand_ + 1) % slots_.size();
  unplace(slots_[slot].key);
  return slot;
}

void BlockCache::place(std::size_t slot) {
  std::size_t at = home(slots_[slot].key);
  while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
  table_[at] = static_cast<std::uint32_t>(slot + 1);
}

// Those behind move up, so that no gap parts one from its home (Knuth, volume 3, 6.4, algorithm R).
void BlockCache::unplace(std::uint64_t key) {
  const std::size_t mask = table_.size() - 1;
  std::size_t gap = home(key);
  while (slots_[table_[gap] - 1].key != key) gap = (gap + 1) & mask;
  for (std::size_t at = (gap + 1) & mask; table_[at] != 0; at = (at + 1) & mask) {
    const std::size_t from = home(slots_[table_[at] - 1].key);
    if (((at - from) & mask) < ((at - gap) & mask)) continue;
    table_[gap] = table_[at];
    gap = at;
  }
  table_[gap] = 0;
}

char* BlockCache::insert(std::uint64_t key) {
  const std::size_t slot = take_slot();
  slots_[slot] = {key, true};
  place(slot);
  return memory(slot);
}

void BlockCache::erase(std::uint64_t key) {
  const char* const found = find(key);
  if (found == nullptr) return;
  std::size_t at = home(key);
  while (slots_[table_[at] - 1].key != key) at = (at + 1) & (table_.size() - 1);
  const std::size_t slot = table_[at] - 1;
  unplace(key);
  slots_[slot] = {};
  wipe(memory(slot), kBlockBytes);
  free_.push_back(static_cast<std::uint32_t>(slot));
}

void BlockCache::erase_kinds(bool (*drop)(vault::Kind)) {
  std::vector<std::uint64_t> keys;
  for (const Slot& slot : slots_) {
    if (slot.key != 0 && drop(static_cast<vault::Kind>((slot.key >> 58) + 31))) {
      keys.push_back(slot.key);
    }
  }
  for (const std::uint64_t key : keys) erase(key);
}

}  // namespace strongroom::recall
