#include "mcp/tool_output.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace strongroom::mcp {

namespace {

// The length of one UTF-8 sequence inside a JSON string, as json_quote writes it.
std::size_t quoted_sequence(std::string_view sequence) {
  const auto byte = static_cast<unsigned char>(sequence[0]);
  if (byte == '"' || byte == '\\' || byte == '\b' || byte == '\f' || byte == '\n' || byte == '\r' ||
      byte == '\t') {
    return 2;
  }
  if (byte < 0x20) return 6;
  return sequence.size();
}

}  // namespace

void write_bank_and_notes(JsonWriter& writer, std::string_view bank, const Notes& notes) {
  writer.member("bank", bank).key("notes").begin_array();
  for (const std::string& note : notes) writer.string(note);
  writer.end_array();
}

std::string bank_and_notes_text(std::string_view bank, const Notes& notes) {
  std::string text = "Bank: " + escape_for_display(bank);
  for (const std::string& note : notes) text += "\n" + escape_for_display(note);
  return text;
}

void write_tags(JsonWriter& writer, const std::vector<std::string>& tags, bool& left_out) {
  std::size_t size = 0;
  for (const std::string& tag : tags) size += quoted_size(tag) + 1;
  writer.begin_array();
  if (size > kShownTagBytes) {
    left_out = true;
  } else {
    for (const std::string& tag : tags) writer.string(tag);
  }
  writer.end_array();
}

std::size_t quoted_size(std::string_view text) {
  std::size_t size = 2;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    size += length == 0 ? 3 : quoted_sequence(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return size;
}

std::string_view quoted_prefix(std::string_view text, std::size_t limit) {
  std::size_t size = 2;
  std::size_t end = 0;
  while (end < text.size()) {
    const std::string_view rest = text.substr(end);
    const std::size_t length = utf8_sequence(rest);
    size += length == 0 ? 3 : quoted_sequence(rest.substr(0, length));
    if (size > limit) break;
    end += std::max<std::size_t>(length, 1);
  }
  return text.substr(0, end);
}

ToolResult failure(std::string text, std::string hint) {
  ToolResult result;
  result.is_error = true;
  result.content.push_back(std::move(text));
  if (!hint.empty()) result.content.push_back(std::move(hint));
  return result;
}

}  // namespace strongroom::mcp
