#include "mcp/stdio.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/wipe.h"
#include "mcp/channel.h"
#include "mcp/messages.h"

namespace strongroom::mcp {

namespace {

// Puts lines together from chunks of any size, and drops the ones that are too long.
class LineAssembler {
 public:
  explicit LineAssembler(std::size_t max_line) : max_line_(max_line) {}

  /// A line that is complete; when it was too long, `line` is empty and `overlong` says whose it
  /// was.
  struct Line {
    SecretBytes line;
    bool overlong = false;
    std::string id;  // JSON text, empty when it cannot be told
  };

  /// Takes bytes up to and with the first line end; true when that completed a line. `chunk` loses
  /// what was taken.
  bool take(std::string_view& chunk, Line& line) {
    const std::size_t end = chunk.find('\n');
    add(chunk.substr(0, end));
    if (end == std::string_view::npos) {
      chunk = {};
      return false;
    }
    chunk.remove_prefix(end + 1);
    line = finish();
    return true;
  }

  /// What is left at the end of input.
  Line finish() {
    Line line;
    line.overlong = dropping_;
    if (dropping_) {
      // Clients write the id early or last.
      if (!answer_) head_id_.clear();
      if (answer_ && head_id_.empty()) head_id_ = id_at_end(tail_);
      if (valid_id(head_id_)) line.id = head_id_;
      wipe(tail_);
    }
    line.line = std::exchange(line_, SecretBytes());
    dropping_ = false;
    head_id_.clear();
    return line;
  }

 private:
  static constexpr std::size_t kTail = 512;

  void add(std::string_view bytes) {
    if (!dropping_ && line_.size() + bytes.size() <= max_line_) {
      line_.append(bytes);
      return;
    }
    if (!dropping_) {
      const std::size_t room = max_line_ - line_.size();
      line_.append(bytes.substr(0, room));
      bytes.remove_prefix(room);
      start_dropping();
    }
    if (bytes.size() > kTail) bytes.remove_prefix(bytes.size() - kTail);
    tail_.append(bytes);
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }

  void start_dropping() {
    const Glance seen = glance(line_.view());
    head_id_ = seen.id;
    answer_ = !seen.reply;
    const std::string_view head = line_.view();
    tail_.reserve(2 * kTail);
    tail_ = head.size() > kTail ? head.substr(head.size() - kTail) : head;
    line_ = SecretBytes();
    dropping_ = true;
  }

  std::size_t max_line_;
  SecretBytes line_;
  bool dropping_ = false;
  bool answer_ = false;
  std::string head_id_;
  std::string tail_;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// The reader: takes bytes, signals and the worker's news, and never runs a call itself.
class Session {
 public:
  Session(Server& server, const StdioOptions& options)
      : server_(server),
        input_(options.input),
        output_fd_(options.output),
        max_line_(options.max_line),
        signals_(open_signals()),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        output_(options.output, signals_.get()),
        assembler_(options.max_line),
        worker_(server, output_, {options.max_waiting, options.max_waiting_bytes}, options.tick,
                wake_.get()) {
    if (!signals_ || !wake_) throw_errno("start the transport", errno);
  }

  int run() {
    while (!worker_.done()) {
      if (output_.closed()) end();
      const bool reading = !ended_ && !worker_.full();
      pollfd ready[4] = {{reading ? input_ : -1, POLLIN, 0},
                         {signals_.get(), POLLIN, 0},
                         {wake_.get(), POLLIN, 0},
                         {ended_ ? -1 : output_fd_, 0, 0}};
      if (poll(ready, 4, -1) < 0) {
        if (errno == EINTR || errno == ENOMEM) continue;
        end();
        continue;
      }
      if (ready[1].revents != 0) take_signal();
      if (ready[2].revents != 0) take_wake();
      // The other side of the output is gone: nobody is left to be served.
      if (ready[3].revents != 0) output_.close();
      if (ready[0].revents != 0 && !ended_) take_input();
    }
    return 0;
  }

 private:
  // SIGTERM and SIGINT arrive as a readable descriptor, so that no handler runs anywhere.
  static UniqueFd open_signals() {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    return UniqueFd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  void take_signal() {
    signalfd_siginfo signal;
    if (read(signals_.get(), &signal, sizeof signal) != sizeof signal) return;
    if (std::exchange(signalled_, true)) end_now(static_cast<int>(signal.ssi_signo));
    output_.hurry();
    end();
  }

  // Asked twice: whoever asks does not want to wait for the call that runs.
  static void end_now(int number) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
    raise(number);
  }

  void take_wake() {
    std::uint64_t count = 0;
    if (read(wake_.get(), &count, sizeof count) < 0) return;
  }

  void take_input() {
    const ssize_t size = read(input_, chunk_.data(), chunk_.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) {
      // A last line without its end is complete or not JSON, so it may be handled like any other.
      take_line(assembler_.finish());
      end();
      return;
    }
    std::string_view rest(chunk_.data(), static_cast<std::size_t>(size));
    LineAssembler::Line line;
    while (!rest.empty() && assembler_.take(rest, line)) take_line(std::move(line));
    wipe(chunk_.data(), static_cast<std::size_t>(size));
  }

  void take_line(LineAssembler::Line line) {
    if (line.overlong) {
      refuse_overlong(line.id);
      return;
    }
    if (is_blank(line.line.view())) return;
    const Glance seen = glance(line.line.view());
    if (seen.whole && seen.id.empty() && seen.method == "\"notifications/cancelled\"") {
      const std::string_view id = glance_member(seen.params, "requestId");
      if (valid_id(id)) worker_.cancel(id);
    } else if (seen.whole && seen.method == "\"ping\"") {
      static const std::atomic<bool> kNever = false;
      std::string reply = server_.handle(line.line.view(), kNever);
      output_.send(reply);
    } else {
      // The handshake cannot be cancelled: without its answer nothing could follow.
      const std::string id(seen.id);
      worker_.post(std::move(line.line), id, seen.method != "\"initialize\"");
    }
  }

  void refuse_overlong(const std::string& id) {
    if (id.empty()) {
      report("a line that is too long was dropped");
      return;
    }
    std::string reply = error_message(
        id, {kInvalidRequest,
             "Invalid Request: the message is longer than " + std::to_string(max_line_) + " bytes",
             {}});
    output_.send(reply);
  }

  void end() {
    ended_ = true;
    worker_.finish();
  }

  Server& server_;
  const int input_;
  const int output_fd_;
  const std::size_t max_line_;
  UniqueFd signals_;
  UniqueFd wake_;
  Output output_;
  LineAssembler assembler_;
  std::array<char, 1u << 16> chunk_{};
  bool ended_ = false;
  bool signalled_ = false;
  Worker worker_;  // last: its thread uses the others
};

}  // namespace

int serve_stdio(Server& server, const StdioOptions& options) {
  signal(SIGPIPE, SIG_IGN);
  return Session(server, options).run();
}

int protect_stdout() {
  // A closed standard descriptor must not lend its number to a file that is opened later.
  const bool closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(standard, F_GETFD) >= 0) continue;
    const int null = open("/dev/null", O_RDWR);
    if (null >= 0 && null != standard) {
      dup2(null, standard);
      close(null);
    }
  }
  const int protocol = closed ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return protocol;
}

}  // namespace strongroom::mcp
