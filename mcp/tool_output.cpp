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

void append_notes(Notes& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

void write_strings(JsonWriter& writer, std::string_view name, const std::vector<std::string>& all) {
  writer.key(name).begin_array();
  for (const std::string& text : all) writer.string(text);
  writer.end_array();
}

void write_notes(JsonWriter& writer, const Notes& notes) {
  write_strings(writer, "notes", notes);
}

void write_cut(JsonWriter& writer, std::string_view by, std::uint64_t results) {
  if (results == 0) return;
  writer.key("cut").begin_object().member("by", by).member("results", results).end_object();
}

void write_bank_and_notes(JsonWriter& writer, std::string_view bank, const Notes& notes) {
  writer.member("bank", bank);
  write_notes(writer, notes);
}

std::string bank_and_notes_text(std::string_view bank, const Notes& notes) {
  std::string text = "Bank: " + escape_for_display(bank);
  for (const std::string& note : notes) text += "\n" + escape_for_display(note);
  return text;
}

void write_receipt(JsonWriter& writer, const std::optional<service::EraseReceipt>& receipt) {
  if (!receipt) return;
  writer.key("receipt").begin_object().member("id", receipt->id);
  writer.member("time", format_time(receipt->time));
  write_strings(writer, "destroyed", receipt->destroyed);
  write_strings(writer, "not_reached", receipt->not_reached);
  writer.member("erase_pending", receipt->pending).end_object();
}

std::string receipt_text(const service::EraseReceipt& receipt) {
  return "Erased, receipt " + receipt.id + ". " +
         (receipt.pending
              ? "Pending: it is out of reach here, and leaves the vault's file when the "
                "owner runs \"strongroom compact\"."
              : "Complete.");
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

std::string bullet_text(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    const bool last = end == text.size();
    if (!last && !line.empty() && line.back() == '\r') line.remove_suffix(1);
    out += escape_for_display(line);
    if (last) return out;
    out += "\n  ";
    text.remove_prefix(end + 1);
  }
}

std::string memory_bullet(std::string_view text, std::string_view type,
                          std::optional<TimeMs> mentioned_at, std::string_view id,
                          std::string_view mark) {
  std::string out = "- " + bullet_text(text);
  if (!type.empty()) out += " [" + std::string(type) + "]";
  if (mentioned_at) out += " (" + format_time(*mentioned_at) + ")";
  if (!id.empty()) out += " (id: " + escape_for_display(id) + ")";
  if (!mark.empty()) out += " [" + escape_for_display(mark) + "]";
  return out + "\n";
}

std::size_t count_that_fits(const std::vector<std::size_t>& sizes, std::size_t& room) {
  std::size_t count = 0;
  while (count < sizes.size() && sizes[count] <= room) room -= sizes[count++];
  return count;
}

ToolResult failure(std::string text, std::string hint) {
  ToolResult result;
  result.is_error = true;
  result.content.push_back(std::move(text));
  if (!hint.empty()) result.content.push_back(std::move(hint));
  return result;
}

}  // namespace strongroom::mcp
