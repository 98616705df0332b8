// Erasing memory that held a value, in a way the optimiser keeps.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom {

/// Overwrites `size` bytes with zeros; never optimised away.
void wipe(void* data, std::size_t size) noexcept;

/// Wipes the whole capacity of a string and empties it.
void wipe(std::string& text) noexcept;

/// An allocator that wipes what it gives back.
template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept {
    wipe(p, n * sizeof(T));
    ::operator delete(p);
  }
  friend bool operator==(const WipingAllocator&, const WipingAllocator&) { return true; }
};

/// Bytes that are wiped when released: decrypted content and whatever is derived from it.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::string_view bytes) : bytes_(bytes.begin(), bytes.end()) {}
  char* data() noexcept { return bytes_.data(); }
  const char* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return bytes_.size(); }
  bool empty() const noexcept { return bytes_.empty(); }
  void resize(std::size_t n) { bytes_.resize(n); }
  void reserve(std::size_t n) { bytes_.reserve(n); }
  void clear() noexcept { bytes_.clear(); }
  void append(std::string_view more) {
    if (more.empty()) return;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + more.size());
    std::memcpy(bytes_.data() + at, more.data(), more.size());
  }
  std::string_view view() const noexcept { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char, WipingAllocator<char>> bytes_;
};

}  // namespace strongroom
