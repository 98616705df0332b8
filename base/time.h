// Times are signed 64-bit milliseconds since 1970-01-01 UTC.
#pragma once

#include <cstdint>
#include <string>

namespace strongroom {

using TimeMs = std::int64_t;

TimeMs now_ms() noexcept;

/// 2026-11-21T21:40:05.123Z. A time outside the years 0000 to 9999 gives the nearest one inside.
std::string format_time(TimeMs time);

/// "3 minutes", "2 days": the largest whole unit, for people.
std::string format_age(TimeMs age);

}  // namespace strongroom
