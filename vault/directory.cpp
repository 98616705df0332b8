#include "vault/directory.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::vault {
namespace {

constexpr off_t kReserveBytes = 1 << 20;

}  // namespace

std::vector<std::string> directory_entries(const std::string& path) {
  std::vector<std::string> names;
  DIR* const dir = ::opendir(path.c_str());
  if (dir == nullptr) throw_errno("look at the vault's directory", errno);
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(dir);
  return names;
}

void remove_tree(const std::string& path) noexcept {
  try {
    // A link is taken away, never followed.
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
    for (const std::string& name : directory_entries(path)) remove_tree(path + "/" + name);
    ::rmdir(path.c_str());
  } catch (const Error&) {
    // What cannot be listed cannot be removed either; the name ends in .tmp and says what it is.
  }
}

void make_reserve(const std::string& folder, std::string_view doing) {
  const UniqueFd fd(
      ::open((folder + "/reserve").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) throw_errno(doing, errno);
  if (const int error = ::posix_fallocate(fd.get(), 0, kReserveBytes)) throw_errno(doing, error);
  sync_fd(fd.get(), doing);
}

}  // namespace strongroom::vault
