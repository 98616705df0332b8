#include "cli/terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"
#include "cli/output.h"

namespace strongroom::cli {
namespace {

constexpr std::size_t kMaxLine = 4095;
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

volatile std::sig_atomic_t g_caught = 0;

void on_signal(int number) {
  g_caught = number;
}

// While it lives, signals only interrupt the wait for a key; the terminal is put back first and
// then they take their course. They are blocked except during that wait, so that none is lost
// between looking and waiting.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t blocked;
    sigemptyset(&blocked);
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaddset(&blocked, kSignals[i]);
      ::sigaction(kSignals[i], &action, &before_[i]);
    }
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_);
    g_caught = 0;
  }
  ~SignalsHeld() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  const sigset_t& outer_mask() const noexcept { return mask_; }

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t mask_{};
};

// Echo off until it goes out of scope; the line break that was not echoed is written then.
class EchoOff {
 public:
  explicit EchoOff(int fd) : fd_(fd) {
    if (::tcgetattr(fd_, &before_) != 0) throw_errno("read the terminal's settings", errno);
    struct termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
    // What was typed ahead was not meant for this question.
    if (::tcsetattr(fd_, TCSAFLUSH, &quiet) != 0) throw_errno("switch the echo off", errno);
  }
  ~EchoOff() {
    ::tcsetattr(fd_, TCSAFLUSH, &before_);
    [[maybe_unused]] const ssize_t written = ::write(fd_, "\n", 1);
  }
  EchoOff(const EchoOff&) = delete;
  EchoOff& operator=(const EchoOff&) = delete;

 private:
  int fd_;
  struct termios before_ {};
};

enum class LineEnd { complete, end_of_input, interrupted };

LineEnd read_line(int fd, const sigset_t& mask, SecretBytes& line) {
  for (;;) {
    struct pollfd wait {
      fd, POLLIN, 0
    };
    const int ready = ::ppoll(&wait, 1, nullptr, &mask);
    if (g_caught != 0) return LineEnd::interrupted;
    if (ready < 0) {
      if (errno == EINTR) continue;
      throw_errno("wait for the terminal", errno);
    }
    char key = 0;
    const ssize_t n = ::read(fd, &key, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return LineEnd::end_of_input;
    if (key == '\n') return LineEnd::complete;
    if (line.size() < kMaxLine) line.append({&key, 1});
    wipe(&key, 1);
  }
}

}  // namespace

bool Terminal::is_terminal(int fd) noexcept {
  return ::isatty(fd) == 1;
}

std::size_t Terminal::columns() noexcept {
  constexpr std::size_t kUsual = 80;
  struct winsize size {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

int Terminal::tty() {
  if (!tty_) tty_ = UniqueFd(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  return tty_.get();
}

bool Terminal::person() {
  if (no_input_ || !(is_terminal(0) || is_terminal(2))) return false;
  return tty() >= 0;
}

std::optional<SecretBytes> Terminal::ask(std::string_view prompt, bool echo) {
  for (;;) {
    SecretBytes line;
    line.reserve(kMaxLine);
    LineEnd end{};
    {
      SignalsHeld held;
      std::optional<EchoOff> off;
      if (!echo) off.emplace(tty());
      write_all(tty(), prompt, "write to the terminal");
      end = read_line(tty(), held.outer_mask(), line);
    }
    if (end == LineEnd::complete) {
      if (line.size() >= kMaxLine) throw Error::invalid("answer", "is too long for a terminal");
      return line;
    }
    if (end == LineEnd::end_of_input) return std::nullopt;
    // The default action, now that the terminal is as it was. After a stop the question is asked
    // again.
    ::raise(g_caught);
  }
}

std::optional<SecretBytes> Terminal::ask_secret(std::string_view prompt) {
  return ask(prompt, false);
}

bool Terminal::confirm(std::string_view question) {
  const auto answer = ask(std::string(question) + " [y/N] ", true);
  if (!answer) return false;
  const std::string_view text = answer->view();
  return text == "y" || text == "Y" || text == "yes" || text == "Yes" || text == "YES";
}

void Terminal::show(std::string_view text) {
  write_all(tty(), text, "write to the terminal");
}

// ---- progress

namespace {
constexpr TimeMs kProgressEvery = 100;
constexpr std::uint64_t kBarWidth = 24;
}  // namespace

Progress::Progress(std::string label)
    : label_(std::move(label)),
      terminal_(Terminal::is_terminal(2)),
      started_(now_ms()),
      last_(started_) {}

Progress::~Progress() {
  if (shown_) write_stderr("\r\033[K");
}

bool Progress::due() {
  if (!terminal_) return false;
  const TimeMs now = now_ms();
  if (now - last_ < kProgressEvery) return false;
  last_ = now;
  shown_ = true;
  return true;
}

void Progress::update(std::uint64_t done) {
  if (due()) write_stderr("\r\033[K" + label_ + ": " + std::to_string(done));
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  if (!due() || total == 0) return;
  const double part = std::min(static_cast<double>(done) / static_cast<double>(total), 1.0);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(kBarWidth));
  std::string line = "\r\033[K" + label_ + " [" + std::string(full, '#') +
                     std::string(kBarWidth - full, '.') + "] " +
                     std::to_string(static_cast<int>(part * 100)) + " %";
  if (part > 0) {
    const double spent = static_cast<double>(last_ - started_);
    const auto left = static_cast<TimeMs>(spent / part - spent);
    line += ", " + format_age(std::max<TimeMs>(left, 1000)) + " left";
  }
  write_stderr(line);
}

}  // namespace strongroom::cli
