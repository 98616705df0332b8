// What a run of digits and signs means: a number, 8th, 1990s, 5:30pm, an ISO date, 5/18/2023.
#include <algorithm>

#include "recall/civil_time.h"
#include "recall/temporal_words.h"

namespace strongroom::recall::temporal {
namespace {

int to_number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

// Takes what is expected off the front of a run; false, and nothing taken, when it is not there.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // Between `least` and `most` digits, with no digit after them.
  bool number(std::size_t least, std::size_t most, int& value) {
    std::size_t size = 0;
    while (size < rest_.size() && is_digit(rest_[size])) ++size;
    if (size < least || size > most) return false;
    value = to_number(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return true;
  }
  bool sign(std::string_view any) {
    if (rest_.empty() || any.find(rest_[0]) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Letters, in any case, given in lower case.
  bool letters(std::string_view word) {
    const auto same = [](char c, char w) { return (c | 0x20) == w; };
    if (rest_.size() < word.size() || !std::equal(word.begin(), word.end(), rest_.begin(),
                                                  [&](char w, char c) { return same(c, w); })) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

struct Meaning {
  Kind kind;
  std::int64_t value;
};

// 14:30, 14:30:05.25, 5pm, 5:30pm, in minutes; for `suffix` am and pm are allowed.
bool read_clock(Reader& in, bool suffix, int& minutes) {
  int hour = 0, minute = 0, second = 0;
  if (!in.number(1, 2, hour)) return false;
  const bool colon = in.sign(":");
  if (colon && !in.number(2, 2, minute)) return false;
  if (colon && in.sign(":")) {
    int fraction = 0;
    if (!in.number(2, 2, second)) return false;
    if (in.sign(".") && !in.number(1, 9, fraction)) return false;
  }
  const bool am = suffix && in.letters("am");
  const bool pm = suffix && !am && in.letters("pm");
  if (!colon && !am && !pm) return false;
  if (minute > 59 || second > 60) return false;
  if (am || pm) {
    if (hour < 1 || hour > 12) return false;
    hour = hour % 12 + (pm ? 12 : 0);
  }
  minutes = hour * 60 + minute;
  return hour <= 23;
}

// Z, +02:00, or nothing; in minutes.
bool read_offset(Reader& in, int& minutes) {
  minutes = 0;
  if (in.at_end() || in.letters("z")) return in.at_end();
  const int direction = in.rest()[0] == '-' ? -1 : 1;
  int hour = 0, minute = 0;
  if (!in.sign("+-") || !in.number(2, 2, hour) || !in.sign(":") || !in.number(2, 2, minute)) {
    return false;
  }
  minutes = direction * (hour * 60 + minute);
  return hour <= 23 && minute <= 59 && in.at_end();
}

// 2023-05-08, 2023/05/08, 2023-05, 2023-Q2, 2023-05-08T14:30Z
bool read_iso(std::string_view chunk, Meaning& out) {
  Reader in(chunk);
  int year = 0, month = 0, day = 0, quarter = 0;
  if (!in.number(4, 4, year)) return false;
  const bool usual = year >= 1900 && year <= 2099;
  const char sign = in.at_end() ? '\0' : in.rest()[0];
  const bool joined = in.sign("-/");
  if (in.letters("q") && in.number(1, 1, quarter)) {
    out = {Kind::iso_quarter, 4 * year + quarter - 1};
    return sign != '/' && usual && quarter >= 1 && quarter <= 4 && in.at_end();
  }
  if (!joined || !in.number(2, 2, month) || month < 1 || month > 12) return false;
  if (in.at_end()) {
    out = {Kind::iso_month, 12 * year + month - 1};
    return sign == '-' && usual;
  }
  if (!in.sign({&sign, 1}) || !in.number(2, 2, day) || !valid_date(year, month, day)) return false;
  out = {Kind::iso_day, day_of(year, month, day)};
  if (in.at_end()) return true;
  int minutes = 0, offset = 0;
  if (!in.letters("t") || !read_clock(in, false, minutes) || !read_offset(in, offset)) return false;
  const std::int64_t from_midnight = minutes - offset;
  out = {Kind::iso_hour, out.value * 24 + (from_midnight + 2 * 1440) / 60 - 2 * 24};
  return true;
}

// 5/18/2023 or 18/5/2023, when only one of the orders is a date or both are the same one.
bool read_slashes(std::string_view chunk, Meaning& out) {
  Reader in(chunk);
  int first = 0, second = 0, year = 0;
  if (!in.number(1, 2, first) || !in.sign("/") || !in.number(1, 2, second) || !in.sign("/") ||
      !in.number(4, 4, year) || !in.at_end()) {
    return false;
  }
  const bool month_first = valid_date(year, first, second);
  const bool day_first = valid_date(year, second, first);
  if (month_first && day_first && first != second) return false;
  out = {Kind::iso_day, month_first ? day_of(year, first, second) : day_of(year, second, first)};
  return month_first || day_first;
}

bool read_suffixed(std::string_view chunk, Meaning& out) {
  Reader in(chunk);
  int value = 0;
  if (!in.number(1, 4, value)) return false;
  const std::size_t digits = chunk.size() - in.rest().size();
  if (in.at_end()) {
    out = {Kind::number, value};
    return true;
  }
  if (in.letters("st") || in.letters("nd") || in.letters("rd") || in.letters("th")) {
    out = {Kind::ordinal, value};
    return in.at_end() && value >= 1 && value <= 31 && digits <= 2;
  }
  out = {Kind::decade, value};
  const bool whole = digits == 4 && value >= 1900 && value <= 2090;
  return in.letters("s") && in.at_end() && value % 10 == 0 &&
         (whole || (digits == 2 && value >= 50));
}

bool read_any(std::string_view chunk, Meaning& out) {
  if (read_suffixed(chunk, out) || read_iso(chunk, out) || read_slashes(chunk, out)) return true;
  Reader in(chunk);
  int minutes = 0;
  if (!read_clock(in, true, minutes) || !in.at_end()) return false;
  out = {Kind::clock, minutes};
  return true;
}

// Both ends of 2019-2021, 5-8, 5th-8th, 2023-05-08/2023-05-12: where the first ends, or 0.
std::size_t first_of_two(std::string_view chunk) {
  const std::size_t slash = chunk.find('/');
  if (slash == 10 && chunk.size() == 21 && chunk.find('/', 11) == std::string_view::npos) return 10;
  const std::size_t dash = chunk.find('-');
  if (dash == std::string_view::npos || chunk.find('-', dash + 1) != std::string_view::npos) {
    return 0;
  }
  return dash;
}

}  // namespace

void append_number(std::string_view chunk, Token token, std::vector<Token>& out) {
  Meaning meaning{};
  const auto append = [&](std::size_t begin, std::size_t end, Gap gap) {
    // Four digits that begin with 0 are no number that a date has.
    if (meaning.kind == Kind::number && chunk[begin] == '0' && end - begin > 2) return false;
    out.push_back({token.begin + begin, token.begin + end, meaning.value, 0, meaning.kind, 0, gap});
    return true;
  };
  if (read_any(chunk, meaning)) {
    append(0, chunk.size(), token.gap);
    return;
  }
  const std::size_t cut = first_of_two(chunk);
  if (cut == 0) return;
  Meaning second{};
  if (!read_any(chunk.substr(0, cut), meaning) || !read_any(chunk.substr(cut + 1), second)) return;
  if (meaning.kind != second.kind || meaning.kind == Kind::clock) return;
  if (!append(0, cut, token.gap)) return;
  meaning = second;
  append(cut + 1, chunk.size(), Gap::dash);
}

}  // namespace strongroom::recall::temporal
