// mcp: serves agents over standard input and output.
#include <memory>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"

namespace strongroom::cli {
namespace {

constexpr TimeMs kIdleMs = 60'000;
constexpr std::size_t kMaxName = 64;

// What is named here is a label: the policy may tell processes apart by it, and gives no more
// trust.
std::string principal(const std::optional<std::string>& name) {
  const std::string label = name.value_or("mcp");
  std::string_view rest = label;
  if (rest.substr(0, 6) == "local:") rest.remove_prefix(6);
  const bool printable = valid_utf8(rest) && escape_for_display(rest) == rest;
  if (rest.empty() || rest.size() > kMaxName || !printable ||
      rest.find_first_of(" *") != std::string_view::npos) {
    throw Error::invalid("--principal", "must be 1 to 64 bytes without spaces and \"*\"");
  }
  return "local:" + std::string(rest);
}

int serve(Context& context, const std::optional<std::string>& name) {
  // Nothing is opened, asked for or written until the first call that needs the vault.
  service::ServiceOptions options = context.service_options(principal(name), "mcp", false);
  if (context.globals().bank) options.bank_override = *context.globals().bank;
  service::MemoryService service(std::move(options));
  // What it throws is reported by the transport, which never blocks on stderr; records that could
  // not be written stay buffered.
  const auto tick = [&service] {
    service.flush_audit();
    service.close_if_idle(kIdleMs);
  };
  const int code = context.serve()(service, tick);
  service.close();
  return code;
}

}  // namespace

void add_mcp_command(Command& root) {
  const auto name = std::make_shared<std::optional<std::string>>();
  root.command("mcp", "Serve agents over standard input and output (Model Context Protocol)",
               [name](Context& context) { return serve(context, *name); })
      .option("--principal", "NAME", *name, "A label for this client in policy and audit");
}

}  // namespace strongroom::cli
