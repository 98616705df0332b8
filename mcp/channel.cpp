#include "mcp/channel.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"
#include "mcp/messages.h"

namespace strongroom::mcp {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTickEvery = std::chrono::seconds(1);
constexpr auto kPatience = std::chrono::seconds(2);  // with a reader that stopped, at the end
constexpr std::size_t kMaxSubscriptions = 256;
constexpr std::size_t kPipePage = 4096;

}  // namespace

void Output::send(std::string& message, const std::atomic<bool>* cancelled) {
  const std::lock_guard lock(mutex_);
  if (!message.empty() && !closed_ && (cancelled == nullptr || !cancelled->load())) {
    message.push_back('\n');
    write_all(message);
  }
  wipe(message);
}

void Output::write_all(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    if (!wait_writable()) {
      closed_ = true;
      return;
    }
    // The descriptor may be blocking and shared, so its mode is left alone: a pipe that polls as
    // writable takes a page at once.
    const ssize_t written = write(fd_, bytes.data(), std::min(bytes.size(), kPipePage));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      closed_ = true;
    }
  }
}

bool Output::wait_writable() {
  bool ending = false;
  Clock::time_point deadline;
  for (;;) {
    pollfd ready[2] = {{fd_, POLLOUT, 0}, {ending ? -1 : signals_, POLLIN, 0}};
    if (poll(ready, 2, 500) < 0 && errno != EINTR) return false;
    if ((ready[0].revents & POLLOUT) != 0) return true;
    if (ready[0].revents != 0 || fd_ < 0) return false;
    if (!ending && (hurry_ || (ready[1].revents & POLLIN) != 0)) {
      ending = true;
      deadline = Clock::now() + kPatience;
    }
    if (ending && Clock::now() >= deadline) return false;
  }
}

Worker::Worker(Server& server, Output& output, Limits limits, std::function<void()> tick, int wake)
    : server_(server),
      output_(output),
      limits_(limits),
      tick_(std::move(tick)),
      wake_(wake),
      next_tick_(Clock::now() + kTickEvery),
      thread_([this] { run(); }) {}

Worker::~Worker() {
  finish();
  thread_.join();
}

bool Worker::full() {
  const std::lock_guard lock(mutex_);
  wake_when_room_ = waiting_.size() >= limits_.lines || waiting_bytes_ >= limits_.bytes;
  return wake_when_room_;
}

void Worker::post(SecretBytes line, std::string_view id, bool cancellable) {
  Job job;
  job.line = std::move(line);
  job.id = id;
  if (cancellable && !id.empty()) job.identity = id_identity(id);
  job.cancelled = std::make_shared<std::atomic<bool>>(false);
  const std::lock_guard lock(mutex_);
  waiting_bytes_ += job.line.size();
  waiting_.push_back(std::move(job));
  changed_.notify_one();
}

void Worker::cancel(std::string_view id) {
  const std::string identity = id_identity(id);
  const std::lock_guard lock(mutex_);
  if (running_cancelled_ && running_ == identity) *running_cancelled_ = true;
  for (Job& job : waiting_) {
    if (job.identity == identity) *job.cancelled = true;
  }
  const auto same = [&](const Subscription& open) { return open.identity == identity; };
  subscriptions_.erase(std::remove_if(subscriptions_.begin(), subscriptions_.end(), same),
                       subscriptions_.end());
}

void Worker::finish() {
  const std::lock_guard lock(mutex_);
  finishing_ = true;
  changed_.notify_one();
}

bool Worker::done() {
  const std::lock_guard lock(mutex_);
  return done_;
}

void Worker::run() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, next_tick_, [this] { return finishing_ || !waiting_.empty(); });
      if (waiting_.empty() && finishing_) break;
      if (!waiting_.empty()) {
        job = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_bytes_ -= job.line.size();
        running_ = job.identity;
        if (!running_.empty()) running_cancelled_ = job.cancelled;
        const bool room = waiting_.size() < limits_.lines && waiting_bytes_ < limits_.bytes;
        if (room && std::exchange(wake_when_room_, false)) wake();
      }
    }
    if (job.cancelled) run_job(job);
    tick_if_due();
  }
  end_subscriptions();
  const std::lock_guard lock(mutex_);
  done_ = true;
  wake();
}

void Worker::run_job(Job& job) {
  if (!job.cancelled->load()) {
    bool subscribed = false;
    std::string reply = server_.handle(job.line.view(), *job.cancelled, &subscribed);
    if (subscribed) subscribe(job);
    output_.send(reply, job.cancelled.get());
  }
  const std::lock_guard lock(mutex_);
  running_.clear();
  running_cancelled_.reset();
}

void Worker::tick_if_due() {
  if (Clock::now() < next_tick_) return;
  next_tick_ = Clock::now() + kTickEvery;
  try {
    if (tick_) tick_();
  } catch (const Error& error) {
    report(error.text());
  } catch (...) {
    report("periodic work failed");
  }
}

void Worker::subscribe(const Job& job) {
  std::string oldest;
  {
    const std::lock_guard lock(mutex_);
    if (job.cancelled->load()) return;
    subscriptions_.push_back({job.id, job.identity});
    if (subscriptions_.size() > kMaxSubscriptions) {
      oldest = std::move(subscriptions_.front().id);
      subscriptions_.erase(subscriptions_.begin());
    }
  }
  if (oldest.empty()) return;
  std::string reply = server_.end_subscription(oldest);
  output_.send(reply);
}

void Worker::end_subscriptions() {
  std::vector<Subscription> open;
  {
    const std::lock_guard lock(mutex_);
    open.swap(subscriptions_);
  }
  for (const Subscription& subscription : open) {
    std::string reply = server_.end_subscription(subscription.id);
    output_.send(reply);
  }
}

void Worker::wake() noexcept {
  const std::uint64_t one = 1;
  // An eventfd refuses only when it is already as readable as can be.
  if (write(wake_, &one, sizeof one) < 0) return;
}

}  // namespace strongroom::mcp
