#include "crypto/secret_key.h"

#include <cstring>
#include <mutex>
#include <vector>

#include <sodium.h>

#include "base/error.h"
#include "crypto/process.h"

namespace strongroom::crypto {
namespace {

// sodium_malloc costs tens of microseconds and three pages a call, so one call serves many keys.
class Arena {
 public:
  static Arena& instance() {
    static Arena* const arena = new Arena;  // never destroyed: keys may outlive static destructors
    return *arena;
  }

  unsigned char* acquire() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    unsigned char* const slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void release(unsigned char* slot) {
    sodium_memzero(slot, kKeyBytes);
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);
  }

  bool locked() {
    const std::lock_guard lock(mutex_);
    return locked_;
  }

 private:
  void grow() {
    initialise();
    constexpr std::size_t kRegion = 16384;
    auto* const region = static_cast<unsigned char*>(sodium_malloc(kRegion));
    if (region == nullptr) throw Error(Code::internal, "Out of memory for keys.");
    // sodium_malloc ignores a failed mlock, so ask again and remember the answer.
    if (sodium_mlock(region, kRegion) != 0) locked_ = false;
    sodium_memzero(region, kRegion);
    slots_ += kRegion / kKeyBytes;
    free_.reserve(slots_);  // release() must not allocate: it runs in destructors
    for (std::size_t at = kRegion; at >= kKeyBytes; at -= kKeyBytes) {
      free_.push_back(region + at - kKeyBytes);
    }
  }

  std::mutex mutex_;
  std::vector<unsigned char*> free_;
  std::size_t slots_ = 0;
  bool locked_ = true;
};

}  // namespace

SecretKey SecretKey::zeros() {
  SecretKey key;
  key.slot_ = Arena::instance().acquire();
  return key;
}

SecretKey SecretKey::random() {
  SecretKey key = zeros();
  randombytes_buf(key.slot_, kKeyBytes);
  return key;
}

SecretKey SecretKey::from_bytes(std::string_view bytes) {
  if (bytes.size() != kKeyBytes) throw Error(Code::internal, "A key has the wrong size.");
  SecretKey key = zeros();
  std::memcpy(key.slot_, bytes.data(), kKeyBytes);
  return key;
}

SecretKey::~SecretKey() {
  if (slot_ != nullptr) Arena::instance().release(slot_);
}

std::string_view SecretKey::view() const noexcept {
  return {reinterpret_cast<const char*>(slot_), slot_ == nullptr ? 0 : kKeyBytes};
}

bool keys_are_locked() noexcept {
  return Arena::instance().locked();
}

}  // namespace strongroom::crypto
