// config get, set.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"

namespace strongroom::cli {
namespace {

using service::VaultAdmin;

void write_setting(Context& context, const std::string& name, const std::string& value) {
  JsonWriter writer;
  writer.begin_object().member("name", name).member("value", value);
  context.out().line(writer.end_object().text());
}

int get_settings(Context& context, const std::optional<std::string>& name) {
  VaultAdmin admin(context.admin_options());
  const std::vector<std::string> names = name ? std::vector{*name} : VaultAdmin::setting_names();
  for (const std::string& one : names) {
    const std::string value = admin.setting(one).value_or(std::string());
    if (context.json()) {
      write_setting(context, one, value);
    } else {
      context.out().line((name ? std::string() : one + "=") + escape_for_display(value));
    }
  }
  return 0;
}

int set_setting(Context& context, const std::string& name, const std::string& value) {
  VaultAdmin(context.admin_options()).set_setting(name, value);
  if (context.json()) {
    write_setting(context, name, value);
  } else {
    context.out().line(name + "=" + escape_for_display(value));
  }
  return 0;
}

}  // namespace

void add_config_commands(Command& root) {
  Command group = root.group("config", "Settings of the vault: revisions, scoping");
  const auto wanted = std::make_shared<std::optional<std::string>>();
  group
      .command("get", "Show one setting, or all",
               [wanted](Context& context) { return get_settings(context, *wanted); })
      .positional("NAME", *wanted, "The setting");
  struct Options {
    std::string name, value;
  };
  const auto options = std::make_shared<Options>();
  Command set = group.command("set", "Change a setting", [options](Context& context) {
    return set_setting(context, options->name, options->value);
  });
  set.positional("NAME", options->name, "The setting");
  set.positional("VALUE", options->value, "Its new value");
}

}  // namespace strongroom::cli
