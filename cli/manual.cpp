// manual: the page for man(1). Commands and options come from the description that the parser
// itself uses; tests/package/manual_test.py holds the rest against docs/cli.md.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/description.h"

namespace strongroom::cli {
namespace {

struct Term {
  std::string_view names, text;
};

constexpr Term kExitCodes[] = {
    {"0", "Done; also an empty answer."},
    {"1", "No such entry, memory, document, bank or slot; a case of a policy test failed."},
    {"2", "The command line or its input is wrong, or too large."},
    {"3", "The vault does not open: it is locked, the key is wrong, or there is none."},
    {"4", "The policy or the credential scanner refused."},
    {"5",
     "Damaged, older than seen, another history, or newer than this program; a check found that "
     "something is wrong."},
    {"6", "Somebody else was there: try again, or read again."},
    {"7", "The disk: no space, an error, or an outcome that is not certain."},
    {"70", "A mistake of this program."},
};

constexpr Term kEnvironment[] = {
    {"STRONGROOM_VAULT", "Path of the vault."},
    {"STRONGROOM_KEYFILE",
     "Path of the owner's key file: 32 bytes or 64 hex digits, mode 0600, of this user, with one "
     "link."},
    {"STRONGROOM_PASSPHRASE_FILE",
     "Path of a file with the owner's passphrase; one line end is dropped."},
    {"STRONGROOM_ADMIN_KEYFILE, STRONGROOM_ADMIN_PASSPHRASE_FILE",
     "The same for the admin's secret."},
    {"STRONGROOM_BANK", "The bank in place of the project's."},
    {"STRONGROOM_ALLOW_FUSE", "\"1\" allows a vault on a FUSE file system."},
    {"XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME, HOME",
     "Where vault, key and anchor are by default."},
    {"XDG_RUNTIME_DIR, TMPDIR, VISUAL, EDITOR", "For the commands that open an editor."},
    {"CODEX_HOME, CLAUDE_CONFIG_DIR", "Where clients keep their configuration, for connect."},
    {"NO_COLOR, TERM", "Whether a terminal gets colours."},
};

constexpr Term kFiles[] = {
    {"$XDG_DATA_HOME/strongroom/memory.vault",
     "The vault, a directory: header, root.mdb, banks/ with a file for each bank, and guards that "
     "tell who has them open. XDG_DATA_HOME is ~/.local/share unless set."},
    {"$XDG_CONFIG_HOME/strongroom/key",
     "The owner's key file, where one is used. Who has it has the vault: keep a second slot or a "
     "copy in another place. XDG_CONFIG_HOME is ~/.config unless set."},
    {"$XDG_STATE_HOME/strongroom/anchors",
     "The newest state of each vault that this machine has seen, by which a copy that was rolled "
     "back is noticed. XDG_STATE_HOME is ~/.local/state unless set."},
    {".strongroom.json",
     "In a project's folder: its bank (\"project\") and its scoping mode (\"scoping\")."},
};

constexpr Term kExamples[] = {
    {"strongroom init --keyfile ~/.config/strongroom/key",
     "Make a vault that a key file opens; without the option a passphrase is asked for."},
    {"strongroom retain \"The staging database moved to port 5433.\" --tag infra",
     "Store a memory."},
    {"strongroom recall \"which port does staging use?\"", "Ask."},
    {"strongroom connect claude-code", "Offer the vault to an agent."},
};

// Text as troff shows it unchanged: its own signs, and a dot or quote that begins a line.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '\n': out += ' '; break;
      default: out += c;
    }
  }
  return !out.empty() && out.front() == '.' ? "\\&" + out : out;
}
std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

// "-h, --help", "--vault PATH", "--include-chunks[=N]".
std::string option_line(const OptionText& option) {
  std::string line;
  for (const std::string& name : option.names) line += (line.empty() ? "" : ", ") + bold(name);
  if (option.type.empty()) return line;
  const bool attached = option.type.front() == '[';
  return line + (attached ? "" : " ") + italic(option.type) + (option.repeats ? " ..." : "");
}

std::string argument_word(const OptionText& argument) {
  std::string word = italic(argument.names.front());
  if (argument.repeats) word += " ...";
  return argument.required ? word : "[" + word + "]";
}

void add_entry(std::string& page, const std::string& head, std::string_view text) {
  page += ".TP\n" + head + "\n" + plain(text) + "\n";
}

void add_options(std::string& page, const CommandText& command) {
  for (const OptionText& option : command.options) {
    // Every command has it; the page says so once.
    if (option.names.back() == "--help") continue;
    add_entry(page, option_line(option), option.help);
  }
}

void add_command(std::string& page, const CommandText& command, const std::string& before) {
  const std::string path = before + command.name;
  std::string head = bold(path);
  if (!command.commands.empty()) head += " " + italic("COMMAND");
  for (const OptionText& argument : command.arguments) head += " " + argument_word(argument);
  for (const std::string& alias : command.aliases) head += ", alias " + bold(before + alias);
  add_entry(page, head, command.help + ".");
  const bool has_options = !command.arguments.empty() || command.options.size() > 1;
  if (has_options) {
    page += ".RS\n";
    for (const OptionText& argument : command.arguments) {
      add_entry(page, italic(argument.names.front()), argument.help);
    }
    add_options(page, command);
    page += ".RE\n";
  }
  for (const CommandText& inner : command.commands) add_command(page, inner, path + " ");
}

template <std::size_t n>
void add_terms(std::string& page, const char* title, const Term (&terms)[n]) {
  page += std::string(".SH ") + title + "\n";
  for (const Term& term : terms) add_entry(page, bold(term.names), term.text);
}

std::string manual_page(const CommandText& root) {
  std::string page =
      ".\\\" Made by \"strongroom manual\".\n"
      ".TH STRONGROOM 1 \"\" \"Strongroom " STRONGROOM_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nstrongroom \\- encrypted memory vault for AI agents\n"
      ".SH SYNOPSIS\n.B strongroom\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...\n"
      ".SH DESCRIPTION\n";
  page += plain(
      "Strongroom keeps named values and free-text memories of AI agents in one directory of "
      "sealed "
      "files. Agents reach it over the Model Context Protocol, people by these commands. It "
      "needs no server, no account and no network. Everything at rest is encrypted and "
      "authenticated, the search index included; every call passes a policy and leaves a record.");
  page += "\n.SH OPTIONS\n";
  page += plain("These stand before or behind any command. Every command has ") + bold("-h") +
          ", " + bold("--help") + plain(". A name that begins with \"-\" goes behind ") +
          bold("--") + ".\n";
  add_options(page, root);
  page += ".SH COMMANDS\n";
  std::string heading;
  for (const CommandText& command : root.commands) {
    if (command.heading != heading) page += ".SS " + plain(command.heading) + "\n";
    heading = command.heading;
    add_command(page, command, {});
  }
  add_terms(page, "EXIT STATUS", kExitCodes);
  add_terms(page, "ENVIRONMENT", kEnvironment);
  page += ".PP\nNo secret is taken from an environment variable or from the command line.\n";
  add_terms(page, "FILES", kFiles);
  page += ".SH SECURITY\n";
  page += plain(
      "A program that runs as you can do what you can: an agent with a shell under your user can "
      "run this command and read your key file. The policy binds what comes over the Model "
      "Context Protocol. Forgetting removes a text from every read; its ciphertext may stay in "
      "free parts of the files for a while.");
  page += "\n";
  add_terms(page, "EXAMPLES", kExamples);
  return page;
}

int write_manual(Context& context) {
  context.out().text(manual_page(describe(context.parser().app())));
  return 0;
}

}  // namespace

void add_manual_command(Command& root) {
  root.command("manual", "Write the manual page; \"strongroom manual | man -l -\" shows it",
               write_manual);
}

}  // namespace strongroom::cli
