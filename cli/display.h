// Stored text for people, and what people type: times, pairs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace strongroom::cli {

/// The text in lines of at most `width` code points, broken at spaces where there are some; its own
/// line breaks stay. Escaped.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// The text with its line breaks; everything else that a terminal would act on is escaped.
std::string display_lines(std::string_view text);
/// At most `width` code points, the last one "…" where something was cut. Not escaped.
std::string shortened(std::string_view text, std::size_t width);

/// "2026-11-21".
std::string day(TimeMs time);

/// KEY=VALUE. Throws invalid naming `option`.
std::vector<std::pair<std::string, std::string>> parse_pairs(const std::vector<std::string>& given,
                                                             std::string_view option);
/// A time of the command line, when it is given. Throws invalid naming `option`.
std::optional<TimeMs> parse_given_time(const std::optional<std::string>& text,
                                       std::string_view option);

}  // namespace strongroom::cli
