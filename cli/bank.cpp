// bank ls, create, trust.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "service/project.h"

namespace strongroom::cli {
namespace {

using service::VaultAdmin;

int list_banks(Context& context) {
  Table table({"NAME", "TAG", "ENTRIES", "SECRETS", "MEMORIES", "DOCUMENTS", "BYTES", "MADE"});
  for (const service::BankStatus& bank : VaultAdmin(context.admin_options()).banks()) {
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("name", bank.name).member("tag", bank.tag);
      writer.member("createdAt", format_time(bank.created)).member("entries", bank.entries);
      writer.member("secrets", bank.secrets).member("memories", bank.memories);
      writer.member("documents", bank.documents).member("generation", bank.generation);
      context.out().line(writer.member("bytes", bank.file_bytes).end_object().text());
    } else {
      table.row({bank.name, bank.tag, std::to_string(bank.entries), std::to_string(bank.secrets),
                 std::to_string(bank.memories), std::to_string(bank.documents),
                 std::to_string(bank.file_bytes), time_and_age(bank.created)});
    }
  }
  table.print(context.out());
  return 0;
}

void done(Context& context, std::string_view what, const std::string& name) {
  if (context.json()) {
    JsonWriter writer;
    context.out().line(writer.begin_object().member("name", name).end_object().text());
  } else {
    context.out().line(std::string(what) + " " + escape_for_display(json_quoted(name)));
  }
}

int create_bank(Context& context, const std::string& name) {
  VaultAdmin(context.admin_options()).create_bank(name);
  done(context, "Made bank", name);
  return 0;
}

int trust_bank(Context& context, const std::optional<std::string>& name) {
  const Globals& globals = context.globals();
  const std::string folder = globals.project.value_or(".");
  VaultAdmin(context.admin_options())
      .trust_bank(name.value_or(std::string()), folder, globals.project.has_value());
  if (name) {
    done(context, "This project may now use bank", *name);
  } else {
    const auto project = service::find_project(folder, globals.project.has_value(), {});
    done(context, "This project may now use bank", project.bank);
  }
  return 0;
}

}  // namespace

void add_bank_commands(Command& root) {
  Command group = root.group("bank", "The banks of the vault, one a project");
  group.command("ls", "List the banks", list_banks);
  const auto created = std::make_shared<std::string>();
  group
      .command("create", "Make a bank",
               [created](Context& context) { return create_bank(context, *created); })
      .positional("NAME", *created, "Its name");
  const auto trusted = std::make_shared<std::optional<std::string>>();
  group
      .command("trust", "Let this project use the bank that its .strongroom.json names",
               [trusted](Context& context) { return trust_bank(context, *trusted); })
      .positional("NAME", *trusted, "The bank's name, to be sure");
}

}  // namespace strongroom::cli
