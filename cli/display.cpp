#include "cli/display.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "service/memories.h"

namespace strongroom::cli {
namespace {

constexpr std::size_t kLeastWidth = 20;

// Bytes of the first `count` code points.
std::size_t prefix_bytes(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    at += std::max<std::size_t>(utf8_sequence(text.substr(at)), 1);
    --count;
  }
  return std::min(at, text.size());
}

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& out) {
  std::string escaped = escape_for_display(line);
  std::string_view rest = escaped;
  for (;;) {
    const std::size_t fits = prefix_bytes(rest, width);
    if (fits == rest.size()) break;
    // A space right behind what fits is a place to break too.
    std::size_t end = rest.rfind(' ', fits);
    if (end == rest.npos || end == 0) end = fits;
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
    if (rest.empty()) return;
  }
  out.emplace_back(rest);
}

template <class Each>
void for_each_line(std::string_view text, const Each& each) {
  for (;;) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    each(line);
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
    if (text.empty()) return;
  }
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for_each_line(
      text, [&](std::string_view line) { wrap_line(line, std::max(width, kLeastWidth), lines); });
  return lines;
}

std::string display_lines(std::string_view text) {
  std::string out;
  bool first = true;
  for_each_line(text, [&](std::string_view line) {
    if (!first) out += "\n";
    first = false;
    out += escape_for_display(line);
  });
  return out;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (prefix_bytes(text, width) == text.size()) return std::string(text);
  const std::size_t kept = prefix_bytes(text, std::max<std::size_t>(width, 1) - 1);
  return std::string(text.substr(0, kept)) + "…";
}

std::string day(TimeMs time) {
  return format_time(time).substr(0, 10);
}

std::vector<std::pair<std::string, std::string>> parse_pairs(const std::vector<std::string>& given,
                                                             std::string_view option) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) throw Error::invalid(option, "must be KEY=VALUE");
    std::string key = text.substr(0, equals);
    const bool twice = std::any_of(pairs.begin(), pairs.end(),
                                   [&](const auto& pair) { return pair.first == key; });
    if (twice) throw Error::invalid(option, "names a key twice");
    pairs.emplace_back(std::move(key), text.substr(equals + 1));
  }
  return pairs;
}

std::optional<TimeMs> parse_given_time(const std::optional<std::string>& text,
                                       std::string_view option) {
  if (!text) return std::nullopt;
  return service::parse_time(*text, option);
}

}  // namespace strongroom::cli
