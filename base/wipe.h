// Erasing memory that held a value, in a way the optimiser keeps.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace strongroom {

/// Overwrites `size` bytes with zeros; never optimised away.
void wipe(void* data, std::size_t size) noexcept;

/// Wipes the whole capacity of a string and empties it.
void wipe(std::string& text) noexcept;

/// Bytes that are wiped when released, also when they move to grow: decrypted content and whatever
/// is derived from it. Move-only, so that no copy is made by accident.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::string_view bytes) { append(bytes); }
  SecretBytes(SecretBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept;
  ~SecretBytes();

  char* data() noexcept { return data_; }
  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {data_, size_}; }
  /// New bytes are zero. Bytes that are cut off stay in the buffer until it is released.
  void resize(std::size_t size);
  void reserve(std::size_t capacity);
  void clear() noexcept { size_ = 0; }
  void append(std::string_view more);

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace strongroom
