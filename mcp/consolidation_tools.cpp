#include "mcp/consolidation_tools.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"
#include "base/utf8.h"
#include "mcp/arguments.h"
#include "mcp/tool_output.h"
#include "service/consolidation_json.h"

namespace strongroom::mcp {

namespace {

using service::MemoryService;

constexpr std::size_t kFrameBytes = 4'000;
constexpr std::size_t kShownTextBytes = 200;  // of one memory; memory_get has the rest
constexpr std::size_t kPairBytes = 200;       // of contradictions, in both forms

constexpr const char* kReviewInput = R"({
"type": "object",
"properties": {
  "days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 30,
    "description": "What expires within so many days. Example: 7"},
  "newest": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 200,
    "description": "Memories looked at for contradictions, newest first. Example: 500"},
  "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50,
    "description": "Of each list. Example: 20"},
  "bank": {"type": "string", "description": "Example: \"global\""}
},
"additionalProperties": false})";

constexpr const char* kReviewOutput = R"({
"type": "object",
"properties": {
  "contradictions": {"type": "array", "items": {"type": "object"}},
  "quarantined": {"type": "array", "items": {"type": "object"}},
  "expiring": {"type": "array", "items": {"type": "object"}},
  "stale": {"type": "array", "items": {"type": "object"}},
  "looked_at": {"type": "object"}, "cut": {"type": "object"}, "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["contradictions", "quarantined", "expiring", "stale", "looked_at", "bank", "notes"],
"additionalProperties": false})";

constexpr const char* kCandidatesInput = R"({
"type": "object",
"properties": {
  "actions": {"type": "array", "items": {"type": "string",
    "enum": ["extract", "merge", "archive"]}, "description": "All if left out. Example: [\"merge\"]"},
  "older_than_days": {"type": "integer", "minimum": 0, "maximum": 36500, "default": 90,
    "description": "Of what may be archived. Example: 30"},
  "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20,
    "description": "Example: 5"},
  "cursor": {"type": "string",
    "description": "Where to go on. Example: the \"cursor\" of the result before"},
  "bank": {"type": "string", "description": "Example: \"global\""}
},
"additionalProperties": false})";

constexpr const char* kCandidatesOutput = R"({
"type": "object",
"properties": {
  "candidates": {"type": "array", "items": {"type": "object"}},
  "looked_at": {"type": "integer"}, "cursor": {"type": "string"}, "bank": {"type": "string"},
  "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["candidates", "looked_at", "bank", "notes"],
"additionalProperties": false})";

constexpr const char* kEntitiesInput = R"({
"type": "object",
"properties": {
  "prefix": {"type": "string", "description": "Names that begin so. Example: \"ana\""},
  "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 200,
    "description": "Example: 50"},
  "cursor": {"type": "string",
    "description": "Where a list goes on. Example: the \"cursor\" of the result before"},
  "bank": {"type": "string", "description": "Example: \"global\""}
},
"additionalProperties": false})";

constexpr const char* kEntitiesOutput = R"({
"type": "object",
"properties": {
  "entities": {"type": "array", "items": {"type": "object"}},
  "total": {"type": "integer"}, "cursor": {"type": "string"}, "cut": {"type": "object"},
  "bank": {"type": "string"}, "notes": {"type": "array", "items": {"type": "string"}}
},
"required": ["entities", "total", "bank", "notes"],
"additionalProperties": false})";

template <class Write>
std::string json_of(const Write& write) {
  JsonWriter writer;
  write(writer);
  return writer.take();
}

ToolResult answer(std::string text, JsonWriter& writer, const std::string& bank, Notes notes) {
  notes.emplace_back(kDataNote);
  write_bank_and_notes(writer, bank, notes);
  writer.end_object();
  ToolResult out;
  out.content = {std::move(text), bank_and_notes_text(bank, notes)};
  out.structured = writer.take();
  return out;
}

// ---- review

std::string reviewed_bullet(const service::ReviewedMemory& memory) {
  return memory_bullet(memory.text, service::memory_type_name(memory.type), std::nullopt, memory.id,
                       memory.expires_at ? "expires " + format_time(*memory.expires_at) : "");
}

// Shortens the texts and leaves out what there is no room for; how many.
std::uint64_t fit(std::vector<service::ReviewedMemory>& all, std::size_t& room) {
  std::vector<std::size_t> sizes;
  for (service::ReviewedMemory& memory : all) {
    const std::string_view shown = utf8_prefix(memory.text, kShownTextBytes);
    if (shown.size() < memory.text.size()) memory.text = std::string(shown) + "\u2026";
    sizes.push_back(
        json_of([&](JsonWriter& writer) { service::write_reviewed(writer, memory); }).size() + 1 +
        quoted_size(reviewed_bullet(memory)));
  }
  const std::size_t fits = count_that_fits(sizes, room), cut = all.size() - fits;
  all.resize(fits);
  return cut;
}

void add_part(std::string& text, const char* heading, const std::string& lines) {
  if (!lines.empty())
    text += std::string(text.empty() ? "" : "\n") + "## " + heading + "\n\n" + lines;
}

std::string bullets(const std::vector<service::ReviewedMemory>& all) {
  std::string lines;
  for (const service::ReviewedMemory& memory : all) lines += reviewed_bullet(memory);
  return lines;
}

ToolResult reviewed(service::ReviewResult result) {
  std::size_t room = kMaxResultBytes - kFrameBytes;
  room -= std::min(room, result.contradictions.size() * kPairBytes);
  result.expiring_cut += fit(result.expiring, room);
  result.stale_cut += fit(result.stale, room);
  std::string pairs, text;
  for (const service::Contradiction& pair : result.contradictions) {
    pairs += "- " + pair.newer + " may contradict " + pair.older + " (" + pair.rule + ")\n";
  }
  add_part(text, "Contradictions", pairs);
  add_part(text, "Expiring", bullets(result.expiring));
  add_part(text, "Stale observations", bullets(result.stale));
  Notes notes = {"Looked at " + std::to_string(result.compared) +
                 (result.all_compared
                      ? " memories, which are all of them,"
                      : " memories, the newest, with older ones that share their words,") +
                 " and at " + std::to_string(result.observations) + " observations."};
  const std::uint64_t cut = result.contradictions_cut + result.expiring_cut + result.stale_cut;
  if (cut > 0) notes.push_back(std::to_string(cut) + " more were found than are shown.");
  if (!result.contradictions.empty()) {
    notes.emplace_back("Contradictions are told by words alone: hints to be checked.");
  }
  append_notes(notes, result.notes);
  JsonWriter writer;
  writer.begin_object();
  service::write_review(writer, result);
  return answer(text.empty() ? "Nothing needs a look." : text, writer, result.bank,
                std::move(notes));
}

service::ReviewRequest review_request(const Json& input) {
  const Arguments arguments(input, {"days", "newest", "limit", "bank"});
  service::ReviewRequest request;
  request.days = arguments.integer("days", 1, 3650).value_or(request.days);
  if (const auto newest = arguments.integer("newest", 1, 1000)) {
    request.newest = static_cast<std::size_t>(*newest);
  }
  if (const auto limit = arguments.integer("limit", 1, 200)) {
    request.limit = static_cast<std::size_t>(*limit);
  }
  request.bank = arguments.text("bank");
  return request;
}

// ---- candidates

service::CandidatesRequest candidates_request(const Json& input) {
  const Arguments arguments(input, {"actions", "older_than_days", "limit", "cursor", "bank"});
  service::CandidatesRequest request;
  for (const std::string& word :
       arguments.strings("actions", 3, 16).value_or(std::vector<std::string>())) {
    const auto action = service::parse_candidate_action(word);
    if (!action)
      throw Error::invalid("actions", "must be of \"extract\", \"merge\" or \"archive\"");
    request.actions.push_back(*action);
  }
  request.older_than_days =
      arguments.integer("older_than_days", 0, 36'500).value_or(request.older_than_days);
  if (const auto limit = arguments.integer("limit", 1, 100)) {
    request.limit = static_cast<std::size_t>(*limit);
  }
  request.cursor = arguments.text("cursor");
  request.bank = arguments.text("bank");
  return request;
}

std::string candidate_bullet(const service::Candidate& candidate) {
  std::string line = "- " + std::string(service::candidate_action_name(candidate.action));
  if (!candidate.document_id.empty()) {
    line += " " + escape_for_display(json_quoted(candidate.document_id));
  }
  line += ": " + candidate.reason + " Ids:";
  for (const std::string& id : candidate.ids) line += " " + id;
  return line + "\n  " + candidate.prompt + "\n";
}

std::size_t candidates_size(const service::CandidatesResult& result) {
  std::size_t size = 0;
  for (const service::Candidate& candidate : result.candidates) {
    size +=
        json_of([&](JsonWriter& writer) { service::write_candidate(writer, candidate); }).size() +
        1 + quoted_size(candidate_bullet(candidate));
  }
  return size;
}

ToolResult list_candidates(MemoryService& service, const Json& input) {
  service::CandidatesRequest request = candidates_request(input);
  service::CandidatesResult result = service.consolidation_candidates(request);
  // The cursor of a shorter page is the service's to make, so ask again for less.
  while (candidates_size(result) > kMaxResultBytes - kFrameBytes && request.limit > 1) {
    request.limit = std::max<std::size_t>(1, std::min(request.limit, result.candidates.size()) / 2);
    result = service.consolidation_candidates(request);
  }
  JsonWriter writer;
  std::string text;
  writer.begin_object().key("candidates").begin_array();
  for (const service::Candidate& candidate : result.candidates) {
    service::write_candidate(writer, candidate);
    text += candidate_bullet(candidate);
  }
  writer.end_array().member("looked_at", result.looked_at);
  Notes notes = {"Looked at " + std::to_string(result.looked_at) + " memories, newest first."};
  if (result.cursor) {
    writer.member("cursor", *result.cursor);
    notes.push_back("More follow; go on with the cursor " + json_quoted(*result.cursor) + ".");
  }
  append_notes(notes, result.notes);
  return answer(text.empty() ? "Nothing to consolidate here." : text, writer, result.bank,
                std::move(notes));
}

// ---- entities

std::string entity_bullet(const service::ListedEntity& entity) {
  return "- " + escape_for_display(json_quoted(entity.display)) + " [" + entity.kind + "] (" +
         std::to_string(entity.memories) + (entity.memories == 1 ? " memory" : " memories") +
         ", last " + format_time(entity.last_mentioned).substr(0, 10) + ")\n";
}

std::size_t entities_that_fit(const service::ListEntitiesResult& list) {
  std::vector<std::size_t> sizes;
  for (const service::ListedEntity& entity : list.entities) {
    sizes.push_back(
        json_of([&](JsonWriter& writer) { service::write_listed_entity(writer, entity); }).size() +
        1 + quoted_size(entity_bullet(entity)));
  }
  std::size_t room = kMaxResultBytes - kFrameBytes;
  return count_that_fits(sizes, room);
}

ToolResult list_entities(MemoryService& service, const Json& input) {
  const Arguments arguments(input, {"prefix", "limit", "cursor", "bank"});
  service::ListEntitiesRequest request;
  request.prefix = arguments.text("prefix");
  if (const auto limit = arguments.integer("limit", 1, 1000)) {
    request.limit = static_cast<std::size_t>(*limit);
  }
  request.cursor = arguments.text("cursor");
  request.bank = arguments.text("bank");
  service::ListEntitiesResult list = service.list_entities(request);
  std::size_t cut = 0;
  for (std::size_t fits = entities_that_fit(list); fits > 0 && fits < list.entities.size();
       fits = entities_that_fit(list)) {
    cut += list.entities.size() - fits;
    request.limit = fits;
    list = service.list_entities(request);
  }
  JsonWriter writer;
  std::string text;
  writer.begin_object().key("entities").begin_array();
  for (const service::ListedEntity& entity : list.entities) {
    service::write_listed_entity(writer, entity);
    text += entity_bullet(entity);
  }
  writer.end_array().member("total", list.total);
  Notes notes;
  if (list.cursor) {
    writer.member("cursor", *list.cursor);
    notes.push_back("More follow; go on with the cursor " + json_quoted(*list.cursor) + ".");
  }
  write_cut(writer, "size", cut);
  append_notes(notes, list.notes);
  return answer(text.empty() ? "No entities." : text, writer, list.bank, std::move(notes));
}

Tool read_tool(const char* name, const char* title, const char* description, const char* input,
               const char* output) {
  Tool tool;
  tool.name = name;
  tool.title = title;
  tool.description = description;
  tool.input_schema = input;
  tool.output_schema = output;
  tool.annotations = {true, false, true, false};
  return tool;
}

}  // namespace

Tool review_tool(MemoryService& service) {
  Tool tool = read_tool("review", "Review a bank",
                        "What in one bank needs a look: memories that may contradict each other, "
                        "those that expire soon, observations whose sources no longer hold. It "
                        "changes nothing.",
                        kReviewInput, kReviewOutput);
  tool.call = [&service](const Json& input, const CallContext&) {
    return reviewed(service.review(review_request(input)));
  };
  return tool;
}

Tool candidates_tool(MemoryService& service) {
  Tool tool = read_tool("consolidation_candidates", "What to consolidate",
                        "Groups of memories to extract observations from, to merge, or to archive, "
                        "each with the reason and what to do. It changes nothing: you decide.",
                        kCandidatesInput, kCandidatesOutput);
  tool.call = [&service](const Json& input, const CallContext&) {
    return list_candidates(service, input);
  };
  return tool;
}

Tool list_entities_tool(MemoryService& service) {
  Tool tool = read_tool("list_entities", "List entities",
                        "What the memories of one bank are about, most memories first: names, "
                        "identifiers, paths, addresses, found in the texts or given with them.",
                        kEntitiesInput, kEntitiesOutput);
  tool.call = [&service](const Json& input, const CallContext&) {
    return list_entities(service, input);
  };
  return tool;
}

}  // namespace strongroom::mcp
