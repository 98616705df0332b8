// A recovery code: 160 random bits as eight groups of four letters and digits and a check group,
// made to be printed and typed (Crockford's base 32: no I, L, O, U; case does not matter).
#pragma once

#include <optional>
#include <string_view>

#include "base/wipe.h"
#include "crypto/secret_key.h"

namespace strongroom::crypto {

/// "7K3M-...-Q2ZD", nine groups.
SecretBytes make_recovery_code();

/// The key that a typed code stands for; nullopt when it is malformed or its check group is wrong.
std::optional<SecretKey> recovery_code_key(std::string_view typed);

}  // namespace strongroom::crypto
