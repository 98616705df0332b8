// init: makes a vault from secrets that a person, a file or a descriptor gives.
#include <filesystem>
#include <memory>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/secrets.h"

namespace strongroom::cli {
namespace {

using service::NewSecret;
using service::SlotKind;

constexpr std::string_view kSameAsOwner = "same secret as owner";

struct InitOptions {
  std::optional<std::string> admin_keyfile, admin_passphrase_file;
};

NewSecret from_files(const std::string& keyfile, std::optional<SecretBytes> passphrase) {
  NewSecret secret;
  secret.keyfile = keyfile;
  secret.kind = keyfile.empty() ? SlotKind::passphrase
                : passphrase    ? SlotKind::both
                                : SlotKind::keyfile;
  secret.passphrase = std::move(passphrase);
  return secret;
}

std::optional<SecretBytes> passphrase_from(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return service::read_passphrase_file(path);
}

// A key file that only a variable names must exist: making one is asked for by --keyfile.
std::string existing_key_file(const char* variable, std::string_view flag) {
  const std::string path = env(variable);
  struct stat info {};
  if (!path.empty() && ::lstat(path.c_str(), &info) != 0) {
    throw Error::invalid(variable,
                         "names no file; to make a new key file use " + std::string(flag));
  }
  return path;
}

NewSecret owner_secret(Context& context) {
  const Globals& globals = context.globals();
  std::string keyfile = globals.keyfile.value_or(std::string());
  std::optional<SecretBytes> passphrase =
      passphrase_from(globals.passphrase_file.value_or(std::string()));
  if (globals.passphrase_fd) {
    passphrase = read_passphrase_fd(static_cast<int>(*globals.passphrase_fd));
  }
  if (keyfile.empty() && !passphrase) {
    keyfile = existing_key_file("STRONGROOM_KEYFILE", "--keyfile");
    passphrase = passphrase_from(env("STRONGROOM_PASSPHRASE_FILE"));
  }
  if (!keyfile.empty() || passphrase) return from_files(keyfile, std::move(passphrase));
  if (!context.terminal().person()) {
    throw Error::invalid("init",
                         "needs --keyfile PATH (made when it does not exist) or --passphrase-file "
                         "PATH: there is no terminal to ask for a passphrase");
  }
  return from_files({}, ask_new_passphrase(context.terminal(), "Passphrase"));
}

std::optional<NewSecret> admin_secret(Context& context, const InitOptions& options) {
  std::string keyfile = options.admin_keyfile.value_or(std::string());
  std::optional<SecretBytes> passphrase =
      passphrase_from(options.admin_passphrase_file.value_or(std::string()));
  if (keyfile.empty() && !passphrase) {
    keyfile = existing_key_file("STRONGROOM_ADMIN_KEYFILE", "--admin-keyfile");
    passphrase = passphrase_from(env("STRONGROOM_ADMIN_PASSPHRASE_FILE"));
  }
  if (!keyfile.empty() || passphrase) return from_files(keyfile, std::move(passphrase));
  if (!context.terminal().person()) return std::nullopt;
  context.terminal().show(
      "The admin secret signs the policy and adds slots. An empty answer makes a recovery code\n"
      "for it, which is shown once.\n");
  auto answer = ask_new_passphrase(context.terminal(), "Admin passphrase", true);
  NewSecret secret;
  secret.kind = answer.empty() ? SlotKind::code : SlotKind::passphrase;
  if (!answer.empty()) secret.passphrase = std::move(answer);
  return secret;
}

// Asked before a passphrase is: nobody should type one twice for nothing.
void require_no_vault(Context& context) {
  service::AdminOptions options;
  options.vault_path = context.vault_path();
  options.read_only = true;
  options.no_anchor = true;
  if (service::VaultAdmin(options).status().state != "no_vault") {
    throw Error(Code::conflict, "There is a vault already; nothing was changed.");
  }
}

std::string_view kind_name(SlotKind kind) {
  switch (kind) {
    case SlotKind::passphrase: return "passphrase";
    case SlotKind::keyfile: return "key file";
    case SlotKind::both: return "key file and passphrase";
    case SlotKind::code: return "recovery code";
  }
  return "unknown";
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

// What a later command needs to find vault and key: NAME and value.
std::vector<std::pair<std::string, std::string>> environment(Context& context,
                                                             const NewSecret& owner) {
  std::vector<std::pair<std::string, std::string>> needed;
  const std::string vault = absolute(context.vault_path());
  if (vault != xdg_directory("XDG_DATA_HOME", ".local/share") + "/strongroom/memory.vault") {
    needed.emplace_back("STRONGROOM_VAULT", vault);
  }
  if (!owner.keyfile.empty()) {
    const std::string keyfile = absolute(owner.keyfile);
    if (keyfile != xdg_directory("XDG_CONFIG_HOME", ".config") + "/strongroom/key") {
      needed.emplace_back("STRONGROOM_KEYFILE", keyfile);
    }
  }
  const std::string file = context.globals().passphrase_file.value_or(std::string());
  if (!file.empty()) needed.emplace_back("STRONGROOM_PASSPHRASE_FILE", absolute(file));
  return needed;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void report(Context& context, const service::InitOptions& made) {
  const std::string admin(made.admin ? kind_name(made.admin->kind) : kSameAsOwner);
  const auto needed = environment(context, made.owner);
  Output& out = context.out();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("path", made.vault_path);
    writer.member("owner", kind_name(made.owner.kind)).member("admin", admin);
    writer.key("environment").begin_object();
    for (const auto& [name, value] : needed) writer.member(name, value);
    writer.end_object().member("next", "strongroom connect claude-code");
    out.line(writer.end_object().text());
    return;
  }
  out.line("The vault is made.");
  out.line("owner: " + std::string(kind_name(made.owner.kind)));
  out.line("admin: " + admin);
  if (made.owner.kind == SlotKind::passphrase && !context.globals().passphrase_file) {
    out.line(
        "A server started by an agent cannot ask for a passphrase. Give it a key file of its "
        "own: strongroom slot add --keyfile PATH");
  }
  if (!needed.empty()) {
    out.line("Set for later commands:");
    for (const auto& [name, value] : needed) {
      out.line("  export " + name + "=" + escape_for_display(shell_quoted(value)));
    }
  }
  out.line("Connect a client:");
  out.line("  strongroom connect claude-code");
}

int init(Context& context, const InitOptions& options) {
  if (context.terminal().person()) require_no_vault(context);
  service::InitOptions wanted;
  wanted.vault_path = context.vault_path();
  wanted.no_anchor = context.globals().no_anchor;
  wanted.owner = owner_secret(context);
  wanted.admin = admin_secret(context, options);
  service::init_vault(wanted);
  if (wanted.admin && wanted.admin->code) {
    show_recovery_code(context.terminal(), "Admin recovery code", *wanted.admin->code);
  }
  report(context, wanted);
  return 0;
}

}  // namespace

void add_init_command(Command& root) {
  const auto options = std::make_shared<InitOptions>();
  Command command = root.command("init", "Make a vault",
                                 [options](Context& context) { return init(context, *options); });
  command.option("--admin-keyfile", "PATH", options->admin_keyfile,
                 "The admin secret is this key file; made when it does not exist");
  command.option("--admin-passphrase-file", "PATH", options->admin_passphrase_file,
                 "The admin secret is the passphrase in this file");
}

}  // namespace strongroom::cli
