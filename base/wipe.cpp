#include "base/wipe.h"

#include <cstring>

namespace strongroom {

void wipe(void* data, std::size_t size) noexcept {
  if (size != 0) explicit_bzero(data, size);
}

void wipe(std::string& text) noexcept {
  // The whole capacity: a longer text may have lain here before.
  wipe(text.data(), text.capacity());
  text.clear();
}

}  // namespace strongroom
