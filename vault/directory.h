// A vault's folder while it is built or taken away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strongroom::vault {

/// Names in a folder, without "." and "..". Throws io.
std::vector<std::string> directory_entries(const std::string& path);

/// Removes what is there, as far as it can be removed.
void remove_tree(const std::string& path) noexcept;

/// The file `reserve` of a new vault, with its room on the disk. Throws no_space, io.
void make_reserve(const std::string& folder, std::string_view doing);

}  // namespace strongroom::vault
