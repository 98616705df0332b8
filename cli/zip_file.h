// Reads a ZIP archive by its central directory: entries that are stored or deflated, of one disk,
// without encryption and without ZIP64. Sizes are checked before and while they are unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace strongroom::cli {

class ZipFile {
 public:
  struct Entry {
    std::string name;
    std::uint64_t header = 0;  // offset of the local header
    std::uint64_t packed = 0, size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0, flags = 0;
  };
  /// The most that an entry may unpack to.
  static constexpr std::uint64_t kMaxEntry = std::uint64_t{256} << 20;

  static bool is_zip(int fd);
  /// Takes an open regular file. Throws invalid naming `what` when it is no archive that this
  /// reads.
  ZipFile(UniqueFd fd, std::string what);

  const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// The bytes of an entry. Throws invalid naming the entry: damaged, encrypted, or packed in a way
  /// that is not known; too_large above kMaxEntry.
  std::string read(const Entry& entry) const;

 private:
  std::string bytes(std::uint64_t offset, std::uint64_t size) const;
  void read_directory(std::uint64_t at, std::uint64_t size, std::uint64_t count);
  [[noreturn]] void damaged() const;

  UniqueFd fd_;
  std::string what_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace strongroom::cli
