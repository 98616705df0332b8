#include "cli/output.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "base/wipe.h"
#include "cli/terminal.h"

namespace strongroom::cli {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 16;
constexpr std::string_view kDoing = "write the output";

// Code points: good enough for a column; wide characters may shift a line.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool wants_colour() {
  const std::string term = env("TERM");
  return env("NO_COLOR").empty() && !term.empty() && term != "dumb";
}

}  // namespace

void write_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

Output::Output()
    : terminal_(Terminal::is_terminal(STDOUT_FILENO)), colour_(terminal_ && wants_colour()) {}

Output::~Output() {
  wipe(buffer_);
}

void Output::text(std::string_view text) {
  if (buffer_.size() + text.size() > kFlushAt) flush();
  if (text.size() > kFlushAt) {
    write_all(STDOUT_FILENO, text, kDoing);
    return;
  }
  if (buffer_.capacity() == 0) buffer_.reserve(kFlushAt);  // so that it never moves, unwiped
  buffer_.append(text);
}

void Output::line(std::string_view line) {
  text(line);
  text("\n");
}

void Output::bytes(std::string_view bytes) {
  flush();
  write_all(STDOUT_FILENO, bytes, kDoing);
}

void Output::flush() {
  if (buffer_.empty()) return;
  write_all(STDOUT_FILENO, buffer_, kDoing);
  wipe(buffer_);
}

std::string Output::paint(Colour colour, std::string_view text) const {
  static constexpr std::string_view kCodes[] = {"", "\033[1m", "\033[32m", "\033[31m", "\033[33m"};
  if (!colour_ || colour == Colour::none) return std::string(text);
  return std::string(kCodes[static_cast<std::size_t>(colour)]).append(text).append("\033[0m");
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = escape_for_display(cell);
  rows_.push_back(std::move(cells));
}

void Table::print(Output& out) const {
  if (!out.terminal()) {
    for (const auto& row : rows_) out.line(joined(row, "\t"));
    return;
  }
  if (rows_.empty()) return;
  std::vector<std::size_t> widths;
  for (const std::string& title : heading_) widths.push_back(width(title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  const auto aligned = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      if (i + 1 < cells.size()) line.append(widths[i] - width(cells[i]) + 2, ' ');
    }
    return line;
  };
  out.line(out.paint(Colour::bold, aligned(heading_)));
  for (const auto& row : rows_) out.line(aligned(row));
}

std::string time_and_age(TimeMs time) {
  const std::string age = format_age(now_ms() - time);
  return format_time(time) + " (" + (age == "now" ? age : age + " ago") + ")";
}

std::string joined(const std::vector<std::string>& all, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += separator;
    text += all[i];
  }
  return text;
}

void write_strings(JsonWriter& writer, std::string_view name, const std::vector<std::string>& all) {
  writer.key(name).begin_array();
  for (const std::string& text : all) writer.string(text);
  writer.end_array();
}

}  // namespace strongroom::cli
