// Decrypted blocks of the index, in memory that is kept out of core dumps and wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
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
  const char* find(std::uint64_t key);
  /// A place of kBlockBytes for a block that is not there, to be filled at once; another block may
  /// go.
  char* insert(std::uint64_t key);
  void erase(std::uint64_t key);
  /// Drops every block of a kind for which `mutable_kind` says so.
  void erase_kinds(bool (*drop)(vault::Kind));
  std::size_t bytes() const { return slots_.size() * kSlotBytes; }

 private:
  static constexpr std::size_t kSlotBytes = 4096;
  static constexpr std::size_t kSlabSlots = 256;
  struct Slot {
    std::uint64_t key = 0;  // 0 = free
    bool used = false;      // since the hand last passed
  };
  char* memory(std::size_t slot) const {
    return slabs_[slot / kSlabSlots] + slot % kSlabSlots * kSlotBytes;
  }
  std::size_t take_slot();
  void add_slab();
  std::size_t limit_;
  std::vector<char*> slabs_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::size_t hand_ = 0;
};

}  // namespace strongroom::recall
