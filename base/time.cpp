#include "base/time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace strongroom {

TimeMs now_ms() noexcept {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string format_time(TimeMs time) {
  using namespace std::chrono;
  constexpr TimeMs kFirst = -62'167'219'200'000, kLast = 253'402'300'799'999;
  time = std::clamp(time, kFirst, kLast);
  const sys_time<milliseconds> point{milliseconds(time)};
  const sys_days day = floor<days>(point);
  const year_month_day date(day);
  const hh_mm_ss<milliseconds> clock(point - day);
  char text[48];
  const int length = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return std::string(text, static_cast<std::size_t>(length));
}

std::string format_age(TimeMs age) {
  struct Unit {
    TimeMs length;
    const char* name;
  };
  static constexpr Unit kUnits[] = {
      {86'400'000, "day"}, {3'600'000, "hour"}, {60'000, "minute"}, {1'000, "second"}};
  if (age < 0) age = 0;
  for (const Unit& unit : kUnits) {
    if (age >= unit.length) {
      const TimeMs n = age / unit.length;
      return std::to_string(n) + " " + unit.name + (n == 1 ? "" : "s");
    }
  }
  return "now";
}

}  // namespace strongroom
