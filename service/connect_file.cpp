#include "service/connect_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <limits.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/time.h"
#include "base/utf8.h"
#include "service/connect.h"

namespace strongroom::service {
namespace connect_edit {
namespace {

constexpr std::size_t kMaxConfig = 16 << 20;
constexpr std::size_t kMaxBackupsRead = 16;
constexpr std::string_view kBackup = ".strongroom-backup-";
constexpr std::string_view kDoing = "change the client's configuration";

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Where `path` leads; empty when nothing is there.
std::string target_of(const std::string& path, bool is_link, std::string_view subject) {
  if (!is_link) return path;
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) {
    throw Error::invalid(subject, "is a symbolic link that leads nowhere");
  }
  return resolved;
}

}  // namespace

ConfigFile read_config_file(const std::string& path, std::string_view subject) {
  ConfigFile file;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) throw_errno("look at " + std::string(subject), errno);
    file.target = path;
    return file;
  }
  file.is_link = S_ISLNK(info.st_mode);
  file.target = target_of(path, file.is_link, subject);
  const auto fd = open_file(file.target, O_RDONLY | O_NONBLOCK | O_NOCTTY, subject);
  if (!fd) throw Error(Code::conflict, "The file changed while it was read: try again.");
  if (::fstat(fd->get(), &info) != 0) throw_errno("look at " + std::string(subject), errno);
  if (!S_ISREG(info.st_mode)) throw Error::invalid(subject, "is not a regular file");
  if (info.st_uid != ::geteuid()) throw Error::invalid(subject, "belongs to another user");
  if (info.st_nlink != 1) {
    throw Error::invalid(subject, "has several hard links, which replacing it would part");
  }
  if (info.st_size > static_cast<off_t>(kMaxConfig)) {
    throw Error::too_large(subject, static_cast<unsigned long long>(info.st_size), kMaxConfig);
  }
  file.exists = true;
  file.bytes = read_all(fd->get(), kMaxConfig, subject);
  if (!valid_utf8(file.bytes)) throw Error::invalid(subject, "is not valid UTF-8");
  file.mode = info.st_mode & 07777;
  file.owner = info.st_uid;
  file.group = info.st_gid;
  return file;
}

std::vector<std::string> read_backups(const std::string& target) {
  const std::string folder = parent_of(target);
  const std::string prefix = base_name(target) + std::string(kBackup);
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    if (std::string_view(entry->d_name).substr(0, prefix.size()) == prefix) {
      names.emplace_back(entry->d_name);
    }
  }
  std::sort(names.begin(), names.end(), std::greater<>());
  if (names.size() > kMaxBackupsRead) names.resize(kMaxBackupsRead);
  std::vector<std::string> contents;
  for (const std::string& name : names) {
    try {
      ConfigFile backup = read_config_file(folder + "/" + name, "a backup");
      if (!backup.is_link) contents.push_back(std::move(backup.bytes));
    } catch (const Error&) {
      continue;
    }
  }
  return contents;
}

namespace {

/// 20261121T214005Z
std::string compact_time() {
  std::string time = format_time(now_ms()).substr(0, 19);
  time.erase(std::remove_if(time.begin(), time.end(), [](char c) { return c == '-' || c == ':'; }),
             time.end());
  return time + "Z";
}

/// A new file with exactly these rights, on disk; false when the name is taken.
bool write_new(const std::string& path, std::string_view bytes, const ConfigFile& like) {
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    if (errno == EEXIST) return false;
    throw_errno(kDoing, errno);
  }
  try {
    write_all(fd.get(), bytes, kDoing);
    // The group before the mode: changing it clears bits. Not being in it is no reason to fail, but
    // then the group that takes its place must not gain what the old one had.
    mode_t mode = like.mode;
    if (like.exists && ::fchown(fd.get(), like.owner, like.group) != 0) mode &= 0707;
    if (::fchmod(fd.get(), mode) != 0) throw_errno(kDoing, errno);
    sync_fd(fd.get(), kDoing);
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
  return true;
}

std::string write_backup(const ConfigFile& file) {
  const std::string stem = file.target + std::string(kBackup) + compact_time();
  for (int i = 1; i < 1000; ++i) {
    const std::string path = i == 1 ? stem : stem + "-" + std::to_string(i);
    if (write_new(path, file.bytes, file)) return path;
  }
  throw_errno(kDoing, EEXIST);
}

/// A file's bytes under another name until they take its place.
class Temporary {
 public:
  Temporary(const ConfigFile& like, std::string_view bytes)
      : path_(parent_of(like.target) + "/." + base_name(like.target) + ".strongroom-" +
              std::to_string(::getpid()) + "-" + std::to_string(now_ms())) {
    if (!write_new(path_, bytes, like)) throw_errno(kDoing, EEXIST);
  }
  ~Temporary() { ::unlink(path_.c_str()); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void rename_over(const std::string& target) const {
    if (::rename(path_.c_str(), target.c_str()) != 0) throw_errno(kDoing, errno);
  }
  /// False when something has that name by now.
  bool link_as(const std::string& target) const {
    if (::link(path_.c_str(), target.c_str()) == 0) return true;
    if (errno != EEXIST) throw_errno(kDoing, errno);
    return false;
  }

 private:
  std::string path_;
};

[[noreturn]] void changed(const ConnectPlan& plan) {
  throw Error(Code::conflict, "The configuration of " + plan.title +
                                  " was changed by someone else meanwhile: nothing was written, "
                                  "try again.");
}

ConfigFile read_as_planned(const ConnectPlan& plan) {
  ConfigFile file = read_config_file(plan.path, "the configuration of " + plan.title);
  if (file.exists != plan.exists || file.bytes != plan.before) changed(plan);
  return file;
}

}  // namespace
}  // namespace connect_edit

std::string apply(const ConnectPlan& plan) {
  using namespace connect_edit;
  using Action = ConnectPlan::Action;
  if (plan.action == Action::none) return {};
  const ConfigFile file = read_as_planned(plan);
  if (!file.exists) {
    make_directories(parent_of(file.target));
    const Temporary fresh(file, plan.after);
    if (!fresh.link_as(file.target)) changed(plan);
    sync_parent(file.target, kDoing);
    return {};
  }
  const std::string backup = write_backup(file);
  if (plan.action == Action::remove_file) {
    read_as_planned(plan);
    if (::unlink(file.target.c_str()) != 0) throw_errno(kDoing, errno);
  } else {
    const Temporary fresh(file, plan.after);
    read_as_planned(plan);  // clients write their files too: the shorter the gap the better
    fresh.rename_over(file.target);
  }
  sync_parent(file.target, kDoing);
  return backup;
}

}  // namespace strongroom::service
