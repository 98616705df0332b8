// Where a folder's git repository lies and what its plain files say, read without git.
//
// Everything here is input from strangers: each file is opened without following a symlink, must be
// a regular file and has a size limit, and whatever is odd reads as absent. Nothing throws but
// std::bad_alloc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace strongroom::service {

struct GitRepository {
  std::string root;        // real path of the folder that has .git
  std::string git_dir;     // real path of this worktree's git directory
  std::string common_dir;  // real path of what all worktrees share: config, refs, objects
};

struct GitSearch {
  std::optional<GitRepository> repository;
  std::string note;  // why a .git that was found is not used; else empty
};

/// Searches from `folder` (a real path) upwards. As in git, a .git folder that is no repository is
/// passed over, while a .git file that points nowhere ends the search; so does another owner.
GitSearch find_git_repository(const std::string& folder);

/// The first `url` of [remote "origin"] in the shared config; empty when there is none or when git
/// would refuse the file.
std::string git_origin(const GitRepository& repository);
std::string origin_of_config(std::string_view config);

/// The commit that HEAD means as lower-case hex (40 digits, or 64 in a SHA-256 repository); empty
/// before the first commit.
std::string git_head(const GitRepository& repository);

/// The bytes of a regular file of at most `limit` bytes that is no symlink.
std::optional<std::string> read_git_file(const std::string& path, std::size_t limit);

/// 40 or 64 lower-case hex digits.
bool is_object_id(std::string_view text) noexcept;

}  // namespace strongroom::service
