#include "service/project.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "service/git_objects.h"
#include "service/git_repository.h"

namespace strongroom::service {
namespace {

constexpr std::string_view kConfigName = ".strongroom.json";
constexpr std::size_t kMaxConfig = 64 << 10;
constexpr std::size_t kMaxBankName = 256;

struct Identity {
  std::string name;
  std::string_view chosen_by;
};

std::string real_folder(const std::string& folder) {
  if (folder.find('\0') != std::string::npos) return {};
  char resolved[PATH_MAX];
  struct stat info {};
  if (::realpath(folder.empty() ? "." : folder.c_str(), resolved) == nullptr) return {};
  if (::stat(resolved, &info) != 0 || !S_ISDIR(info.st_mode)) return {};
  return resolved;
}

/// A path as a bank name: itself wherever possible. One that is too long or not UTF-8 keeps its end
/// and gets a number of the whole (FNV-1a), so that two of them do not meet.
std::string bank_of_path(const std::string& path) {
  if (valid_bank_name(path)) return path;
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  std::string name = "...#";
  for (int shift = 60; shift >= 0; shift -= 4) name += "0123456789abcdef"[hash >> shift & 15];
  name += ':';
  constexpr std::size_t kTail = 200;
  for (const char c : path.substr(path.size() > kTail ? path.size() - kTail : 0)) {
    name += c > ' ' && c < 0x7f ? c : '_';
  }
  return name;
}

/// origin with a relative path is meant from the main worktree, so that all worktrees agree.
std::string origin_identity(const GitRepository& repository) {
  const std::string url = git_origin(repository);
  const bool relative = url.rfind("./", 0) == 0 || url.rfind("../", 0) == 0 || url == "." ||
                        url == ".." ||
                        (!url.empty() && url.find(':') == std::string::npos && url[0] != '/');
  if (!relative) return normalise_remote(url);
  const bool usual =
      repository.common_dir.size() > 5 &&
      repository.common_dir.compare(repository.common_dir.size() - 5, 5, "/.git") == 0;
  const std::string from = usual ? parent_of(repository.common_dir) : repository.root;
  return normalise_remote(std::filesystem::path(from + "/" + url).lexically_normal().string());
}

std::string directory_identity(const GitRepository& repository) {
  std::string path = repository.common_dir;
  constexpr std::string_view kEnd = "/.git";
  if (path.size() > kEnd.size() &&
      path.compare(path.size() - kEnd.size(), kEnd.size(), kEnd) == 0) {
    path.resize(path.size() - kEnd.size());
  }
  return bank_of_path(path);
}

/// What a repository is called, strongest first; only the first unless `all`.
std::vector<Identity> identities(const GitRepository& repository, bool all) {
  std::vector<Identity> found;
  if (std::string origin = origin_identity(repository); !origin.empty()) {
    found.push_back({std::move(origin), "origin"});
    if (!all) return found;
  }
  if (const auto root = first_root_commit(repository.common_dir, git_head(repository))) {
    found.push_back({"commit:" + *root, "root-commit"});
    if (!all) return found;
  }
  found.push_back({directory_identity(repository), "git-directory"});
  return found;
}

struct Config {
  std::optional<std::string> project;
  std::optional<Scoping> scoping;
};

std::string config_field(std::string_view member) {
  return std::string(kConfigName) + ": " + std::string(member);
}

[[noreturn]] void refuse_member(std::string_view name) {
  const std::vector<std::string> known = {"project", "scoping"};
  const std::vector<std::string> near = nearest(name, known, 1);
  throw Error::invalid(config_field(escape_for_display(utf8_prefix(name, 64))),
                       near.empty() ? "is no member of it; it has \"project\" and \"scoping\""
                                    : "is no member of it; did you mean \"" + near[0] + "\"?");
}

std::optional<std::string> read_config_file(const std::string& path) {
  std::optional<UniqueFd> fd;
  try {
    fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, kConfigName);
  } catch (const Error& error) {
    if (error.code() == Code::invalid) throw;
    throw Error::invalid(kConfigName, "cannot be read");
  }
  if (!fd) return std::nullopt;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw Error::invalid(kConfigName, "is not a regular file");
  }
  if (info.st_uid != ::geteuid()) throw Error::invalid(kConfigName, "belongs to another user");
  if (info.st_size > static_cast<off_t>(kMaxConfig)) {
    throw Error::invalid(kConfigName, "is larger than 64 KiB");
  }
  try {
    return read_all(fd->get(), kMaxConfig, kConfigName);
  } catch (const Error&) {
    throw Error::invalid(kConfigName, "cannot be read, or grew while it was read");
  }
}

std::optional<Config> read_config(const std::string& folder) {
  const auto text =
      read_config_file((folder == "/" ? "" : folder) + "/" + std::string(kConfigName));
  if (!text) return std::nullopt;
  const Json json = Json::parse(*text, kConfigName);
  if (!json.is_object()) throw Error::invalid(kConfigName, "must be a JSON object");
  Config config;
  for (const Json::Member& member : json.members()) {
    const std::string& value = member.value.as_string();
    if (member.name == "project") {
      if (!member.value.is_string() || !valid_bank_name(value)) {
        throw Error::invalid(config_field("project"),
                             "must be a bank name: text of 1 to 256 bytes without control "
                             "characters and without space at its ends");
      }
      config.project = value;
    } else if (member.name == "scoping") {
      config.scoping = member.value.is_string() ? parse_scoping(value) : std::nullopt;
      if (!config.scoping) {
        throw Error::invalid(config_field("scoping"),
                             "must be \"global\", \"per-project\" or \"per-project-tagged\"");
      }
    } else {
      refuse_member(member.name);
    }
  }
  return config;
}

/// The nearest .strongroom.json from `folder` up to `top`.
std::optional<Config> find_config(const std::string& folder, const std::string& top) {
  for (std::string at = folder;; at = parent_of(at)) {
    if (auto config = read_config(at)) return config;
    if (at == top || at == "/") return std::nullopt;
  }
}

bool is_scheme(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
}

/// Without empty and "." parts, and without a ".git" at its end.
std::string clean_path(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (!part.empty() && part != ".") out.append("/").append(part);
  }
  constexpr std::string_view kEnd = ".git";
  if (out.size() > kEnd.size() && out.compare(out.size() - kEnd.size(), kEnd.size(), kEnd) == 0) {
    out.resize(out.size() - kEnd.size());
    if (out.back() == '/') out.pop_back();  // /srv/app/.git is the repository of /srv/app
  }
  return out;
}

/// The host of "user:password@Host:22" or "[::1]:22".
std::string_view host_of(std::string_view authority) {
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    return end == std::string_view::npos ? std::string_view() : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.find(':'));
}

std::string remote_name(std::string_view host, std::string_view path) {
  const std::string cleaned = clean_path(path);
  if (host.empty() || cleaned.empty()) return {};
  std::string name = std::string(host) + cleaned;
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return name;
}

std::string remote_of_url(std::string_view scheme, std::string_view rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view path = rest.substr(slash);
  if (scheme == "file" || scheme == "FILE") {
    const std::string_view host = rest.substr(0, slash);
    return host.empty() || host == "localhost" ? clean_path(path) : remote_name(host, path);
  }
  // Whatever follows may be a token, and is no part of the repository's place.
  if (scheme.substr(0, 4) == "http") path = path.substr(0, path.find_first_of("?#"));
  return remote_name(host_of(rest.substr(0, slash)), path);
}

std::string remote_of(std::string_view url) {
  if (url.empty()) return {};
  if (url.front() == '/') return clean_path(url);
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos && is_scheme(url.substr(0, scheme))) {
    return remote_of_url(url.substr(0, scheme), url.substr(scheme + 3));
  }
  // git's short form: user@host:path, where no slash comes before the colon.
  std::size_t colon = url.find(':');
  const std::size_t bracket = url.find('[');
  if (bracket != std::string_view::npos && bracket < colon) colon = url.find("]:", bracket);
  if (colon != std::string_view::npos && url[colon] == ']') ++colon;
  if (colon == std::string_view::npos || url.find('/') < colon) return {};
  const std::string_view path = url.substr(colon + 1);
  if (!path.empty() && path.front() == ':') return {};  // helper::address
  return remote_name(host_of(url.substr(0, colon)), path);
}

}  // namespace

std::optional<Scoping> parse_scoping(std::string_view text) noexcept {
  for (const Scoping scoping :
       {Scoping::global, Scoping::per_project, Scoping::per_project_tagged}) {
    if (text == scoping_name(scoping)) return scoping;
  }
  return std::nullopt;
}

std::string_view scoping_name(Scoping scoping) noexcept {
  switch (scoping) {
    case Scoping::global: return "global";
    case Scoping::per_project: return "per-project";
    case Scoping::per_project_tagged: break;
  }
  return "per-project-tagged";
}

bool valid_bank_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxBankName) return false;
  if (name.front() == ' ' || name.back() == ' ' || !valid_utf8(name)) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    if (c < 0x20 || c == 0x7f) return false;
    if (c == 0xc2 && static_cast<unsigned char>(name[i + 1]) < 0xa0) return false;  // C1
  }
  return true;
}

std::string normalise_remote(std::string_view url) {
  std::string name = remote_of(url);
  return valid_bank_name(name) ? name : std::string();
}

std::vector<std::string> project_identities(const std::string& folder) {
  std::vector<std::string> names;
  const std::string real = real_folder(folder);
  if (real.empty()) return names;
  const GitSearch git = find_git_repository(real);
  if (!git.repository) return {bank_of_path(real)};
  for (Identity& identity : identities(*git.repository, true)) {
    names.push_back(std::move(identity.name));
  }
  return names;
}

Project find_project(const std::string& folder, bool explicit_folder,
                     const std::string& bank_override) {
  if (!bank_override.empty() && !valid_bank_name(bank_override)) {
    throw Error::invalid("bank",
                         "must be a name of 1 to 256 bytes of UTF-8 without control "
                         "characters and without space at its ends");
  }
  Project project;
  const std::string real = real_folder(folder);
  if (real.empty() && explicit_folder) throw Error::invalid("project", "is not a folder");
  GitSearch git;
  std::optional<Config> config;
  if (!real.empty()) {
    git = find_git_repository(real);
    project.note = git.note;
    config = find_config(real, git.repository ? git.repository->root : real);
    if (config) project.scoping = config->scoping;
  }
  const auto choose = [&](std::string bank, std::string identity, std::string_view chosen_by) {
    project.bank = std::move(bank);
    project.identity = std::move(identity);
    project.chosen_by = chosen_by;
    return project;
  };
  if (!bank_override.empty()) return choose(bank_override, bank_override, "environment");
  const bool named = config && config->project;
  if (git.repository) {
    const Identity place = std::move(identities(*git.repository, false).front());
    if (named) return choose(*config->project, place.name, "config");
    return choose(place.name, place.name, place.chosen_by);
  }
  if (named) return choose(*config->project, bank_of_path(real), "config");
  if (explicit_folder) return choose(bank_of_path(real), bank_of_path(real), "folder");
  return choose({}, {}, "fallback");
}

}  // namespace strongroom::service
