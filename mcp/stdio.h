// The stdio transport: one JSON object a line.
#pragma once

#include <cstddef>
#include <functional>

#include "mcp/server.h"

namespace strongroom::mcp {

struct StdioOptions {
  int input = 0;
  int output = 1;
  /// A longer line is dropped up to its end. It is answered -32600 where its id can be told from
  /// its first or last bytes, else reported on stderr.
  std::size_t max_line = 16u << 20;
  /// Lines that wait for the worker. Beyond either limit reading stops until it has caught up.
  std::size_t max_waiting = 1024;
  std::size_t max_waiting_bytes = 64u << 20;
  /// Called about once a second between calls, also while idle, on the worker thread. What it
  /// throws is reported on stderr.
  std::function<void()> tick;
};

/// Serves until end of input, SIGTERM, SIGINT, or until nobody reads the output any more; returns
/// the exit code (0). Calls run on one worker thread in order, while the reader answers `ping` at
/// once and takes `notifications/cancelled` for calls that run or wait. What was read before the
/// end is finished and answered; a second signal ends the process at once. The caller has already
/// moved the protocol away from fd 1 where it must stay clean (protect_stdout).
///
/// Ignores SIGPIPE, and leaves SIGTERM and SIGINT blocked in the calling thread when it returns, so
/// that they do not cut off what the caller does to finish. Call it before starting other threads.
int serve_stdio(Server& server, const StdioOptions& options);

/// Moves fd 1 to a private descriptor and points fd 1 at stderr, so that nothing but the protocol
/// can reach the client. Returns the private descriptor, or -1 when fd 1 is closed. Standard
/// descriptors that are closed are filled with /dev/null; call it before anything is opened.
int protect_stdout();

}  // namespace strongroom::mcp
