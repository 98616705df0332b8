// Decrypted blocks of the index, in memory that is kept out of core dumps and wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vault/format.h"

namespace strongroom::recall {

/// Plain bytes of a block: with envelope and LMDB's page header exactly one page of the file.
inline constexpr std::size_t kBlockBytes = 4033;

/// Which block: kind, segment or column, number. Equal for equal blocks.
constexpr std::uint64_t block_key(vault::Kind kind, std::uint32_t segment, std::uint32_t number) {
  return (std::uint64_t{static_cast<std::uint8_t>(kind)} - 31) << 58 |
         std::uint64_t{segment & 0x3FFFFFF} << 32 | number;
}

class BlockCache {
 public:
  explicit BlockCache(std::size_t limit_bytes);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// The block, or nullptr. Valid until the next insert() or erase().
  const char* find(std::uint64_t key) noexcept {
    for (std::size_t at = home(key); table_[at] != 0; at = (at + 1) & (table_.size() - 1)) {
      Slot& slot = slots_[table_[at] - 1];
      if (slot.key != key) continue;
      slot.used = true;
      return memory(table_[at] - 1);
    }
    return nullptr;
  }
  /// A place of kBlockBytes for a block that is not there, to be filled at once; another block may
  /// go, but none of those that the last safe_inserts() calls gave a place.
  char* insert(std::uint64_t key);
  void erase(std::uint64_t key);
  /// Drops every block of a kind for which `mutable_kind` says so.
  void erase_kinds(bool (*drop)(vault::Kind));
  std::size_t bytes() const { return slots_.size() * kSlotBytes; }

  std::size_t safe_inserts() const { return limit_ / 2; }

 private:
  static constexpr std::size_t kLeastSlots = 64;
  static constexpr std::size_t kSlotBytes = 4096;
  static constexpr std::size_t kSlabSlots = 512;  // a huge page
  struct Slot {
    std::uint64_t key = 0;  // 0 = free
    bool used = false;      // since the hand last passed
  };
  // Sixteen blocks in a row lie in one cache line: columns are read from end to end.
  std::size_t home(std::uint64_t key) const {
    const std::uint64_t line = (key >> 4) ^ (key >> 36);
    return (line * 0x9E3779B97F4A7C15u >> 32 << 4 | (key & 15)) & (table_.size() - 1);
  }
  char* memory(std::size_t slot) const {
    return slabs_[slot / kSlabSlots] + slot % kSlabSlots * kSlotBytes;
  }
  void add_slab();
  std::size_t take_slot();
  void place(std::size_t slot);
  void unplace(std::uint64_t key);

  std::size_t limit_;  // slots
  std::vector<char*> slabs_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  // Open addressing, a quarter full at most: number of a slot, from 1; 0 = none.
  std::vector<std::uint32_t> table_;
  std::size_t hand_ = 0;
};

}  // namespace strongroom::recall
