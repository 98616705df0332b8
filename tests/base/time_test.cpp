#include "base/time.h"

#include <ctime>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace strongroom {
namespace {

// The C library's calendar, for years that gmtime and this format share.
std::string slow_format(TimeMs time) {
  TimeMs seconds = time / 1000, part = time % 1000;
  if (part < 0) {
    part += 1000;
    --seconds;
  }
  const std::time_t clock = seconds;
  std::tm fields{};
  REQUIRE(::gmtime_r(&clock, &fields) != nullptr);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", fields.tm_year + 1900,
                fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec,
                static_cast<int>(part));
  return text;
}

}  // namespace

TEST_CASE("times as text", "[base][time]") {
  struct Row {
    TimeMs time;
    const char* text;
  };
  constexpr TimeMs kLeast = std::numeric_limits<TimeMs>::min();
  constexpr TimeMs kLargest = std::numeric_limits<TimeMs>::max();
  for (const Row& row :
       {Row{0, "1970-01-01T00:00:00.000Z"}, Row{1, "1970-01-01T00:00:00.001Z"},
        Row{-1, "1969-12-31T23:59:59.999Z"}, Row{-1000, "1969-12-31T23:59:59.000Z"},
        Row{951'782'400'000, "2000-02-29T00:00:00.000Z"},
        Row{951'868'799'999, "2000-02-29T23:59:59.999Z"},
        Row{1'234'567'890'123, "2009-02-13T23:31:30.123Z"},
        Row{2'147'483'648'000, "2038-01-19T03:14:08.000Z"},
        Row{4'107'542'400'000, "2100-03-01T00:00:00.000Z"},
        Row{-2'208'988'800'000, "1900-01-01T00:00:00.000Z"},
        Row{-62'135'596'800'000, "0001-01-01T00:00:00.000Z"},
        Row{-62'167'219'200'000, "0000-01-01T00:00:00.000Z"},
        Row{253'402'300'799'999, "9999-12-31T23:59:59.999Z"},
        Row{253'402'300'800'000, "9999-12-31T23:59:59.999Z"},
        Row{kLargest, "9999-12-31T23:59:59.999Z"},
        Row{-62'167'219'200'001, "0000-01-01T00:00:00.000Z"},
        Row{kLeast, "0000-01-01T00:00:00.000Z"}}) {
    CHECK(format_time(row.time) == row.text);
  }
  // Each first of January from 1970 to 9999, and one millisecond before.
  TimeMs january = 0;
  for (int year = 1970; year <= 9999; ++year) {
    char start[32];
    std::snprintf(start, sizeof start, "%04d-01-01T00:00:00.000Z", year);
    REQUIRE(format_time(january) == start);
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    january += (leap ? 366 : 365) * TimeMs{86'400'000};
    std::snprintf(start, sizeof start, "%04d-12-31T23:59:59.999Z", year);
    REQUIRE(format_time(january - 1) == start);
  }
  std::mt19937_64 random(1970);
  std::uniform_int_distribution<TimeMs> any(-62'167'219'200'000, 253'402'300'799'999);
  for (int i = 0; i < 20'000; ++i) {
    const TimeMs time = any(random);
    REQUIRE(format_time(time) == slow_format(time));
  }
}

TEST_CASE("ages for people", "[base][time]") {
  CHECK(format_age(0) == "now");
  CHECK(format_age(-5'000) == "now");
  CHECK(format_age(999) == "now");
  CHECK(format_age(1'000) == "1 second");
  CHECK(format_age(59'999) == "59 seconds");
  CHECK(format_age(60'000) == "1 minute");
  CHECK(format_age(3 * 60'000) == "3 minutes");
  CHECK(format_age(3'599'999) == "59 minutes");
  CHECK(format_age(3'600'000) == "1 hour");
  CHECK(format_age(86'400'000) == "1 day");
  CHECK(format_age(2 * 86'400'000 + 5) == "2 days");
  CHECK(format_age(std::numeric_limits<TimeMs>::max()) == "106751991167 days");
}

TEST_CASE("the clock is in milliseconds", "[base][time]") {
  const TimeMs before = static_cast<TimeMs>(std::time(nullptr)) * 1000;
  const TimeMs now = now_ms();
  CHECK(now >= before - 1000);
  CHECK(now <= before + 60'000);
}

}  // namespace strongroom
