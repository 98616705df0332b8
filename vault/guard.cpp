#include "vault/guard.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "vault/timed_lock.h"

namespace strongroom::vault {
namespace {

// The namespace's inode alone could be reused after a reboot, so the boot is named too.
std::string namespace_text() {
  struct stat info {};
  const unsigned long long inode = ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
  std::string boot = "unknown";
  if (auto fd = open_file("/proc/sys/kernel/random/boot_id", O_RDONLY, "the boot id")) {
    boot = read_all(fd->get(), 128, "the boot id");
    while (!boot.empty() && boot.back() == '\n') boot.pop_back();
  }
  return "pidns " + std::to_string(inode) + " boot " + boot + "\n";
}

void lock_shared(int fd) {
  // Another process is exclusive only while it replaces the file or is the first to open it.
  if (lock_whole_file(fd, false, Patience{2000})) return;
  throw Error(Code::busy, "Another process is replacing this part of the vault; try again.");
}

std::string read_text(int fd) {
  char text[256];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  if (n < 0) throw_errno("read the vault's guard", errno);
  return std::string(text, static_cast<std::size_t>(n));
}

void write_text(int fd, const std::string& text) {
  if (read_text(fd) == text) return;
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw_errno("write the vault's guard", errno == 0 ? EIO : errno);
  }
}

void require_plain(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_errno("check the vault's guard", errno);
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1 || info.st_uid != ::geteuid()) {
    throw Error(Code::corrupt, "A guard file of the vault is not a plain file of this user.");
  }
}

// A lock on a guard that is no longer there (a vault was restored meanwhile) guards nothing.
bool still_named(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

constexpr int kAttempts = 8;

}  // namespace

std::string guard_path(const std::string& mdb_path) {
  return mdb_path + ".guard";
}

Guard Guard::shared(const std::string& mdb_path, bool read_only) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Guard guard = take_shared(mdb_path, read_only);
    if (!guard.fd_ || still_named(guard.fd(), guard_path(mdb_path))) return guard;
  }
  throw Error(Code::busy, "Another process is replacing the vault; try again.");
}

Guard Guard::exclusive(const std::string& mdb_path) {
  const std::string path = guard_path(mdb_path);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) throw_errno("open the vault's guard", errno);
    require_plain(fd.get());
    // A fresh descriptor: turning a shared lock into an exclusive one drops it first.
    if (!lock_whole_file(fd.get(), true, Patience{2000})) {
      throw Error(Code::busy,
                  "Another process has this part of the vault open. A server that is not used "
                  "closes it after a minute; try again then.");
    }
    if (still_named(fd.get(), path)) return Guard(std::move(fd));
  }
  throw Error(Code::busy, "Another process is replacing the vault; try again.");
}

Guard Guard::take_shared(const std::string& mdb_path, bool read_only) {
  const std::string path = guard_path(mdb_path);
  const int flags = read_only ? O_RDONLY : O_RDWR | O_CREAT;
  UniqueFd fd(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    // On read-only media without a guard nobody can replace the file either.
    if (read_only && errno == ENOENT) return Guard();
    if (errno == EACCES || errno == EROFS) {
      throw Error(Code::io, "The vault cannot be written here; use --read-only to read it.");
    }
    if (errno == ELOOP) throw Error(Code::corrupt, "A guard file of the vault is a symbolic link.");
    throw_errno("open the vault's guard", errno);
  }
  require_plain(fd.get());
  const std::string own = namespace_text();
  const bool first = lock_whole_file(fd.get(), true, Patience{0});
  if (first && !read_only) write_text(fd.get(), own);
  lock_shared(fd.get());
  // Turning exclusive into shared is not atomic: another namespace may have come between. A reader
  // that is alone cannot write the text, and what stands there is history.
  const std::string text = read_text(fd.get());
  // Nobody of an earlier boot is still there, and an empty text was left by readers.
  const bool stale = text.empty() || text.substr(std::min(text.size(), text.find(" boot "))) !=
                                         own.substr(own.find(" boot "));
  if (stale && !read_only) write_text(fd.get(), own);
  if (!(first && read_only) && !stale && text != own) {
    throw Error(Code::busy,
                "The vault is open in another container or PID namespace, which cannot share it "
                "safely; use one Strongroom there and reach it through its client.");
  }
  return Guard(std::move(fd));
}

}  // namespace strongroom::vault
