// Which bank a call means when it names none: project identity and scoping mode (docs/scoping.md).
//
// The identity of a project is, first match: STRONGROOM_BANK, the `project` member of
// .strongroom.json, the `origin` remote (host and path, lower case, without user, port, scheme and
// .git), the first root commit, the git common directory (worktrees share it), the real path of
// --project. git's own files are read directly; no program is started.
//
// What is read of git: .git (folder, link or `gitdir:` file), commondir, config (include.path,
// config.worktree, url.*.insteadOf and the user's and system's configuration are not), HEAD, refs,
// packed-refs, shallow, objects and packs. GIT_* variables are not looked at. A .git that another
// user owns is ignored, as git's safe.directory does.
//
// The first root commit is what following first parents from HEAD ends at. It is not used in a
// shallow clone whose boundary lies on that way, beyond 200,000 commits, or with reftable refs:
// then the git common directory is the identity.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::service {

enum class Scoping { global, per_project, per_project_tagged };

/// "global", "per-project", "per-project-tagged"; nullopt for anything else.
std::optional<Scoping> parse_scoping(std::string_view text) noexcept;
std::string_view scoping_name(Scoping scoping) noexcept;

struct Project {
  /// Bank name, valid by valid_bank_name(); empty when there is no project. By source: the name
  /// given; "github.com/acme/app"; "commit:<hex id>"; the path of the git common directory without
  /// its last "/.git"; the path of the folder.
  std::string bank;
  /// What chose it: "environment", "config", "origin", "root-commit", "git-directory", "folder",
  /// or "fallback" when there is none.
  std::string chosen_by;
  /// What the bank belongs to, for telling two projects of one name apart: for "config" the origin,
  /// root commit, git directory or folder of the place where the file lies; else the same as bank's
  /// own source. Never shown to agents.
  std::string identity;
  /// From .strongroom.json, when it has the member.
  std::optional<Scoping> scoping;
  /// One sentence when a git repository was there and was ignored (another owner, points nowhere),
  /// so that a write to the wrong bank is no surprise; else empty. Names no path.
  std::string note;
};

/// Looks the project up from `folder` (absolute or relative). `explicit_folder` says that the user
/// gave it with --project: then a folder without git is its own identity, and one that is no folder
/// is Code::invalid. `bank_override` is STRONGROOM_BANK or --bank, empty when unset.
///
/// .strongroom.json is searched from `folder` up to the git root (only in `folder` where there is
/// no git). It must be a regular file, no symlink, owned by this user, at most 64 KiB, a JSON
/// object with members `project` (string) and `scoping`; anything else is Code::invalid naming
/// `.strongroom.json` and the member. Hostile git files (symlink loops, huge or binary config, a
/// .git file that points nowhere) never fail a call: the next rule applies.
Project find_project(const std::string& folder, bool explicit_folder,
                     const std::string& bank_override);

/// Every identity that the place of `folder` has, strongest first: origin, root commit, git
/// directory (or the folder itself where there is no git). A project gains stronger ones with its
/// first commit and its first remote, so a bank may have been made under one of the later names.
/// Slower than find_project(): call it when an identity does not match, not on every call.
std::vector<std::string> project_identities(const std::string& folder);

/// Bank names: 1 to 256 bytes of UTF-8 without control characters, no leading or trailing space.
bool valid_bank_name(std::string_view name) noexcept;

/// A git remote URL as host and path: "git@GitHub.com:Acme/App.git" and
/// "https://user:pw@github.com/acme/app" are both "github.com/acme/app". A remote that is an
/// absolute local path gives that path, its case kept. Empty when it cannot be one: a relative
/// path (find_project() resolves those first), a remote helper ("ext::..."), a name that is no
/// valid bank name.
std::string normalise_remote(std::string_view url);

}  // namespace strongroom::service
