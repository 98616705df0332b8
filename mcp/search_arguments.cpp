#include "mcp/search_arguments.h"

#include "base/error.h"
#include "base/utf8.h"
#include "service/memory_service.h"

namespace strongroom::mcp {

namespace {

constexpr const char* kInput = R"({
"type": "object",
"properties": {
  "query": {"type": "string",
    "description": "Example: which database did Ana choose?"},
  "scope": {"type": "string", "description": "Example: global, project"},
  "types": {"type": "array", "items": {"type": "string",
    "enum": ["world", "experience", "observation", "permanent"]}},
  "tags": {"type": "array", "items": {"type": "string"}},
  "tags_match": {"type": "string", "enum": ["any", "any_strict", "all", "all_strict", "exact"],
    "description": "strict: no untagged"},
  "limit": {"type": "integer", "maximum": 200, "default": 30},
  "max_tokens": {"type": "integer", "default": 4096},
  "min_score": {"type": "number", "default": 0.3},
  "budget": {"type": "string", "enum": ["low", "mid", "high"]},
  "query_timestamp": {"type": "string", "description": "Example: 2026-05-03"},
  "temporal_window": {"type": "object", "properties": {
      "start": {"type": "string"}, "end": {"type": "string"}}, "additionalProperties": false},
  "as_of": {"type": "string", "description": "As known then. Example: 2026-05-03"},
  "include": {"type": "object", "properties": {
      "chunks": {"type": "object"}, "source_facts": {"type": "object"},
      "entities": {"type": "object"}, "invalid": {"type": "boolean"}},
    "additionalProperties": false,
    "description": "{} on, null off"})";

constexpr const char* kScript = R"(,
  "bank": {"type": "string", "description": "Bank to search. Example: global"},
  "tag_groups": {"type": "array", "items": {"type": "object"},
    "description": "AND-ed. Example: [{\"tags\": [\"a\"]}, {\"not\": {\"tags\": [\"b\"]}}]"},
  "min_scores": {"type": "object", "properties": {"semantic": {"type": "number"},
      "keyword": {"type": "number"}, "final": {"type": "number"}}, "additionalProperties": false,
    "description": "Least score of an arm. Example: {\"keyword\": 0.2}"},
  "prefer_observations": {"type": "boolean", "description": "Example: true"},
  "arms": {"type": "array", "items": {"type": "string", "enum": ["keyword", "graph"]},
    "description": "Arms to run; all if left out. Example: [\"keyword\"]"},
  "without": {"type": "array", "items": {"type": "string"},
    "description": "Parts of the ranking to leave out. Example: [\"links\"]"},
  "trace": {"type": "boolean", "description": "Tell how results were ranked. Example: true"},
  "detail": {"type": "string", "enum": ["compact", "full"], "description": "Example: full"},
  "type_filter": {"type": "array", "items": {"type": "string"},
    "description": "Same as types. Example: [\"world\"]"},
  "token_budget": {"type": "integer", "minimum": 0,
    "description": "Same as max_tokens. Example: 1000"})";

constexpr const char* kEnd = R"(
},
"required": ["query"],
"additionalProperties": false})";

}  // namespace

std::string search_input_schema(Profile profile) {
  return std::string(kInput) + (profile == Profile::full ? kScript : "") + kEnd;
}

service::SearchOptions search_arguments(const Json& input) {
  const Json* key = input.find("key");
  if (key != nullptr && key->is_string()) {
    throw Error::verbatim(Code::invalid,
                          "recall searches by \"query\"; to read key " +
                              json_quoted(utf8_prefix(key->as_string(), service::kMaxKeyBytes)) +
                              " use agent_recall");
  }
  return service::parse_search(input, {}, false);
}

}  // namespace strongroom::mcp
