// Times told from the reference ("last week") or from another time ("the weekend before 4 May").
#include <algorithm>

#include "recall/temporal_grammar.h"

namespace strongroom::recall::temporal {
namespace {

using P = Preposition;

bool has(const Token& token, std::uint8_t flag) {
  return (token.flags & flag) != 0;
}

bool is_unit(const Token* token, Unit unit) {
  return token && token->value == static_cast<int>(unit);
}

Period told(std::size_t next, DaySpan span, Granularity granularity) {
  return of_days(next, span, granularity, Certainty::relative);
}

}  // namespace

DaySpan unit_span(Unit unit, Day day, std::int64_t offset) noexcept {
  const Date date = date_of(day);
  switch (unit) {
    case Unit::weekend: {
      const Day saturday = day - weekday_of(day) + 5 + 7 * offset;
      return {saturday, saturday + 2};
    }
    case Unit::week: {
      const Day monday = day - weekday_of(day) + 7 * offset;
      return {monday, monday + 7};
    }
    case Unit::month: return month_span(date.year, date.month + offset);
    case Unit::quarter: return month_span(date.year, (date.month - 1) / 3 * 3 + 1 + 3 * offset, 3);
    case Unit::year: return month_span(date.year + offset, 1, 12);
    case Unit::decade: return month_span(date.year - date.year % 10 + 10 * offset, 1, 120);
    default: return {day + offset, day + offset + 1};
  }
}

Day moved(Day day, Unit unit, std::int64_t count) noexcept {
  switch (unit) {
    case Unit::day: return day + count;
    case Unit::week:
    case Unit::weekend: return day + 7 * count;
    case Unit::month: return add_months(day, count);
    case Unit::quarter: return add_months(day, 3 * count);
    case Unit::year: return add_months(day, 12 * count);
    case Unit::decade: return add_months(day, 120 * count);
    default: return day;
  }
}

Granularity unit_granularity(Unit unit) noexcept {
  switch (unit) {
    case Unit::minute:
    case Unit::hour: return Granularity::hour;
    case Unit::day: return Granularity::day;
    case Unit::weekend:
    case Unit::week: return Granularity::week;
    case Unit::month: return Granularity::month;
    case Unit::quarter: return Granularity::quarter;
    case Unit::year: return Granularity::year;
    default: return Granularity::decade;
  }
}

Found Grammar::period(std::size_t at, const Frame& frame) const {
  const Token* token = get(at);
  if (!token) return std::nullopt;
  if (token->kind == Kind::the && !frame.the) {
    const Token* after = get(at + 1);
    if (!after || after->gap != Gap::blank) return std::nullopt;
    Frame in = frame;
    in.the = true;
    return period(at + 1, in);
  }
  if (const Found out = relative(at, frame)) return out;
  return named(at, frame);
}

// A time inside another, as after "of" or "before"; what may stand behind "in" may stand there.
Found Grammar::inner(std::size_t at, const Frame& frame) const {
  const Token* token = get(at);
  if (!token || (token->gap != Gap::blank && token->gap != Gap::dash) || frame.depth >= kDeepest) {
    return std::nullopt;
  }
  Frame in = frame;
  in.behind = P::during;
  in.the = false;
  ++in.depth;
  return period(at, in);
}

Found Grammar::relative(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  Found out;
  switch (token.kind) {
    case Kind::relative_day:
    case Kind::tonight:
    case Kind::recent: return relative_day(at, frame);
    case Kind::shift:
      if (token.value == -1 && (out = nth_of(at, frame))) return out;
      return shifted(at, frame);
    case Kind::rolling: return shifted(at, frame);
    case Kind::nth:
    case Kind::ordinal: return nth_of(at, frame);
    case Kind::count:
    case Kind::number:
    case Kind::article:
    case Kind::couple:
    case Kind::few:
    case Kind::several: return counted(at, frame);
    case Kind::unit:
    case Kind::part: return beside(at, frame);
    case Kind::edge:
    case Kind::edge_of: return edge(at, frame);
    case Kind::narrowing: return narrowed(at, frame);
    case Kind::other: {
      const Token* day = next(at + 1, Kind::unit);
      if (!frame.the || !is_unit(day, Unit::day) || has(*day, kPlural)) return out;
      const Day today = day_at(frame.now);
      return of_days(at + 2, {today - 10, today}, Granularity::vague, Certainty::vague);
    }
    default: return out;
  }
}

// yesterday, today, tomorrow, tonight; recently.
Found Grammar::relative_day(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  const Day today = day_at(frame.now);
  if (token.kind == Kind::recent) {
    const std::string_view before = text_.substr(0, token.begin);
    if (before.ends_with("more ") || before.ends_with("most ")) return std::nullopt;
    return of_days(at + 1, {today - 30, today + 1}, Granularity::vague, Certainty::vague);
  }
  if (token.kind == Kind::tonight) {
    const TimeMs start = midnight(today);
    return Period{at + 1, start + 18 * kHourMs, start + 30 * kHourMs, Granularity::part_of_day,
                  Certainty::relative};
  }
  const Day day = today + token.value;
  return with_clock(told(at + 1, {day, day + 1}, Granularity::day), true);
}

// last, this, next, past, coming; "last week before 19 March 2024" and
// "last Monday, on 9 April 2024" count from that day.
Found Grammar::shifted(std::size_t at, const Frame& frame) const {
  const Found out = shifted_from(at, frame);
  const Token* word = out ? next(out->next, Kind::preposition) : nullptr;
  const bool on = word && word->value == static_cast<int>(P::on);
  if (!word || (word->value != static_cast<int>(P::before) && !on)) return out;
  const Found other = inner(out->next + 1, frame);
  if (!other || other->granularity > Granularity::day) return out;
  if (on && other->certainty != Certainty::explicit_date) return out;
  Frame in = frame;
  in.now = std::clamp(other->start, kFirstTime, kPastLastTime - 1);
  Found counted_back = shifted_from(at, in);
  if (!counted_back) return out;
  counted_back->next = other->next;
  if (counted_back->certainty == Certainty::relative) counted_back->certainty = other->certainty;
  return counted_back;
}

Found Grammar::shifted_from(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  const auto shift = static_cast<int>(token.value);
  std::size_t after = at + 1;
  const Token* rolling = token.kind == Kind::rolling ? &token : next(after, Kind::rolling);
  if (rolling != nullptr && rolling != &token) ++after;  // "this past week"
  const Token* word = get(after);
  if (!word || word->gap != Gap::blank) return std::nullopt;
  const int direction = rolling ? static_cast<int>(rolling->value) : shift;
  if (count(after)) return window(after, direction, frame);
  if (word->kind == Kind::unit) {
    // "the last year" touches the reference; "last year" and "the previous year" do not.
    const bool touching = rolling || (frame.the && shift == -1 && !has(token, kName));
    const bool whole = word->value == static_cast<int>(Unit::weekend) || has(*word, kPlural);
    if (!touching || whole) return shifted_unit(after, direction, frame);
    if (word->value == static_cast<int>(Unit::minute)) return std::nullopt;
    if (!rolling && word->value <= static_cast<int>(Unit::day)) return std::nullopt;
    return window(after, direction, frame);
  }
  return shifted_name(after, direction, frame);
}

Found Grammar::shifted_unit(std::size_t at, int shift, const Frame& frame) const {
  const Token& token = tokens_[at];
  const Unit unit = static_cast<Unit>(token.value);
  // "the next week" and "the next day" count from what was told before.
  if (has(token, kPlural) || unit <= Unit::day || (frame.the && shift == 1)) return std::nullopt;
  const DaySpan span = unit_span(unit, day_at(frame.now), shift);
  return told(at + 1, span, unit_granularity(unit));
}

// last Friday, this May, next summer, last Christmas, last night, this morning.
Found Grammar::shifted_name(std::size_t at, int shift, const Frame& frame) const {
  const Token& token = tokens_[at];
  const Day today = day_at(frame.now);
  if ((has(token, kShort) || (has(token, kVerb) && token.kind == Kind::month)) &&
      !(has(token, kCapital) && free_after(at))) {
    return std::nullopt;
  }
  if (token.kind == Kind::weekday) {
    const int ahead = (static_cast<int>(token.value) - weekday_of(today) + 7) % 7;
    const Day monday = today - weekday_of(today);
    const Day day = shift == 0   ? monday + token.value
                    : shift == 1 ? today + (ahead == 0 ? 7 : ahead)
                                 : today + ahead - 7;
    return with_clock(told(at + 1, {day, day + 1}, Granularity::day), true);
  }
  if (token.kind == Kind::part) {
    const bool night = token.value == static_cast<int>(Part::night);
    const bool evening = token.value == static_cast<int>(Part::evening);
    if (shift > 0 || (shift < 0 && (frame.the || (!night && !evening)))) return std::nullopt;
    Found day = told(at, {today + shift, today + shift + 1}, Granularity::day);
    const Found out = with_clock(day, true);
    return out->next == at ? std::nullopt : out;
  }
  if (frame.depth >= kDeepest) return std::nullopt;
  const bool yearly = token.kind == Kind::month || token.kind == Kind::season ||
                      token.kind == Kind::holiday || token.kind == Kind::quarter;
  if (!yearly) return std::nullopt;
  Frame in = frame;
  in.behind = P::during;
  in.the = token.kind == Kind::season;  // as if "the summer": with its article it is no framework
  in.habit = false;
  in.reading = Reading::query;
  ++in.depth;
  in.future = shift > 0;
  Found out = named(at, in);
  if (!out || out->certainty == Certainty::explicit_date) return out;
  // The one that is running is "this" one, and neither the last nor the next.
  const bool running = out->start <= frame.now && frame.now < out->until;
  // In July "this winter" is more often the one that was than the one that will be.
  const bool was = token.kind == Kind::season && token.value == 12 && !frame.future;
  if (shift == 0 && !running && !was) {
    in.now = midnight(day_of(date_of(today).year, 12, 31));
    out = named(at, in);
  } else if (shift != 0 && running) {
    in.now = shift > 0 ? out->until : out->start - 1;
    out = named(at, in);
  }
  if (out) out->floating = false;
  return out;
}

// "[the last] three days", "[the past] few weeks", "[the past] week".
Found Grammar::window(std::size_t at, int direction, const Frame& frame) const {
  const auto many = count(at);
  const std::size_t unit_at = many ? many->next : at;
  const Token* token = next(unit_at, Kind::unit);
  if (!token || direction == 0 || (!many && (has(*token, kPlural) || !frame.the)))
    return std::nullopt;
  const Unit unit = static_cast<Unit>(token->value);
  const std::int64_t size = many ? many->most : 1;
  if (unit == Unit::minute || size > 9999) return std::nullopt;
  Period out{};
  if (unit == Unit::hour) {
    const TimeMs hour = day_at(frame.now) * kDayMs + frame.now % kDayMs / kHourMs * kHourMs;
    out = {0, hour, hour + kHourMs, Granularity::vague, Certainty::vague};
    (direction < 0 ? out.start : out.until) += direction * size * kHourMs;
  } else {
    const Day today = day_at(frame.now);
    const Day far = moved(today, unit, direction * size);
    const DaySpan span = direction < 0 ? DaySpan{far, today + 1} : DaySpan{today, far + 1};
    out = of_days(0, span, Granularity::vague, Certainty::vague);
  }
  out.granularity = unit_granularity(unit);
  out.next = unit_at + 1;
  return out;
}

// A count and where its noun is: "three", "12", "a", "a couple of", "a few", "several".
std::optional<Grammar::Count> Grammar::count(std::size_t at) const {
  const Token* token = get(at);
  if (!token) return std::nullopt;
  std::size_t after = at + 1;
  if (token->kind == Kind::article && (next(after, Kind::couple) || next(after, Kind::few))) {
    token = &tokens_[after++];
  }
  switch (token->kind) {
    case Kind::couple:
      if (next(after, Kind::of)) ++after;
      return Count{2, 3, after};
    case Kind::few: return Count{2, 5, after};
    case Kind::several: return Count{3, 8, after};
    case Kind::article:
    case Kind::count:
    case Kind::number: return Count{token->value, token->value, after};
    default: return std::nullopt;
  }
}

// "two days ago", "a week from now", "in three weeks", "two days after 8 May 2023".
Found Grammar::counted(std::size_t at, const Frame& frame) const {
  const auto many = count(at);
  const Token* token = many ? next(many->next, Kind::unit) : nullptr;
  if (!token || many->most < 1) return std::nullopt;
  const Unit unit = static_cast<Unit>(token->value);
  const std::size_t after = many->next + 1;
  const Token* word = get(after);
  const bool linked = word && word->gap == Gap::blank;
  const bool ago = linked && word->kind == Kind::ago;
  const bool from = linked && word->kind == Kind::preposition &&
                    word->value == static_cast<int>(P::from) && next(after + 1, Kind::now);
  const bool in = frame.future && frame.reading == Reading::text && frame.behind == P::in &&
                  unit > Unit::hour && !frame.the && free_after(after - 1);
  if (ago || from || in) {
    const std::int64_t least = ago ? -many->most : many->least;
    const std::int64_t most = ago ? -many->least : many->most;
    const std::size_t end = after + (ago ? 1U : from ? 2U : 0U);
    Period out{};
    if (unit <= Unit::hour) {
      const TimeMs size = unit == Unit::hour ? kHourMs : kHourMs / 60;
      const auto hour = [&](std::int64_t i) {
        const TimeMs time = frame.now + i * size;
        return day_at(time) * 24 + (time - midnight(day_at(time))) / kHourMs;
      };
      out = {end, hour(least) * kHourMs, (hour(most) + 1) * kHourMs, Granularity::hour,
             Certainty::relative};
    } else {
      const Day today = day_at(frame.now);
      const DaySpan span = {unit_span(unit, today, least).first, unit_span(unit, today, most).next};
      out = told(end, span, unit_granularity(unit));
    }
    if (least != most) out.certainty = Certainty::vague;
    return out;
  }
  if (!linked || word->kind != Kind::preposition || unit <= Unit::hour) return std::nullopt;
  const bool before = word->value == static_cast<int>(P::before);
  if (!before && word->value != static_cast<int>(P::after)) return std::nullopt;
  const Found other = inner(after + 1, frame);
  if (!other || other->granularity > Granularity::day || many->least != many->most) {
    return std::nullopt;
  }
  const Day day = moved(day_at(other->start), unit, before ? -many->most : many->most);
  if (frame.the) {  // "the two weeks before Christmas" are all of those days
    const Day near = day_at(other->start);
    return of_days(other->next, before ? DaySpan{day, near} : DaySpan{near + 1, day + 1},
                   unit_granularity(unit), other->certainty);
  }
  return of_days(other->next, {day, day + 1}, Granularity::day, other->certainty);
}

}  // namespace strongroom::recall::temporal
