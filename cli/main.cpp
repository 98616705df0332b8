// The composition root: hands the protocol to the command line.
#include <fcntl.h>

#include "cli/app.h"
#include "crypto/process.h"
#include "mcp/server.h"
#include "mcp/stdio.h"
#include "mcp/tools.h"
#include "vault/fault_handler.h"

namespace {

// A closed standard descriptor must not lend its number to a file of the vault. Opened the wrong
// way round, so that using it is still an error.
void fill_standard_descriptors() {
  for (const int fd : {0, 1, 2}) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

int serve_mcp(strongroom::service::MemoryService& service, bool full,
              const std::function<void()>& tick) {
  using namespace strongroom;
  mcp::StdioOptions options;
  options.output = mcp::protect_stdout();
  if (options.output < 0) throw Error(Code::io, "Standard output is closed.");
  options.tick = tick;
  mcp::Server server(
      mcp::server_info(),
      mcp::make_tool_table(service, full ? mcp::Profile::full : mcp::Profile::standard));
  return mcp::serve_stdio(server, options);
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  strongroom::crypto::harden_process();
  strongroom::vault::install_fault_handler();
  return strongroom::cli::run(argc, argv, serve_mcp);
}
