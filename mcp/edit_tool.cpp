#include "mcp/edit_tool.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/arguments.h"
#include "mcp/tool_output.h"
#include "service/memory_json.h"

namespace strongroom::mcp {

namespace {

using service::EditOp;

constexpr std::int64_t kMaxExactInteger = (std::int64_t{1} << 53) - 1;
constexpr std::size_t kMaxAffected = 500;  // ids that are listed

constexpr const char* kInput = R"({
"type": "object",
"properties": {
  "op": {"type": "string", "enum": ["update", "forget", "invalidate", "restore"]},
  "id": {"type": "string", "description": "Example: k7q2m-1f"},
  "content": {"type": "string", "description": "Example: Hi"},
  "importance": {"type": "number", "maximum": 1},
  "tags": {"type": "array", "items": {"type": "string"}},
  "replacement_id": {"type": "string",
    "description": "Example: k7q2m-1g"},
  "if_revision": {"type": "integer"},
  "erase": {"type": "boolean"},
)";

constexpr const char* kScript = R"(
  "metadata": {"type": "object",
    "description": "update: names to strings. Example: {\"a\": \"b\"}"},
)";

constexpr const char* kInputTail = R"(
  "bank": {"type": "string"}
},
"required": ["op", "id"],
"additionalProperties": false})";

constexpr const char* kOutput = R"({
"type": "object",
"properties": {
  "status": {"type": "string"},
  "id": {"type": "string"},
  "revision": {"type": "integer"},
  "affected": {"type": "array", "items": {"type": "string"}},
  "cut": {"type": "object"},
  "receipt": {"type": "object"},
  "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"additionalProperties": false})";

service::EditRequest parse(const Json& input) {
  const Arguments arguments(input,
                            {"op", "id", "content", "importance", "tags", "replacement_id",
                             "if_revision", "erase", "bank"},
                            {"metadata"});
  service::EditRequest request;
  const auto op = arguments.choice("op", {"update", "forget", "invalidate", "restore"});
  if (!op) throw Error::invalid("op", "is required");
  request.op = static_cast<EditOp>(*op);
  request.id = std::string(arguments.required_string("id"));
  request.erase = arguments.boolean("erase").value_or(false);
  if (arguments.find("content") != nullptr) {
    request.content = std::string(arguments.required_string("content"));
  }
  request.importance = arguments.number("importance", 0, 1);
  request.tags = arguments.strings("tags", service::kMaxTags, service::kMaxTagBytes);
  request.metadata = service::parse_metadata(input, {});
  request.replacement_id = arguments.text("replacement_id");
  if (const auto revision = arguments.integer("if_revision", 0, kMaxExactInteger)) {
    request.if_revision = static_cast<std::uint64_t>(*revision);
  }
  request.bank = arguments.text("bank");
  return request;
}

std::string headline(const service::EditResult& result) {
  const std::string id = json_quoted(result.id);
  if (result.status == "deleted") return "Forgot memory " + id;
  if (result.status == "invalidated") return "Invalidated memory " + id;
  if (result.status == "restored") return "Restored memory " + id;
  return "Updated memory " + id;
}

ToolResult edited(const service::EditResult& result) {
  std::vector<std::string> affected = result.affected;
  const std::size_t cut = affected.size() > kMaxAffected ? affected.size() - kMaxAffected : 0;
  affected.resize(affected.size() - cut);
  JsonWriter writer;
  writer.begin_object().member("status", result.status).member("id", result.id);
  writer.member("revision", result.revision);
  write_strings(writer, "affected", affected);
  write_cut(writer, "size", cut);
  write_receipt(writer, result.receipt);
  write_bank_and_notes(writer, result.bank, result.notes);
  writer.end_object();

  Notes notes = {"Status: " + result.status + ", revision " + std::to_string(result.revision)};
  std::string ids;
  for (const std::string& id : affected) ids += (ids.empty() ? "" : ", ") + id;
  if (cut > 0) ids += " and " + std::to_string(cut) + " more";
  if (!ids.empty()) notes.push_back("Affected: " + ids);
  if (result.receipt) notes.push_back(receipt_text(*result.receipt));
  append_notes(notes, result.notes);
  ToolResult out;
  out.content = {headline(result), bank_and_notes_text(result.bank, notes)};
  out.structured = writer.take();
  return out;
}

}  // namespace

Tool edit_tool(service::MemoryService& service, Profile profile) {
  Tool tool;
  tool.name = "memory_edit";
  tool.title = "Edit a memory";
  tool.description =
      "Change a memory by id. No longer true: invalidate, with replacement_id. A typo: update. "
      "Privacy: forget; no undo. restore undoes invalidate.";
  tool.input_schema = std::string(kInput) + (profile == Profile::full ? kScript : "") + kInputTail;
  tool.output_schema = kOutput;
  tool.annotations = {false, true, true, false};
  tool.call = [&service](const Json& input, const CallContext&) {
    return edited(service.edit_memory(parse(input)));
  };
  return tool;
}

}  // namespace strongroom::mcp
