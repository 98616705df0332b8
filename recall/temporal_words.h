// The words and numbers of a text that can be part of a time. Only temporal*.cpp use this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strongroom::recall::temporal {

enum class Kind : std::uint8_t {
  month,         // value 1 to 12
  weekday,       // 0 Monday to 6
  season,        // first month: 3, 6, 9, 12
  holiday,       // a Holiday
  quarter,       // 1 to 4: Q3
  unit,          // a Unit
  part,          // a Part of a day
  relative_day,  // yesterday -1, today 0, tomorrow 1
  tonight,
  recent,
  ago,
  shift,      // last -1, this 0, next 1
  rolling,    // past -1, coming 1: the time that touches the reference
  narrowing,  // earlier -1, later 1
  edge,       // early, mid, late: 0, 1, 2
  edge_of,    // beginning, middle, end: 0, 1, 2
  nth,        // first to fifth
  half,
  count,  // one to twelve
  article,
  couple,
  few,
  several,
  preposition,  // a Preposition
  the,
  of,
  as,
  to,
  and_,
  prior,
  now,
  other,
  new_,
  eve,
  meridiem,     // am 0, pm 12
  number,       // at most four digits
  ordinal,      // 1st to 31st
  decade,       // 1990, or 90 of '90s
  clock,        // minutes since midnight
  iso_hour,     // hours since 1970
  iso_day,      // days since 1970
  iso_month,    // 12 * year + month - 1
  iso_quarter,  // 4 * year + quarter - 1
  future,       // no part of a time: its sentence looks ahead
  habit,        // or tells of what is so again and again
};

enum class Unit : std::uint8_t { minute, hour, day, weekend, week, month, quarter, year, decade };
enum class Part : std::uint8_t { morning, afternoon, evening, night, noon };
enum class Holiday : std::uint8_t { christmas, easter, thanksgiving, halloween, valentine };
enum class Preposition : std::uint8_t {
  none,
  in,
  on,
  at,
  during,
  for_,
  from,
  between,
  since,
  after,
  before,
  until,
  through,
  by,
};

/// What stands between a token and the one before it: nothing, white space, a comma, a dash, or
/// other words and signs.
enum class Gap : std::uint8_t { none, blank, comma, dash, other };

inline constexpr std::uint8_t kCapital = 1;   // as it is written
inline constexpr std::uint8_t kShort = 2;     // Jan, Mon
inline constexpr std::uint8_t kVerb = 4;      // also another word: may, march, fall, sun
inline constexpr std::uint8_t kName = 8;      // also a name: June
inline constexpr std::uint8_t kPlural = 16;   // days
inline constexpr std::uint8_t kTrigger = 32;  // no time is without one of these

struct Token {
  std::size_t begin;
  std::size_t end;
  std::int64_t value;
  std::uint32_t sentence;
  Kind kind;
  std::uint8_t flags;
  Gap gap;
};

struct Sentence {
  bool future = false;
  bool habit = false;   // any of the words of habit
  bool always = false;  // one that says it of the time told: every, never
};

struct Tokens {
  std::vector<Token> tokens;
  std::vector<Sentence> sentences;
};

/// False when `text` holds no time for certain. Cheap: most texts hold none.
bool may_hold_time(std::string_view text) noexcept;

Tokens tokenize(std::string_view text);

/// True when nothing that could be counted or named follows byte `end`: the end of a clause, or a
/// word such as "we" or "and".
bool stands_free(std::string_view text, std::size_t end) noexcept;

/// Appends what a run of digits, letters and . : / - + _ means, if anything. temporal_numbers.cpp.
void append_number(std::string_view chunk, Token token, std::vector<Token>& out);

struct Word {
  std::string_view text;
  Kind kind;
  std::int8_t value;
  std::uint8_t flags;
};

/// The word, in any case, or null.
const Word* find_word(std::string_view text) noexcept;

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace strongroom::recall::temporal
