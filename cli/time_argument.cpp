#include "cli/time_argument.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace strongroom::cli {
namespace {

constexpr std::int64_t kMaxUnits = 1'000'000;

std::optional<TimeMs> unit_length(char unit) {
  switch (unit) {
    case 's':
      return 1000;
    case 'm':
      return 60'000;
    case 'h':
      return 3'600'000;
    case 'd':
      return 86'400'000;
    case 'w':
      return 7 * TimeMs{86'400'000};
    default:
      return std::nullopt;
  }
}

std::optional<TimeMs> duration(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const auto length = unit_length(text.back());
  std::int64_t count = 0;
  const char* const last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, count);
  if (!length || error != std::errc() || end != last || count < 0 || count > kMaxUnits) {
    return std::nullopt;
  }
  return count * *length;
}

// Takes fixed-width numbers and separators off the front; remembers when something did not fit.
class Digits {
 public:
  explicit Digits(std::string_view text) : rest_(text) {}
  int number(std::size_t width) {
    int value = 0;
    const bool fits = rest_.size() >= width;
    for (std::size_t i = 0; fits && i < width; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') fail();
      value = value * 10 + (rest_[i] - '0');
    }
    if (!fits) fail();
    rest_.remove_prefix(std::min(width, rest_.size()));
    return value;
  }
  void separator(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return fail();
    rest_.remove_prefix(1);
  }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  void fail() { ok_ = false; }
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
  if (in.peek() < '0' || in.peek() > '9') in.fail();
  while (in.ok() && in.peek() >= '0' && in.peek() <= '9') {
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
  if (hours > 23 || minutes > 59) in.fail();
  return sign * (hours * 60 + minutes);
}

std::optional<TimeMs> rfc3339(std::string_view text) {
  using namespace std::chrono;
  Digits in(text);
  const int y = in.number(4);
  in.separator("-");
  const int m = in.number(2);
  in.separator("-");
  const int d = in.number(2);
  const year_month_day date{year(y), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d))};
  if (!in.ok() || y < 1 || !date.ok()) return std::nullopt;
  const TimeMs midnight = milliseconds(sys_days(date).time_since_epoch()).count();
  if (in.at_end()) return midnight;
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
  // A leap second is the last one of its minute here.
  if (!in.ok() || !in.at_end() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const TimeMs minutes_of_day = hour * 60 + minute - offset;
  return midnight + minutes_of_day * 60'000 + std::min(second, 59) * TimeMs{1000} + ms;
}

}  // namespace

TimeMs parse_time_argument(std::string_view text, TimeMs now, std::string_view field) {
  if (const auto back = duration(text)) return now - *back;
  if (const auto time = rfc3339(text)) return *time;
  throw Error::invalid(field, "must be a time (2026-11-21T21:40:05Z) or a duration (90s, 2h, 3d)");
}

}  // namespace strongroom::cli
