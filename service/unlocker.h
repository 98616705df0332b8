// Reads the secrets that a KeySource names. Internal to service/.
#pragma once

#include <optional>
#include <string>

#include "base/wipe.h"
#include "crypto/secret_key.h"
#include "service/key_source.h"
#include "vault/vault.h"

namespace strongroom::service {

/// 32 bytes or 64 hex digits in a file of mode 0600 of this user. nullopt when it is absent and
/// that is allowed. Throws locked, invalid.
std::optional<crypto::SecretKey> read_key_file(const std::string& path, bool absent_is_empty);

vault::Unlocker make_unlocker(const KeySource& source);

}  // namespace strongroom::service
