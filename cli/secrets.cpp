#include "cli/secrets.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::cli {
namespace {

constexpr std::size_t kMaxPassphrase = 4096;
constexpr int kMaxAttempts = 3;

SecretBytes passphrase_of(int fd, std::string_view what) {
  SecretBytes bytes = read_secret(fd, kMaxPassphrase, what);
  for (const char end : {'\n', '\r'}) {
    if (!bytes.empty() && bytes.view().back() == end) bytes.resize(bytes.size() - 1);
  }
  if (bytes.empty()) throw Error::invalid(what, "is empty");
  return bytes;
}

}  // namespace

SecretBytes read_secret(int fd, std::size_t limit, std::string_view what) {
  SecretBytes bytes;
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw Error::invalid(what, "is not open for reading");
  if (S_ISREG(info.st_mode) && info.st_size > 0 &&
      static_cast<std::size_t>(info.st_size) <= limit) {
    bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  }
  SecretBytes buffer;
  buffer.resize(std::size_t{1} << 16);
  for (;;) {
    const std::size_t wanted = std::min(buffer.size(), limit + 1 - bytes.size());
    const ssize_t n = ::read(fd, buffer.data(), wanted);
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno("read " + std::string(what), errno);
    }
    if (n == 0) return bytes;
    bytes.append(buffer.view().substr(0, static_cast<std::size_t>(n)));
    if (bytes.size() > limit) throw Error::too_large(what, bytes.size(), limit);
  }
}

SecretBytes read_passphrase_fd(int fd) {
  // An editor or another child must not inherit it.
  if (fd > 2) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return passphrase_of(fd, "--passphrase-fd");
}

SecretBytes ask_new_passphrase(Terminal& terminal, const std::string& what, bool may_be_empty) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    auto first = terminal.ask_secret(what + ": ");
    if (!first) break;
    if (first->empty()) {
      if (may_be_empty) return std::move(*first);
      terminal.show("It must not be empty.\n");
      continue;
    }
    const auto second = terminal.ask_secret(what + " again: ");
    if (!second) break;
    if (first->view() == second->view()) return std::move(*first);
    terminal.show("They differ.\n");
  }
  throw Error(Code::invalid, "No passphrase was given; nothing was changed.");
}

void show_recovery_code(Terminal& terminal, std::string_view what, const SecretBytes& code) {
  SecretBytes text;
  for (const std::string_view part :
       {std::string_view("\n"), what,
        std::string_view(" (write it down, it is not shown again):\n\n  "), code.view(),
        std::string_view("\n\n")}) {
    text.append(part);
  }
  terminal.show(text.view());
}

}  // namespace strongroom::cli
