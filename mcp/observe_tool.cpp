#include "mcp/observe_tool.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "mcp/arguments.h"
#include "mcp/tool_output.h"

namespace strongroom::mcp {

namespace {

constexpr const char* kInput = R"({
"type": "object",
"properties": {
  "text": {"type": "string",
    "description": "What follows from the sources. Example: \"Ana prefers small releases\""},
  "sources": {"type": "array", "minItems": 1, "maxItems": 32,
    "items": {"type": "object",
      "properties": {
        "id": {"type": "string", "description": "Example: \"k7q2m-1f\""},
        "quote": {"type": "string",
          "description": "Words of that memory, as they stand there. Example: \"ship weekly\""}},
      "required": ["id", "quote"], "additionalProperties": false},
    "description": "Memories of one bank that say so, each with the words that do"},
  "tags": {"type": "array", "items": {"type": "string"}, "description": "Example: [\"habits\"]"},
  "importance": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5,
    "description": "Example: 0.7"},
  "refines": {"type": "string",
    "description": "Id of the observation that this one replaces. Example: \"k7q2m-2a\""},
  "operation_id": {"type": "string",
    "description": "A repeat with the same id stores nothing. Example: \"obs-17\""},
  "bank": {"type": "string", "description": "The bank of the sources. Example: \"global\""}
},
"required": ["text", "sources"],
"additionalProperties": false})";

constexpr const char* kOutput = R"({
"type": "object",
"properties": {
  "status": {"type": "string"}, "id": {"type": "string"}, "trend": {"type": "string"},
  "affected": {"type": "array", "items": {"type": "string"}}, "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["status", "id", "affected", "bank", "notes"],
"additionalProperties": false})";

service::ObserveRequest parse(const Json& input) {
  const Arguments arguments(
      input, {"text", "sources", "tags", "importance", "refines", "operation_id", "bank"});
  service::ObserveRequest request;
  request.text = std::string(arguments.required_string("text"));
  const Json* const sources = arguments.array("sources");
  if (sources == nullptr) throw Error::invalid("sources", "is required");
  if (sources->items().size() > service::kMaxSources) {
    throw Error::invalid("sources", "has more than 32 sources");
  }
  for (std::size_t i = 0; i < sources->items().size(); ++i) {
    const std::string field = "sources[" + std::to_string(i) + "]";
    if (!sources->items()[i].is_object()) throw Error::invalid(field, "must be an object");
    const Arguments source(sources->items()[i], {"id", "quote"}, {}, field);
    request.sources.push_back(
        {std::string(source.required_string("id")), std::string(source.required_string("quote"))});
  }
  request.tags = arguments.strings("tags", service::kMaxTags, service::kMaxTagBytes)
                     .value_or(std::vector<std::string>());
  request.importance = arguments.number("importance", 0, 1);
  request.refines = arguments.text("refines");
  request.operation_id = arguments.text("operation_id");
  request.bank = arguments.text("bank");
  return request;
}

ToolResult observed(const service::ObserveResult& result) {
  Notes notes;
  if (result.repeated) notes.emplace_back("This operation_id was answered before.");
  if (result.status == "duplicate") {
    notes.emplace_back("A current memory has this text; it stays as it is.");
  }
  append_notes(notes, result.notes);
  JsonWriter writer;
  writer.begin_object().member("status", result.status).member("id", result.id);
  if (!result.trend.empty()) writer.member("trend", result.trend);
  write_strings(writer, "affected", result.affected);
  write_bank_and_notes(writer, result.bank, notes);
  writer.end_object();
  for (const std::string& id : result.affected) notes.push_back("Superseded: " + id);
  if (!result.trend.empty()) notes.push_back("Trend: " + result.trend);
  ToolResult out;
  out.content = {(result.status == "stored" ? "Stored observation " : "Known already as ") +
                     json_quoted(result.id),
                 bank_and_notes_text(result.bank, notes)};
  out.structured = writer.take();
  return out;
}

}  // namespace

Tool observe_tool(service::MemoryService& service) {
  Tool tool;
  tool.name = "observe";
  tool.title = "Write an observation";
  tool.description =
      "Store what follows from several memories, with their ids and the exact words that say so. "
      "One conclusion a call, in your own words. It becomes stale when a source no longer holds. "
      "refines replaces an earlier observation, which stays readable.";
  tool.input_schema = kInput;
  tool.output_schema = kOutput;
  tool.annotations = {false, false, false, false};
  tool.call = [&service](const Json& input, const CallContext&) {
    return observed(service.observe(parse(input)));
  };
  return tool;
}

}  // namespace strongroom::mcp
