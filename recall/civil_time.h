// The calendar by days: proleptic Gregorian, UTC, weeks from Monday.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace strongroom::recall {

/// Days since 1970-01-01.
using Day = std::int64_t;

inline constexpr TimeMs kHourMs = 3'600'000;
inline constexpr TimeMs kDayMs = 24 * kHourMs;

/// The years 1 to 9999, which a date can name: from the first moment to just past the last.
inline constexpr TimeMs kFirstTime = -62'135'596'800'000;
inline constexpr TimeMs kPastLastTime = 253'402'300'800'000;

struct Date {
  int year;
  int month;  // 1 to 12
  int day;    // 1 to 31
};

/// The day that `time` is in. `time` is inside the years above.
Day day_at(TimeMs time) noexcept;
Date date_of(Day day) noexcept;

/// The day of a date. A month beyond 1 to 12 counts on into other years; a day beyond its month
/// counts on into the next. A year far outside gives a day that is outside too.
Day day_of(std::int64_t year, std::int64_t month, int day = 1) noexcept;

bool valid_date(int year, int month, int day) noexcept;
int days_in_month(int year, int month) noexcept;

/// 0 Monday to 6 Sunday.
int weekday_of(Day day) noexcept;

/// The same date `months` later, or the last day of its month when that is shorter.
Day add_months(Day day, std::int64_t months) noexcept;

/// Western Easter Sunday.
Day easter(int year) noexcept;

constexpr TimeMs midnight(Day day) noexcept {
  return day * kDayMs;
}

}  // namespace strongroom::recall
