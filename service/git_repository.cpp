#include "service/git_repository.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kMaxPointerFile = 16 << 10;  // .git, commondir, HEAD, a loose ref
constexpr std::size_t kMaxConfig = 1 << 20;
constexpr std::size_t kMaxPackedRefs = 32 << 20;
constexpr int kMaxSymbolicRefs = 5;  // git's own limit

std::string real_path(const std::string& path) {
  if (path.find('\0') != std::string::npos) return {};
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) == nullptr ? std::string() : std::string(resolved);
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Both the thing and a link to it: another user's link to our repository is not ours.
bool owned_by_us(const std::string& path) {
  struct stat link {};
  struct stat target {};
  return ::lstat(path.c_str(), &link) == 0 && link.st_uid == ::geteuid() &&
         ::stat(path.c_str(), &target) == 0 && target.st_uid == ::geteuid();
}

std::string_view without_line_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// `path` as git resolves a path that it found in a file of `base`.
std::string resolve(const std::string& base, std::string_view path) {
  if (path.empty()) return {};
  return real_path(path.front() == '/' ? std::string(path) : base + "/" + std::string(path));
}

/// The common directory of a git directory; empty when it is no git directory.
std::string common_directory(const std::string& git_dir) {
  struct stat info {};
  if (::lstat((git_dir + "/HEAD").c_str(), &info) != 0) return {};
  std::string common = git_dir;
  if (::lstat((git_dir + "/commondir").c_str(), &info) == 0) {
    const auto pointer = read_git_file(git_dir + "/commondir", kMaxPointerFile);
    common = pointer ? resolve(git_dir, without_line_end(*pointer)) : std::string();
  }
  if (common.empty() || !is_folder(common + "/objects") || !is_folder(common + "/refs")) return {};
  return common;
}

/// What a .git file points to; empty when it points nowhere.
std::string pointed_git_directory(const std::string& folder) {
  const auto pointer = read_git_file(folder + "/.git", kMaxPointerFile);
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!pointer || pointer->rfind(kPrefix, 0) != 0) return {};
  return resolve(folder, without_line_end(std::string_view(*pointer).substr(kPrefix.size())));
}

/// The repository of a folder that has a .git entry; neither repository nor note: look further up.
GitSearch open_repository(const std::string& folder, bool is_file) {
  GitSearch found;
  const std::string dot_git = folder + "/.git";
  const std::string git_dir = is_file ? pointed_git_directory(folder) : real_path(dot_git);
  const std::string common = git_dir.empty() ? std::string() : common_directory(git_dir);
  if (common.empty()) {
    if (is_file) found.note = "The .git file here points to no repository and was ignored.";
    return found;
  }
  if (!owned_by_us(dot_git) || !owned_by_us(git_dir) || !owned_by_us(common)) {
    found.note = "The git repository here belongs to another user and was ignored.";
    return found;
  }
  found.repository = GitRepository{folder, git_dir, common};
  return found;
}

// git-config(1), "Syntax". Reads characters with CRLF as LF; any error ends the reading, since git
// would refuse the whole file.
class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") text_.remove_prefix(3);
  }

  /// The first url of [remote "origin"]; an empty value clears what came before, as in git.
  std::string origin() {
    std::string found;
    bool in_origin = false;
    for (int c = next(); c != kEnd; c = next()) {
      if (is_space(c)) continue;
      if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        if (!section(in_origin)) return {};
      } else {
        std::string key;
        std::string value;
        if (!variable(c, key, value)) return {};
        if (!in_origin || key != "url") continue;
        if (value.empty()) {
          found.clear();
        } else if (found.empty()) {
          found = value;
        }
      }
    }
    return found;
  }

 private:
  static constexpr int kEnd = -1;

  static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_alpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool is_name(int c) { return is_alpha(c) || (c >= '0' && c <= '9') || c == '-'; }
  static char lower(int c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); }

  int next() {
    if (at_ >= text_.size()) return kEnd;
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    return static_cast<unsigned char>(text_[at_++]);
  }
  void skip_line() {
    for (int c = next(); c != kEnd && c != '\n';) c = next();
  }

  /// After '[': `remote "origin"]`, or the old form `remote.origin]` that git still reads. The
  /// section ignores case; a quoted subsection does not.
  bool section(bool& in_origin) {
    std::string name;
    int c = next();
    for (; is_name(c) || c == '.'; c = next()) name += lower(c);
    if (c == ']') {
      in_origin = name == "remote.origin";
      return !name.empty();
    }
    if (c != ' ' && c != '\t') return false;
    while (c == ' ' || c == '\t') c = next();
    if (c != '"') return false;
    std::string subsection;
    for (c = next(); c != '"'; c = next()) {
      if (c == '\\') c = next();
      if (c == kEnd || c == '\n') return false;
      subsection += static_cast<char>(c);
    }
    in_origin = name == "remote" && subsection == "origin";
    return next() == ']';
  }

  /// `key = value`, or `key` alone (a boolean: no value).
  bool variable(int c, std::string& key, std::string& value) {
    if (!is_alpha(c)) return false;
    for (; is_name(c); c = next()) key += lower(c);
    while (c == ' ' || c == '\t') c = next();
    if (c == '\n' || c == kEnd) return true;
    if (c == '#' || c == ';') return skip_line(), true;
    return c == '=' && read_value(value);
  }

  bool read_value(std::string& value) {
    bool quoted = false;
    std::size_t keep = 0;  // trailing space outside quotes is no part of the value
    for (int c = next();; c = next()) {
      if (c == '\n' || c == kEnd) {
        value.resize(keep);
        return !quoted;
      }
      if (c == 0) return false;
      if (!quoted && is_space(c)) {
        if (!value.empty()) value += static_cast<char>(c);
        continue;
      }
      if (!quoted && (c == '#' || c == ';')) {
        value.resize(keep);
        return skip_line(), true;
      }
      if (c == '"') {
        quoted = !quoted;
      } else if (c != '\\') {
        value += static_cast<char>(c);
      } else if (!escape(value)) {
        return false;
      }
      keep = value.size();
    }
  }

  bool escape(std::string& value) {
    switch (next()) {
      case '\n': return true;  // the line goes on
      case 't': value += '\t'; return true;
      case 'b': value += '\b'; return true;
      case 'n': value += '\n'; return true;
      case '\\': value += '\\'; return true;
      case '"': value += '"'; return true;
      default: return false;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// A name below refs/ that stays there: it becomes part of a path.
bool safe_ref(std::string_view name) {
  if (name.rfind("refs/", 0) != 0 || name.back() == '/') return false;
  if (name.find("..") != std::string_view::npos || name.find("//") != std::string_view::npos) {
    return false;
  }
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == '\\') return false;
  }
  return true;
}

std::string packed_ref(const GitRepository& repository, std::string_view name) {
  const auto text = read_git_file(repository.common_dir + "/packed-refs", kMaxPackedRefs);
  if (!text) return {};
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = without_line_end(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.substr(space + 1) != name) continue;
    return is_object_id(line.substr(0, space)) ? std::string(line.substr(0, space)) : std::string();
  }
  return {};
}

/// The content of a loose ref. Only refs/bisect, refs/worktree and refs/rewritten are a worktree's
/// own, and no branch lies there; still HEAD may name one.
std::optional<std::string> loose_ref(const GitRepository& repository, const std::string& name) {
  auto text = read_git_file(repository.common_dir + "/" + name, kMaxPointerFile);
  if (!text) text = read_git_file(repository.git_dir + "/" + name, kMaxPointerFile);
  return text;
}

}  // namespace

bool is_object_id(std::string_view text) noexcept {
  if (text.size() != 40 && text.size() != 64) return false;
  for (const char c : text) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

std::optional<std::string> read_git_file(const std::string& path, std::size_t limit) {
  try {
    // O_NONBLOCK: a FIFO in place of the file must not hold us.
    const auto fd = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, "a git file");
    struct stat info {};
    if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) > limit) return std::nullopt;
    return read_all(fd->get(), limit, "a git file");
  } catch (const Error&) {
    return std::nullopt;
  }
}

GitSearch find_git_repository(const std::string& folder) {
  for (std::string at = folder;; at = parent_of(at)) {
    struct stat entry {};
    const std::string here = at == "/" ? std::string() : at;
    if (::stat((here + "/.git").c_str(), &entry) == 0) {
      GitSearch found = open_repository(here, S_ISREG(entry.st_mode));
      if (found.repository && found.repository->root.empty()) found.repository->root = "/";
      if (found.repository || !found.note.empty()) return found;
    }
    if (at == "/" || at.empty() || at.front() != '/') return {};
  }
}

std::string origin_of_config(std::string_view config) {
  return ConfigReader(config).origin();
}

std::string git_origin(const GitRepository& repository) {
  const auto config = read_git_file(repository.common_dir + "/config", kMaxConfig);
  return config ? origin_of_config(*config) : std::string();
}

std::string git_head(const GitRepository& repository) {
  auto text = read_git_file(repository.git_dir + "/HEAD", kMaxPointerFile);
  for (int i = 0; text && i <= kMaxSymbolicRefs; ++i) {
    std::string_view line = without_line_end(*text);
    if (is_object_id(line)) return std::string(line);
    if (line.rfind("ref:", 0) != 0) return {};
    line.remove_prefix(4);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (line.empty() || !safe_ref(line)) return {};
    const std::string name(line);
    text = loose_ref(repository, name);
    if (!text) return packed_ref(repository, name);
  }
  return {};
}

}  // namespace strongroom::service
