// The command line as plain data, read from the description that the parser itself uses: what
// completion scripts and the manual page are made from.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace strongroom::cli {

struct OptionText {
  std::vector<std::string> names;  // "-h", "--help"; of an argument its one word, "KEY"
  std::string type;                // "PATH", "normal|secret", "[=N]"; empty for a flag
  std::string help;
  bool takes_value = false;
  bool repeats = false;
  bool required = false;
};

struct CommandText {
  std::string name;
  std::vector<std::string> aliases;
  std::string heading;  // below which --help lists it
  std::string help;
  std::vector<OptionText> options;
  std::vector<OptionText> arguments;  // in their order
  std::vector<CommandText> commands;  // in their order; a command has none
};

CommandText describe(const CLI::App& app);

}  // namespace strongroom::cli
