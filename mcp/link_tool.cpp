#include "mcp/link_tool.h"

#include <string>

#include "base/json.h"
#include "mcp/arguments.h"
#include "mcp/tool_output.h"
#include "service/memory_json.h"

namespace strongroom::mcp {

namespace {

constexpr const char* kInput = R"({
"type": "object",
"properties": {
  "from": {"type": "string", "description": "Id or name. Example: Ana"},
  "to": {"type": "string", "description": "Example: k7q2m-1f"},
  "relation": {"type": "string", "description": "Example: decided"},
  "valid_from": {"type": "string", "description": "Example: 2026-05-03"},
  "valid_until": {"type": "string", "description": "Example: 2026-06-01"},
  "remove": {"type": "boolean"},
  "bank": {"type": "string"}
},
"required": ["from", "to", "relation"],
"additionalProperties": false})";

constexpr const char* kOutput = R"({
"type": "object",
"properties": {
  "status": {"type": "string"},
  "link": {"type": "object"},
  "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"additionalProperties": false})";

std::optional<TimeMs> time_member(const Arguments& arguments, std::string_view name) {
  const std::optional<std::string_view> text = arguments.string(name);
  if (!text) return std::nullopt;
  return service::parse_time(*text, name);
}

service::LinkRequest parse(const Json& input) {
  const Arguments arguments(
      input, {"from", "to", "relation", "valid_from", "valid_until", "remove", "bank"});
  service::LinkRequest request;
  request.from = std::string(arguments.required_string("from"));
  request.to = std::string(arguments.required_string("to"));
  request.relation = std::string(arguments.required_string("relation"));
  request.valid_from = time_member(arguments, "valid_from");
  request.valid_until = time_member(arguments, "valid_until");
  request.remove = arguments.boolean("remove").value_or(false);
  request.bank = arguments.text("bank");
  return request;
}

ToolResult linked(const service::LinkResult& result) {
  JsonWriter writer;
  writer.begin_object().member("status", result.status).key("link");
  service::write_link(writer, result.link);
  write_bank_and_notes(writer, result.bank, result.notes);
  writer.end_object();
  ToolResult out;
  const std::string done = result.status == "removed"   ? "Removed the link "
                           : result.status == "updated" ? "Updated the link "
                                                        : "Linked ";
  out.content = {done + json_quoted(result.link.from) + " " + json_quoted(result.link.relation) +
                     " " + json_quoted(result.link.to),
                 bank_and_notes_text(result.bank, result.notes)};
  out.structured = writer.take();
  return out;
}

}  // namespace

Tool link_tool(service::MemoryService& service) {
  Tool tool;
  tool.name = "memory_link";
  tool.title = "Link memories";
  tool.description =
      "Link two memories or entities by a relation of your choice; reflect follows links.";
  tool.input_schema = kInput;
  tool.output_schema = kOutput;
  tool.annotations = {false, false, true, false};
  tool.call = [&service](const Json& input, const CallContext&) {
    return linked(service.link_memories(parse(input)));
  };
  return tool;
}

}  // namespace strongroom::mcp
