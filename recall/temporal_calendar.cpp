// Months, days, weekdays, seasons, quarters, holidays, years: with their year or without.
#include "recall/temporal_grammar.h"

namespace strongroom::recall::temporal {
namespace {

using P = Preposition;

// What a word with another meaning too may follow.
bool time_preposition(P word) {
  return word != P::none && word != P::at && word != P::for_;
}

bool has(const Token& token, std::uint8_t flag) {
  return (token.flags & flag) != 0;
}

DaySpan holiday_span(Holiday holiday, int year) {
  Day day = 0;
  switch (holiday) {
    case Holiday::christmas: day = day_of(year, 12, 25); break;
    case Holiday::easter: day = easter(year); break;
    case Holiday::halloween: day = day_of(year, 10, 31); break;
    case Holiday::valentine: day = day_of(year, 2, 14); break;
    case Holiday::thanksgiving: {
      const Day first = day_of(year, 11);
      day = first + (10 - weekday_of(first)) % 7 + 21;  // the fourth Thursday
      break;
    }
  }
  return {day, day + 1};
}

Period certain(std::size_t next, DaySpan span, Granularity granularity) {
  return of_days(next, span, granularity, Certainty::explicit_date);
}

Found floating(std::size_t next, const std::optional<DaySpan>& span, Granularity granularity) {
  if (!span) return std::nullopt;
  Period out = of_days(next, *span, granularity, Certainty::relative);
  out.floating = true;
  return out;
}

// A season or a holiday, of its year when one is named.
template <class Make>
Found yearly(std::size_t next, std::optional<int> year, const Frame& frame, Granularity granularity,
             Make make) {
  if (year) return certain(next, make(*year), granularity);
  return floating(next, annual(frame, make), granularity);
}

}  // namespace

const Token* Grammar::next(std::size_t at, Kind kind) const {
  const Token* token = get(at);
  return token && token->kind == kind && token->gap == Gap::blank ? token : nullptr;
}

// A year 1900 to 2099 at `next`, behind "of" or a comma or neither; moves `next` past it.
std::optional<int> Grammar::year_after(std::size_t& next_token) const {
  std::size_t at = next_token;
  if (next(at, Kind::of)) ++at;
  const Token* token = get(at);
  if (!token || token->kind != Kind::number || token->value < 1900 || token->value > 2099 ||
      (token->gap != Gap::blank && token->gap != Gap::comma && token->gap != Gap::dash)) {
    return std::nullopt;
  }
  next_token = at + 1;
  return static_cast<int>(token->value);
}

Found Grammar::named(std::size_t at, const Frame& frame) const {
  switch (tokens_[at].kind) {
    case Kind::iso_hour:
    case Kind::iso_day:
    case Kind::iso_month:
    case Kind::iso_quarter: return iso(at);
    case Kind::month: return month(at, frame);
    case Kind::ordinal:
    case Kind::nth:
      if (const Found day = day_month(at, frame)) return day;
      return day_of_month(at, frame);
    case Kind::number:
      if (const Found day = day_month(at, frame)) return day;
      return year(at, frame);
    case Kind::weekday: return weekday(at, frame);
    case Kind::season: return season(at, frame);
    case Kind::quarter: return quarter(at, frame);
    case Kind::holiday:
    case Kind::new_: return holiday(at, frame);
    case Kind::decade: return decade(at, frame);
    default: return std::nullopt;
  }
}

Found Grammar::iso(std::size_t at) const {
  const Token& token = tokens_[at];
  switch (token.kind) {
    case Kind::iso_hour:
      return Period{at + 1, token.value * kHourMs, (token.value + 1) * kHourMs, Granularity::hour,
                    Certainty::explicit_date};
    case Kind::iso_day:
      return with_clock(certain(at + 1, {token.value, token.value + 1}, Granularity::day), true);
    case Kind::iso_month:
      return certain(at + 1, month_span(0, token.value + 1), Granularity::month);
    default: return certain(at + 1, month_span(0, token.value * 3 + 1, 3), Granularity::quarter);
  }
}

// Whether a month's name without day and year is meant as a month.
bool Grammar::month_allowed(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  if (has(token, kShort)) {
    return has(token, kCapital) && time_preposition(frame.behind) && frame.behind != P::by &&
           frame.behind != P::from && free_after(at);
  }
  if (has(token, kVerb)) {
    return time_preposition(frame.behind) && !frame.the &&
           (has(token, kCapital) || (frame.behind == P::in && free_after(at)));
  }
  if (has(token, kName)) {
    return frame.behind != P::none && (has(token, kCapital) || time_preposition(frame.behind));
  }
  return true;
}

Found Grammar::month(std::size_t at, const Frame& frame) const {
  if (const Found days = month_days(at, at + 1, frame)) return days;
  const Token& token = tokens_[at];
  const auto number = static_cast<int>(token.value);
  std::size_t after = at + 1;
  if (const auto year = year_after(after)) {
    const bool verb = has(token, kVerb) && !has(token, kCapital);
    if (verb && !free_after(after - 1)) return std::nullopt;  // "march 2000 miles"
    return certain(after, month_span(*year, number), Granularity::month);
  }
  if (!month_allowed(at, frame) || frame.habit) return std::nullopt;
  return floating(at + 1, annual(frame, [&](int year) { return month_span(year, number); }),
                  Granularity::month);
}

// "May 8", "May 8th, 2023", "May 5-8, 2023".
Found Grammar::month_days(std::size_t at, std::size_t first_at, const Frame& frame) const {
  const Token& token = tokens_[at];
  if (next(first_at, Kind::the)) ++first_at;
  const Token* day = next(first_at, Kind::number);
  if (!day) day = next(first_at, Kind::ordinal);
  if (!day || day->value < 1 || day->value > 31) return std::nullopt;
  std::size_t after = first_at + 1;
  auto last = static_cast<int>(day->value);
  const Token* range = get(after);
  if (range && range->gap == Gap::dash && range->kind == day->kind && range->value <= 31) {
    last = static_cast<int>(range->value);
    ++after;
  }
  std::size_t behind = after;
  const bool sure = year_after(behind) || day->kind == Kind::ordinal ||
                    time_preposition(frame.behind) ||
                    (has(token, kCapital) && free_after(after - 1));
  const bool plain = !has(token, kVerb | kShort | kName);
  if (!sure && !plain) return std::nullopt;
  return month_day(after, static_cast<int>(token.value), static_cast<int>(day->value), last, frame);
}

// "8 May", "8th of May, 2023", "5-8 May 2023", "the first of May".
Found Grammar::day_month(std::size_t at, const Frame& frame) const {
  const Token& day = tokens_[at];
  if (day.value < 1 || day.value > 31) return std::nullopt;
  auto last = static_cast<int>(day.value);
  std::size_t month_at = at + 1;
  const Token* range = get(month_at);
  if (range && range->gap == Gap::dash && range->kind == day.kind && range->value <= 31) {
    last = static_cast<int>(range->value);
    ++month_at;
  }
  const bool of = next(month_at, Kind::of) != nullptr;
  if (of) ++month_at;
  const Token* month = get(month_at);
  if (!month || month->kind != Kind::month || (day.kind == Kind::nth && !of) ||
      (month->gap != Gap::blank && (month->gap != Gap::dash || day.kind != Kind::number))) {
    return std::nullopt;
  }
  std::size_t behind = month_at + 1;
  const bool sure =
      year_after(behind).has_value() || (of && (day.kind != Kind::number || has(*month, kCapital)));
  const bool ambiguous = has(*month, kVerb | kShort) && !has(*month, kCapital);
  if (!sure && ambiguous && (frame.behind == P::none || !free_after(month_at))) return std::nullopt;
  return month_day(month_at + 1, static_cast<int>(month->value), static_cast<int>(day.value), last,
                   frame);
}

// Days `first` to `last` of a month; a year and a time of day may follow at token `after`.
Found Grammar::month_day(std::size_t after, int month, int first, int last,
                         const Frame& frame) const {
  const auto make = [&](int year) {
    const bool valid = valid_date(year, month, first) && valid_date(year, month, last);
    const Day begin = day_of(year, month, first);
    return valid ? DaySpan{begin, begin + last - first + 1} : DaySpan{0, 0};
  };
  const Granularity granularity = first == last ? Granularity::day : Granularity::week;
  if (last < first) return std::nullopt;
  if (const auto year = year_after(after)) {
    const DaySpan span = make(*year);
    if (span.first == span.next) return std::nullopt;
    return with_clock(certain(after, span, granularity), true);
  }
  if (frame.habit) return std::nullopt;
  return with_clock(floating(after, annual(frame, make), granularity), true);
}

// "on the 14th"; "the 14th floor" and "the 14th attempt" are no days.
Found Grammar::day_of_month(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  if (token.kind != Kind::ordinal || !frame.the || frame.habit || !time_preposition(frame.behind) ||
      frame.behind == P::in || frame.behind == P::during || !free_after(at) ||
      next(at + 1, Kind::of)) {
    return std::nullopt;
  }
  const Day today = day_at(frame.now);
  const Date date = date_of(today);
  const auto number = static_cast<int>(token.value);
  for (int step = 0; step <= 2; ++step) {  // no two months in a row are too short
    const DaySpan month = month_span(date.year, date.month + (frame.future ? step : -step));
    const Day day = month.first + number - 1;
    if (day < month.next && (frame.future ? day >= today : day <= today)) {
      return with_clock(floating(at + 1, DaySpan{day, day + 1}, Granularity::day), true);
    }
  }
  return std::nullopt;
}

// "Monday, May 8", "the Monday before June 9", "Friday last week".
Found Grammar::dated_weekday(std::size_t at, const Frame& frame) const {
  const Token* after = get(at + 1);
  const bool linked = after && (after->gap == Gap::comma || after->gap == Gap::blank);
  if (!linked || frame.depth >= kDeepest) return std::nullopt;
  Frame in = frame;
  in.behind = P::on;
  in.the = false;
  ++in.depth;
  const auto wanted = static_cast<int>(tokens_[at].value);
  switch (after->kind) {
    case Kind::month:
    case Kind::number:
    case Kind::ordinal:
    case Kind::iso_day: {
      const Found date = named(at + 1, in);
      return date && date->granularity <= Granularity::day ? date : std::nullopt;
    }
    case Kind::shift: {
      const Token* week = next(at + 2, Kind::unit);
      if (!week || week->value != static_cast<int>(Unit::week)) return std::nullopt;
      const Day day = unit_span(Unit::week, day_at(frame.now), after->value).first + wanted;
      return with_clock(of_days(at + 3, {day, day + 1}, Granularity::day, Certainty::relative),
                        true);
    }
    default: break;
  }
  if (!next(at + 1, Kind::preposition)) return std::nullopt;
  const bool before = after->value == static_cast<int>(P::before);
  if (!before && after->value != static_cast<int>(P::after)) return std::nullopt;
  const Found other = inner(at + 2, in);
  if (!other) return std::nullopt;
  const Day edge = before ? day_at(other->start) - 1 : day_at(other->until - 1) + 1;
  const int apart = before ? weekday_of(edge) - wanted : wanted - weekday_of(edge);
  const Day day = before ? edge - (apart + 7) % 7 : edge + (apart + 7) % 7;
  return of_days(other->next, {day, day + 1}, Granularity::day, other->certainty);
}

Found Grammar::weekday(std::size_t at, const Frame& frame) const {
  if (const Found dated = dated_weekday(at, frame)) return dated;
  const Token& token = tokens_[at];
  const Token* part = next(at + 1, Kind::part);
  const bool company = time_preposition(frame.behind) || frame.behind == P::for_ || part;
  const bool short_name = has(token, kShort) && (!has(token, kCapital) || !free_after(at));
  if (frame.habit || !company || frame.behind == P::in || short_name) return std::nullopt;
  const Day today = day_at(frame.now);
  const auto wanted = static_cast<int>(token.value);
  const Day day = frame.future ? today + (wanted - weekday_of(today) + 7) % 7
                               : today - (weekday_of(today) - wanted + 7) % 7;
  return with_clock(floating(at + 1, DaySpan{day, day + 1}, Granularity::day), true);
}

Found Grammar::season(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  const auto first = static_cast<int>(token.value);
  std::size_t after = at + 1;
  const auto year = year_after(after);
  if (!year) {
    // "plans for the summer" is a time in a question; in a text it may be any summer.
    const bool verb = has(token, kVerb);  // "after the fall"
    const bool inside = frame.behind == P::in || frame.behind == P::during;
    const bool asked = frame.reading == Reading::query &&
                       (verb ? inside && frame.the && free_after(at) : frame.behind != P::none);
    if (!asked || (!frame.the && has(token, kCapital))) {
      return std::nullopt;
    }
  }
  return yearly(after, year, frame, Granularity::season,
                [&](int y) { return month_span(y, first, 3); });
}

Found Grammar::quarter(std::size_t at, const Frame& frame) const {
  const auto first = static_cast<int>(tokens_[at].value * 3 - 2);
  std::size_t after = at + 1;
  const auto year = year_after(after);
  if (!year && (!time_preposition(frame.behind) || !free_after(at))) return std::nullopt;
  return yearly(after, year, frame, Granularity::quarter,
                [&](int y) { return month_span(y, first, 3); });
}

// Christmas (Eve), New Year('s Day, 's Eve) and others.
Found Grammar::holiday(std::size_t at, const Frame& frame) const {
  const bool new_year = tokens_[at].kind == Kind::new_;
  std::size_t after = at + 1;
  if (new_year) {
    const Token* year = next(after++, Kind::unit);
    if (!year || year->value != static_cast<int>(Unit::year) || has(*year, kPlural) ||
        !has(tokens_[at], kCapital)) {
      return std::nullopt;
    }
  }
  const bool eve = next(after, Kind::eve) != nullptr;
  const Token* day = next(after, Kind::unit);
  if (eve || (day && day->value == static_cast<int>(Unit::day) && !has(*day, kPlural))) ++after;
  const auto year = year_after(after);
  if (!year && ((frame.behind == P::none && !eve) || frame.habit)) return std::nullopt;
  const auto make = [&](int y) {
    // New Year's Eve 2023 is the last day of 2023, New Year 2023 the first.
    DaySpan span = new_year ? DaySpan{day_of(eve ? y + 1 : y, 1), day_of(eve ? y + 1 : y, 1, 2)}
                            : holiday_span(static_cast<Holiday>(tokens_[at].value), y);
    return eve ? DaySpan{span.first - 1, span.next - 1} : span;
  };
  return yearly(after, year, frame, Granularity::day, make);
}

Found Grammar::year(std::size_t at, const Frame& frame) const {
  const Token& token = tokens_[at];
  if (token.value < 1900 || token.value > 2099 || frame.behind == P::none || frame.the ||
      frame.behind == P::on || frame.behind == P::at || !free_after(at)) {
    return std::nullopt;
  }
  // Sizes and limits that "by 2000" and "after 2048" tell more often than years.
  const bool round =
      token.value == 1900 || token.value == 1920 || token.value == 2000 || token.value == 2048;
  if (round && frame.behind != P::in && frame.behind != P::since && frame.behind != P::during) {
    return std::nullopt;
  }
  return certain(at + 1, month_span(token.value, 1, 12), Granularity::year);
}

// "the 1990s", "in the 90s".
Found Grammar::decade(std::size_t at, const Frame& frame) const {
  const auto value = static_cast<int>(tokens_[at].value);
  if (value < 100 && !(frame.the && free_after(at))) return std::nullopt;
  return certain(at + 1, month_span(value < 100 ? 1900 + value : value, 1, 120),
                 Granularity::decade);
}

// A day with the time of day that follows it: "at 5pm", "14:30"; with `parts` also "morning", "in
// the evening".
Found Grammar::with_clock(Found day, bool parts) const {
  if (!day || day->granularity != Granularity::day) return day;
  std::size_t at = day->next;
  const Token* word = get(at);
  if (!word || word->gap == Gap::other || word->gap == Gap::dash) return day;
  const auto within = [&](int from, int to, std::size_t after, Granularity granularity) {
    Period out = *day;
    out.until = out.start + to * kHourMs;
    out.start += from * kHourMs;
    out.granularity = granularity;
    out.next = after;
    return out;
  };
  const bool preposition = word->kind == Kind::preposition;
  if (preposition) ++at;
  if (preposition && next(at, Kind::the)) ++at;
  const Token* part = get(at);
  if (!part || part->gap == Gap::other) return day;
  if (part->kind == Kind::part && parts) {
    constexpr int kFrom[] = {5, 12, 17, 18, 12}, kTo[] = {12, 18, 24, 30, 13};
    const bool noon = part->value == static_cast<int>(Part::noon);
    return within(kFrom[part->value], kTo[part->value], at + 1,
                  noon ? Granularity::hour : Granularity::part_of_day);
  }
  const Token* meridiem = next(at + 1, Kind::meridiem);
  if (part->kind == Kind::number && meridiem && part->value >= 1 && part->value <= 12) {
    const auto hour = static_cast<int>(part->value % 12 + meridiem->value);
    return within(hour, hour + 1, at + 2, Granularity::hour);
  }
  if (part->kind != Kind::clock) return day;
  auto hour = static_cast<int>(part->value / 60);
  if (meridiem && hour < 12) hour += static_cast<int>(meridiem->value);
  return within(hour, hour + 1, meridiem ? at + 2 : at + 1, Granularity::hour);
}

}  // namespace strongroom::recall::temporal
