#include "recall/share_work.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace strongroom::recall {

namespace {

constexpr std::size_t kMostThreads = 4;
constexpr std::size_t kPieces = 8;  // of what is worth a thread

using Work = std::function<void(std::size_t first, std::size_t end)>;

class Shared {
 public:
  Shared(std::size_t count, std::size_t piece, const Work& work)
      : count_(count), piece_(piece), work_(work) {}

  void run() noexcept {
    try {
      for (std::size_t at; (at = next_.fetch_add(piece_)) < count_;) {
        work_(at, std::min(count_, at + piece_));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_, piece_;
  const Work& work_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void share_work(std::size_t count, std::size_t worth_a_thread,
                const std::function<void(std::size_t first, std::size_t end)>& work) {
  if (count < 2 * worth_a_thread) {
    if (count > 0) work(0, count);
    return;
  }
  // Asking for it reads files of the system.
  static const std::size_t most =
      std::min<std::size_t>(std::thread::hardware_concurrency(), kMostThreads);
  Shared shared(count, std::max<std::size_t>(worth_a_thread / kPieces, 1), work);
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < std::min(most, count / worth_a_thread)) {
      helpers.emplace_back([&shared] { shared.run(); });
    }
  } catch (const std::system_error&) {  // no more threads are to be had: it takes longer
  }
  shared.run();
  for (std::thread& helper : helpers) helper.join();
  shared.rethrow();
}

}  // namespace strongroom::recall
