// Reading passphrases and values into memory that is wiped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/wipe.h"
#include "cli/terminal.h"

namespace strongroom::cli {

/// Everything from the descriptor's current offset; more than `limit` bytes is too_large.
SecretBytes read_secret(int fd, std::size_t limit, std::string_view what);

/// One line break at the end is not part of a passphrase. Throws invalid when it is empty.
SecretBytes read_passphrase_fd(int fd);

/// Asks twice, until both answers are the same. An empty answer comes back when `may_be_empty`,
/// else it is asked again; three failures are Code::invalid.
SecretBytes ask_new_passphrase(Terminal& terminal, const std::string& what,
                               bool may_be_empty = false);

/// On the terminal only, once.
void show_recovery_code(Terminal& terminal, std::string_view what, const SecretBytes& code);

}  // namespace strongroom::cli
