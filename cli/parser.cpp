#include "cli/parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"

namespace strongroom::cli {
namespace {

// NUL never occurs in an argument, so it can mark one that CLI11 must not interpret.
constexpr char kLiteral = '\0';

std::string literal(std::string_view text) {
  return std::string(1, kLiteral).append(text);
}

std::string plain(const std::string& text) {
  return !text.empty() && text.front() == kLiteral ? text.substr(1) : text;
}

// CLI11 reads arguments from the end of a vector.
std::vector<std::string> prepared(const std::vector<std::string>& arguments,
                                  const std::set<std::string>& may_stand_alone) {
  std::vector<std::string> out;
  bool options = true;
  for (const std::string& argument : arguments) {
    if (options && argument == "--") options = false;
    const std::size_t equals = argument.find('=');
    if (options && argument.size() > 3 && argument.compare(0, 2, "--") == 0 &&
        equals == argument.size() - 1) {
      // "--bank=" is an empty value; CLI11 would take the next argument instead.
      out.push_back(argument.substr(0, equals));
      out.push_back(literal(""));
    } else if (options && may_stand_alone.count(argument) != 0) {
      out.push_back(argument);
      out.push_back(literal(""));
    } else if (argument == "++" || argument.empty() || argument.front() == '[') {
      out.push_back(literal(argument));
    } else {
      out.push_back(argument);
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::uint64_t whole_number(const std::string& text, std::uint64_t least, std::uint64_t most,
                           const std::string& field) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw Error::invalid(field, "must be a whole number from " + std::to_string(least) + " to " +
                                    std::to_string(most));
  }
  return value;
}

std::string long_name(const std::string& names) {
  const std::size_t at = names.find("--");
  return at == std::string::npos ? names : names.substr(at, names.find(',', at) - at);
}

const CLI::App* deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? &app : deepest(*chosen.front());
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    names.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) names.push_back(alias);
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string> near = nearest(word, known, 1);
  return near.empty() ? std::string() : "; the nearest is \"" + near.front() + "\"";
}

}  // namespace

// ---- describing

Command Command::group(const std::string& name, const std::string& help) {
  CLI::App* const app = app_->add_subcommand(name, help);
  if (!heading_.empty()) app->group(heading_);
  app->require_subcommand(1, 1);
  return Command(*parser_, *app);
}

Command Command::command(const std::string& name, const std::string& help, Action action) {
  CLI::App* const app = app_->add_subcommand(name, help);
  app->group(heading_.empty() ? "Commands" : heading_);
  parser_->actions_[app] = std::move(action);
  return Command(*parser_, *app);
}

Command& Command::alias(const std::string& name) {
  app_->alias(name);
  return *this;
}

Command& Command::heading(const std::string& text) {
  heading_ = text;
  return *this;
}

void Command::add_value(const std::string& names, const std::string& type, const std::string& help,
                        std::function<void(const std::string&)> take, bool repeat, bool required) {
  CLI::Option* const option = app_->add_option(
      names,
      [take = std::move(take)](const CLI::results_t& results) {
        for (const std::string& result : results) take(plain(result));
        return true;
      },
      help);
  option->type_name(type)->required(required);
  if (repeat) {
    // CLI11 takes one argument at a time only from an option that it holds for unlimited.
    constexpr int kUnlimited = 1 << 29;
    option->expected(1, kUnlimited)->allow_extra_args(false);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  } else {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

Command& Command::positional(const std::string& name, std::string& to, const std::string& help) {
  add_value(
      name, "", help, [&to](const std::string& text) { to = text; }, false, true);
  return *this;
}

Command& Command::positional(const std::string& name, std::optional<std::string>& to,
                             const std::string& help) {
  add_value(
      name, "", help, [&to](const std::string& text) { to = text; }, false, false);
  return *this;
}

Command& Command::positionals(const std::string& name, std::vector<std::string>& to,
                              const std::string& help) {
  add_value(
      name, "", help, [&to](const std::string& text) { to.push_back(text); }, true, false);
  // Without this CLI11 gives a positional one argument only.
  app_->get_option(name)->allow_extra_args();
  return *this;
}

Command& Command::option(const std::string& names, const std::string& type,
                         std::optional<std::string>& to, const std::string& help) {
  add_value(
      names, type, help, [&to](const std::string& text) { to = text; }, false, false);
  return *this;
}

Command& Command::choice(const std::string& names, const std::vector<std::string>& choices,
                         std::optional<std::string>& to, const std::string& help) {
  std::string all;
  for (const std::string& one : choices) all += (all.empty() ? "" : "|") + one;
  add_value(
      names, all, help,
      [&to, choices, all, field = long_name(names)](const std::string& text) {
        if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
          throw Error::invalid(field, "must be one of " + all);
        }
        to = text;
      },
      false, false);
  return *this;
}

Command& Command::number(const std::string& names, std::uint64_t least, std::uint64_t most,
                         std::optional<std::uint64_t>& to, const std::string& help) {
  add_value(
      names, "N", help,
      [&to, least, most, field = long_name(names)](const std::string& text) {
        to = whole_number(text, least, most, field);
      },
      false, false);
  return *this;
}

Command& Command::number_or_alone(const std::string& name, std::uint64_t alone, std::uint64_t most,
                                  std::optional<std::uint64_t>& to, const std::string& help) {
  parser_->may_stand_alone_.insert(name);
  add_value(
      name, "[=N]", help,
      [&to, alone, most, name](const std::string& text) {
        to = text.empty() ? alone : whole_number(text, 0, most, name);
      },
      false, false);
  return *this;
}

Command& Command::real(const std::string& names, double least, double most,
                       std::optional<double>& to, const std::string& help) {
  add_value(
      names, "X", help,
      [&to, least, most, field = long_name(names)](const std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool inside = value >= least && value <= most;  // NaN is not
        if (error != std::errc() || end != text.data() + text.size() || !inside) {
          JsonWriter range;
          range.begin_array().number(least).number(most).end_array();
          throw Error::invalid(field, "must be a number in " + range.text());
        }
        to = value;
      },
      false, false);
  return *this;
}

Command& Command::list(const std::string& names, const std::string& type,
                       std::vector<std::string>& to, const std::string& help) {
  add_value(
      names, type, help, [&to](const std::string& text) { to.push_back(text); }, true, false);
  return *this;
}

Command& Command::flag(const std::string& names, bool& to, const std::string& help) {
  app_->add_flag_callback(
          names, [&to] { to = true; }, help)
      ->disable_flag_override();
  return *this;
}

// ---- reading

Parser::Parser(const std::string& description)
    : app_(std::make_unique<CLI::App>(description, "strongroom")) {
  app_->set_help_flag("-h,--help", "Show this help and exit");
  app_->fallthrough();
  app_->require_subcommand(1, 1);
  app_->get_formatter()->column_width(34);
  app_->get_formatter()->label("Positionals", "Arguments");
  app_->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app_->get_formatter()->label("REQUIRED", "");
}

Parser::~Parser() = default;

Command Parser::root() {
  return Command(*this, *app_);
}

Action Parser::parse(const std::vector<std::string>& arguments) {
  try {
    app_->parse(prepared(arguments, may_stand_alone_));
  } catch (const CLI::CallForHelp&) {
    help_ = app_->help();
    return {};
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    const bool flag = what.find("flag override") != std::string::npos;
    const std::string name = what.substr(0, what.find_first_of(": "));
    throw Error::invalid(name.front() == '-' ? name : "--" + name,
                         flag ? "takes no value" : "needs a value");
  } catch (const CLI::RequiredError& error) {
    refuse_unknown_words();
    const std::string what = error.what();
    throw Error::invalid(what.substr(0, what.find(' ')), "is required");
  } catch (const CLI::ParseError&) {
    refuse_unknown_words();
    throw Error::invalid("command line", "could not be read");
  }
  return actions_.at(deepest(*app_));
}

void Parser::refuse_unknown_words() const {
  const CLI::App* const at = deepest(*app_);
  const bool wants_command = actions_.count(at) == 0;
  const std::string name = at == app_.get() ? "strongroom" : "strongroom " + at->get_name();
  for (const std::string& word : app_->remaining(true)) {
    if (word.size() > 1 && word.front() == '-') {
      // What follows the name is a value, which is not repeated.
      const std::string option =
          word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
      throw Error::invalid(
          "option", json_quoted(option) + " is unknown" + suggestion(option, option_names(at)));
    }
    if (wants_command) {
      const std::string near = suggestion(word, command_names(*at));
      throw Error::invalid("command",
                           json_quoted(plain(word)) + " is unknown" +
                               (near.empty() ? "; \"" + name + " --help\" lists them" : near));
    }
    // It may be a value in the wrong place.
    throw Error::invalid("command line", "has an argument too many");
  }
  if (wants_command) {
    throw Error::invalid("command line", "names no command; \"" + name + " --help\" lists them");
  }
}

}  // namespace strongroom::cli
