// What is checked of a directory or file before it is trusted or parsed.
#pragma once

#include <string>

#include "base/file.h"

namespace strongroom::vault {

/// A path without slashes at its end ("/" stays): lstat follows a link that is named with one.
std::string without_end_slashes(std::string path);

/// The vault's directory: a real directory (no symlink) of this user, not accessible to others.
/// Throws no_vault when it does not exist, invalid for anything else.
void check_directory(const std::string& path);

/// A file of the vault, by descriptor: regular, this user's, one hard link, not a mount point, mode
/// without group and other bits. Throws corrupt naming what is wrong.
void check_vault_file(int fd);

/// Network file systems, and FUSE unless allowed: LMDB's memory map and locks do not work there.
void check_file_system(int fd, bool allow_fuse);

/// LMDB's two meta pages: magic, version, page size, and a file long enough for every page they
/// claim. LMDB checks none of this well enough to be handed an unknown file. Throws corrupt.
void check_lmdb_file(int fd);

}  // namespace strongroom::vault
