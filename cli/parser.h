// The command line, described once: parsing, help and completion come from the same description.
//
// A thin layer over CLI11, which stays in parser.cpp and description.cpp. Every argument is taken as
// the bytes that were given: CLI11's own readings of "{}", "[a,b]", "%%" and "++" do not apply.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace strongroom::cli {

class Context;

/// Returns the exit code.
using Action = std::function<int(Context&)>;

class Parser;

/// A command, or a group of commands, that is being described. Where a value goes must live as long
/// as the parser; a command's action keeps it alive.
class Command {
 public:
  /// A group of commands ("policy").
  Command group(const std::string& name, const std::string& help);
  Command command(const std::string& name, const std::string& help, Action action);
  Command& alias(const std::string& name);
  /// The heading in --help that the commands added after this stand below.
  Command& heading(const std::string& text);

  Command& positional(const std::string& name, std::string& to, const std::string& help);
  Command& positional(const std::string& name, std::optional<std::string>& to,
                      const std::string& help);
  /// Any number, the last positional only.
  Command& positionals(const std::string& name, std::vector<std::string>& to,
                       const std::string& help);

  /// `type` is the word in --help ("PATH"). Given twice, the last one counts.
  Command& option(const std::string& names, const std::string& type, std::optional<std::string>& to,
                  const std::string& help);
  /// Closed set: anything else is refused, naming the choices.
  Command& choice(const std::string& names, const std::vector<std::string>& choices,
                  std::optional<std::string>& to, const std::string& help);
  /// A whole number from `least` to `most`.
  Command& number(const std::string& names, std::uint64_t least, std::uint64_t most,
                  std::optional<std::uint64_t>& to, const std::string& help);
  /// A number from `least` to `most`, of digits with an optional fraction and exponent.
  Command& real(const std::string& names, double least, double most, std::optional<double>& to,
                const std::string& help);
  /// `--name` gives `alone`, `--name=N` a whole number up to `most`. One name, and the number
  /// stands behind an equals sign only, so that the next argument is never taken for it.
  Command& number_or_alone(const std::string& name, std::uint64_t alone, std::uint64_t most,
                           std::optional<std::uint64_t>& to, const std::string& help);
  /// May be repeated; each takes one value.
  Command& list(const std::string& names, const std::string& type, std::vector<std::string>& to,
                const std::string& help);
  Command& flag(const std::string& names, bool& to, const std::string& help);

 private:
  friend class Parser;
  Command(Parser& parser, CLI::App& app) : parser_(&parser), app_(&app) {}
  void add_value(const std::string& names, const std::string& type, const std::string& help,
                 std::function<void(const std::string&)> take, bool repeat, bool required);

  Parser* parser_;
  CLI::App* app_;
  std::string heading_;
};

class Parser {
 public:
  explicit Parser(const std::string& description);
  ~Parser();

  Command root();

  /// The action that was asked for; empty when --help was, whose text is then in help().
  /// Throws Error (invalid) that names the nearest command or option, and repeats no value.
  Action parse(const std::vector<std::string>& arguments);
  const std::string& help() const noexcept { return help_; }

  const CLI::App& app() const noexcept { return *app_; }

 private:
  friend class Command;
  /// An unknown word explains more than what CLI11 missed after it.
  void refuse_unknown_words() const;

  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::App*, Action> actions_;
  std::set<std::string> may_stand_alone_;  // options whose value may be missing
  std::string help_;
};

}  // namespace strongroom::cli
