#include "mcp/entry_result.h"

#include <optional>
#include <utility>

#include "base/json.h"
#include "base/time.h"
#include "base/wipe.h"
#include "mcp/tool_output.h"

namespace strongroom::mcp {

namespace {

// Room beside a value or a list for names, times, tags and notes.
constexpr std::size_t kFrameBytes = 6'000;

std::string_view class_name(service::EntryClass entry_class) {
  return entry_class == service::EntryClass::secret ? "secret" : "normal";
}

// What part of a value an answer holds.
struct Part {
  std::string_view text;
  bool json = false;  // a whole JSON value; a part of one is text
  std::uint64_t begin = 0;
  std::uint64_t total = 0;
  std::optional<std::uint64_t> next;
  bool whole() const { return begin == 0 && !next; }
};

Part part_of(std::uint64_t offset, std::string_view key, const service::RecalledValue& hit) {
  Part part;
  part.text = hit.value.view();
  part.begin = offset;
  part.total = hit.total_bytes;
  part.next = hit.next_offset;
  part.json = hit.form == service::ValueForm::json && part.whole();
  if (part.json) return part;  // its escapes are counted already
  const std::size_t room = kMaxResultBytes - kFrameBytes - quoted_size(key);
  const std::string_view fits = quoted_prefix(part.text, room);
  if (fits.size() < part.text.size()) {
    part.text = fits;
    part.next = offset + fits.size();
  }
  return part;
}

void write_value(JsonWriter& writer, const Part& part) {
  writer.key("value");
  if (part.json) {
    writer.raw(part.text);
  } else {
    writer.string(part.text);
  }
}

std::string hit_text(std::string_view key, const Part& part, JsonWriter::Style style) {
  JsonWriter writer(style);
  writer.begin_object().member("ok", true).key("data").begin_object().member("key", key);
  write_value(writer, part);
  writer.end_object().end_object();
  return writer.take();
}

void note_part(const Part& part, Notes& notes) {
  if (part.whole()) return;
  const std::uint64_t end = part.begin + part.text.size();
  std::string note = "This is a part of the value: bytes " + std::to_string(part.begin) + " to " +
                     std::to_string(end) + " of " + std::to_string(part.total) + ".";
  if (part.next) note += " The next part begins at offset " + std::to_string(*part.next) + ".";
  notes.push_back(std::move(note));
  notes.emplace_back(
      "A part comes as text: put all parts together before reading a JSON value from them.");
}

std::string hit_structured(std::string_view key, const Part& part,
                           const service::RecalledValue& hit, Notes& notes) {
  JsonWriter writer;
  writer.begin_object().member("ok", true).key("data").begin_object().member("key", key);
  write_value(writer, part);
  writer.member("revision", hit.revision);
  writer.member("createdAt", format_time(hit.created));
  writer.member("updatedAt", format_time(hit.updated));
  if (hit.expires) writer.member("expiresAt", format_time(*hit.expires));
  writer.member("class", class_name(hit.entry_class));
  bool left_out = false;
  writer.key("tags");
  write_tags(writer, hit.tags, left_out);
  if (left_out) notes.emplace_back("The tags are too long to be shown.");
  writer.member("writtenBy", hit.principal).member("source", hit.source).end_object();
  writer.member("truncated", part.next.has_value()).member("bytes", part.total);
  if (part.next) writer.member("next_offset", *part.next);
  write_bank_and_notes(writer, hit.place.bank, notes);
  writer.end_object();
  return writer.take();
}

// One name in both forms.
void write_name(JsonWriter& writer, const service::ListedEntry& entry) {
  writer.begin_object().member("key", entry.key);
  writer.member("updatedAt", format_time(entry.updated)).end_object();
}

void write_entry(JsonWriter& writer, const service::ListedEntry& entry, std::string_view bank,
                 bool& left_out) {
  writer.begin_object().member("key", entry.key);
  writer.member("updatedAt", format_time(entry.updated)).member("revision", entry.revision);
  writer.key("tags");
  write_tags(writer, entry.tags, left_out);
  writer.member("bytes", entry.bytes);
  if (entry.expires) writer.member("expiresAt", format_time(*entry.expires));
  if (!entry.bank.empty() && entry.bank != bank) writer.member("bank", entry.bank);
  writer.end_object();
}

// How many of the entries fit into one result, both forms together; at least one.
std::size_t entries_that_fit(const service::ListResult& list) {
  constexpr std::size_t kSpacing = 16;  // indentation, commas
  std::size_t used = kFrameBytes;
  if (list.cursor) used += quoted_size(*list.cursor) + quoted_size(json_quoted(*list.cursor));
  std::size_t count = 0;
  for (const service::ListedEntry& entry : list.entries) {
    JsonWriter name(JsonWriter::Style::indented);
    write_name(name, entry);
    bool left_out = false;
    JsonWriter full;
    write_entry(full, entry, list.place.bank, left_out);
    // The text travels as a JSON string, so its quotes and line breaks count twice.
    used += quoted_size(name.text()) + full.text().size() + kSpacing;
    if (used > kMaxResultBytes && count > 0) break;
    ++count;
  }
  return count;
}

std::string list_text(const service::ListResult& list) {
  if (list.bank_empty) return "Agent memory is empty";
  JsonWriter writer(JsonWriter::Style::indented);
  writer.begin_array();
  for (const service::ListedEntry& entry : list.entries) write_name(writer, entry);
  writer.end_array();
  return writer.take();
}

std::string list_structured(const service::ListResult& list, std::size_t cut, Notes& notes) {
  JsonWriter writer;
  bool left_out = false;
  writer.begin_object().member("ok", true).key("entries").begin_array();
  for (const service::ListedEntry& entry : list.entries) {
    write_entry(writer, entry, list.place.bank, left_out);
  }
  writer.end_array();
  if (left_out) notes.emplace_back("Tags that are too long to be shown were left out.");
  if (list.cursor) writer.member("cursor", *list.cursor);
  write_cut(writer, "size", cut);
  write_bank_and_notes(writer, list.place.bank, notes);
  writer.end_object();
  return writer.take();
}

}  // namespace

ToolResult remembered(const service::RememberResult& result) {
  Notes notes;
  if (result.repeated) {
    notes.emplace_back(
        "Nothing was written: this is the answer to an earlier call with the same operation_id.");
  }
  append_notes(notes, result.place.notes);
  JsonWriter writer;
  writer.begin_object().member("ok", true).key("data").begin_object();
  writer.member("key", result.key).member("revision", result.revision);
  writer.member("updatedAt", format_time(result.updated)).end_object();
  write_bank_and_notes(writer, result.place.bank, notes);
  writer.end_object();

  notes.insert(notes.begin(), "Revision: " + std::to_string(result.revision));
  ToolResult out;
  out.content = {"Remembered " + json_quoted(result.key),
                 bank_and_notes_text(result.place.bank, notes)};
  out.structured = writer.take();
  return out;
}

ToolResult forgotten(std::string_view key, const service::ForgetResult& result) {
  JsonWriter writer;
  writer.begin_object().member("ok", true).key("data").begin_object();
  writer.member("key", key);
  write_receipt(writer, result.receipt);
  writer.end_object();
  write_bank_and_notes(writer, result.place.bank, result.place.notes);
  writer.end_object();

  Notes notes;
  if (result.receipt) notes.push_back(receipt_text(*result.receipt));
  append_notes(notes, result.place.notes);
  ToolResult out;
  out.content = {"Forgot " + json_quoted(key), bank_and_notes_text(result.place.bank, notes)};
  out.structured = writer.take();
  return out;
}

ToolResult recalled(std::string_view key, std::uint64_t offset, const service::RecalledValue& hit,
                    Notes notes) {
  const Part part = part_of(offset, key, hit);
  note_part(part, notes);
  append_notes(notes, hit.place.notes);
  notes.emplace_back(kDataNote);
  ToolResult out;
  out.structured = hit_structured(key, part, hit, notes);
  std::string text = hit_text(key, part, JsonWriter::Style::indented);
  if (part.json && text.size() > kMaxResultBytes) {
    wipe(text);
    text = hit_text(key, part, JsonWriter::Style::compact);
  }
  notes.insert(notes.begin(), "Revision: " + std::to_string(hit.revision) + ", updated " +
                                  format_time(hit.updated) + ", " +
                                  std::to_string(hit.total_bytes) + " bytes");
  out.content.push_back(std::move(text));
  out.content.push_back(bank_and_notes_text(hit.place.bank, notes));
  return out;
}

ToolResult listed(service::MemoryService& service, service::ListRequest request) {
  service::ListResult list = service.list(request);
  // The cursor of a shorter page is the service's to make, so ask again for what fits.
  std::size_t cut = 0;
  for (std::size_t fits = entries_that_fit(list); fits < list.entries.size();
       fits = entries_that_fit(list)) {
    cut += list.entries.size() - fits;
    request.limit = fits;
    list = service.list(request);
  }
  Notes notes;
  if (cut > 0) {
    notes.push_back("Cut by size: " + std::to_string(cut) + " more names were found.");
  }
  if (list.cursor) notes.emplace_back("More names follow; go on with the cursor.");
  append_notes(notes, list.place.notes);
  notes.emplace_back(kDataNote);
  ToolResult out;
  out.structured = list_structured(list, cut, notes);
  if (list.cursor) notes.insert(notes.begin(), "Cursor: " + json_quoted(*list.cursor));
  out.content = {list_text(list), bank_and_notes_text(list.place.bank, notes)};
  return out;
}

}  // namespace strongroom::mcp
