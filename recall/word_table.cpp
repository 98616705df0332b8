#include "recall/word_table.h"

#include <cstring>
#include <random>

namespace strongroom::recall {

namespace {

constexpr std::size_t kFirstSlots = 1024;

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Multiplication moves differences up, the shift brings them back down.
std::uint64_t mix(std::uint64_t state, std::uint64_t more) noexcept {
  state = (state ^ more) * 0x9E3779B97F4A7C15u;
  return state ^ state >> 29;
}

}  // namespace

WordTable::WordTable() : seed_(random_seed()), slots_(kFirstSlots) {}

std::uint32_t WordTable::hash(std::string_view word) const noexcept {
  std::uint64_t state = seed_ ^ word.size();
  while (word.size() >= 8) {
    std::uint64_t block = 0;
    std::memcpy(&block, word.data(), 8);
    state = mix(mix(state, block), seed_);
    word.remove_prefix(8);
  }
  std::uint64_t block = 0;
  if (!word.empty()) std::memcpy(&block, word.data(), word.size());
  state = mix(mix(state, block), seed_ >> 7);
  return static_cast<std::uint32_t>(state >> 32);
}

std::uint32_t WordTable::intern(std::string_view word) {
  const std::uint32_t wanted = hash(word);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = wanted & mask;
  for (; slots_[at].next != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == wanted && view(slots_[at].next - 1) == word) return slots_[at].next - 1;
  }
  const auto number = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({bytes_.size(), static_cast<std::uint32_t>(word.size()), wanted});
  bytes_.append(word);
  slots_[at] = {wanted, number + 1};
  if (entries_.size() * 2 > slots_.size()) grow();
  return number;
}

void WordTable::grow() {
  std::vector<Slot> slots(slots_.size() * 2);
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t number = 0; number < entries_.size(); ++number) {
    std::size_t at = entries_[number].hash & mask;
    while (slots[at].next != 0) at = (at + 1) & mask;
    slots[at] = {entries_[number].hash, number + 1};
  }
  slots_ = std::move(slots);
}

void WordTable::clear() {
  bytes_ = SecretBytes();
  entries_ = {};
  slots_ = std::vector<Slot>(kFirstSlots);
}

}  // namespace strongroom::recall
