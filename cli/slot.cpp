// slot add, ls, rm: the secrets that open the vault.
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/secrets.h"

namespace strongroom::cli {
namespace {

using service::NewSecret;
using service::SlotKind;
using service::VaultAdmin;

struct AddOptions {
  std::optional<std::string> keyfile, passphrase_file;
  bool code = false, both = false, admin = false;
};

NewSecret new_secret(Context& context, const AddOptions& options) {
  NewSecret secret;
  if (options.code) {
    if (options.keyfile || options.passphrase_file || options.both) {
      throw Error::invalid("--code", "stands alone");
    }
    if (!context.terminal().person()) {
      throw Error::invalid("--code", "needs a terminal, where the code is shown once");
    }
    secret.kind = SlotKind::code;
    return secret;
  }
  if (options.both && !options.keyfile) throw Error::invalid("--both", "needs --keyfile PATH");
  if (!options.both && options.keyfile && options.passphrase_file) {
    throw Error::invalid("--passphrase-file", "together with --keyfile needs --both");
  }
  secret.keyfile = options.keyfile.value_or(std::string());
  secret.kind = options.both      ? SlotKind::both
                : options.keyfile ? SlotKind::keyfile
                                  : SlotKind::passphrase;
  if (secret.kind == SlotKind::keyfile) return secret;
  if (options.passphrase_file) {
    secret.passphrase = service::read_passphrase_file(*options.passphrase_file);
  } else if (context.terminal().person()) {
    secret.passphrase = ask_new_passphrase(context.terminal(), "New passphrase");
  } else {
    throw Error::invalid("slot add",
                         "needs --keyfile PATH or --passphrase-file PATH: there is no terminal");
  }
  return secret;
}

int add_slot(Context& context, const AddOptions& options) {
  NewSecret secret = new_secret(context, options);
  const std::string id = VaultAdmin(context.admin_options()).add_slot(secret, options.admin);
  if (secret.code) show_recovery_code(context.terminal(), "Recovery code", *secret.code);
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("id", id).member("role", options.admin ? "admin" : "owner");
    context.out().line(writer.end_object().text());
  } else {
    context.out().line("Added slot " + id);
  }
  return 0;
}

int list_slots(Context& context) {
  Table table({"ID", "ROLE", "METHOD"});
  for (const service::SlotLine& slot : VaultAdmin(context.admin_options()).slots()) {
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("id", slot.id).member("role", slot.role);
      context.out().line(writer.member("method", slot.method).end_object().text());
    } else {
      table.row({slot.id, slot.role, slot.method});
    }
  }
  table.print(context.out());
  return 0;
}

int remove_slot(Context& context, const std::string& id, bool yes) {
  context.confirm(yes, "Remove the slot " + escape_for_display(id) + "?", "slot rm");
  VaultAdmin(context.admin_options()).remove_slot(id);
  if (context.json()) {
    JsonWriter writer;
    context.out().line(writer.begin_object().member("id", id).end_object().text());
  } else {
    context.out().line("Removed slot " + escape_for_display(id));
  }
  return 0;
}

}  // namespace

void add_slot_commands(Command& root) {
  Command group = root.group("slot", "The secrets that open the vault");
  const auto options = std::make_shared<AddOptions>();
  Command add = group.command("add", "Add a secret; asks for a passphrase unless told otherwise",
                              [options](Context& context) { return add_slot(context, *options); });
  add.option("--keyfile", "PATH", options->keyfile,
             "The new slot's key file; made when it does not exist");
  add.option("--passphrase-file", "PATH", options->passphrase_file, "The new slot's passphrase");
  add.flag("--code", options->code, "Make a recovery code and show it once, on the terminal");
  add.flag("--both", options->both, "Key file and passphrase together open it, neither alone");
  add.flag("--admin", options->admin, "For the admin secret instead of the owner's");
  group.command("ls", "List the slots", list_slots);
  struct RmOptions {
    std::string id;
    bool yes = false;
  };
  const auto rm = std::make_shared<RmOptions>();
  Command remove = group.command("rm", "Remove a slot", [rm](Context& context) {
    return remove_slot(context, rm->id, rm->yes);
  });
  remove.positional("ID", rm->id, "From \"slot ls\"");
  remove.flag("--yes,-y", rm->yes, "Do not ask");
}

}  // namespace strongroom::cli
