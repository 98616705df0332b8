// Which replica (a copy of the vault on one machine) wrote up to which generation. Comparing two
// vectors tells a continuation from a rollback and from copies that went separate ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vault/format.h"

namespace strongroom::vault {

enum class Lineage { equal, newer, older, mixed };

class VersionVector {
 public:
  static constexpr std::size_t kMaxReplicas = 32;

  /// The generation of the replica's last write; the floor for one that is not listed.
  std::uint64_t at(const Id16& replica) const noexcept;
  /// Raises an entry. A thirty-third replica folds the one that wrote longest ago into the floor.
  /// The all-zero id raises the floor itself: writes by machines without an anchor.
  void raise(const Id16& replica, std::uint64_t generation);
  /// Entry-wise maximum.
  void merge(const VersionVector& other);
  /// How this vector stands to `other`: newer = nowhere lower, somewhere higher.
  Lineage compare(const VersionVector& other) const;
  /// The largest generation in it.
  std::uint64_t newest() const noexcept;

  /// varint n, then n x (replica 16, generation u64), ascending by id.
  void encode(std::string& out) const;
  static VersionVector decode(std::string_view& in);

 private:
  struct Entry {
    Id16 replica;
    std::uint64_t generation;
  };
  std::vector<Entry> entries_;  // ascending by id; the floor, if any, is the all-zero id and first
};

}  // namespace strongroom::vault
