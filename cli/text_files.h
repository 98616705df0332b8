// Text files and folders of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::cli {

struct TextFile {
  std::string path;
  std::uint64_t bytes = 0;
};

/// A file or folder that cannot be used, and why ("cannot be read").
using Unusable = std::function<void(const std::string& path, const std::string& why)>;

/// The files that the paths name: a file as it is, a folder's text files by name, at any depth.
/// In a folder, hidden names and symlinks are left out, and so is what is no text by its name.
std::vector<TextFile> find_text_files(const std::vector<std::string>& paths,
                                      const Unusable& unusable);

/// The whole text without a byte order mark; empty, after `unusable` was told why, when the file is
/// no text: NUL, not UTF-8, blank, above `limit` bytes, unreadable.
std::string read_text_file(const TextFile& file, std::size_t limit, const Unusable& unusable);

}  // namespace strongroom::cli
