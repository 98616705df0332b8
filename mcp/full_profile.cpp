#include "mcp/full_profile.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "mcp/arguments.h"
#include "mcp/consolidation_tools.h"
#include "mcp/list_tools.h"
#include "mcp/observe_tool.h"
#include "mcp/tool_output.h"
#include "service/memory_json.h"

namespace strongroom::mcp {

namespace {

using service::MemoryService;

constexpr std::size_t kMaxFilterTags = 64;
constexpr std::size_t kShownIds = 500;

constexpr const char* kDeleteDocumentInput = R"({
"type": "object",
"properties": {
  "document_id": {"type": "string", "description": "Example: \"notes.md\""},
  "confirm": {"type": "string", "description": "The document_id again. Example: \"notes.md\""},
  "bank": {"type": "string", "description": "Example: \"global\""}
},
"required": ["document_id", "confirm"],
"additionalProperties": false})";

constexpr const char* kDeleteDocumentOutput = R"({
"type": "object",
"properties": {
  "status": {"type": "string"}, "document_id": {"type": "string"},
  "memories": {"type": "integer"}, "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["status", "document_id", "memories", "bank", "notes"],
"additionalProperties": false})";

constexpr const char* kCreateBankInput = R"({
"type": "object",
"properties": {"name": {"type": "string", "description": "Example: \"team\""}},
"required": ["name"],
"additionalProperties": false})";

constexpr const char* kCreateBankOutput = R"({
"type": "object",
"properties": {
  "name": {"type": "string"}, "tag": {"type": "string"}, "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["name", "tag", "bank", "notes"],
"additionalProperties": false})";

constexpr const char* kStatsInput = R"({
"type": "object",
"properties": {"bank": {"type": "string", "description": "Example: \"global\""}},
"additionalProperties": false})";

constexpr const char* kStatsOutput = R"({
"type": "object",
"properties": {
  "bank": {"type": "string"}, "tag": {"type": "string"}, "entries": {"type": "integer"},
  "memories": {"type": "integer"}, "documents": {"type": "integer"}, "links": {"type": "integer"},
  "by_type": {"type": "object"}, "index": {"type": "object"}, "erase_pending": {"type": "integer"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["bank", "entries", "memories", "documents", "links", "by_type", "index", "notes"],
"additionalProperties": false})";

constexpr const char* kPurgeInput = R"({
"type": "object",
"properties": {
  "tags": {"type": "array", "items": {"type": "string"},
    "description": "That have every one of them. Example: [\"draft\"]"},
  "types": {"type": "array", "items": {"type": "string",
    "enum": ["world", "experience", "observation"]}, "description": "Example: [\"experience\"]"},
  "before": {"type": "string", "description": "Mentioned before. Example: \"2026-01-01\""},
  "invalid_only": {"type": "boolean",
    "description": "Only what is invalidated or expired. Example: true"},
  "document_id": {"type": "string", "description": "Of this document. Example: \"notes.md\""},
  "dry_run": {"type": "boolean", "default": true,
    "description": "false removes; else it is only counted. Example: false"},
  "confirm": {"type": "string",
    "description": "With dry_run false: the bank's name. Example: \"global\""},
  "bank": {"type": "string", "description": "Example: \"global\""}
},
"additionalProperties": false})";

constexpr const char* kPurgeOutput = R"({
"type": "object",
"properties": {
  "matched": {"type": "integer"}, "removed": {"type": "integer"}, "dry_run": {"type": "boolean"},
  "ids": {"type": "array", "items": {"type": "string"}}, "cut": {"type": "object"},
  "bank": {"type": "string"}, "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["matched", "removed", "dry_run", "ids", "bank", "notes"],
"additionalProperties": false})";

void check_confirm(const Arguments& arguments, std::string_view name, std::string_view what) {
  const std::optional<std::string_view> confirm = arguments.string("confirm");
  if (confirm && *confirm == name) return;
  throw Error::invalid("confirm", "must be " + std::string(what) + ", " + json_quoted(name) +
                                      "; nothing was removed");
}

ToolResult delete_document(MemoryService& service, const Json& input) {
  const Arguments arguments(input, {"document_id", "confirm", "bank"});
  const std::string id(arguments.required_string("document_id"));
  check_confirm(arguments, id, "the document_id");
  const service::DeleteDocumentResult result = service.delete_document(id, arguments.text("bank"));
  if (!result.found) {
    return failure("No document found with id " + json_quoted(id) + ". [not_found]",
                   bank_and_notes_text(result.bank, result.notes));
  }
  JsonWriter writer;
  writer.begin_object().member("status", "deleted").member("document_id", id);
  writer.member("memories", result.memories);
  write_bank_and_notes(writer, result.bank, result.notes);
  writer.end_object();
  ToolResult out;
  out.content = {"Forgot document " + json_quoted(id) + " with " + std::to_string(result.memories) +
                     (result.memories == 1 ? " memory" : " memories"),
                 bank_and_notes_text(result.bank, result.notes)};
  out.structured = writer.take();
  return out;
}

ToolResult create_bank(MemoryService& service, const Json& input) {
  const Arguments arguments(input, {"name"});
  const service::VisibleBank bank =
      service.create_bank(std::string(arguments.required_string("name")));
  const Notes notes = {"Ids of its memories begin with " + bank.tag + "."};
  JsonWriter writer;
  writer.begin_object().member("name", bank.name).member("tag", bank.tag);
  write_bank_and_notes(writer, bank.name, notes);
  writer.end_object();
  ToolResult out;
  out.content = {"Created bank " + json_quoted(bank.name), bank_and_notes_text(bank.name, notes)};
  out.structured = writer.take();
  return out;
}

ToolResult bank_stats(MemoryService& service, const Json& input) {
  const Arguments arguments(input, {"bank"});
  const service::MemoryBankStats stats = service.bank_stats(arguments.text("bank"));
  JsonWriter text(JsonWriter::Style::indented);
  text.begin_object();
  service::write_stats(text, stats);
  text.end_object();
  JsonWriter writer;
  writer.begin_object();
  service::write_stats(writer, stats);
  write_notes(writer, stats.notes);
  writer.end_object();
  ToolResult out;
  out.content = {text.take(), bank_and_notes_text(stats.bank, stats.notes)};
  out.structured = writer.take();
  return out;
}

service::PurgeRequest purge_request(const Arguments& arguments) {
  service::PurgeRequest request;
  request.bank = arguments.text("bank");
  request.tags = arguments.strings("tags", kMaxFilterTags, service::kMaxTagBytes)
                     .value_or(std::vector<std::string>());
  if (const auto before = arguments.string("before")) {
    request.before = service::parse_time(*before, "before");
  }
  bool permanent = false;
  if (const auto types = arguments.strings("types", kMaxFilterTags, service::kMaxNameBytes)) {
    service::parse_types(*types, "types", request.types, permanent);
  }
  if (permanent) throw Error::invalid("types", "of a purge cannot be \"permanent\"");
  request.invalid_only = arguments.boolean("invalid_only").value_or(false);
  request.document_id = arguments.text("document_id");
  return request;
}

ToolResult purged(const service::PurgeResult& result) {
  std::vector<std::string> ids = result.ids;
  ids.resize(std::min(ids.size(), kShownIds));
  const std::uint64_t all = result.dry_run ? result.matched : result.removed;
  JsonWriter writer;
  writer.begin_object().member("matched", result.matched).member("removed", result.removed);
  writer.member("dry_run", result.dry_run);
  write_strings(writer, "ids", ids);
  write_cut(writer, "size", all > ids.size() ? all - ids.size() : 0);
  Notes notes;
  if (result.dry_run) {
    notes.emplace_back("Nothing was removed: send dry_run false and confirm with the bank's name.");
  }
  append_notes(notes, result.notes);
  write_bank_and_notes(writer, result.bank, notes);
  writer.end_object();
  std::string list;
  for (const std::string& id : ids) list += (list.empty() ? "" : ", ") + id;
  if (!list.empty()) notes.push_back("Ids: " + list);
  ToolResult out;
  out.content = {(result.dry_run ? "Would forget " : "Forgot ") + std::to_string(all) +
                     (all == 1 ? " memory" : " memories"),
                 bank_and_notes_text(result.bank, notes)};
  out.structured = writer.take();
  return out;
}

ToolResult purge(MemoryService& service, const Json& input) {
  const Arguments arguments(input, {"tags", "types", "before", "invalid_only", "document_id",
                                    "dry_run", "confirm", "bank"});
  service::PurgeRequest request = purge_request(arguments);
  const bool dry_run = arguments.boolean("dry_run").value_or(true);
  // The trial tells which bank it is that the caller has to name.
  const service::PurgeResult trial = service.purge_memories(request);
  if (dry_run) return purged(trial);
  check_confirm(arguments, trial.bank, "the bank's name");
  request.dry_run = false;
  return purged(service.purge_memories(request));
}

using Run = ToolResult (*)(MemoryService&, const Json&);

Tool make(MemoryService& service, const char* name, const char* title, const char* description,
          const char* input, const char* output, Annotations annotations, Run run) {
  Tool tool;
  tool.name = name;
  tool.title = title;
  tool.description = description;
  tool.input_schema = input;
  tool.output_schema = output;
  tool.annotations = annotations;
  tool.call = [&service, run](const Json& arguments, const CallContext&) {
    return run(service, arguments);
  };
  return tool;
}

}  // namespace

std::vector<Tool> full_profile_tools(MemoryService& service) {
  return {
      list_memories_tool(service),
      list_documents_tool(service),
      make(service, "delete_document", "Delete a document",
           "Forget a document with all its memories. There is no undo; confirm repeats its "
           "document_id.",
           kDeleteDocumentInput, kDeleteDocumentOutput, {false, true, true, false},
           delete_document),
      list_tags_tool(service),
      list_banks_tool(service),
      make(service, "create_bank", "Create a bank",
           "Make a new bank, where the policy permits it. A project's own bank needs no such call: "
           "its first write makes it.",
           kCreateBankInput, kCreateBankOutput, {false, false, false, false}, create_bank),
      make(service, "bank_stats", "Statistics of a bank",
           "Tell how much one bank holds: entries, memories by type, documents, links, and the "
           "state of its search index.",
           kStatsInput, kStatsOutput, {true, false, true, false}, bank_stats),
      make(service, "purge_memories", "Purge memories",
           "Forget all memories of one bank that match. Only counts them unless dry_run is false "
           "and confirm is the bank's name. There is no undo.",
           kPurgeInput, kPurgeOutput, {false, true, true, false}, purge),
      observe_tool(service),
      review_tool(service),
      candidates_tool(service),
      list_entities_tool(service),
  };
}

}  // namespace strongroom::mcp
