// The composition root: hands the protocol to the command line.
#include "cli/app.h"
#include "crypto/process.h"
#include "mcp/server.h"
#include "mcp/stdio.h"
#include "mcp/tools.h"
#include "vault/fault_handler.h"

namespace {

int serve_mcp(strongroom::service::MemoryService& service, const std::function<void()>& tick) {
  using namespace strongroom;
  mcp::StdioOptions options;
  options.output = mcp::protect_stdout();
  if (options.output < 0) throw Error(Code::io, "Standard output is closed.");
  options.tick = tick;
  mcp::Server server(mcp::server_info(), mcp::make_tool_table(service));
  return mcp::serve_stdio(server, options);
}

}  // namespace

int main(int argc, char** argv) {
  strongroom::crypto::harden_process();
  strongroom::vault::install_fault_handler();
  return strongroom::cli::run(argc, argv, serve_mcp);
}
