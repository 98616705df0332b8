// `strongroom connect`: puts the memory server into the configuration of AI clients, and takes it
// out again.
//
// A client's file belongs to its user. It is edited as text: only our own entry changes, everything
// else keeps its bytes (formatting, order, line ends). What cannot be edited without a guess is
// refused with Code::invalid, and the user gets the snippet to paste. Only paths are written, never
// secrets; what is shown of an entry that is replaced leaves out values that are not ours.
//
// plan_connect() and plan_undo() only read; apply() writes what a plan says, or Code::conflict when
// the file is no longer what the plan was made from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strongroom::service {

struct ConnectSettings {
  // What the entry says. Relative paths are meant from `folder`.
  std::string binary;
  std::string vault;                   // empty = the default, which is not written
  std::string keyfile;                 // the same
  std::string passphrase_file;         // empty = none
  std::vector<std::string> arguments;  // after "mcp": {"--bank", "team"}

  // Where the clients keep their files.
  std::string home;
  std::string config_home;  // $XDG_CONFIG_HOME; empty = home/.config
  std::string codex_home;   // $CODEX_HOME; empty = home/.codex
  std::string claude_home;  // $CLAUDE_CONFIG_DIR; empty = home
  std::string folder;       // the working directory
};

/// The second half from this process's environment; the first is empty.
ConnectSettings connect_settings_from_environment();

struct ConnectPlan {
  enum class Action {
    none,         // already as wanted: nothing is written
    create_file,  // there is no file yet
    add,
    replace,  // an entry of our name says something else
    remove,
    remove_file,  // undo: the file holds nothing but what we would write into a new one
  };
  std::string client;   // "claude-code"
  std::string title;    // "Claude Code"
  std::string path;     // the client's file; it may be a link
  std::string section;  // where the entry lies: "mcpServers", "servers", "mcp_servers"
  bool exists = false;
  std::string before;  // the file's bytes
  std::string after;   // what they become
  Action action = Action::none;
  /// For people, a line each and safe for a terminal: what happens, then "- ..." and "+ ..." lines
  /// of our entry alone (other entries may hold secrets).
  std::vector<std::string> summary;
  std::string snippet;  // the smallest whole file with our entry; for connect only
};

/// claude-code, claude-desktop, cursor, vscode, codex, gemini.
std::vector<std::string> client_names();

/// The clients of which a configuration folder or file exists.
std::vector<std::string> present_clients(const ConnectSettings& settings);

/// The file of a client. An unknown client is Code::invalid naming the nearest one.
std::string connect_path(std::string_view client, const ConnectSettings& settings);

/// What to paste by hand; reads no file.
std::string connect_snippet(std::string_view client, const ConnectSettings& settings);

/// Throws Code::invalid when the file cannot be edited safely: not strict JSON (comments, trailing
/// commas) or no TOML that can be followed, not UTF-8, of another owner, no regular file, hard
/// links, a parent of our entry that is no object; or when a setting cannot be
/// written (not UTF-8, "${" which a client would expand). Over 16 MiB is Code::too_large. An entry
/// is "already connected" when it runs the same command with the same arguments and environment,
/// whatever else the user added.
ConnectPlan plan_connect(std::string_view client, const ConnectSettings& settings);

/// Takes our entry out. Where a backup beside the file shows that the file is that backup and our
/// entry, the backup's bytes come back exactly; else only the entry goes.
ConnectPlan plan_undo(std::string_view client, const ConnectSettings& settings);

/// Writes: backup "<file>.strongroom-backup-<UTC time>" first, then a new file renamed over the old
/// one, its mode kept, both synced; of a link the target is replaced, never the link. A new file
/// has mode 0600, new folders 0700. Returns the backup's path, empty when there was nothing to
/// keep.
std::string apply(const ConnectPlan& plan);

}  // namespace strongroom::service
