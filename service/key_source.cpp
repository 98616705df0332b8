#include "service/key_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "service/unlocker.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kMaxPassphrase = 4096;

// The descriptor is checked, not the path: what was checked is what is read.
std::optional<std::string> read_secret_file(const std::string& path, std::string_view what,
                                            std::size_t limit) {
  auto fd = open_file(path, O_RDONLY, what);
  if (!fd) return std::nullopt;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) throw_errno("check the " + std::string(what), errno);
  if (!S_ISREG(info.st_mode)) throw Error::invalid(what, "is not a regular file");
  if (info.st_uid != ::geteuid()) throw Error::invalid(what, "belongs to another user");
  if ((info.st_mode & 077) != 0) {
    throw Error::invalid(what, "is accessible to other users; make its mode 0600");
  }
  if (info.st_nlink != 1) throw Error::invalid(what, "has a second hard link");
  return read_all(fd->get(), limit, what);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<crypto::SecretKey> read_key_file(const std::string& path, bool absent_is_empty) {
  std::optional<std::string> read = read_secret_file(path, "key file", 4096);
  if (!read && absent_is_empty) return std::nullopt;
  if (!read) throw Error(Code::locked, "The key file does not exist.");
  std::string& bytes = *read;
  std::optional<crypto::SecretKey> key;
  if (bytes.size() == crypto::kKeyBytes) {
    key = crypto::SecretKey::from_bytes(bytes);
  } else {
    while (!bytes.empty() && (bytes.back() == '\n' || bytes.back() == '\r')) bytes.pop_back();
    if (bytes.size() == 2 * crypto::kKeyBytes) {
      key = crypto::SecretKey::zeros();
      for (std::size_t i = 0; i < crypto::kKeyBytes; ++i) {
        const int high = hex_digit(bytes[2 * i]), low = hex_digit(bytes[2 * i + 1]);
        if (high < 0 || low < 0) {
          key.reset();
          break;
        }
        key->mutable_data()[i] = static_cast<unsigned char>(high << 4 | low);
      }
    }
  }
  wipe(bytes);
  if (!key) throw Error::invalid("key file", "must hold 32 bytes or 64 hex digits");
  return key;
}

SecretBytes read_passphrase_file(const std::string& path) {
  std::optional<std::string> read = read_secret_file(path, "passphrase file", kMaxPassphrase);
  if (!read) throw Error(Code::locked, "The passphrase file does not exist.");
  std::string& bytes = *read;
  // One final line break is an editor's, not the user's.
  if (!bytes.empty() && bytes.back() == '\n') bytes.pop_back();
  if (!bytes.empty() && bytes.back() == '\r') bytes.pop_back();
  if (bytes.empty()) throw Error::invalid("passphrase file", "is empty");
  SecretBytes passphrase(bytes);
  wipe(bytes);
  return passphrase;
}

vault::Unlocker make_unlocker(const KeySource& source) {
  vault::Unlocker unlocker;
  if (!source.keyfile.empty()) {
    unlocker.secrets.key_file = read_key_file(source.keyfile, source.keyfile_is_default);
  }
  if (!source.passphrase_file.empty()) {
    unlocker.secrets.passphrase = read_passphrase_file(source.passphrase_file);
  }
  unlocker.ask_passphrase = source.prompt;
  unlocker.ask_code = source.prompt_code;
  return unlocker;
}

KeySource owner_key_from_environment(const std::string& flag) {
  KeySource source;
  source.keyfile = flag.empty() ? env("STRONGROOM_KEYFILE") : flag;
  if (source.keyfile.empty()) {
    source.keyfile = xdg_directory("XDG_CONFIG_HOME", ".config") + "/strongroom/key";
    source.keyfile_is_default = true;
  }
  source.passphrase_file = env("STRONGROOM_PASSPHRASE_FILE");
  return source;
}

KeySource admin_key_from_environment() {
  KeySource source;
  source.keyfile = env("STRONGROOM_ADMIN_KEYFILE");
  source.passphrase_file = env("STRONGROOM_ADMIN_PASSPHRASE_FILE");
  return source;
}

std::string default_vault_path() {
  const std::string set = env("STRONGROOM_VAULT");
  if (!set.empty()) return set;
  return xdg_directory("XDG_DATA_HOME", ".local/share") + "/strongroom/memory.vault";
}

}  // namespace strongroom::service
