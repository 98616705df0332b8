#include "cli/editor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::cli {
namespace {

constexpr std::string_view kDoing = "make a private file";

bool private_folder(const std::string& path) {
  struct stat info {};
  return !path.empty() && path.front() == '/' && ::stat(path.c_str(), &info) == 0 &&
         S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 077) == 0;
}

std::string make_folder() {
  std::string parent = env("XDG_RUNTIME_DIR");
  if (!private_folder(parent)) parent = env("TMPDIR");
  if (parent.empty() || parent.front() != '/') parent = "/tmp";
  std::string folder = parent + "/strongroom-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw_errno(kDoing, errno);
  return folder;
}

void wipe_file(const std::string& path) noexcept {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    static constexpr char kZeros[4096] = {};
    for (off_t at = 0; at < info.st_size; at += off_t{sizeof kZeros}) {
      const auto size =
          static_cast<std::size_t>(std::min<off_t>(off_t{sizeof kZeros}, info.st_size - at));
      if (::pwrite(fd.get(), kZeros, size, at) < 0) break;
    }
    ::fsync(fd.get());
  }
  ::unlink(path.c_str());
}

volatile std::sig_atomic_t g_editor = 0;
volatile std::sig_atomic_t g_ended_by = 0;

// The editor is asked to end, so that the private file is still wiped before we do.
void pass_on(int number) {
  g_ended_by = number;
  if (g_editor > 0) ::kill(static_cast<pid_t>(g_editor), number);
}

// Keys at the terminal are the editor's while it runs; other ends wait for it.
class SignalsForEditor {
 public:
  SignalsForEditor() {
    g_ended_by = 0;
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction pass {};
    pass.sa_handler = pass_on;
    ::sigaction(SIGINT, &ignore, &before_[0]);
    ::sigaction(SIGQUIT, &ignore, &before_[1]);
    ::sigaction(SIGTERM, &pass, &before_[2]);
    ::sigaction(SIGHUP, &pass, &before_[3]);
  }
  ~SignalsForEditor() { restore(); }
  SignalsForEditor(const SignalsForEditor&) = delete;
  SignalsForEditor& operator=(const SignalsForEditor&) = delete;
  void restore() const {
    ::sigaction(SIGINT, &before_[0], nullptr);
    ::sigaction(SIGQUIT, &before_[1], nullptr);
    ::sigaction(SIGTERM, &before_[2], nullptr);
    ::sigaction(SIGHUP, &before_[3], nullptr);
  }

 private:
  struct sigaction before_[4]{};
};

// $VISUAL may hold arguments, so a shell splits it; the path is never part of its text.
int run_editor(const std::string& path) {
  std::string editor = env("VISUAL");
  if (editor.empty()) editor = env("EDITOR");
  if (editor.empty()) editor = "vi";
  const std::string command = editor + " \"$@\"";
  SignalsForEditor signals;
  const pid_t child = ::fork();
  if (child < 0) throw_errno("start the editor", errno);
  if (child == 0) {
    signals.restore();
    ::execl("/bin/sh", "sh", "-c", command.c_str(), "sh", path.c_str(), nullptr);
    ::_exit(127);
  }
  g_editor = child;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  g_editor = 0;
  return g_ended_by != 0 ? -1 : status;
}

}  // namespace

PrivateFile::PrivateFile(const std::string& name, std::string_view text)
    : folder_(make_folder()), path_(folder_ + "/" + name) {
  try {
    create_file(path_, text, 0600, kDoing);
  } catch (...) {
    wipe_file(path_);
    ::rmdir(folder_.c_str());
    throw;
  }
}

PrivateFile::~PrivateFile() {
  if (DIR* const dir = ::opendir(folder_.c_str())) {
    while (const dirent* entry = ::readdir(dir)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") wipe_file(folder_ + "/" + name);
    }
    ::closedir(dir);
  }
  ::rmdir(folder_.c_str());
  if (g_ended_by != 0) ::raise(g_ended_by);
}

std::string PrivateFile::edit(std::size_t limit) {
  if (run_editor(path_) != 0) {
    throw Error(Code::invalid, "The editor failed; nothing was changed.");
  }
  const auto fd = open_file(path_, O_RDONLY | O_NONBLOCK, "the edited file");
  if (!fd) throw Error(Code::invalid, "The editor removed the file; nothing was changed.");
  return read_all(fd->get(), limit, "the edited file");
}

}  // namespace strongroom::cli
