#include "recall/block_cache.h"

#include <algorithm>
#include <new>
#include <sys/mman.h>

#include "base/wipe.h"

namespace strongroom::recall {

BlockCache::BlockCache(std::size_t limit_bytes)
    : limit_(std::max<std::size_t>(limit_bytes / kSlotBytes, 64)) {}

BlockCache::~BlockCache() {
  for (char* const slab : slabs_) {
    wipe(slab, kSlabSlots * kSlotBytes);
    ::munmap(slab, kSlabSlots * kSlotBytes);
  }
}

const char* BlockCache::find(std::uint64_t key) {
  const auto at = index_.find(key);
  if (at == index_.end()) return nullptr;
  slots_[at->second].used = true;
  return memory(at->second);
}

void BlockCache::add_slab() {
  constexpr std::size_t kSlabBytes = kSlabSlots * kSlotBytes;
  void* const slab =
      ::mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (slab == MAP_FAILED) throw std::bad_alloc();
  ::madvise(slab, kSlabBytes, MADV_DONTDUMP);
  slabs_.push_back(static_cast<char*>(slab));
  const std::size_t first = slots_.size();
  slots_.resize(first + kSlabSlots);
  for (std::size_t i = kSlabSlots; i-- > 0;) {
    free_.push_back(static_cast<std::uint32_t>(first + i));
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
  index_.erase(slots_[slot].key);
  return slot;
}

char* BlockCache::insert(std::uint64_t key) {
  const std::size_t slot = take_slot();
  slots_[slot] = {key, true};
  index_[key] = static_cast<std::uint32_t>(slot);
  return memory(slot);
}

void BlockCache::erase(std::uint64_t key) {
  const auto at = index_.find(key);
  if (at == index_.end()) return;
  slots_[at->second] = {};
  wipe(memory(at->second), kBlockBytes);
  free_.push_back(at->second);
  index_.erase(at);
}

void BlockCache::erase_kinds(bool (*drop)(vault::Kind)) {
  std::vector<std::uint64_t> keys;
  for (const auto& [key, slot] : index_) {
    if (drop(static_cast<vault::Kind>((key >> 58) + 31))) keys.push_back(key);
  }
  for (const std::uint64_t key : keys) erase(key);
}

}  // namespace strongroom::recall
