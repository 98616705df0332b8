#include "service/connect.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "service/connect_edit.h"
#include "service/connect_file.h"

namespace strongroom::service {
namespace {

using connect_edit::ConfigFile;
using connect_edit::Edit;
using connect_edit::Entry;

struct Client {
  std::string_view name;
  std::string_view other_name;  // also accepted
  std::string_view title;
  std::string_view section;
  bool typed;  // the entry says "type": "stdio"
  bool toml;
  std::string_view expands;  // what the client would replace inside a value
};

constexpr std::array<Client, 6> kClients = {{
    {"claude-code", "claude", "Claude Code", "mcpServers", true, false, "${"},
    {"claude-desktop", "", "Claude Desktop", "mcpServers", false, false, "${"},
    {"cursor", "", "Cursor", "mcpServers", false, false, "${"},
    {"vscode", "code", "VS Code", "servers", true, false, "${"},
    {"codex", "codex-cli", "Codex CLI", "mcp_servers", false, true, ""},
    {"gemini", "gemini-cli", "Gemini CLI", "mcpServers", false, false, "$"},
}};

const Client& client_of(std::string_view name) {
  for (const Client& client : kClients) {
    if (name == client.name || (!name.empty() && name == client.other_name)) return client;
  }
  const std::vector<std::string> known = client_names();
  const std::vector<std::string> near = nearest(name, known, 1);
  std::string why = "\"" + escape_for_display(utf8_prefix(name, 64)) + "\" is not known";
  if (!near.empty()) why += ", did you mean " + near[0] + "?";
  why += near.empty() ? "; known are " : " Known are ";
  for (const std::string& other : known) why += (&other == &known[0] ? "" : ", ") + other;
  throw Error::invalid("client", why);
}

std::string or_else(const std::string& set, const std::string& fallback) {
  return set.empty() ? fallback : set;
}

/// The folder in which Electron programs keep their own.
std::string application_folder(const ConnectSettings& settings) {
#ifdef __APPLE__
  return settings.home + "/Library/Application Support";
#else
  return or_else(settings.config_home, settings.home + "/.config");
#endif
}

/// The file, and the folder whose existence says that the client is used here.
std::pair<std::string, std::string> places(const Client& client, const ConnectSettings& settings) {
  const std::string& home = settings.home;
  if (client.name == "claude-code") {
    return {or_else(settings.claude_home, home) + "/.claude.json",
            or_else(settings.claude_home, home + "/.claude")};
  }
  if (client.name == "claude-desktop") {
    const std::string folder = application_folder(settings) + "/Claude";
    return {folder + "/claude_desktop_config.json", folder};
  }
  if (client.name == "vscode") {
    const std::string folder = application_folder(settings) + "/Code";
    return {folder + "/User/mcp.json", folder};
  }
  if (client.name == "codex") {
    const std::string folder = or_else(settings.codex_home, home + "/.codex");
    return {folder + "/config.toml", folder};
  }
  if (client.name == "gemini") return {home + "/.gemini/settings.json", home + "/.gemini"};
  return {home + "/.cursor/mcp.json", home + "/.cursor"};
}

std::string absolute(const std::string& path, const ConnectSettings& settings) {
  const std::string whole = path.front() == '/' ? path : settings.folder + "/" + path;
  return std::filesystem::path(whole).lexically_normal().string();
}

void check_value(std::string_view what, const std::string& value, const Client& client) {
  if (!valid_utf8(value) || value.find('\0') != std::string::npos) {
    throw Error::invalid(
        what, "must be UTF-8 to stand in the configuration of " + std::string(client.title));
  }
  if (!client.expands.empty() && value.find(client.expands) != std::string::npos) {
    throw Error::invalid(what, "has \"" + std::string(client.expands) + "\" in it, which " +
                                   std::string(client.title) + " would replace by something else");
  }
}

Entry entry_of(const Client& client, const ConnectSettings& settings) {
  if (settings.binary.empty()) throw Error::invalid("binary", "must name the program");
  Entry entry;
  entry.typed = client.typed;
  entry.command = absolute(settings.binary, settings);
  check_value("binary", entry.command, client);
  entry.args = {"mcp"};
  for (const std::string& argument : settings.arguments) {
    check_value("argument", argument, client);
    entry.args.push_back(argument);
  }
  const auto add_path = [&](const char* variable, std::string_view what, const std::string& path) {
    if (path.empty()) return;
    entry.env.emplace_back(variable, absolute(path, settings));
    check_value(what, entry.env.back().second, client);
  };
  add_path("STRONGROOM_VAULT", "vault", settings.vault);
  add_path("STRONGROOM_KEYFILE", "keyfile", settings.keyfile);
  add_path("STRONGROOM_PASSPHRASE_FILE", "passphrase-file", settings.passphrase_file);
  return entry;
}

std::string entry_text(const Client& client, const Entry& entry) {
  if (client.toml) return connect_edit::toml_entry(entry);
  return json_quoted(connect_edit::kServerName) + ": " + connect_edit::json_entry(entry);
}

std::string snippet_of(const Client& client, const Entry& entry, std::string_view subject) {
  return client.toml ? connect_edit::put_toml({}, entry, subject).text
                     : connect_edit::put_json({}, client.section, entry, subject).text;
}

void add_lines(std::vector<std::string>& lines, std::string_view mark, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = escape_for_display(text.substr(0, end));
    if (!line.empty()) lines.push_back(std::string(mark) + line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string subject_of(const Client& client) {
  return "the configuration of " + std::string(client.title);
}

ConnectPlan plan_for(const Client& client, const ConnectSettings& settings, ConfigFile& file) {
  ConnectPlan plan;
  plan.client = client.name;
  plan.title = client.title;
  plan.section = client.section;
  plan.path = places(client, settings).first;
  if (settings.home.empty() || plan.path.front() != '/') {
    throw Error::invalid("home", "must be an absolute path");
  }
  file = connect_edit::read_config_file(plan.path, subject_of(client));
  plan.exists = file.exists;
  plan.before = file.bytes;
  plan.after = file.bytes;
  return plan;
}

/// Whether `whole` is `part` with one piece of text put in.
bool is_with_piece(std::string_view whole, std::string_view part) {
  if (whole.size() < part.size()) return false;
  const auto head = static_cast<std::size_t>(
      std::mismatch(part.begin(), part.end(), whole.begin()).first - part.begin());
  const std::string_view rest = part.substr(head);
  return whole.substr(whole.size() - rest.size()) == rest;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Without the line ends after the last line: an addition may have put one or two between.
std::string_view without_last_lines(std::string_view text) {
  return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

/// Whether `backup` is what the file was before our entry came: without one itself, the file but
/// for one piece of text, and of the same content as the file without the entry.
bool came_from(const Client& client, const std::string& backup, std::string_view before,
               const std::string& removed) {
  if (!is_with_piece(before, backup)) return false;
  try {
    if (client.toml) {
      return connect_edit::remove_toml(backup, "a backup").kind == Edit::Kind::absent &&
             without_last_lines(backup) == without_last_lines(removed);
    }
    return connect_edit::remove_json(backup, client.section, "a backup").kind ==
               Edit::Kind::absent &&
           connect_edit::same_json(backup, removed, client.section);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ConnectSettings connect_settings_from_environment() {
  ConnectSettings settings;
  settings.home = home_directory();
  settings.config_home = xdg_directory("XDG_CONFIG_HOME", ".config");
  settings.codex_home = env("CODEX_HOME");
  settings.claude_home = env("CLAUDE_CONFIG_DIR");
  std::error_code ignored;
  settings.folder = std::filesystem::current_path(ignored).string();
  return settings;
}

std::vector<std::string> client_names() {
  std::vector<std::string> names;
  for (const Client& client : kClients) names.emplace_back(client.name);
  return names;
}

std::vector<std::string> present_clients(const ConnectSettings& settings) {
  std::vector<std::string> names;
  for (const Client& client : kClients) {
    const auto [file, folder] = places(client, settings);
    struct stat info {};
    if (::lstat(file.c_str(), &info) == 0 ||
        (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) {
      names.emplace_back(client.name);
    }
  }
  return names;
}

std::string connect_path(std::string_view client, const ConnectSettings& settings) {
  return places(client_of(client), settings).first;
}

std::string connect_snippet(std::string_view client, const ConnectSettings& settings) {
  const Client& found = client_of(client);
  return snippet_of(found, entry_of(found, settings), subject_of(found));
}

ConnectPlan plan_connect(std::string_view client_name, const ConnectSettings& settings) {
  using Action = ConnectPlan::Action;
  const Client& client = client_of(client_name);
  const Entry entry = entry_of(client, settings);
  const std::string subject = subject_of(client);
  ConfigFile file;
  ConnectPlan plan = plan_for(client, settings, file);
  plan.snippet = snippet_of(client, entry, subject);
  Edit edit = client.toml ? connect_edit::put_toml(file.bytes, entry, subject)
                          : connect_edit::put_json(file.bytes, client.section, entry, subject);
  if (edit.kind == Edit::Kind::same) {
    plan.summary = {"already connected"};
    return plan;
  }
  plan.after = std::move(edit.text);
  if (edit.kind == Edit::Kind::replaced) {
    plan.action = Action::replace;
    plan.summary = {"replaces the entry \"strongroom\" in " + plan.section};
    for (const std::string& line : edit.old_lines) add_lines(plan.summary, "- ", line);
  } else {
    plan.action = file.exists ? Action::add : Action::create_file;
    plan.summary = {std::string(file.exists ? "adds" : "makes the file with") +
                    " the entry \"strongroom\" in " + plan.section};
  }
  add_lines(plan.summary, "+ ", entry_text(client, entry));
  return plan;
}

ConnectPlan plan_undo(std::string_view client_name, const ConnectSettings& settings) {
  using Action = ConnectPlan::Action;
  const Client& client = client_of(client_name);
  const std::string subject = subject_of(client);
  ConfigFile file;
  ConnectPlan plan = plan_for(client, settings, file);
  Edit edit = client.toml ? connect_edit::remove_toml(file.bytes, subject)
                          : connect_edit::remove_json(file.bytes, client.section, subject);
  if (!file.exists || edit.kind == Edit::Kind::absent) {
    plan.summary = {"not connected"};
    return plan;
  }
  plan.action = Action::remove;
  plan.after = edit.text;
  const std::vector<std::string> backups = connect_edit::read_backups(file.target);
  const auto origin = std::find_if(backups.begin(), backups.end(), [&](const std::string& backup) {
    return came_from(client, backup, file.bytes, edit.text);
  });
  const bool nothing_else =
      client.toml ? is_blank(edit.text) : connect_edit::same_json(edit.text, {}, client.section);
  if (origin != backups.end()) {
    plan.after = *origin;
  } else if (nothing_else && !file.is_link) {
    plan.action = Action::remove_file;
    plan.after.clear();
  }
  plan.summary = {plan.action == Action::remove_file
                      ? "removes the file, which holds nothing but the entry \"strongroom\""
                      : "removes the entry \"strongroom\" from " + plan.section};
  for (const std::string& line : edit.old_lines) add_lines(plan.summary, "- ", line);
  return plan;
}

}  // namespace strongroom::service
