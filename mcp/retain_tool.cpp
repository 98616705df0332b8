#include "mcp/retain_tool.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/arguments.h"
#include "mcp/tool_output.h"
#include "service/memory_json.h"

namespace strongroom::mcp {

namespace {

using service::ItemStatus;
using service::RetainedItem;
using service::RetainResult;

constexpr std::size_t kMaxItemsBytes = 8u << 20;
constexpr std::size_t kMaxOperationIdBytes = 256;
constexpr std::size_t kFrameBytes = 4'000;
constexpr std::size_t kMaxReasonBytes = 400;

constexpr const char* kInputHead = R"({
"type": "object",
"properties": {
  "items": {"type": "array", "minItems": 1,
    "items": {"type": "object", "properties": {
      "content": {"type": "string",
        "description": "Example: Ana chose Postgres on 3 May 2026"},
      "context": {"type": "string"},
      "type": {"type": "string", "enum": ["world", "experience", "observation"]},
      "tags": {"type": "array", "items": {"type": "string"}},
      "timestamp": {"type": "string", "description": "Default now"},
      "entities": {"type": "array", "items": {"type": "string"}},
      "importance": {"type": "number", "maximum": 1},
      "document_id": {"type": "string", "description": "Its document"})";

// Known to scripts; models rarely need them, so the short profile does not show them.
constexpr const char* kItemScript = R"(,
      "metadata": {"type": "object", "description": "Names to strings, 64 at most"},
      "occurred_start": {"type": "string"},
      "occurred_end": {"type": "string"},
      "update_mode": {"type": "string", "enum": ["replace", "append"]},
      "position": {"type": "integer"},
      "speaker": {"type": "string"},
      "expires_at": {"type": "string"})";

constexpr const char* kInputMiddle = R"(},
      "required": ["content"], "additionalProperties": false}},
)";

constexpr const char* kScript = R"(
  "source": {"type": "string", "description": "Where it is from. Example: standup"},
  "operation_id": {"type": "string",
    "description": "A repeat with the same id is answered, not stored. Example: op-1"},
)";

constexpr const char* kInputTail = R"(
  "bank": {"type": "string"}
},
"required": ["items"],
"additionalProperties": false})";

constexpr const char* kOutput = R"({
"type": "object",
"properties": {
  "count": {"type": "integer"},
  "items": {"type": "array", "items": {"type": "object"}},
  "cut": {"type": "object"},
  "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"additionalProperties": false})";

// The decoded bytes of all strings in a value.
std::size_t text_bytes(const Json& value) {
  std::size_t bytes = value.as_string().size();
  for (const Json& item : value.items()) bytes += text_bytes(item);
  for (const Json::Member& member : value.members()) {
    bytes += member.name.size() + text_bytes(member.value);
  }
  return bytes;
}

service::RetainRequest parse(const Json& input) {
  if (input.find("items") == nullptr && input.find("content") != nullptr) {
    throw Error::invalid("content", "belongs to an item: {\"items\": [{\"content\": ...}]}");
  }
  const Arguments arguments(input, {"items", "bank"}, {"source", "operation_id"});
  const Json* items = arguments.array("items");
  if (items == nullptr) throw Error::invalid("items", "is required");
  if (items->items().empty()) throw Error::invalid("items", "must have at least one item");
  const std::size_t bytes = text_bytes(*items);
  if (bytes > kMaxItemsBytes) throw Error::too_large("items", bytes, kMaxItemsBytes);
  service::RetainRequest request;
  request.items.reserve(items->items().size());
  for (const Json& item : items->items()) {
    request.items.push_back(
        service::parse_retain_item(item, "items[" + std::to_string(request.items.size()) + "]"));
  }
  request.source = arguments.text("source");
  request.operation_id = arguments.text("operation_id");
  if (request.operation_id.size() > kMaxOperationIdBytes) {
    throw Error::too_large("operation_id", request.operation_id.size(), kMaxOperationIdBytes);
  }
  request.bank = arguments.text("bank");
  return request;
}

bool counted(const RetainedItem& item) {
  return item.status == ItemStatus::stored || item.status == ItemStatus::duplicate;
}

std::string reason_of(const RetainedItem& item) {
  return std::string(utf8_prefix(item.reason, kMaxReasonBytes));
}

void write_item(JsonWriter& writer, const RetainedItem& item) {
  writer.begin_object();
  if (!item.id.empty()) writer.member("id", item.id);
  writer.member("status", service::item_status_name(item.status));
  if (!item.reason.empty()) writer.member("reason", reason_of(item));
  if (item.memories > 1) writer.member("memories", item.memories);
  if (!item.document_id.empty()) writer.member("document_id", item.document_id);
  writer.end_object();
}

// What the second block says of an item: an id for those that are counted, and a line for those
// of which there is more to say.
std::string id_words(const RetainedItem& item) {
  if (!counted(item)) return {};
  return item.id + (item.status == ItemStatus::duplicate ? " (duplicate)" : "");
}
std::string item_line(const RetainedItem& item, std::size_t index) {
  if (counted(item) && item.reason.empty()) return {};
  std::string line = "\nitems[" + std::to_string(index) + "] ";
  line += service::item_status_name(item.status);
  if (!item.reason.empty()) line += ": " + escape_for_display(reason_of(item));
  return line;
}

std::size_t items_that_fit(const RetainResult& result) {
  std::vector<std::size_t> sizes;
  sizes.reserve(result.items.size());
  for (const RetainedItem& item : result.items) {
    JsonWriter writer;
    write_item(writer, item);
    const std::string words = item_line(item, sizes.size()) + id_words(item);
    sizes.push_back(writer.text().size() + quoted_size(words) + 2);
  }
  std::size_t room = kMaxResultBytes - kFrameBytes;
  return count_that_fits(sizes, room);
}

std::string second_block(const RetainResult& result, std::size_t shown, const Notes& notes) {
  std::string ids, lines;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string id = id_words(result.items[i]);
    if (!id.empty()) ids += (ids.empty() ? "" : ", ") + id;
    lines += item_line(result.items[i], i);
  }
  std::string text = bank_and_notes_text(result.bank, notes) + lines;
  if (!ids.empty()) text += "\nIds: " + ids;
  return text;
}

ToolResult retained(const RetainResult& result) {
  const std::size_t shown = items_that_fit(result);
  const std::size_t cut = result.items.size() - shown;
  Notes notes;
  if (result.repeated) {
    notes.emplace_back(
        "Nothing was written: this is the answer to an earlier call with the same operation_id.");
  }
  if (cut > 0) notes.push_back("Cut by size: " + std::to_string(cut) + " more items.");
  append_notes(notes, result.notes);
  ToolResult out;
  out.content = {
      std::to_string(result.count) + (result.count == 1 ? " memory stored." : " memories stored."),
      second_block(result, shown, notes)};
  out.is_error = result.count == 0;
  if (out.is_error) return out;
  JsonWriter writer;
  writer.begin_object().member("count", result.count).key("items").begin_array();
  for (std::size_t i = 0; i < shown; ++i) write_item(writer, result.items[i]);
  writer.end_array();
  write_cut(writer, "size", cut);
  write_bank_and_notes(writer, result.bank, notes);
  writer.end_object();
  out.structured = writer.take();
  return out;
}

}  // namespace

Tool retain_tool(service::MemoryService& service, Profile profile) {
  const bool full = profile == Profile::full;
  Tool tool;
  tool.name = "retain";
  tool.title = "Retain facts";
  tool.description =
      "Keep facts for recall to find by meaning: one self-contained fact an item, who, what and "
      "when inside; no recall output, transcripts or credentials. A value under a name: "
      "agent_remember.";
  tool.input_schema = std::string(kInputHead) + (full ? kItemScript : "") + kInputMiddle +
                      (full ? kScript : "") + kInputTail;
  tool.output_schema = kOutput;
  tool.annotations = {false, false, false, false};
  tool.call = [&service](const Json& input, const CallContext&) {
    return retained(service.retain(parse(input)));
  };
  return tool;
}

}  // namespace strongroom::mcp
