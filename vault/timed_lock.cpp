#include "vault/timed_lock.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <utility>

#include "base/error.h"

namespace strongroom::vault {
namespace {

using Clock = std::chrono::steady_clock;

// Far behind the text of a guard file; no byte needs to be there.
constexpr off_t kDoor = off_t{1} << 40;
constexpr off_t kTurn = kDoor + 1;
// A door that is held longer than a few transactions take belongs to a process that stands still.
constexpr Patience kDoorPatience{50};

// There is no lock with a time limit, so it is tried again and again: after 20 microseconds first,
// then ever less often, every millisecond at last.
template <class Attempt>
bool try_until(Clock::time_point end, const Attempt& attempt) {
  for (long pause = 20'000;; pause = std::min(pause * 2, 1'000'000L)) {
    if (attempt()) return true;
    if (Clock::now() >= end) return false;
    const timespec time{0, pause};
    ::nanosleep(&time, nullptr);
  }
}

// An open file description's own lock: unlike the older kind it survives other descriptors of the
// same file being closed.
bool set_lock(int fd, short type, off_t at) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  while (::fcntl(fd, F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) throw_errno("lock the vault for writing", errno);
  }
  return true;
}

}  // namespace

bool lock_whole_file(int fd, bool exclusive, Patience patience) {
  const int operation = (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  return try_until(Clock::now() + patience, [&] {
    while (::flock(fd, operation) != 0) {
      if (errno == EWOULDBLOCK) return false;
      if (errno != EINTR) throw_errno("lock a file of the vault", errno);
    }
    return true;
  });
}

bool WriterTurns::take_lock(Patience patience) {
  const auto end = Clock::now() + patience;
  const bool at_door = try_until(Clock::now() + std::min(patience, kDoorPatience),
                                 [&] { return set_lock(fd_, F_WRLCK, kDoor); });
  bool taken = false;
  try {
    taken = try_until(end, [&] { return set_lock(fd_, F_WRLCK, kTurn); });
  } catch (...) {
    if (at_door) set_lock(fd_, F_UNLCK, kDoor);
    throw;
  }
  if (at_door) set_lock(fd_, F_UNLCK, kDoor);
  return taken;
}

WriterTurns::Turn WriterTurns::take(Patience patience) {
  std::unique_lock lock(mutex_, std::defer_lock);
  const auto start = Clock::now();
  if (lock.try_lock_for(patience)) {
    const auto waited = std::chrono::duration_cast<Patience>(Clock::now() - start);
    if (take_lock(std::max(Patience{0}, patience - waited))) {
      lock.release();
      return Turn(this);
    }
  }
  throw Error(Code::busy,
              "Another process is in the middle of a write and does not finish it; it may have "
              "been stopped. Nothing was stored; try again.");
}

void WriterTurns::Turn::end() noexcept {
  WriterTurns* const turns = std::exchange(turns_, nullptr);
  if (turns == nullptr) return;
  try {
    set_lock(turns->fd_, F_UNLCK, kTurn);
  } catch (const Error&) {
    // Unlocking asks the kernel for nothing that it could lack.
  }
  turns->mutex_.unlock();
}

}  // namespace strongroom::vault
