// Distinct strings and their numbers, in memory that is wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/wipe.h"

namespace strongroom::recall {

/// Gives each distinct string the next number, from 0. The hash has a random seed, so that no text
/// can be made to collide; numbers do not depend on it.
class WordTable {
 public:
  WordTable();

  /// The number of `word`; a new one is size() from before the call.
  std::uint32_t intern(std::string_view word);

  /// Lives until the next intern() or clear().
  std::string_view view(std::uint32_t number) const noexcept {
    const Entry& entry = entries_[number];
    return bytes_.view().substr(entry.offset, entry.size);
  }

  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t bytes() const noexcept { return bytes_.size(); }

  /// Wipes and releases everything.
  void clear();

 private:
  struct Entry {
    std::size_t offset;
    std::uint32_t size;
    std::uint32_t hash;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next = 0;  // the number + 1; 0 for a free slot
  };

  std::uint32_t hash(std::string_view word) const noexcept;
  void grow();

  std::uint64_t seed_;
  SecretBytes bytes_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two of them, at most half in use
};

}  // namespace strongroom::recall
