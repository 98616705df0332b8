#include "vault/backup_mark.h"

#include <fcntl.h>

#include "base/error.h"
#include "base/file.h"
#include "vault/file_check.h"
#include "vault/format.h"

namespace strongroom::vault {
namespace {

constexpr std::size_t kMaxBytes = 256;
constexpr std::string_view kFirstLine = "strongroom backup 1\n";

}  // namespace

std::string encode_backup_mark(const BackupMark& mark) {
  return std::string(kFirstLine) + "vault " + mark.vault + "\ntime " + mark.time + "\n";
}

std::optional<BackupMark> read_backup_mark(const std::string& folder) {
  const auto fd =
      open_file(folder + "/" + std::string(kBackupMarkName), O_RDONLY, "the mark of the backup");
  if (!fd) return std::nullopt;
  check_vault_file(fd->get());
  const std::string text = read_all(fd->get(), kMaxBytes, "the mark of the backup");
  constexpr std::size_t kId = kFirstLine.size() + 6, kTime = kId + 32 + 6;
  if (text.size() > kTime + 1) {
    BackupMark mark{text.substr(kId, 32), text.substr(kTime, text.size() - kTime - 1)};
    if (encode_backup_mark(mark) == text) return mark;
  }
  throw_corrupt("the mark of the backup cannot be read");
}

}  // namespace strongroom::vault
