// Where a secret comes from: a key file, a passphrase file, or a prompt; never argv, never the
// value of an environment variable.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/wipe.h"

namespace strongroom::service {

/// Paths are read when the vault is opened, not before. Several may be set: a slot of method "both"
/// needs key file and passphrase; otherwise each slot is tried with what fits it.
struct KeySource {
  std::string keyfile;              // path, or empty
  bool keyfile_is_default = false;  // the default path: absent is no error
  std::string passphrase_file;      // path, or empty
  /// Asks a person, without echo; nullopt = no terminal or declined. Empty function = never ask.
  std::function<std::optional<SecretBytes>()> prompt;
  /// A recovery code typed by a person; the same rules.
  std::function<std::optional<SecretBytes>()> prompt_code;

  bool empty() const {
    return keyfile.empty() && passphrase_file.empty() && !prompt && !prompt_code;
  }
};

/// The owner's secret by the rules of the command line: `flag` (--keyfile), STRONGROOM_KEYFILE,
/// $XDG_CONFIG_HOME/strongroom/key; STRONGROOM_PASSPHRASE_FILE. No prompt is set.
KeySource owner_key_from_environment(const std::string& flag = {});

/// The admin secret: STRONGROOM_ADMIN_KEYFILE, STRONGROOM_ADMIN_PASSPHRASE_FILE.
KeySource admin_key_from_environment();

/// A passphrase from a file of this user, mode 0600, without its final line break. Throws locked
/// when there is none, invalid.
SecretBytes read_passphrase_file(const std::string& path);

/// STRONGROOM_VAULT, else $XDG_DATA_HOME/strongroom/memory.vault.
std::string default_vault_path();

}  // namespace strongroom::service
