#include "base/file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "base/wipe.h"

namespace strongroom {

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::optional<UniqueFd> open_file(const std::string& path, int flags, std::string_view what) {
  // O_NONBLOCK: a FIFO in the place of a file must not make anybody wait; for files it does
  // nothing.
  UniqueFd fd(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (fd) return fd;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  if (errno == ELOOP) throw Error::invalid(what, "is a symbolic link, which is refused");
  throw_errno("open " + std::string(what), errno);
}

std::string read_all(int fd, std::size_t limit, std::string_view what) {
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno("read " + std::string(what), errno);
    }
    if (n == 0) break;
    bytes.append(buffer, static_cast<std::size_t>(n));
    if (bytes.size() > limit) throw Error::too_large(what, bytes.size(), limit);
  }
  wipe(buffer, sizeof buffer);
  return bytes;
}

bool read_exactly(int fd, void* out, std::size_t size, std::int64_t offset) {
  auto* to = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t n = ::pread(fd, to, size, offset);
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno("read a file of the vault", errno);
    }
    if (n == 0) return false;
    to += n;
    offset += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

void write_all(int fd, std::string_view bytes, std::string_view doing) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno(doing, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync_fd(int fd, std::string_view doing) {
  if (::fsync(fd) != 0) throw_errno(doing, errno);
}

void sync_parent(const std::string& path, std::string_view doing) {
  UniqueFd dir(::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir) throw_errno(doing, errno);
  sync_fd(dir.get(), doing);
}

namespace {

// A file with its content, under a name of its own beside `path`; renamed when complete, so that a
// kill never leaves half of one under the real name.
class NewFile {
 public:
  NewFile(const std::string& path, std::string_view bytes, mode_t mode, bool durable,
          std::string_view doing)
      : doing_(doing) {
    static std::atomic<unsigned> count{0};  // several threads may write in one millisecond
    name_ = path + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(now_ms()) + "-" +
            std::to_string(count++);
    const UniqueFd fd(
        ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!fd) throw_errno(doing, errno);
    try {
      write_all(fd.get(), bytes, doing);
      if (durable) sync_fd(fd.get(), doing);
    } catch (...) {
      ::unlink(name_.c_str());
      throw;
    }
  }
  ~NewFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void rename_to(const std::string& path, unsigned flags) {
    if (::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path.c_str(), flags) != 0) {
      if (errno == EEXIST) {
        throw Error(Code::conflict,
                    "Could not " + std::string(doing_) + ": the file exists already.");
      }
      throw_errno(doing_, errno);
    }
    name_.clear();
  }

 private:
  std::string_view doing_;
  std::string name_;
};

}  // namespace

void create_file(const std::string& path, std::string_view bytes, mode_t mode,
                 std::string_view doing) {
  NewFile file(path, bytes, mode, true, doing);
  file.rename_to(path, RENAME_NOREPLACE);
  sync_parent(path, doing);
}

void replace_file(const std::string& path, std::string_view bytes, mode_t mode, bool durable,
                  std::string_view doing) {
  NewFile file(path, bytes, mode, durable, doing);
  file.rename_to(path, 0);
  if (durable) sync_parent(path, doing);
}

void make_directories(const std::string& path) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      throw_errno("make a directory", errno);
    }
    if (at != std::string::npos) ++at;
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_errno("make a directory", errno);
  if (!S_ISDIR(status.st_mode)) throw_errno("make a directory", ENOTDIR);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string home_directory() {
  const std::string home = env("HOME");
  if (!home.empty()) return home;
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry == nullptr || entry->pw_dir == nullptr) {
    throw Error(Code::io, "There is no home directory: set HOME.");
  }
  return entry->pw_dir;
}

std::string xdg_directory(const char* name, std::string_view fallback) {
  const std::string set = env(name);
  if (!set.empty() && set.front() == '/') return set;
  return home_directory() + "/" + std::string(fallback);
}

}  // namespace strongroom
