#include "cli/app.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/secrets.h"

namespace strongroom::cli {
namespace {

constexpr const char* kDescription =
    "Strongroom: an encrypted memory vault for AI agents.\n"
    "Exit codes: 0 ok, 1 not found, 2 usage or invalid, 3 locked or wrong key or no vault,\n"
    "4 denied, 5 damaged or rolled back, 6 busy or conflict, 7 disk, 70 internal.";

void add_global_options(Command& root, Globals& to) {
  root.option("--vault", "PATH", to.vault, "The vault (STRONGROOM_VAULT)");
  root.option("--keyfile", "PATH", to.keyfile, "The owner's key file (STRONGROOM_KEYFILE)");
  root.option("--passphrase-file", "PATH", to.passphrase_file,
              "A file that holds the passphrase (STRONGROOM_PASSPHRASE_FILE)");
  root.number("--passphrase-fd", 0, 1 << 20, to.passphrase_fd,
              "Read the passphrase from this descriptor");
  root.option("--bank", "BANK", to.bank, "Use this bank instead of the project's");
  root.option("--project", "DIR", to.project, "Look the project up here, not in this folder");
  root.flag("--read-only", to.read_only, "Change nothing, and write no audit");
  root.flag("--no-anchor", to.no_anchor, "Keep no record of the vault's state on this machine");
  root.flag("--as-backup", to.as_backup, "Read a backup, and change nothing");
  root.flag("--no-input", to.no_input, "Never ask");
  root.flag("--json", to.json, "Answer in JSON, lists a line each");
  root.flag("--version", to.version, "Show the version and exit");
}

void add_commands(Command& root) {
  root.heading("Entries");
  add_entry_commands(root);
  add_listing_commands(root);
  root.heading("Memories");
  add_retain_command(root);
  add_recall_command(root);
  add_reflect_command(root);
  add_context_command(root);
  add_memory_commands(root);
  add_memory_list_commands(root);
  add_review_commands(root);
  add_import_command(root);
  root.heading("Vault");
  add_init_command(root);
  add_health_commands(root);
  add_compact_command(root);
  add_recovery_commands(root);
  add_bank_commands(root);
  add_model_commands(root);
  add_slot_commands(root);
  add_config_commands(root);
  root.heading("Trust");
  add_policy_commands(root);
  add_audit_commands(root);
  root.heading("Serve");
  add_mcp_command(root);
  add_connect_command(root);
  add_completion_command(root);
  add_manual_command(root);
}

void report(const Error& error, bool json) {
  std::string line;
  if (json) {
    JsonWriter writer;
    writer.begin_object().key("error").begin_object();
    writer.member("code", code_name(error.code())).member("text", error.text());
    writer.end_object().end_object();
    line = writer.take();
  } else {
    line = "strongroom: " + escape_for_display(error.text());
  }
  write_stderr(line + "\n");
}

int show_version(bool json) {
  Output out;
  if (json) {
    JsonWriter writer;
    writer.begin_object().member("version", STRONGROOM_VERSION).end_object();
    out.line(writer.text());
  } else {
    out.line("strongroom " STRONGROOM_VERSION);
  }
  out.flush();
  return 0;
}

int run_checked(const std::vector<std::string>& arguments, char** argv, Globals& globals,
                const Serve& serve) {
  // --version needs no command; every other line names one.
  if (std::find(arguments.begin(), arguments.end(), "--version") != arguments.end() &&
      std::all_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument == "--version" || argument == "--json";
      })) {
    return show_version(arguments.size() > 1);
  }
  Parser parser(kDescription);
  Command root = parser.root();
  add_global_options(root, globals);
  add_commands(root);
  const Action action = parser.parse(arguments);
  if (!action) {
    Output out;
    out.text(parser.help());
    out.flush();
    return 0;
  }
  if (globals.version) return show_version(globals.json);
  Context context(globals, parser, serve, argv);
  const int code = action(context);
  context.out().flush();
  return code;
}

}  // namespace

int exit_code(Code code) noexcept {
  switch (code) {
    case Code::not_found: return 1;
    case Code::invalid:
    case Code::too_large: return 2;
    case Code::locked:
    case Code::wrong_key:
    case Code::no_vault: return 3;
    case Code::denied:
    case Code::secret_detected: return 4;
    case Code::corrupt:
    case Code::rollback:
    case Code::fork:
    case Code::unsupported: return 5;
    case Code::busy:
    case Code::conflict: return 6;
    case Code::no_space:
    case Code::io:
    case Code::uncertain: return 7;
    case Code::internal: return 70;
  }
  return 70;
}

int run(int argc, char** argv, const Serve& serve) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  // Errors of the command line itself come before any option is known.
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const bool json = std::find(arguments.begin(), end, "--json") != end;
  Globals globals;
  try {
    return run_checked(arguments, argv, globals, serve);
  } catch (const Error& error) {
    report(error, json);
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    report(Error(Code::internal, "There is not enough memory."), json);
  } catch (const std::exception&) {
    // What an unforeseen exception says may hold anything.
    report(Error(Code::internal, "Something unexpected failed."), json);
  }
  return exit_code(Code::internal);
}

// ---- context

Context::Context(const Globals& options, const Parser& parser, Serve serve, char** argv)
    : globals_(options),
      parser_(parser),
      serve_(std::move(serve)),
      argv_(argv),
      terminal_(options.no_input) {}

void Context::hide_argument(std::string_view value) {
  for (char** at = argv_; *at != nullptr; ++at) {
    if (value == *at) wipe(*at, value.size());
  }
}

std::string Context::vault_path() const {
  if (!globals_.vault) return service::default_vault_path();
  if (globals_.vault->empty()) throw Error::invalid("--vault", "must not be empty");
  return *globals_.vault;
}

service::KeySource Context::owner_key(bool may_ask) {
  service::KeySource source =
      service::owner_key_from_environment(globals_.keyfile.value_or(std::string()));
  if (globals_.passphrase_file) source.passphrase_file = *globals_.passphrase_file;
  if (globals_.passphrase_fd) {
    const int fd = static_cast<int>(*globals_.passphrase_fd);
    source.prompt = [this, fd]() -> std::optional<SecretBytes> {
      if (!passphrase_) passphrase_ = read_passphrase_fd(fd);
      return SecretBytes(passphrase_->view());
    };
  } else if (may_ask && terminal_.person()) {
    source.prompt = [this]() -> std::optional<SecretBytes> {
      if (!passphrase_) passphrase_ = terminal_.ask_secret("Passphrase: ");
      if (!passphrase_) return std::nullopt;
      return SecretBytes(passphrase_->view());
    };
    source.prompt_code = [this] { return terminal_.ask_secret("Recovery code: "); };
  }
  return source;
}

service::KeySource Context::admin_key() {
  service::KeySource source = service::admin_key_from_environment();
  if (terminal_.person()) {
    source.prompt = [this] { return terminal_.ask_secret("Admin passphrase: "); };
    source.prompt_code = [this] { return terminal_.ask_secret("Admin recovery code: "); };
  }
  return source;
}

service::ServiceOptions Context::service_options(std::string_view principal,
                                                 std::string_view source, bool may_ask) {
  service::ServiceOptions options;
  options.vault_path = vault_path();
  options.key = owner_key(may_ask);
  options.principal = principal;
  options.source = source;
  options.project_folder = globals_.project.value_or(".");
  options.project_explicit = globals_.project.has_value();
  options.bank_override = env("STRONGROOM_BANK");
  options.read_only = globals_.read_only || globals_.as_backup;
  options.as_backup = globals_.as_backup;
  options.no_anchor = globals_.no_anchor;
  return options;
}

service::AdminOptions Context::admin_options() {
  service::AdminOptions options;
  options.vault_path = vault_path();
  options.owner = owner_key();
  options.admin = admin_key();
  options.principal = kPrincipal;
  options.read_only = globals_.read_only || globals_.as_backup;
  options.as_backup = globals_.as_backup;
  options.no_anchor = globals_.no_anchor;
  return options;
}

void Context::confirm(bool yes, std::string_view question, std::string_view action) {
  if (yes) return;
  if (!terminal_.person()) {
    throw Error::invalid(action, "needs --yes where there is no terminal to ask at");
  }
  if (!terminal_.confirm(question)) throw Error(Code::invalid, "Nothing was changed.");
}

void Context::notes(const std::vector<std::string>& notes) {
  if (json() || !Terminal::is_terminal(2)) return;
  for (const std::string& note : notes) write_stderr("note: " + escape_for_display(note) + "\n");
}

}  // namespace strongroom::cli
