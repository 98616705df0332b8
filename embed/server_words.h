// What a server says about a failure, fit to be shown.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace strongroom::embed {

/// The start of `said`, at most 200 bytes on one line, escaped. Servers repeat what they were sent,
/// and errors are logged: so a word that is part of a text in `sent`, or has four bytes in a row of
/// one, becomes "…", unless it is of the few that failures are usually told in ("model", "not",
/// "found"). Letters' case does not matter; beyond ASCII every character counts as a word.
/// What follows an escape (\u00e4, %C3) is left out: it may be a text in another spelling.
std::string server_words(std::string_view said, std::span<const std::string_view> sent);

/// True when `said` has four bytes in a row of a text in `sent`, or is part of one.
bool repeats(std::string_view said, std::span<const std::string_view> sent);

}  // namespace strongroom::embed
