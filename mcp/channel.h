// The two ends of the stdio transport: whole lines out, and a worker for what came in.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/wipe.h"
#include "mcp/server.h"

namespace strongroom::mcp {

/// Writes one line at a time. Thread-safe.
class Output {
 public:
  /// `signals` becomes readable when the process is asked to end (a signalfd).
  Output(int fd, int signals) : fd_(fd), signals_(signals) {}

  /// Writes `message` and a line end, then wipes it. Nothing is written when `cancelled` is set.
  /// Blocks while the reader is slow, though not for long once the process is asked to end.
  void send(std::string& message, const std::atomic<bool>* cancelled = nullptr);

  /// True once nobody can read any more.
  bool closed() const noexcept { return closed_; }
  void close() noexcept { closed_ = true; }

  /// The process was asked to end: from now on a reader that does not read is not waited for.
  void hurry() noexcept { hurry_ = true; }

 private:
  void write_all(std::string_view bytes);
  bool wait_writable();

  int fd_;
  int signals_;
  std::mutex mutex_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> hurry_ = false;
};

/// Runs lines through the server one after the other, on a thread of its own.
class Worker {
 public:
  struct Limits {
    std::size_t lines;
    std::size_t bytes;
  };

  /// `wake` is an eventfd: written when there is room again after full(), and when all is done.
  Worker(Server& server, Output& output, Limits limits, std::function<void()> tick, int wake);
  ~Worker();

  /// True when no more should be read for now.
  bool full();

  /// `id` is the request's id as JSON text, empty for any other line.
  void post(SecretBytes line, std::string_view id, bool cancellable);

  /// The request with this id, waiting, running or an open subscription, gets no answer.
  void cancel(std::string_view id);

  /// No more will come. done() turns true when all is answered and subscriptions are ended.
  void finish();
  bool done();

 private:
  struct Job {
    SecretBytes line;
    std::string id;        // JSON text
    std::string identity;  // comparable form; empty: cannot be cancelled
    std::shared_ptr<std::atomic<bool>> cancelled;
  };
  struct Subscription {
    std::string id;
    std::string identity;
  };

  void run();
  void run_job(Job& job);
  void tick_if_due();
  void subscribe(const Job& job);
  void end_subscriptions();
  void wake() noexcept;

  Server& server_;
  Output& output_;
  const Limits limits_;
  const std::function<void()> tick_;
  const int wake_;

  std::mutex mutex_;  // guards what follows, up to the thread
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::string running_;  // identity
  std::shared_ptr<std::atomic<bool>> running_cancelled_;
  std::vector<Subscription> subscriptions_;
  bool wake_when_room_ = false;
  bool finishing_ = false;
  bool done_ = false;

  std::chrono::steady_clock::time_point next_tick_;  // the worker's own
  std::thread thread_;
};

}  // namespace strongroom::mcp
