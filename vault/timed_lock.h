// Locks between processes that are waited for with a limit: whoever holds one may have been stopped
// (SIGSTOP, a frozen container), and then nobody else shall wait for it without end. The kernel
// drops them when their holder ends, however it ends.
#pragma once

#include <chrono>
#include <mutex>
#include <utility>

#include "base/file.h"

namespace strongroom::vault {

using Patience = std::chrono::milliseconds;

/// How long a write waits for the writers before it. Far above what a transaction takes.
inline constexpr Patience kWriterPatience{10'000};

/// flock() on the whole file, exclusive or shared. False when it is not to be had in time; throws
/// io.
bool lock_whole_file(int fd, bool exclusive, Patience patience);

/// The turn of one writer over all processes and threads, on a file that each process keeps open.
/// Thread-safe; a turn ends in the thread that began it.
///
/// Two locks make it fair: who waits for the turn stands at the door, and who has just had one must
/// go through the door again. A process that is stopped at the door is passed by.
class WriterTurns {
 public:
  /// `fd` is open for writing and stays open; its bytes are not touched.
  explicit WriterTurns(int fd) : fd_(fd) {}

  class Turn {
   public:
    Turn() = default;
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() { end(); }
    void end() noexcept;

   private:
    friend class WriterTurns;
    explicit Turn(WriterTurns* turns) : turns_(turns) {}
    WriterTurns* turns_ = nullptr;
  };

  /// Throws busy when the turn does not come in time.
  Turn take(Patience patience);

 private:
  bool take_lock(Patience patience);
  std::timed_mutex mutex_;  // the file's locks belong to the descriptor, which threads share
  int fd_;
};

}  // namespace strongroom::vault
