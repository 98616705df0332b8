#include "recall/temporal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "recall/civil_time.h"

namespace strongroom::recall {
namespace {

constexpr TimeMs kReference = 1'752'661'800'000;  // Wednesday 2025-07-16T10:30

std::string certainty_name(Certainty certainty) {
  constexpr std::string_view kNames[] = {"explicit", "relative", "vague"};
  return std::string(kNames[static_cast<std::size_t>(certainty)]);
}

std::string to_text(std::string_view text, const TimeExpression& time) {
  return "[" + std::string(text.substr(time.begin, time.end - time.begin)) + "] " + describe(time) +
         " " + std::string(granularity_name(time.granularity)) + " " +
         certainty_name(time.certainty);
}

std::string answer(std::string_view text, TimeMs reference, Reading reading) {
  std::vector<std::string> parts;
  if (reading == Reading::query) {
    const QueryTimes times = query_times(text, reference);
    if (times.asks_when) parts.emplace_back("when");
    for (const TimeExpression& time : times.spans) parts.push_back(to_text(text, time));
  } else {
    const auto times = find_times(text, reference, reading);
    for (const TimeExpression& time : times) parts.push_back(to_text(text, time));
    if (const auto one = occurred_time(times)) parts.push_back("occurred " + describe(*one));
  }
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " | ") + part;
  return out.empty() ? "-" : out;
}

// 2025-07-16T10:30:00
TimeMs to_time(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  REQUIRE(std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour, &minute,
                      &second) == 6);
  return midnight(day_of(year, month, day)) + ((hour * 60 + minute) * 60 + second) * 1000;
}

// What holds of every text.
void check(std::string_view text, TimeMs reference) {
  for (const Reading reading : {Reading::query, Reading::text}) {
    const auto times = find_times(text, reference, reading);
    std::size_t end = 0;
    for (const TimeExpression& time : times) {
      REQUIRE(time.begin >= end);
      REQUIRE(time.end > time.begin);
      REQUIRE(time.end <= text.size());
      REQUIRE(time.start < time.until);
      REQUIRE(time.start >= kOpenStart);
      REQUIRE(time.until <= kOpenUntil);
      REQUIRE(!describe(time).empty());
      if (time.relation == Relation::before) REQUIRE(time.start == kOpenStart);
      if (time.relation == Relation::after) REQUIRE(time.until == kOpenUntil);
      end = time.end;
    }
    const auto one = occurred_time(times);
    if (one) REQUIRE(std::find(times.begin(), times.end(), *one) != times.end());
  }
}

std::ifstream open_cases() {
  std::ifstream in(STRONGROOM_TEMPORAL_CASES);
  REQUIRE(in.good());
  return in;
}

}  // namespace

TEST_CASE("times are found where a text has them and nowhere else", "[recall][temporal]") {
  std::ifstream in = open_cases();
  std::string line;
  std::size_t with = 0, without = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream row(line);
    std::string reading, reference, text, expected;
    std::getline(row, reading, '\t');
    std::getline(row, reference, '\t');
    std::getline(row, text, '\t');
    std::getline(row, expected);
    INFO(line);
    const bool query = reading == "query";
    CHECK(answer(text, to_time(reference), query ? Reading::query : Reading::text) == expected);
    check(text, to_time(reference));
    ++(expected == "-" ? without : with);
  }
  REQUIRE(with >= 150);
  REQUIRE(without >= 80);
}

TEST_CASE("any order of the words of times gives spans in order", "[recall][temporal]") {
  std::ifstream in = open_cases();
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::mt19937_64 random(7);
  constexpr TimeMs kLeast = std::numeric_limits<TimeMs>::min();
  constexpr TimeMs kMost = std::numeric_limits<TimeMs>::max();
  const TimeMs references[] = {kReference, 0, kOpenStart, kOpenUntil - 1, kLeast, kMost};
  const std::string_view joints[] = {" ", " ", " ", ", ", "-", ". ", "\n", ""};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t size = random() % 12;
    for (std::size_t i = 0; i < size; ++i) {
      text += words[random() % words.size()];
      text += joints[random() % std::size(joints)];
    }
    INFO(text);
    check(text, references[random() % std::size(references)]);
  }
}

TEST_CASE("any bytes are read without harm", "[recall][temporal]") {
  std::mt19937_64 random(11);
  constexpr std::string_view kSome = "0123456789-/:.,TZ aptsmq'\xE2\x80\x93\xC2\xA0\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 == 0 ? "may 8 " : "";
    const std::size_t size = random() % 40;
    for (std::size_t i = 0; i < size; ++i) text += kSome[random() % kSome.size()];
    INFO(text);
    check(text, kReference);
  }
}

TEST_CASE("a hostile megabyte takes linear time", "[recall][temporal]") {
  for (const std::string_view unit :
       {"1", "2023-", "1 ", "may ", "in the week before ", "first week of ", "last week before ",
        "5-8 May, ", "Monday, ", "end of the ", "1,", "from 1 to ", "\xE2\x80\x94", "the ",
        "in 2022          \t", "the year before last ", "2023-05-08 ", "a few "}) {
    std::string text = "today ";
    while (text.size() < 1'000'000) text += unit;
    INFO(unit);
    const auto begin = std::chrono::steady_clock::now();
    find_times(text, kReference, Reading::text);
    // Tens of milliseconds; anything quadratic would take minutes.
    REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  }
}

TEST_CASE("a memory is about one time, or about none of many", "[recall][temporal]") {
  const auto occurred = [](std::string_view text) {
    const auto one = occurred_time(find_times(text, kReference, Reading::text));
    return one ? describe(*one) : "-";
  };
  CHECK(occurred("In May 2024 we planned what we did yesterday.") == "2025-07-15");
  CHECK(occurred("Yesterday we found the note of 3 June 2019.") == "2019-06-03");
  CHECK(occurred("Last year we moved; in May 2024 we had chosen.") == "2024-05-01/2024-05-31");
  CHECK(occurred("Recently, and for the last three days.") == "-");
  CHECK(occurred("Valid until 2030-01-01.") == "-");
  CHECK(occurred("2025-01-01 a, 2025-02-01 b, 2025-03-01 c, 2025-04-01 d") == "2025-01-01");
  CHECK(occurred("2025-01-01, 2025-02-01, 2025-03-01, 2025-04-01, 2025-05-01") == "-");
  CHECK(occurred("") == "-");
}

TEST_CASE("an open end is told as such", "[recall][temporal]") {
  const auto times = find_times("since Tuesday, before 2021", kReference, Reading::query);
  REQUIRE(times.size() == 2);
  CHECK(times[0].relation == Relation::after);
  CHECK(times[0].until == kOpenUntil);
  CHECK(describe(times[0]) == "2025-07-15/..");
  CHECK(times[1].relation == Relation::before);
  CHECK(times[1].start == kOpenStart);
  CHECK(describe(times[1]) == "../2020-12-31");
}

TEST_CASE("days and dates are the same in all years that a date names", "[recall][temporal]") {
  const Day last = day_of(9999, 12, 31);
  Day day = day_of(1, 1, 1);
  REQUIRE(midnight(day) == kFirstTime);
  REQUIRE(midnight(last + 1) == kPastLastTime);
  int weekday = weekday_of(day);
  REQUIRE(weekday == 0);  // 0001-01-01 is a Monday
  for (; day <= last; ++day, weekday = (weekday + 1) % 7) {
    const Date date = date_of(day);
    if (day_of(date.year, date.month, date.day) != day || weekday_of(day) != weekday ||
        !valid_date(date.year, date.month, date.day)) {
      FAIL("day " << day);
    }
  }
  CHECK(!valid_date(2023, 2, 29));
  CHECK(valid_date(2024, 2, 29));
  CHECK(easter(2024) == day_of(2024, 3, 31));
  CHECK(add_months(day_of(2024, 1, 31), 1) == day_of(2024, 2, 29));
  CHECK(day_of(2024, 14, 1) == day_of(2025, 2, 1));
  CHECK(day_of(2024, -1, 1) == day_of(2023, 11, 1));
}

}  // namespace strongroom::recall
