// The person at the terminal: questions on /dev/tty, without echo where the answer is a secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/wipe.h"

namespace strongroom::cli {

class Terminal {
 public:
  explicit Terminal(bool no_input) noexcept : no_input_(no_input) {}

  static bool is_terminal(int fd) noexcept;
  /// Columns of the terminal that standard output is; 80 when it does not say.
  static std::size_t columns() noexcept;

  /// Somebody can be asked: --no-input is off, there is a controlling terminal, and standard input
  /// or standard error is one too. A program that captures both is nobody who answers.
  bool person();

  /// A line without echo; nullopt at end of input. A signal that ends or stops the process finds
  /// the echo restored. Throws invalid from 4,095 bytes on, where a
  /// terminal cuts its lines.
  std::optional<SecretBytes> ask_secret(std::string_view prompt);

  /// Yes or no; anything but "y" or "yes" is no.
  bool confirm(std::string_view question);

  /// To the terminal only: never to a file or a pipe that standard output or error may be.
  void show(std::string_view text);

 private:
  int tty();
  std::optional<SecretBytes> ask(std::string_view prompt, bool echo);

  UniqueFd tty_;
  bool no_input_;
};

/// Counts on standard error while something long runs; nothing when that is no terminal.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::uint64_t done);
  /// A bar, and how long the rest will take at the pace so far.
  void update(std::uint64_t done, std::uint64_t total);
  bool terminal() const noexcept { return terminal_; }

 private:
  bool due();

  std::string label_;
  bool shown_ = false;
  bool terminal_;
  std::int64_t started_ = 0, last_ = 0;
};

}  // namespace strongroom::cli
