// Times as callers write them.
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "service/memories.h"

namespace strongroom::service {
namespace {

// Takes fixed-width numbers and separators off the front; remembers when something did not fit.
class Digits {
 public:
  explicit Digits(std::string_view text) : rest_(text) {}
  int number(std::size_t width) {
    int value = 0;
    if (rest_.size() < width) ok_ = false;
    for (std::size_t i = 0; ok_ && i < width; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') ok_ = false;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(std::min(width, rest_.size()));
    return value;
  }
  void separator(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) {
      ok_ = false;
      return;
    }
    rest_.remove_prefix(1);
  }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool digit() const { return peek() >= '0' && peek() <= '9'; }
  void require(bool condition) { ok_ = ok_ && condition; }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Milliseconds of ".123456"; digits beyond the third are dropped.
int fraction(Digits& in) {
  int value = 0, scale = 100;
  in.separator(".");
  in.require(in.digit());
  while (in.ok() && in.digit()) {
    value += in.number(1) * scale;
    scale /= 10;
  }
  return value;
}

int offset_minutes(Digits& in) {
  if (in.at_end()) return 0;
  if (in.peek() == 'Z' || in.peek() == 'z') {
    in.separator("Zz");
    return 0;
  }
  const int sign = in.peek() == '-' ? -1 : 1;
  in.separator("+-");
  const int hours = in.number(2);
  in.separator(":");
  const int minutes = in.number(2);
  in.require(hours <= 23 && minutes <= 59);
  return sign * (hours * 60 + minutes);
}

TimeMs midnight(Digits& in) {
  using namespace std::chrono;
  const int y = in.number(4);
  in.separator("-");
  const int m = in.number(2);
  in.separator("-");
  const int d = in.number(2);
  const year_month_day date{year(y), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d))};
  in.require(y >= 1 && date.ok());
  return in.ok() ? milliseconds(sys_days(date).time_since_epoch()).count() : 0;
}

TimeMs time_of_day(Digits& in) {
  in.separator("Tt ");
  const int hour = in.number(2);
  in.separator(":");
  const int minute = in.number(2);
  int second = 0, ms = 0;
  if (in.peek() == ':') {
    in.separator(":");
    second = in.number(2);
    if (in.peek() == '.') ms = fraction(in);
  }
  const int offset = offset_minutes(in);
  in.require(hour <= 23 && minute <= 59 && second <= 60);
  // A leap second is the last one of its minute here.
  return TimeMs{hour * 60 + minute - offset} * 60'000 + std::min(second, 59) * TimeMs{1000} + ms;
}

}  // namespace

TimeMs parse_time(std::string_view text, std::string_view field) {
  constexpr TimeMs kFirst = -62'135'596'800'000, kLast = 253'402'300'799'999;
  Digits in(text);
  TimeMs time = midnight(in);
  if (in.ok() && !in.at_end()) time += time_of_day(in);
  // An offset may lead out of the years that a date can name.
  if (!in.ok() || !in.at_end() || time < kFirst || time > kLast) {
    throw Error::invalid(field, "must be a time such as 2026-11-21T21:40:05Z, or a date");
  }
  return time;
}

}  // namespace strongroom::service
