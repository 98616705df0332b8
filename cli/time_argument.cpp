#include "cli/time_argument.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "service/memories.h"

namespace strongroom::cli {
namespace {

constexpr std::int64_t kMaxUnits = 1'000'000;

std::optional<TimeMs> unit_length(char unit) {
  switch (unit) {
    case 's': return 1000;
    case 'm': return 60'000;
    case 'h': return 3'600'000;
    case 'd': return 86'400'000;
    case 'w': return 7 * TimeMs{86'400'000};
    default: return std::nullopt;
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

}  // namespace

TimeMs parse_time_argument(std::string_view text, TimeMs now, std::string_view field) {
  if (const auto back = duration(text)) return now - *back;
  try {
    return service::parse_time(text, field);
  } catch (const Error&) {
    throw Error::invalid(field,
                         "must be a time (2026-11-21T21:40:05Z) or a duration (90s, 2h, 3d)");
  }
}

}  // namespace strongroom::cli
