// A process with a MemoryService of its own, driven over pipes.
#pragma once

#include <string>
#include <sys/types.h>

#include "wire.h"

namespace strongroom::oracle {

enum class Command : std::uint64_t { retain, edit, search, stats, quit };

/// Serves commands from descriptor 0 until the stream ends.
int serve(const std::string& vault, const std::string& keyfile, const std::string& folder);

class Worker {
 public:
  Worker(std::string vault, std::string keyfile, std::string folder);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// A command and its reply, behind the status; throws when the worker is gone.
  In ask(Command command, const Out& request);
  /// Ends it in order, or with SIGKILL; another one is started.
  void restart(bool kill);
  pid_t pid() const { return pid_; }

 private:
  void start();
  void stop(bool kill);

  std::string vault_, keyfile_, folder_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace strongroom::oracle
