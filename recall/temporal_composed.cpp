// Times told as a part of another, or by what lies beside it: "first week of August", "the weekend
// before 4 May".
#include <algorithm>

#include "recall/temporal_grammar.h"

namespace strongroom::recall::temporal {
namespace {

using P = Preposition;

bool has(const Token& token, std::uint8_t flag) {
  return (token.flags & flag) != 0;
}

Period told(std::size_t next, DaySpan span, Granularity granularity) {
  return of_days(next, span, granularity, Certainty::relative);
}

// The months or days from a third to another of a span: 0 early, 1 mid, 2 late.
DaySpan third_of(DaySpan span, Granularity granularity, std::int64_t third) {
  const Date from = date_of(span.first);
  const auto by_months = [&](int months) {
    const auto at = [&](std::int64_t i) {
      return day_of(from.year, from.month + i * months / 3, from.day);
    };
    return DaySpan{at(third), at(third + 1)};
  };
  switch (granularity) {
    case Granularity::season:
    case Granularity::quarter: return by_months(3);
    case Granularity::year: return by_months(12);
    case Granularity::decade: return by_months(120);
    default: break;
  }
  // A week is 2, 2 and 3 days, a month 10, 10 and what remains.
  const Day size = (span.next - span.first) / 3;
  return {span.first + third * size, third == 2 ? span.next : span.first + (third + 1) * size};
}

Granularity third_granularity(Granularity whole) {
  switch (whole) {
    case Granularity::week: return Granularity::day;
    case Granularity::month: return Granularity::week;
    case Granularity::year: return Granularity::quarter;
    case Granularity::decade: return Granularity::year;
    default: return Granularity::month;
  }
}

DaySpan days_of(const Period& period) {
  return {day_at(period.start), day_at(period.until - 1) + 1};
}

// `count` units from the front of `whole`, after `skipped` of them, or from its back.
std::optional<DaySpan> pieces(DaySpan whole, Unit unit, std::int64_t skipped, std::int64_t count,
                              bool back) {
  DaySpan out{};
  if (unit == Unit::weekend) {
    const Day saturday = back ? whole.next - 1 - (weekday_of(whole.next - 1) + 2) % 7
                              : whole.first + (12 - weekday_of(whole.first)) % 7;
    const Day first = back ? saturday - 7 * (count - 1) : saturday + 7 * skipped;
    out = {first, first + 7 * (count - 1) + 2};
    if (out.first < whole.first || out.next - 2 >= whole.next) return std::nullopt;
    return out;
  }
  out = back
            ? DaySpan{moved(whole.next, unit, -count), whole.next}
            : DaySpan{moved(whole.first, unit, skipped), moved(whole.first, unit, skipped + count)};
  if (!back && unit == Unit::week) out.next = std::min(out.next, whole.next);
  if (out.first < whole.first || out.next > whole.next) return std::nullopt;
  return out;
}

}  // namespace

// "[over the] weekend", "day before yesterday", "weekend before 4 May", "year before last", "week
// of 8 May", "year 2023".
Found Grammar::beside(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  const Found out = beside_another(at, frame);
  if (out || token.kind != Kind::unit || token.value != static_cast<int>(Unit::weekend)) return out;
  if (!frame.the || frame.behind == P::none || has(token, kPlural) || frame.habit) return out;
  const Day today = day_at(frame.now);
  const bool begun = weekday_of(today) >= 5 || frame.future;  // or the one that comes
  Period weekend = told(at + 1, unit_span(Unit::weekend, today, begun ? 0 : -1), Granularity::week);
  weekend.floating = true;
  return weekend;
}

Found Grammar::beside_another(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  const Token* word = get(at + 1);
  if (!word || word->gap != Gap::blank || has(token, kPlural)) return std::nullopt;
  const bool part = token.kind == Kind::part;
  const Unit unit = part ? Unit::day : static_cast<Unit>(token.value);
  if (unit <= Unit::hour) return std::nullopt;
  if (word->kind == Kind::number && unit == Unit::year) {
    Frame in = frame;
    in.behind = P::in;
    in.the = false;
    return year(at + 1, in);
  }
  if (word->kind == Kind::of || word->kind == Kind::month) {
    const Found other = inner(at + (word->kind == Kind::of ? 2 : 1), frame);
    if (!other || other->granularity > unit_granularity(unit)) return std::nullopt;
    if (part) return part_of(at, *other);
    const DaySpan span = unit_span(unit, day_at(other->start), 0);
    return of_days(other->next, span, unit_granularity(unit), other->certainty);
  }
  if (word->kind != Kind::preposition) return std::nullopt;
  const bool before = word->value == static_cast<int>(P::before);
  if (!before && word->value != static_cast<int>(P::after)) return std::nullopt;
  const int step = before ? -1 : 1;
  const Token* again = next(at + 2, Kind::shift);  // "the year before last"
  if (again && again->value == step && !part && !next(at + 3, Kind::unit)) {
    return told(at + 3, unit_span(unit, day_at(frame.now), 2 * step), unit_granularity(unit));
  }
  const Found other = inner(at + 2, frame);
  if (!other || other->certainty == Certainty::vague) return std::nullopt;
  const Day edge = before ? day_at(other->start) : day_at(other->until - 1);
  DaySpan span = unit_span(unit, edge, step);
  const DaySpan near = unit_span(unit, edge, 0);
  if (unit == Unit::weekend && !before && near.first > edge) span = near;  // of the same week
  const Found out = of_days(other->next, span, unit_granularity(unit), other->certainty);
  return part && out ? part_of(at, *out) : out;
}

// The part of the day that token `at` names, of "the night of 4 June" or "before 4 June".
Found Grammar::part_of(std::size_t at, Period day) const {
  const std::size_t after = day.next;
  day.next = at;
  Found out = with_clock(day, true);
  out->next = after;
  return out;
}

// "first week of August 2023", "last Friday of March", "first half of 2024", "last two weeks of
// May".
Found Grammar::nth_of(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  const bool back = token.kind == Kind::shift;
  if (token.kind == Kind::ordinal && next(at + 1, Kind::of) && next(at + 2, Kind::shift)) {
    const Found month = inner(at + 2, frame);  // "the 5th of last month"
    if (!month || month->granularity != Granularity::month) return std::nullopt;
    const Day day = day_at(month->start) + token.value - 1;
    if (midnight(day) >= month->until) return std::nullopt;
    return told(month->next, {day, day + 1}, Granularity::day);
  }
  const std::int64_t number = back ? 1 : token.value;
  const auto many =
      next(at + 1, Kind::count) || next(at + 1, Kind::number) ? count(at + 1) : std::nullopt;
  const std::size_t noun_at = many ? many->next : at + 1;
  const Token* noun = get(noun_at);
  if (!noun || noun->gap != Gap::blank || !next(noun_at + 1, Kind::of)) return std::nullopt;
  const Found whole = inner(noun_at + 2, frame);
  if (!whole || whole->certainty == Certainty::vague || whole->granularity < Granularity::week) {
    return std::nullopt;
  }
  const DaySpan days = days_of(*whole);
  std::optional<DaySpan> span;
  Granularity granularity = Granularity::day;
  if (noun->kind == Kind::half && !back && number <= 2 && !many) {
    const Date first = date_of(days.first);
    const Day middle = whole->granularity == Granularity::month ? days.first + 15
                       : whole->granularity == Granularity::year
                           ? day_of(first.year, first.month + 6)
                           : days.first + (days.next - days.first) / 2;
    span = number == 1 ? DaySpan{days.first, middle} : DaySpan{middle, days.next};
    granularity = third_granularity(whole->granularity);
  } else if (noun->kind == Kind::weekday && !many) {
    const auto wanted = static_cast<int>(noun->value);
    const Day day = back
                        ? days.next - 1 - (weekday_of(days.next - 1) - wanted + 7) % 7
                        : days.first + (wanted - weekday_of(days.first) + 7) % 7 + 7 * (number - 1);
    if (day < days.next) span = DaySpan{day, day + 1};
  } else if (noun->kind == Kind::unit && noun->value > static_cast<int>(Unit::hour)) {
    const Unit unit = static_cast<Unit>(noun->value);
    span = pieces(days, unit, number - 1, many ? many->most : 1, back);
    granularity = unit_granularity(unit);
  }
  if (!span) return std::nullopt;
  Period out = of_days(whole->next, *span, granularity, whole->certainty);
  out.floating = whole->floating;
  return out;
}

// "early June", "mid-2023", "end of last month", "by the end of the week".
Found Grammar::edge(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  std::size_t after = at + 1;
  if (token.kind == Kind::edge_of && !next(after++, Kind::of)) return std::nullopt;
  if (token.kind == Kind::edge) {
    const Token* in = next(after, Kind::preposition);
    if (in && in->value == static_cast<int>(P::in)) ++after;  // "early in 2023"
  }
  Found whole;
  const Token* unit = next(after, Kind::the) ? next(after + 1, Kind::unit) : nullptr;
  if (unit && token.kind == Kind::edge_of && unit->value > static_cast<int>(Unit::weekend) &&
      !has(*unit, kPlural) && !frame.habit && !next(after + 2, Kind::of)) {
    const Unit which = static_cast<Unit>(unit->value);
    whole = told(after + 2, unit_span(which, day_at(frame.now), 0), unit_granularity(which));
  } else {
    whole = inner(after, frame);
  }
  if (!whole || whole->certainty == Certainty::vague || whole->granularity < Granularity::week) {
    return std::nullopt;
  }
  Period out = of_days(whole->next, third_of(days_of(*whole), whole->granularity, token.value),
                       third_granularity(whole->granularity), whole->certainty);
  out.floating = whole->floating;
  return out;
}

// "earlier today", "later this week".
Found Grammar::narrowed(std::size_t at, const Frame& frame) const {
  const Token* word = get(at + 1);
  if (!word || word->gap != Gap::blank || word->value != 0 ||
      (word->kind != Kind::shift && word->kind != Kind::relative_day)) {
    return std::nullopt;
  }
  Found out = inner(at + 1, frame);
  if (!out || out->granularity < Granularity::day) return out;
  const Day today = day_at(frame.now);
  if (out->granularity == Granularity::day) return out;
  if (tokens_[at].value < 0) {
    out->until = std::min(out->until, midnight(today + 1));
  } else {
    out->start = std::max(out->start, midnight(today));
  }
  return out;
}

}  // namespace strongroom::recall::temporal
