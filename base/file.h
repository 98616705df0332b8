// Small files, read and written so that nobody can swap them underneath: the descriptor is checked,
// never the path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace strongroom {

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }
  void reset(int fd = -1) noexcept;
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Opens without following a symlink in the last component, close-on-exec. nullopt when the file
/// does not exist; other failures throw io, a symlink throws `invalid` naming `what`.
std::optional<UniqueFd> open_file(const std::string& path, int flags, std::string_view what);

/// Everything from the descriptor's current offset, at most `limit` bytes (more: too_large naming
/// `what`).
std::string read_all(int fd, std::size_t limit, std::string_view what);

/// pread of exactly `size` bytes; false at an early end.
bool read_exactly(int fd, void* out, std::size_t size, std::int64_t offset);

/// Writes everything; EINTR and short writes are handled. Throws no_space or io.
void write_all(int fd, std::string_view bytes, std::string_view doing);

/// fsync of a descriptor, and of the directory that holds `path`.
void sync_fd(int fd, std::string_view doing);
void sync_parent(const std::string& path, std::string_view doing);

/// Creates the file (it must not exist: Code::conflict) with `mode`, writes, syncs it and its
/// directory. When writing fails the file is taken away again.
void create_file(const std::string& path, std::string_view bytes, mode_t mode,
                 std::string_view doing);

/// Writes a new file beside `path` and renames it over; with `durable` both are synced.
void replace_file(const std::string& path, std::string_view bytes, mode_t mode, bool durable,
                  std::string_view doing);

/// mkdir -p with mode 0700 for what is made.
void make_directories(const std::string& path);

/// The directory part of a path ("." when there is none).
std::string parent_of(const std::string& path);

/// An environment variable, empty when unset.
std::string env(const char* name);

/// $HOME, else the password database's; throws io when there is none.
std::string home_directory();

/// $NAME when absolute, else HOME/fallback: XDG base directories.
std::string xdg_directory(const char* name, std::string_view fallback);

}  // namespace strongroom
