// Keys live in one arena of locked memory between guard pages, excluded from core dumps, and are
// wiped when released. A key is never copied into ordinary memory by this library.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace strongroom::crypto {

inline constexpr std::size_t kKeyBytes = 32;

/// 32 secret bytes in the arena. Move-only; an empty one (default, moved from) holds none.
/// Different keys may be used from different threads.
class SecretKey {
 public:
  SecretKey() = default;
  static SecretKey random();
  /// Copies `bytes` (exactly 32) in; wiping the source is the caller's duty. Throws internal for
  /// another size.
  static SecretKey from_bytes(std::string_view bytes);
  /// 32 zero bytes, to be written through mutable_data().
  static SecretKey zeros();

  SecretKey(SecretKey&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  /// What this key held is wiped at once; `other` is empty afterwards.
  SecretKey& operator=(SecretKey&& other) noexcept {
    if (this != &other) {
      const SecretKey old(std::move(*this));
      slot_ = std::exchange(other.slot_, nullptr);
    }
    return *this;
  }
  ~SecretKey();
  /// A second copy in the arena.
  SecretKey clone() const { return from_bytes(view()); }

  bool empty() const noexcept { return slot_ == nullptr; }
  const unsigned char* data() const noexcept { return slot_; }
  unsigned char* mutable_data() noexcept { return slot_; }
  std::string_view view() const noexcept;

 private:
  unsigned char* slot_ = nullptr;
};

/// False when some arena page could not be locked: keys may then be swapped out, which `status`
/// reports.
bool keys_are_locked() noexcept;

}  // namespace strongroom::crypto
