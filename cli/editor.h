// The user's editor on a private file.
#pragma once

#include <string>
#include <string_view>

namespace strongroom::cli {

/// A folder of mode 0700 in memory where there is one ($XDG_RUNTIME_DIR), with one file of mode
/// 0600. Everything in the folder, what an editor left behind included, is overwritten and removed
/// at the end.
class PrivateFile {
 public:
  /// Throws io.
  PrivateFile(const std::string& name, std::string_view text);
  ~PrivateFile();
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;

  /// Runs $VISUAL, $EDITOR or vi on the file and returns what it then holds. Throws Code::invalid
  /// when the editor fails, too_large beyond `limit`.
  std::string edit(std::size_t limit);

 private:
  std::string folder_, path_;
};

}  // namespace strongroom::cli
