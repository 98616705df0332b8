#include "service/consolidation_json.h"

#include "base/time.h"

namespace strongroom::service {

namespace {

void write_strings(JsonWriter& writer, std::string_view name, const std::vector<std::string>& all) {
  writer.key(name).begin_array();
  for (const std::string& one : all) writer.string(one);
  writer.end_array();
}

void write_all(JsonWriter& writer, std::string_view name, const std::vector<ReviewedMemory>& all) {
  writer.key(name).begin_array();
  for (const ReviewedMemory& memory : all) write_reviewed(writer, memory);
  writer.end_array();
}

}  // namespace

void write_reviewed(JsonWriter& writer, const ReviewedMemory& memory) {
  writer.begin_object().member("id", memory.id).member("text", memory.text);
  writer.member("type", memory_type_name(memory.type));
  if (memory.expires_at) writer.member("expires_at", format_time(*memory.expires_at));
  if (!memory.source_fact_ids.empty()) {
    write_strings(writer, "source_fact_ids", memory.source_fact_ids);
  }
  writer.end_object();
}

void write_review(JsonWriter& writer, const ReviewResult& result) {
  writer.key("contradictions").begin_array();
  for (const Contradiction& pair : result.contradictions) {
    writer.begin_object().member("newer", pair.newer).member("older", pair.older);
    writer.member("rule", pair.rule).end_object();
  }
  writer.end_array();
  write_all(writer, "quarantined", result.quarantined);
  write_all(writer, "expiring", result.expiring);
  write_all(writer, "stale", result.stale);
  writer.key("looked_at").begin_object().member("memories", result.compared);
  writer.member("all_memories", result.all_compared);
  writer.member("observations", result.observations).end_object();
  const std::uint64_t cut = result.contradictions_cut + result.expiring_cut + result.stale_cut;
  if (cut == 0) return;
  writer.key("cut").begin_object().member("by", "limit").member("results", cut).end_object();
}

void write_candidate(JsonWriter& writer, const Candidate& candidate) {
  writer.begin_object().member("action", candidate_action_name(candidate.action));
  write_strings(writer, "ids", candidate.ids);
  if (!candidate.document_id.empty()) writer.member("document_id", candidate.document_id);
  writer.member("reason", candidate.reason).member("prompt", candidate.prompt).end_object();
}

void write_listed_entity(JsonWriter& writer, const ListedEntity& entity) {
  writer.begin_object().member("name", entity.name).member("display", entity.display);
  writer.member("kind", entity.kind).member("memories", entity.memories);
  writer.member("last_mentioned", format_time(entity.last_mentioned)).end_object();
}

}  // namespace strongroom::service
