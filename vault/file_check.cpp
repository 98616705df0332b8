#include "vault/file_check.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "vault/format.h"

namespace strongroom::vault {

std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void check_directory(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      throw Error::verbatim(Code::no_vault,
                            "No vault yet. Run \"strongroom init\" in a terminal. [no_vault]");
    }
    throw_errno("look at the vault's directory", errno);
  }
  if (S_ISLNK(info.st_mode)) {
    throw Error::invalid("vault",
                         "is a symbolic link, which is refused; name the directory itself");
  }
  if (!S_ISDIR(info.st_mode)) throw Error::invalid("vault", "is a file, not a vault directory");
  if (info.st_uid != ::geteuid()) throw Error::invalid("vault", "belongs to another user");
  if ((info.st_mode & 077) != 0) {
    throw Error::invalid("vault", "is accessible to other users; make its mode 0700");
  }
}

void check_vault_file(int fd) {
  struct statx info {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &info) != 0) {
    throw_errno("check a file of the vault", errno);
  }
  if (!S_ISREG(info.stx_mode)) throw_corrupt("a file of the vault is not a regular file");
  if (info.stx_uid != ::geteuid()) throw_corrupt("a file of the vault belongs to another user");
  if ((info.stx_mode & 077) != 0) {
    throw_corrupt("a file of the vault is accessible to other users");
  }
  // Two names for one file mean two lock files: two writers at once.
  if (info.stx_nlink != 1) throw_corrupt("a file of the vault has a second hard link");
  if ((info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0 &&
      (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
    throw_corrupt("a file of the vault is mounted on its own; mount the whole directory");
  }
}

void check_file_system(int fd, bool allow_fuse) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) throw_errno("check the vault's file system", errno);
  // linux/magic.h names only some of these.
  switch (static_cast<std::uint32_t>(info.f_type)) {
    case 0x6969:      // NFS
    case 0x517B:      // SMB
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
    case 0x01021997:  // 9P
    case 0x5346414F:  // AFS
    case 0x6B414653:  // kAFS
    case 0x00C36400:  // Ceph
    case 0x0BD00BD0:  // Lustre
      throw Error(Code::unsupported,
                  "The vault is on a network file system, where it cannot be locked safely.");
    case 0x65735546:  // FUSE
      if (!allow_fuse) {
        throw Error(Code::unsupported,
                    "The vault is on a FUSE file system; set STRONGROOM_ALLOW_FUSE=1 if it keeps "
                    "locks and memory maps as a local one does.");
      }
      break;
    default: break;
  }
}

void check_lmdb_file(int fd) {
  // The layout of LMDB 0.9's data version 1 (mdb.c, MDB_page and MDB_meta): a 16-byte page header,
  // then magic u32, version u32, address 8, map size 8, two table descriptors of 48 bytes (the
  // first starts with the page size), last page number u64, transaction id u64.
  constexpr std::size_t kPageHeader = 16, kMeta = 8 + 8 + 8 + 2 * 48 + 16;
  constexpr std::size_t kLastPage = kPageHeader + 24 + 96;
  const long page_size = ::sysconf(_SC_PAGESIZE);
  std::uint64_t pages = 0;
  for (int i = 0; i < 2; ++i) {
    char page[kPageHeader + kMeta];
    if (!read_exactly(fd, page, sizeof page, i * page_size)) throw_corrupt("a file is cut off");
    const std::string_view meta(page, sizeof page);
    const auto flags = load_le<std::uint16_t>(meta, 10);
    if (load_le<std::uint32_t>(meta, kPageHeader) != 0xBEEFC0DE ||
        load_le<std::uint32_t>(meta, kPageHeader + 4) != 1 || (flags & 0x08) == 0) {
      throw_corrupt("a file is not a database of this format");
    }
    if (load_le<std::uint32_t>(meta, kPageHeader + 24) != static_cast<std::uint32_t>(page_size)) {
      throw_corrupt("a file was made with another page size");
    }
    pages = std::max(pages, load_le<std::uint64_t>(meta, kLastPage) + 1);
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw_errno("check a file of the vault", errno);
  if (pages > (std::uint64_t{1} << 51) ||
      static_cast<std::uint64_t>(info.st_size) < pages * static_cast<std::uint64_t>(page_size)) {
    throw_corrupt("a file is cut off");
  }
}

}  // namespace strongroom::vault
