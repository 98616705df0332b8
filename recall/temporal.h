// Times that a text speaks of: "last week", "8 May 2023", "between June and August 2024".
//
// One finder for two readers. A query's times are what the answer should lie in; a retained text's
// times tell when what it says was so, and are stored beside the text, which stays as it is.
//
// English words; ISO dates (2023-05-08, 2023-05, 2023-05-08T14:30Z) in any language. All is UTC,
// weeks begin on Monday, seasons are the northern ones by months (winter 2023 is December 2023 to
// February 2024). What is not a time for certain is left out:
//   - 05/08/2023 may be May or August: it counts only when one order of month and day is possible,
//     or both are the same day;
//   - a number is a year (1900 to 2099) only beside a month, season or quarter, or behind "in",
//     "since", "by" and the like with no counted thing after it;
//   - may, march, fall, spring, sun, sat and their kind need the company of a date.
// Without a year or a week, a time is the last one that has begun by the reference: memory is
// about the past. In a text whose sentence looks ahead ("will", "going to", "plans") it is the next
// one; in a sentence of habits ("every", "never"; in a text also "weekly") it is none. "The last
// three days" are today and three days before; "a few" are two to five, "several" three to eight.
// A year is said once: in "January and March 2023" January is the last one.
//
// Pure functions of their arguments, thread-safe, linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace strongroom::recall {

/// How finely a time is told. From hour to decade they are in order.
enum class Granularity : std::uint8_t {
  hour,
  part_of_day,
  day,
  week,  // weekends and thirds of a month too
  month,
  season,
  quarter,  // halves and thirds of a year too
  year,
  decade,
  vague,
};

enum class Certainty : std::uint8_t {
  explicit_date,  // the text names it, with its year
  relative,       // the reference decides
  vague,          // "recently", "a few weeks ago", "the last three days": the edges are a guess
};

enum class Relation : std::uint8_t {
  in,
  before,  // `start` is open: "before 2021", "until Friday"
  after,   // `until` is open: "since Tuesday", "after March"
};

enum class Reading : std::uint8_t { query, text };

/// The ends of a time that is open: the first moment of year 1, the first after year 9999.
inline constexpr TimeMs kOpenStart = -62'135'596'800'000;
inline constexpr TimeMs kOpenUntil = 253'402'300'800'000;

struct TimeExpression {
  std::size_t begin;  // bytes of the text, with a word such as "since" that makes the relation,
  std::size_t end;    // without "in" and "on"
  TimeMs start;       // start <= the time < until
  TimeMs until;
  Granularity granularity;
  Certainty certainty;
  Relation relation;

  bool operator==(const TimeExpression&) const = default;
};

/// The times of `text`, ascending, none over another, each with start < until inside the years
/// 1 to 9999. `reference` is when a query is asked or a text was said; one outside those years
/// counts as their nearest moment.
std::vector<TimeExpression> find_times(std::string_view text, TimeMs reference, Reading reading);

struct QueryTimes {
  std::vector<TimeExpression> spans;  // "recently" is left out beside a date
  bool asks_when =
      false;  // "When did ...", "Which year ...", "How long ago ...": wants a time. Its
              // spans may tell of something else: "the flat that they let last year"
};
QueryTimes query_times(std::string_view query, TimeMs reference);

/// The one time that a memory is about, of its find_times(text, mentioned_at, Reading::text): the
/// first of the best rank, which is
///   1. a date told with its year, to the day or finer; 2. a relative time, to the day or finer;
///   3. a coarser explicit time; 4. a coarser relative one.
/// Vague times, times before or after something, and decades do not count. None when more than
/// three that count lie wholly outside the chosen one: a text of many dates is a list.
std::optional<TimeExpression> occurred_time(const std::vector<TimeExpression>& times);

/// For traces and answers: "2023-05-08", "2023-05-01/2023-05-31" (both days included),
/// "2023-05-08T14:00Z/2023-05-08T15:00Z", and ".." for an open end.
std::string describe(const TimeExpression& time);

/// "hour", "part_of_day", "day", ...
std::string_view granularity_name(Granularity granularity) noexcept;

}  // namespace strongroom::recall
