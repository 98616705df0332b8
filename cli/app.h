// What every command shares: global options, where secrets come from, output, and the one mapping
// of errors to exit codes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/terminal.h"
#include "service/memory_service.h"
#include "service/vault_admin.h"

namespace strongroom::cli {

inline constexpr std::string_view kPrincipal = "local:cli";

struct Globals {
  std::optional<std::string> vault, keyfile, passphrase_file, project, bank;
  std::optional<std::uint64_t> passphrase_fd;
  bool no_input = false, read_only = false, no_anchor = false, as_backup = false, json = false,
       version = false;
};

/// Serves MCP over standard input and output until the client is gone; returns the exit code.
/// `full`: with the tools that tend a bank. Given by main(), so that this folder knows no protocol.
using Serve = std::function<int(service::MemoryService& service, bool full,
                                const std::function<void()>& tick)>;

class Context {
 public:
  /// `argv` is the process's own, ended by a null pointer.
  Context(const Globals& options, const Parser& parser, Serve serve, char** argv);

  const Globals& globals() const noexcept { return globals_; }
  const Parser& parser() const noexcept { return parser_; }
  const Serve& serve() const noexcept { return serve_; }
  bool json() const noexcept { return globals_.json; }
  Terminal& terminal() noexcept { return terminal_; }
  Output& out() noexcept { return out_; }

  std::string vault_path() const;
  /// `may_ask`: a person at the terminal is asked when nothing else fits. A passphrase is asked for
  /// once and kept, so that a command that opens the vault twice asks once.
  service::KeySource owner_key(bool may_ask = true);
  service::KeySource admin_key();
  service::ServiceOptions service_options(std::string_view principal, std::string_view source,
                                          bool may_ask = true);
  service::AdminOptions admin_options();
  /// --bank of a command line command: a bank that is named is not made by a write.
  std::string bank() const { return globals_.bank.value_or(std::string()); }

  /// Asks on a terminal; elsewhere `yes` decides, and its absence is an error that names `action`.
  void confirm(bool yes, std::string_view question, std::string_view action);
  /// Overwrites the argument in the process's list, which other programs can read.
  void hide_argument(std::string_view value);
  /// Facts about an answer, for people: on stderr when that is a terminal and --json is off.
  void notes(const std::vector<std::string>& notes);

 private:
  const Globals& globals_;
  const Parser& parser_;
  Serve serve_;
  char** argv_;
  Terminal terminal_;
  Output out_;
  std::optional<SecretBytes> passphrase_;
};

/// Reads the command line, runs one command, reports its error; returns the exit code.
int run(int argc, char** argv, const Serve& serve);

int exit_code(Code code) noexcept;

}  // namespace strongroom::cli
