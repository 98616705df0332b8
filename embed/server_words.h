// What a server says about a failure, fit to be shown.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace strongroom::embed {

/// The start of `said`, at most 200 bytes on one line, escaped. Servers repeat what they were sent,
/// and errors are logged: so a word that is part of a text in `sent`, or has six bytes in a row of
/// one, becomes "…", unless it is of the few that failures are usually told in ("model", "not",
/// "found"). Letters' case does not matter; beyond ASCII every character counts as a word.
std::string server_words(std::string_view said, std::span<const std::string_view> sent);

}  // namespace strongroom::embed
