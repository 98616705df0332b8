#include "base/wipe.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace strongroom {

void wipe(void* data, std::size_t size) noexcept {
  if (size != 0) explicit_bzero(data, size);
}

void wipe(std::string& text) noexcept {
  // The whole capacity: a longer text may have lain here before.
  wipe(text.data(), text.capacity());
  text.clear();
}

SecretBytes::~SecretBytes() {
  wipe(data_, capacity_);
  ::operator delete(data_);
}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
  if (this == &other) return *this;
  wipe(data_, capacity_);
  ::operator delete(data_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

void SecretBytes::reserve(std::size_t capacity) {
  if (capacity <= capacity_) return;
  capacity = std::max(capacity, capacity_ * 2);
  auto* const grown = static_cast<char*>(::operator new(capacity));
  if (size_ != 0) std::memcpy(grown, data_, size_);
  wipe(data_, capacity_);
  ::operator delete(data_);
  data_ = grown;
  capacity_ = capacity;
}

void SecretBytes::resize(std::size_t size) {
  reserve(size);
  if (size > size_) std::memset(data_ + size_, 0, size - size_);
  size_ = size;
}

void SecretBytes::append(std::string_view more) {
  if (more.empty()) return;
  reserve(size_ + more.size());
  std::memcpy(data_ + size_, more.data(), more.size());
  size_ += more.size();
}

}  // namespace strongroom
