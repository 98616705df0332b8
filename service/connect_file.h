// Reading and replacing a client's configuration file (connect.h).
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace strongroom::service::connect_edit {

struct ConfigFile {
  bool exists = false;
  bool is_link = false;
  std::string target;  // what is read and replaced: the path, or where the link leads
  std::string bytes;
  mode_t mode = 0600;
  uid_t owner = 0;
  gid_t group = 0;
};

/// Throws Code::invalid naming `subject` for what may not be edited.
ConfigFile read_config_file(const std::string& path, std::string_view subject);

/// The contents of our backups beside `target`, newest first; those that may not be read are left
/// out.
std::vector<std::string> read_backups(const std::string& target);

}  // namespace strongroom::service::connect_edit
