// completion: scripts for shells, made from the description that the parser itself uses.
#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/description.h"

namespace strongroom::cli {
namespace {

struct Word {
  std::string text, help;
};
struct Node {
  std::string path;  // "policy show"; empty for the root
  std::vector<Word> commands;
  std::vector<Word> flags;    // options without a value
  std::vector<Word> options;  // options that take one
};

// Names are our own words; this only keeps a help text from ending a quoted string.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

void collect(const CommandText& from, const std::string& path, std::vector<Node>& nodes) {
  Node node;
  node.path = path;
  for (const OptionText& option : from.options) {
    for (const std::string& name : option.names) {
      if (name.compare(0, 2, "--") != 0) continue;
      (option.takes_value ? node.options : node.flags).push_back({name, option.help});
    }
  }
  for (const CommandText& command : from.commands) {
    node.commands.push_back({command.name, command.help});
    for (const std::string& alias : command.aliases) node.commands.push_back({alias, command.help});
  }
  nodes.push_back(std::move(node));
  const std::string before = path.empty() ? std::string() : path + " ";
  for (const CommandText& command : from.commands) {
    collect(command, before + command.name, nodes);
    for (const std::string& alias : command.aliases) collect(command, before + alias, nodes);
  }
}

std::string texts(const std::vector<Word>& words) {
  std::string all;
  for (const Word& word : words) all += (all.empty() ? "" : " ") + word.text;
  return all;
}

std::string all_value_options(const std::vector<Node>& nodes) {
  std::map<std::string, bool> seen;
  std::string pattern;
  for (const Node& node : nodes) {
    for (const Word& option : node.options) {
      if (seen[option.text]) continue;
      seen[option.text] = true;
      pattern += (pattern.empty() ? "" : "|") + option.text;
    }
  }
  return pattern;
}

// The words typed so far, without options and their values, are the command; what follows them in
// the table can come next. Shared by bash and zsh, whose word arrays differ by one.
std::string path_function(const std::vector<Node>& nodes, const std::string& first,
                          const std::string& last) {
  std::string text = "  local so_far= word skip= i\n";
  text += "  for ((i = " + first + "; i < " + last + "; i++)); do\n";
  text += "    word=${words[i]}\n";
  text += "    if [[ -n $skip ]]; then skip=; continue; fi\n";
  text += "    case $word in\n";
  text += "      " + all_value_options(nodes) + ") skip=1 ;;\n";
  text += "      -*) ;;\n";
  text += "      *) _strongroom_next \"$so_far\"\n";
  text +=
      "         if [[ \" $next_commands \" == *\" $word \"* ]]; then so_far=\"${so_far:+$so_far "
      "}$word\"; fi "
      ";;\n";
  text += "    esac\n  done\n";
  text += "  _strongroom_next \"$so_far\"\n";
  return text;
}

std::string table_function(const std::vector<Node>& nodes) {
  std::string text = "_strongroom_next() {\n  next_commands= next_options=\n  case $1 in\n";
  for (const Node& node : nodes) {
    const std::string options = texts(node.flags) + " " + texts(node.options);
    text += "    " + shell_quoted(node.path) +
            ") next_commands=" + shell_quoted(texts(node.commands)) +
            " next_options=" + shell_quoted(options) + " ;;\n";
  }
  return text + "  esac\n}\n";
}

std::string bash_script(const std::vector<Node>& nodes) {
  const Node& root = nodes.front();
  std::string text = "# bash completion for strongroom\n" + table_function(nodes);
  text +=
      "_strongroom() {\n  local next_commands next_options\n  local -a "
      "words=(\"${COMP_WORDS[@]}\")\n";
  text += "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n";
  text += "  COMPREPLY=()\n";
  text += path_function(nodes, "1", "COMP_CWORD");
  text += "  case $previous in\n    " + all_value_options(nodes) +
          ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n  esac\n";
  text += "  if [[ $current == -* ]]; then\n";
  text += "    COMPREPLY=($(compgen -W \"$next_options " + texts(root.flags) + " " +
          texts(root.options) + "\" -- \"$current\"))\n";
  text += "  else\n    COMPREPLY=($(compgen -W \"$next_commands\" -- \"$current\"))\n  fi\n}\n";
  return text + "complete -o default -F _strongroom strongroom\n";
}

std::string zsh_script(const std::vector<Node>& nodes) {
  const Node& root = nodes.front();
  std::string text = "#compdef strongroom\n" + table_function(nodes);
  text += "_strongroom() {\n  local next_commands next_options\n";
  text += path_function(nodes, "2", "CURRENT");
  text += "  case ${words[CURRENT-1]} in\n    " + all_value_options(nodes) +
          ") _files; return ;;\n  esac\n";
  text += "  if [[ ${words[CURRENT]} == -* ]]; then\n";
  text += "    compadd -- ${=next_options} " + texts(root.flags) + " " + texts(root.options) + "\n";
  text += "  elif [[ -n $next_commands ]]; then\n    compadd -- ${=next_commands}\n";
  text += "  else\n    _files\n  fi\n}\n";
  text += "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _strongroom \"$@\"; ";
  return text + "else compdef _strongroom strongroom; fi\n";
}

std::string fish_script(const std::vector<Node>& nodes) {
  std::string text = "# fish completion for strongroom\ncomplete -c strongroom -f\n";
  for (const Node& node : nodes) {
    std::string condition = "true";
    if (!node.path.empty()) {
      condition.clear();
      std::string_view rest = node.path;
      while (!rest.empty()) {
        const std::size_t space = std::min(rest.find(' '), rest.size());
        condition += (condition.empty() ? "" : "; and ") +
                     std::string("__fish_seen_subcommand_from ") +
                     std::string(rest.substr(0, space));
        rest.remove_prefix(std::min(space + 1, rest.size()));
      }
    }
    // A command is offered until one of its own level was typed.
    const std::string open = (node.path.empty() ? std::string() : condition + "; and ") +
                             "not __fish_seen_subcommand_from " + texts(node.commands);
    for (const Word& command : node.commands) {
      text += "complete -c strongroom -n " + shell_quoted(open) + " -a " + command.text + " -d " +
              shell_quoted(command.help) + "\n";
    }
    for (const auto* words : {&node.flags, &node.options}) {
      const std::string value = words == &node.options ? " -r -F" : "";
      for (const Word& option : *words) {
        text += "complete -c strongroom -n " + shell_quoted(condition) + " -l " +
                option.text.substr(2) + value + " -d " + shell_quoted(option.help) + "\n";
      }
    }
  }
  return text;
}

int write_script(Context& context, const std::string& shell) {
  std::vector<Node> nodes;
  collect(describe(context.parser().app()), {}, nodes);
  if (shell == "bash") {
    context.out().text(bash_script(nodes));
  } else if (shell == "zsh") {
    context.out().text(zsh_script(nodes));
  } else if (shell == "fish") {
    context.out().text(fish_script(nodes));
  } else {
    throw Error::invalid("SHELL", "must be bash, zsh or fish");
  }
  return 0;
}

}  // namespace

void add_completion_command(Command& root) {
  const auto shell = std::make_shared<std::string>();
  root.command("completion", "Write a completion script for bash, zsh or fish",
               [shell](Context& context) { return write_script(context, *shell); })
      .positional("SHELL", *shell, "bash, zsh or fish");
}

}  // namespace strongroom::cli
