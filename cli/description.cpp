#include "cli/description.h"

#include <CLI/CLI.hpp>

namespace strongroom::cli {
namespace {

OptionText describe_option(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (option.get_positional()) text.names = {option.get_name(true)};
  text.takes_value = option.get_items_expected_max() > 0;
  if (text.takes_value) text.type = option.get_type_name();
  text.help = option.get_description();
  text.repeats = option.get_items_expected_max() > 1;
  text.required = option.get_required();
  return text;
}

}  // namespace

CommandText describe(const CLI::App& app) {
  CommandText text;
  text.name = app.get_name();
  text.aliases = app.get_aliases();
  text.heading = app.get_group();
  text.help = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? text.arguments : text.options).push_back(describe_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text.commands.push_back(describe(*command));
  }
  return text;
}

}  // namespace strongroom::cli
