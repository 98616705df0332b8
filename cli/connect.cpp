// connect: writes the server into the configuration of clients, or takes it out.
#include "service/connect.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <climits>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"

namespace strongroom::cli {
namespace {

using service::ConnectPlan;
using service::ConnectSettings;

struct ConnectOptions {
  std::vector<std::string> clients;
  std::optional<std::string> principal;
  bool all = false, print = false, undo = false, yes = false;
};

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0) throw Error(Code::io, "The path of this program could not be found.");
  return std::string(path.data(), static_cast<std::size_t>(size));
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

// What is the default is not written, so that a client follows the machine it runs on.
ConnectSettings settings_for(Context& context, const ConnectOptions& options) {
  const Globals& globals = context.globals();
  ConnectSettings settings = service::connect_settings_from_environment();
  settings.binary = own_path();
  settings.vault = absolute(globals.vault.value_or(env("STRONGROOM_VAULT")));
  settings.keyfile = absolute(globals.keyfile.value_or(env("STRONGROOM_KEYFILE")));
  settings.passphrase_file =
      absolute(globals.passphrase_file.value_or(env("STRONGROOM_PASSPHRASE_FILE")));
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (!value) return;
    settings.arguments.emplace_back(name);
    settings.arguments.push_back(*value);
  };
  add("--bank", globals.bank);
  if (globals.project) add("--project", absolute(*globals.project));
  add("--principal", options.principal);
  if (globals.read_only) settings.arguments.emplace_back("--read-only");
  if (globals.no_anchor) settings.arguments.emplace_back("--no-anchor");
  return settings;
}

std::vector<std::string> chosen_clients(const ConnectOptions& options,
                                        const ConnectSettings& settings) {
  if (options.all && !options.clients.empty()) {
    throw Error::invalid("--all", "stands alone, without client names");
  }
  if (options.all) {
    std::vector<std::string> present = service::present_clients(settings);
    if (present.empty()) throw Error(Code::not_found, "No client was found here.");
    return present;
  }
  if (options.clients.empty()) {
    throw Error::invalid("connect",
                         "names no client; there are " + joined(service::client_names()));
  }
  std::vector<std::string> clients;
  for (const std::string& client : options.clients) {
    if (std::find(clients.begin(), clients.end(), client) == clients.end())
      clients.push_back(client);
  }
  return clients;
}

std::string_view action_name(ConnectPlan::Action action) {
  switch (action) {
    case ConnectPlan::Action::none: return "none";
    case ConnectPlan::Action::create_file: return "create_file";
    case ConnectPlan::Action::add: return "add";
    case ConnectPlan::Action::replace: return "replace";
    case ConnectPlan::Action::remove: return "remove";
    case ConnectPlan::Action::remove_file: return "remove_file";
  }
  return "none";
}

void print_snippet(Context& context, const std::string& client, const ConnectSettings& settings) {
  const std::string snippet = service::connect_snippet(client, settings);
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("client", client);
    writer.member("path", service::connect_path(client, settings));
    context.out().line(writer.member("snippet", snippet).end_object().text());
    return;
  }
  // A comment line would not be JSON: where it belongs goes to stderr.
  write_stderr("# " + escape_for_display(service::connect_path(client, settings)) + "\n");
  context.out().text(snippet);
  if (!snippet.empty() && snippet.back() != '\n') context.out().text("\n");
}

void show_plan(Context& context, const ConnectPlan& plan) {
  if (context.json()) return;
  context.out().line(context.out().paint(Colour::bold, plan.title) + ": " +
                     escape_for_display(plan.path));
  for (const std::string& line : plan.summary) {
    const Colour colour = line.rfind("+ ", 0) == 0   ? Colour::green
                          : line.rfind("- ", 0) == 0 ? Colour::red
                                                     : Colour::none;
    context.out().line("  " + context.out().paint(colour, line));
  }
}

void report(Context& context, const ConnectPlan& plan, const std::string& backup) {
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("client", plan.client).member("path", plan.path);
    writer.member("action", action_name(plan.action)).member("backup", backup);
    write_strings(writer, "summary", plan.summary);
    context.out().line(writer.end_object().text());
  } else if (plan.action != ConnectPlan::Action::none) {
    context.out().line(
        plan.title + ": done" +
        (backup.empty() ? "" : "; the file before is " + escape_for_display(backup)));
  }
}

int connect(Context& context, const ConnectOptions& options) {
  const ConnectSettings settings = settings_for(context, options);
  const std::vector<std::string> clients = chosen_clients(options, settings);
  if (options.print) {
    if (options.undo) throw Error::invalid("--print", "and --undo do not go together");
    for (const std::string& client : clients) print_snippet(context, client, settings);
    return 0;
  }
  // Every plan before the first write: one that fails leaves all files as they are.
  std::vector<ConnectPlan> plans;
  bool changes = false;
  for (const std::string& client : clients) {
    plans.push_back(options.undo ? service::plan_undo(client, settings)
                                 : service::plan_connect(client, settings));
    changes = changes || plans.back().action != ConnectPlan::Action::none;
  }
  for (const ConnectPlan& plan : plans) show_plan(context, plan);
  context.out().flush();
  if (changes) context.confirm(options.yes, "Write this?", "connect");
  for (const ConnectPlan& plan : plans) {
    const bool write = plan.action != ConnectPlan::Action::none;
    report(context, plan, write ? service::apply(plan) : std::string());
    context.out().flush();
  }
  return 0;
}

}  // namespace

void add_connect_command(Command& root) {
  const auto options = std::make_shared<ConnectOptions>();
  Command command =
      root.command("connect", "Put the server into the configuration of agents' clients",
                   [options](Context& context) { return connect(context, *options); });
  command.positionals("CLIENT", options->clients, joined(service::client_names()));
  command.flag("--all", options->all, "Every client that is found here");
  command.flag("--print", options->print, "Show what to paste; write nothing");
  command.flag("--undo", options->undo, "Take the server out again");
  command.option("--principal", "NAME", options->principal,
                 "A label for this client in policy and audit");
  command.flag("--yes,-y", options->yes, "Do not ask");
}

}  // namespace strongroom::cli
