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

constexpr std::uint64_t kMinCacheMiB = 1, kMaxCacheMiB = 65'536;

struct McpOptions {
  std::optional<std::string> name, profile;
  std::optional<std::uint64_t> cache_mib;
};

int serve(Context& context, const McpOptions& given) {
  // Nothing is opened, asked for or written until the first call that needs the vault.
  service::ServiceOptions options = context.service_options(principal(given.name), "mcp", false);
  if (context.globals().bank) options.bank_override = *context.globals().bank;
  if (given.cache_mib) options.cache_bytes = *given.cache_mib << 20;
  service::MemoryService service(std::move(options));
  // What it throws is reported by the transport, which never blocks on stderr; records that could
  // not be written stay buffered.
  const auto tick = [&service] {
    service.flush_audit();
    service.close_if_idle(kIdleMs);
  };
  const int code = context.serve()(service, given.profile == "full", tick);
  service.close();
  return code;
}

}  // namespace

void add_mcp_command(Command& root) {
  const auto options = std::make_shared<McpOptions>();
  root.command("mcp", "Serve agents over standard input and output (Model Context Protocol)",
               [options](Context& context) { return serve(context, *options); })
      .option("--principal", "NAME", options->name, "A label for this client in policy and audit")
      .choice("--profile", {"default", "full"}, options->profile,
              "Tools to offer: full adds lists, statistics and purge")
      .number("--cache", kMinCacheMiB, kMaxCacheMiB, options->cache_mib,
              "MiB of decrypted index blocks to keep in memory (172)");
}

}  // namespace strongroom::cli
