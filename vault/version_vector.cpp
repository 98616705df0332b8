#include "vault/version_vector.h"

#include <algorithm>

namespace strongroom::vault {
namespace {
constexpr Id16 kFloor{};
}

std::uint64_t VersionVector::at(const Id16& replica) const noexcept {
  std::uint64_t floor = 0;
  for (const Entry& entry : entries_) {
    if (entry.replica == replica) return entry.generation;
    if (entry.replica == kFloor) floor = entry.generation;
  }
  return floor;
}

void VersionVector::raise(const Id16& replica, std::uint64_t generation) {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), replica,
      [](const Entry& entry, const Id16& id) { return view(entry.replica) < view(id); });
  if (at != entries_.end() && at->replica == replica) {
    at->generation = std::max(at->generation, generation);
    return;
  }
  entries_.insert(at, {replica, generation});
  const bool has_floor = entries_.front().replica == kFloor;
  if (entries_.size() - (has_floor ? 1 : 0) <= kMaxReplicas) return;
  const auto oldest =
      std::min_element(entries_.begin() + (has_floor ? 1 : 0), entries_.end(),
                       [](const Entry& a, const Entry& b) { return a.generation < b.generation; });
  const std::uint64_t folded = oldest->generation;
  entries_.erase(oldest);
  raise(kFloor, folded);
}

void VersionVector::merge(const VersionVector& other) {
  for (const Entry& entry : other.entries_) raise(entry.replica, entry.generation);
}

Lineage VersionVector::compare(const VersionVector& other) const {
  bool higher = false, lower = false;
  const auto look = [&](const Id16& replica) {
    const std::uint64_t mine = at(replica), theirs = other.at(replica);
    higher = higher || mine > theirs;
    lower = lower || mine < theirs;
  };
  for (const Entry& entry : entries_) look(entry.replica);
  for (const Entry& entry : other.entries_) look(entry.replica);
  if (higher && lower) return Lineage::mixed;
  if (higher) return Lineage::newer;
  return lower ? Lineage::older : Lineage::equal;
}

std::uint64_t VersionVector::newest() const noexcept {
  std::uint64_t newest = 0;
  for (const Entry& entry : entries_) newest = std::max(newest, entry.generation);
  return newest;
}

void VersionVector::encode(std::string& out) const {
  append_varint(out, entries_.size());
  for (const Entry& entry : entries_) {
    out.append(view(entry.replica));
    append_le(out, entry.generation);
  }
}

VersionVector VersionVector::decode(std::string_view& in) {
  const std::uint64_t count = take_varint(in);
  if (count > kMaxReplicas + 1 || in.size() < count * 24)
    throw_corrupt("a version vector is cut off");
  VersionVector vector;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Entry entry{id_from(in.substr(0, 16)), load_le<std::uint64_t>(in, 16)};
    if (!vector.entries_.empty() && !(view(vector.entries_.back().replica) < view(entry.replica))) {
      throw_corrupt("a version vector is out of order");
    }
    vector.entries_.push_back(entry);
    in.remove_prefix(24);
  }
  return vector;
}

}  // namespace strongroom::vault
