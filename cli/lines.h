// Files of one JSON object a line, read twice: once to check every line, once to work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::cli {

inline constexpr std::size_t kMaxSpooledBytes = std::size_t{64} << 20;

struct Line {
  std::uint64_t number = 0;  // from 1, empty lines counted
  std::uint64_t offset = 0, size = 0;
};

/// The lines of a file, in constant memory, or of standard input ("-") and other things that cannot
/// be read twice, kept in memory up to 64 MiB.
class LineFile {
 public:
  /// `option` names the argument in errors. Throws invalid when the file cannot be read, too_large.
  LineFile(const std::string& path, std::string_view option);

  /// Every line that is not blank, without its line end and without a byte order mark. Throws
  /// too_large for a line above 128 MiB.
  void each(const std::function<void(const Line&, std::string_view)>& visit) const;
  /// One line again. Throws conflict when the file became shorter since.
  std::string text(const Line& line) const;
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t read(std::uint64_t offset, char* to, std::size_t size) const;

  std::string option_;
  UniqueFd fd_;
  std::string spool_;
  bool spooled_ = false;
  std::uint64_t bytes_ = 0;
};

/// "line 7".
std::string line_name(std::uint64_t number);

/// A text that names `items[i]` of a call, told of what item i came from: "items[3].tags" becomes
/// "line 4.tags", or "tags" where `name` gives nothing.
std::string for_item(const std::string& text, const std::function<std::string(std::size_t)>& name);

}  // namespace strongroom::cli
