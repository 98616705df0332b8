// The mark of a backup: a small file in its folder, in the clear, that says what the folder is.
//
// It keeps people from going on with a backup by mistake. It is no protection: a backup without it
// is a copy of a vault, which anchors recognise.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strongroom::vault {

struct BackupMark {
  std::string vault, time;  // as text: 32 hex digits; RFC 3339, for people
};

inline constexpr std::string_view kBackupMarkName = "backup";

std::string encode_backup_mark(const BackupMark& mark);
/// nullopt when the folder has none. Throws corrupt, invalid (not a plain file).
std::optional<BackupMark> read_backup_mark(const std::string& folder);

}  // namespace strongroom::vault
