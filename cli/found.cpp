#include "cli/found.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/app.h"
#include "cli/display.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::FoundMemory;

constexpr std::size_t kIndent = 13;  // "0.82  apply  "

Colour colour_of(const std::string& band) {
  if (band == "apply") return Colour::green;
  return band == "hint" ? Colour::yellow : Colour::none;
}

std::string about(const FoundMemory& found) {
  std::string line =
      "[" + std::string(service::memory_type_name(found.type)) + "] " + day(found.mentioned_at);
  if (found.occurred_start) line += ", happened " + day(*found.occurred_start);
  if (!found.tags.empty()) line += ", #" + joined(found.tags, " #");
  if (!found.document_id.empty()) line += ", in " + found.document_id;
  if (!found.valid) line += found.superseded_by.empty() ? ", no longer valid" : ", superseded";
  if (found.trust == "untrusted") line += ", untrusted";
  return line + ", id " + found.id;
}

}  // namespace

std::string two_decimals(double score) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.2f", score);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

void show_found(Output& out, const FoundMemory& found) {
  std::string head = two_decimals(found.score) + "  " + found.band;
  head.resize(std::max(head.size(), kIndent), ' ');
  const std::string indent(kIndent, ' ');
  const std::size_t columns = Terminal::columns();
  const std::size_t width = columns > kIndent ? columns - kIndent : 1;
  bool first = true;
  const auto line = [&](const std::string& text) {
    out.line((first ? out.paint(colour_of(found.band), head) : indent) + text);
    first = false;
  };
  for (const std::string& text : wrapped(found.text, width)) line(text);
  if (found.truncated) line("(cut to --max-tokens)");
  for (const std::string& text : wrapped(about(found), width)) line(text);
}

}  // namespace strongroom::cli
