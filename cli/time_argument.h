// Times on the command line.
#pragma once

#include <string_view>

#include "base/time.h"

namespace strongroom::cli {

/// RFC 3339 ("2026-11-21T21:40:05Z", with an offset, without a zone or a time: UTC), or a duration
/// back from `now` ("90s", "15m", "2h", "3d", "2w"). Throws invalid naming `field`: 30 February,
/// years 0 and above 9999.
TimeMs parse_time_argument(std::string_view text, TimeMs now, std::string_view field);

}  // namespace strongroom::cli
