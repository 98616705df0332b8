// How the words of one time fit together. Only temporal*.cpp use this.
//
// A period is parsed from a token on, by trying the forms in turn. No form looks further than a
// handful of tokens, and forms hold one another at most kDeepest deep, so each start costs a
// constant.
#pragma once

#include <optional>

#include "recall/civil_time.h"
#include "recall/temporal.h"
#include "recall/temporal_words.h"

namespace strongroom::recall::temporal {

struct Period {
  std::size_t next;  // the first token after it
  TimeMs start;
  TimeMs until;
  Granularity granularity;
  Certainty certainty;
  bool floating = false;  // said without the year or week that would fix it
};
using Found = std::optional<Period>;

/// How to read what a time leaves open.
struct Frame {
  TimeMs now;
  bool future = false;  // the sentence looks ahead
  bool habit = false;
  Reading reading = Reading::query;
  Preposition behind = Preposition::none;  // the word before the time
  bool the = false;                        // "the" between them
  int depth = 0;
};

struct DaySpan {
  Day first;
  Day next;
};

/// The calendar unit `offset` units from the one that `day` is in. For weekends: of that week.
DaySpan unit_span(Unit unit, Day day, std::int64_t offset) noexcept;
/// The day `count` units later; months and years keep the date.
Day moved(Day day, Unit unit, std::int64_t count) noexcept;
Granularity unit_granularity(Unit unit) noexcept;

class Grammar {
 public:
  Grammar(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  /// The period that begins with token `at`.
  Found period(std::size_t at, const Frame& frame) const;

  const Token* get(std::size_t at) const { return at < tokens_.size() ? &tokens_[at] : nullptr; }
  /// The token, when it is of `kind` and stands next to the one before it.
  const Token* next(std::size_t at, Kind kind) const;
  bool free_after(std::size_t at) const { return stands_free(text_, tokens_[at].end); }

 private:
  struct Count {
    std::int64_t least;
    std::int64_t most;
    std::size_t next;
  };

  // temporal_calendar.cpp: what has a name in the calendar.
  Found named(std::size_t at, const Frame& frame) const;
  Found iso(std::size_t at) const;
  Found month(std::size_t at, const Frame& frame) const;
  Found month_days(std::size_t at, std::size_t day_at, const Frame& frame) const;
  Found day_month(std::size_t at, const Frame& frame) const;
  Found month_day(std::size_t next, int month, int first, int last, const Frame& frame) const;
  Found day_of_month(std::size_t at, const Frame& frame) const;
  Found weekday(std::size_t at, const Frame& frame) const;
  Found dated_weekday(std::size_t at, const Frame& frame) const;
  Found season(std::size_t at, const Frame& frame) const;
  Found quarter(std::size_t at, const Frame& frame) const;
  Found holiday(std::size_t at, const Frame& frame) const;
  Found year(std::size_t at, const Frame& frame) const;
  Found decade(std::size_t at, const Frame& frame) const;
  Found with_clock(Found day, bool parts) const;
  bool month_allowed(std::size_t at, const Frame& frame) const;
  std::optional<int> year_after(std::size_t& next) const;

  // temporal_relative.cpp: what is told from the reference or from another time.
  Found relative(std::size_t at, const Frame& frame) const;
  Found relative_day(std::size_t at, const Frame& frame) const;
  Found shifted(std::size_t at, const Frame& frame) const;
  Found shifted_from(std::size_t at, const Frame& frame) const;
  Found shifted_unit(std::size_t at, int shift, const Frame& frame) const;
  Found shifted_name(std::size_t at, int shift, const Frame& frame) const;
  Found window(std::size_t at, int direction, const Frame& frame) const;
  Found counted(std::size_t at, const Frame& frame) const;
  std::optional<Count> count(std::size_t at) const;
  Found inner(std::size_t at, const Frame& frame) const;

  // temporal_composed.cpp: what is a part of another time or lies beside it.
  Found beside(std::size_t at, const Frame& frame) const;
  Found beside_another(std::size_t at, const Frame& frame) const;
  Found part_of(std::size_t at, Period day) const;
  Found nth_of(std::size_t at, const Frame& frame) const;
  Found edge(std::size_t at, const Frame& frame) const;
  Found narrowed(std::size_t at, const Frame& frame) const;

  std::string_view text_;
  const std::vector<Token>& tokens_;
};

/// A period of whole days.
inline Period of_days(std::size_t next, DaySpan span, Granularity granularity,
                      Certainty certainty) {
  return {next, midnight(span.first), midnight(span.next), granularity, certainty, false};
}

/// The occurrence of what comes back each year (a month, a day, a holiday) that is meant.
/// `make(year)` gives the span, empty for a year without one.
template <class Make>
std::optional<DaySpan> annual(const Frame& frame, Make make) {
  const int year = date_of(day_at(frame.now)).year;
  for (int step = 0; step <= 8; ++step) {  // February 29 may be eight years away
    const DaySpan span = make(frame.future ? year - 1 + step : year - step);
    if (span.next <= span.first) continue;
    if (frame.future ? midnight(span.next) > frame.now : midnight(span.first) <= frame.now) {
      return span;
    }
  }
  return std::nullopt;
}

inline DaySpan month_span(std::int64_t year, std::int64_t month, int months = 1) {
  return {day_of(year, month), day_of(year, month + months)};
}

inline constexpr int kDeepest = 2;

}  // namespace strongroom::recall::temporal
