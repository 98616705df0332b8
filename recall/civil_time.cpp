#include "recall/civil_time.h"

#include <algorithm>
#include <chrono>

namespace strongroom::recall {

using std::chrono::sys_days;
using std::chrono::year_month_day;

namespace {

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

Day day_at(TimeMs time) noexcept {
  return floor_div(time, kDayMs);
}

Date date_of(Day day) noexcept {
  const year_month_day date{sys_days(std::chrono::days(day))};
  return {static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day()))};
}

Day day_of(std::int64_t year, std::int64_t month, int day) noexcept {
  // Far enough outside the years 1 to 9999 to be recognised, and inside what <chrono> counts in.
  constexpr std::int64_t kLeast = -10'000, kMost = 20'000;
  year += floor_div(month - 1, 12);
  month -= 12 * floor_div(month - 1, 12);
  const year_month_day first{std::chrono::year(static_cast<int>(std::clamp(year, kLeast, kMost))),
                             std::chrono::month(static_cast<unsigned>(month)), std::chrono::day(1)};
  return sys_days(first).time_since_epoch().count() + day - 1;
}

int days_in_month(int year, int month) noexcept {
  return static_cast<int>(day_of(year, month + 1) - day_of(year, month));
}

bool valid_date(int year, int month, int day) noexcept {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
         day <= days_in_month(year, month);
}

int weekday_of(Day day) noexcept {
  constexpr Day kMonday = -3;  // 1969-12-29
  return static_cast<int>(day - kMonday - 7 * floor_div(day - kMonday, 7));
}

Day add_months(Day day, std::int64_t months) noexcept {
  const Date date = date_of(day);
  const Day first = day_of(date.year, date.month + months);
  const Day next = day_of(date.year, date.month + months + 1);
  return std::min(first + date.day - 1, next - 1);
}

// The anonymous Gregorian algorithm (Nature, 1876).
Day easter(int year) noexcept {
  const int a = year % 19, b = year / 100, c = year % 100;
  const int d = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
  const int e = (32 + 2 * (b % 4) + 2 * (c / 4) - d - c % 4) % 7;
  const int f = d + e - 7 * ((a + 11 * d + 22 * e) / 451) + 114;
  return day_of(year, f / 31, f % 31 + 1);
}

}  // namespace strongroom::recall
