// Standard output and standard error: text, tables, JSON Lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace strongroom::cli {

/// Never throws: what cannot be said cannot be reported either.
void write_stderr(std::string_view text) noexcept;

enum class Colour { none, bold, green, red, yellow };

/// Buffers and writes standard output. A failed write is an Error, so that a full disk behind a
/// redirection is no success. Wipes what it buffered.
class Output {
 public:
  Output();
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool terminal() const noexcept { return terminal_; }
  void text(std::string_view text);
  void line(std::string_view text);
  /// Straight to the descriptor, after what is buffered.
  void bytes(std::string_view bytes);
  void flush();
  /// The text with colour codes where standard output shows them (NO_COLOR, TERM=dumb).
  std::string paint(Colour colour, std::string_view text) const;

 private:
  std::string buffer_;
  bool terminal_;
  bool colour_;
};

/// Columns for a terminal; elsewhere a line a row, separated by tabs, without heading. Cells are
/// escaped for display.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : heading_(std::move(heading)) {}
  void row(std::vector<std::string> cells);
  void print(Output& out) const;

 private:
  std::vector<std::string> heading_;
  std::vector<std::vector<std::string>> rows_;
};

/// "2026-11-21T21:40:05.123Z (3 minutes ago)".
std::string time_and_age(TimeMs time);
std::string joined(const std::vector<std::string>& all, std::string_view separator = ", ");
void write_strings(JsonWriter& writer, std::string_view name, const std::vector<std::string>& all);

}  // namespace strongroom::cli
