// Memories as JSON: what callers are shown.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/time.h"
#include "service/memory_json.h"

namespace strongroom::service {

namespace {

using Strings = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// Writes members, and leaves out the empty ones unless every member is wanted.
class MemberWriter {
 public:
  MemberWriter(JsonWriter& writer, bool full) : writer_(writer), full_(full) {}

  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) {
      writer_.member(name, value);
    } else if (full_) {
      writer_.key(name).null();
    }
  }
  void time(std::string_view name, std::optional<TimeMs> value) {
    if (value) {
      writer_.member(name, format_time(*value));
    } else if (full_) {
      writer_.key(name).null();
    }
  }
  void strings(std::string_view name, const Strings& all) {
    if (all.empty() && !full_) return;
    writer_.key(name).begin_array();
    for (const std::string& one : all) writer_.string(one);
    writer_.end_array();
  }
  void pairs(std::string_view name, const Pairs& all) {
    if (all.empty() && !full_) return;
    writer_.key(name).begin_object();
    for (const auto& [key, value] : all) writer_.member(key, value);
    writer_.end_object();
  }

 private:
  JsonWriter& writer_;
  bool full_;
};

void write_optional_score(JsonWriter& writer, std::string_view name, std::optional<double> score) {
  writer.key(name);
  if (score) {
    write_score(writer, *score);
  } else {
    writer.null();
  }
}

void write_prior(JsonWriter& writer, const FoundPrior& prior) {
  writer.begin_object();
  const std::pair<const char*, double> parts[] = {
      {"similarity", prior.similarity}, {"weight", prior.weight}, {"recency", prior.recency},
      {"scope", prior.scope},           {"access", prior.access}, {"type", prior.type}};
  for (const auto& [name, value] : parts) write_optional_score(writer, name, value);
  writer.end_object();
}

void write_scores(JsonWriter& writer, const FoundMemory& found) {
  writer.key("scores").begin_object();
  write_optional_score(writer, "semantic", found.semantic);
  write_optional_score(writer, "keyword", found.keyword);
  write_optional_score(writer, "temporal", found.temporal);
  write_optional_score(writer, "graph", found.graph);
  writer.key("prior");
  write_prior(writer, found.prior);
  write_optional_score(writer, "final", found.score);
  writer.end_object();
}

void write_window(JsonWriter& writer, const FoundMemory& found) {
  writer.key("window");
  if (!found.window) {
    writer.null();
    return;
  }
  writer.begin_object().member("start", found.window->start);
  writer.member("end", found.window->end).end_object();
}

void write_full(JsonWriter& writer, const FoundMemory& found) {
  MemberWriter members(writer, true);
  writer.begin_object().member("id", found.id).member("text", found.text);
  writer.member("type", memory_type_name(found.type));
  members.text("context", found.context);
  members.pairs("metadata", found.metadata);
  members.strings("tags", found.tags);
  members.strings("entities", found.entities);
  members.time("occurred_start", found.occurred_start);
  members.time("occurred_end", found.occurred_end);
  members.time("mentioned_at", found.mentioned_at);
  members.text("document_id", found.document_id);
  members.text("chunk_id", found.chunk_id);
  members.strings("source_fact_ids", found.source_fact_ids);
  write_optional_score(writer, "score", found.score);
  write_scores(writer, found);
  members.text("band", found.band);
  members.text("trust", found.trust);
  members.text("source", found.source);
  members.text("bank", found.bank);
  writer.member("valid", found.valid);
  members.text("superseded_by", found.superseded_by);
  write_window(writer, found);
  members.text("speaker", found.speaker);
  write_optional_score(writer, "importance", found.importance);
  writer.member("truncated", found.truncated);
  members.text("trend", found.trend);
  writer.end_object();
}

void write_compact(JsonWriter& writer, const FoundMemory& found) {
  MemberWriter members(writer, false);
  writer.begin_object().member("id", found.id).member("text", found.text);
  writer.member("type", memory_type_name(found.type));
  members.time("mentioned_at", found.mentioned_at);
  members.time("occurred_start", found.occurred_start);
  members.strings("tags", found.tags);
  members.text("document_id", found.document_id);
  members.pairs("metadata", found.metadata);
  write_optional_score(writer, "score", found.score);
  members.text("band", found.band);
  members.text("bank", found.bank);
  if (found.trust != "owner" && found.trust != "agent") members.text("trust", found.trust);
  if (!found.valid) writer.member("valid", false);
  members.text("superseded_by", found.superseded_by);
  if (found.truncated) writer.member("truncated", true);
  writer.end_object();
}

// ---- around the results

void write_chunks(JsonWriter& writer, const SearchResult& result) {
  writer.key("chunks").begin_object();
  for (const FoundChunk& chunk : result.chunks) {
    writer.key(chunk.id).begin_object().member("id", chunk.id).member("text", chunk.text);
    writer.member("chunk_index", std::uint64_t{chunk.chunk_index});
    writer.member("truncated", chunk.truncated).end_object();
  }
  writer.end_object();
}

void write_source_facts(JsonWriter& writer, const SearchResult& result) {
  writer.key("source_facts").begin_object();
  for (const FoundSource& source : result.source_facts) {
    writer.key(source.id).begin_object().member("id", source.id).member("text", source.text);
    writer.member("type", memory_type_name(source.type));
    writer.member("mentioned_at", format_time(source.mentioned_at));
    writer.member("valid", source.valid);
    MemberWriter(writer, true).strings("quotes", source.quotes);
    writer.member("truncated", source.truncated).end_object();
  }
  writer.end_object();
}

void write_entities(JsonWriter& writer, const SearchResult& result, bool full) {
  writer.key("entities").begin_object();
  std::set<std::string_view> names;  // two banks may know the same one
  for (const FoundEntity& entity : result.entities) {
    if (!names.insert(entity.canonical_name).second) continue;
    writer.key(entity.canonical_name).begin_object().member("entity_id", entity.entity_id);
    writer.member("canonical_name", entity.canonical_name);
    MemberWriter(writer, full).strings("observations", entity.observations);
    writer.end_object();
  }
  writer.end_object();
}

void write_arms(JsonWriter& writer, const SearchResult& result, bool full) {
  writer.key("arms").begin_object();
  for (const ArmReport& arm : result.arms) {
    writer.key(arm.name).begin_object().member("state", arm.state);
    MemberWriter(writer, full).text("reason", arm.reason);
    if (!arm.model.empty()) writer.member("model", arm.model);
    if (full || arm.candidates > 0) writer.member("candidates", arm.candidates);
    if (full || arm.cut) writer.member("cut", arm.cut);
    writer.end_object();
  }
  writer.end_object();
}

void write_hits(JsonWriter& writer, std::string_view name,
                const std::vector<SearchTraceHit>& hits) {
  writer.key(name).begin_array();
  for (const SearchTraceHit& hit : hits) {
    writer.begin_object().member("id", hit.id).key("value");
    write_score(writer, hit.value);
    writer.end_object();
  }
  writer.end_array();
}

void write_terms(JsonWriter& writer, const SearchTrace& trace) {
  writer.key("terms").begin_array();
  for (const SearchTraceTerm& term : trace.terms) {
    writer.begin_object().member("term", term.term).member("memories", term.memories);
    write_optional_score(writer, "weight", term.weight);
    MemberWriter(writer, false).strings("corrected_to", term.corrected_to);
    writer.end_object();
  }
  writer.end_array();
}

void write_trace(JsonWriter& writer, const SearchResult& result) {
  const SearchTrace& trace = *result.trace;
  writer.key("trace").begin_object();
  write_terms(writer, trace);
  MemberWriter(writer, true).strings("speakers", trace.speakers);
  writer.key("temporal").begin_array();
  for (const SearchTraceTime& time : trace.times) {
    writer.begin_object().member("words", time.words).member("time", time.time).end_object();
  }
  writer.end_array();
  writer.key("arms").begin_object();
  write_hits(writer, "keyword", trace.keyword);
  write_hits(writer, "semantic", trace.semantic);
  write_hits(writer, "temporal", trace.temporal);
  write_hits(writer, "graph", trace.graph);
  writer.end_object();
  write_hits(writer, "final", trace.final);
  writer.key("priors").begin_object();
  for (const FoundMemory& found : result.results) {
    writer.key(found.id);
    write_prior(writer, found.prior);
  }
  writer.end_object();
  write_optional_score(writer, "attainable", trace.attainable);
  writer.member("postings", trace.postings).key("timings_us").begin_object();
  std::map<std::string_view, std::int64_t> times;  // each bank has its own
  for (const auto& [name, time] : trace.timings_us) times[name] += time;
  for (const auto& [name, time] : times) writer.member(name, time);
  writer.end_object().end_object();
}

// ---- one memory or document

void write_provenance(JsonWriter& writer, const MemoryDetail& detail, bool nulls) {
  writer.key("provenance").begin_object();
  MemberWriter members(writer, nulls);
  members.text("principal", detail.principal);
  members.text("tool", detail.tool);
  members.text("source_kind", detail.source_kind);
  members.text("source", detail.source_label);
  members.text("session", detail.session);
  writer.end_object();
}

void write_history(JsonWriter& writer, const MemoryDetail& detail, std::size_t limit) {
  writer.key("history").begin_array();
  for (std::size_t i = 0; i < std::min(limit, detail.history.size()); ++i) {
    const MemoryRevision& revision = detail.history[i];
    writer.begin_object().member("revision", revision.revision);
    writer.member("updated_at", format_time(revision.updated));
    writer.member("principal", revision.principal).member("source", revision.source);
    writer.member("bytes", revision.bytes).member("valid", revision.valid).end_object();
  }
  writer.end_array();
}

// What an observation quotes; the text of a source is a memory_get away.
void write_sources(JsonWriter& writer, const MemoryDetail& detail, std::size_t limit) {
  if (detail.sources.empty()) return;
  writer.key("sources").begin_array();
  for (std::size_t i = 0; i < std::min(limit, detail.sources.size()); ++i) {
    writer.begin_object().member("id", detail.sources[i].id);
    MemberWriter(writer, true).strings("quotes", detail.sources[i].quotes);
    writer.member("valid", detail.sources[i].valid).end_object();
  }
  writer.end_array();
}

void write_links(JsonWriter& writer, const MemoryDetail& detail, std::size_t limit) {
  writer.key("links").begin_array();
  for (std::size_t i = 0; i < std::min(limit, detail.links.size()); ++i) {
    write_link(writer, detail.links[i]);
  }
  writer.end_array();
}

void write_parts(JsonWriter& writer, const MemoryDetail& detail, std::size_t limit) {
  writer.key("memories").begin_array();
  for (std::size_t i = 0; i < std::min(limit, detail.parts.size()); ++i) {
    writer.begin_object().member("id", detail.parts[i].id);
    if (detail.parts[i].removed) writer.member("removed", true);
    writer.end_object();
  }
  writer.end_array();
}

// What is said about a document, and its memories.
void write_document(JsonWriter& writer, const MemoryDetail& detail, const DetailForm& form) {
  writer.key("document").begin_object();
  MemberWriter members(writer, form.nulls);
  members.strings("tags", detail.memory.tags);
  writer.member("created_at", format_time(detail.created));
  writer.member("updated_at", format_time(detail.updated));
  writer.member("forgotten_parts", detail.forgotten_parts);
  writer.member("memories_total", detail.parts_total).end_object();
  write_parts(writer, detail, form.parts);
}

void write_labels(MemberWriter& members, JsonWriter& writer, const FoundMemory& memory) {
  writer.member("type", memory_type_name(memory.type));
  members.text("context", memory.context);
  members.pairs("metadata", memory.metadata);
  members.strings("tags", memory.tags);
  members.strings("entities", memory.entities);
  members.text("speaker", memory.speaker);
  write_optional_score(writer, "importance", memory.importance);
  members.time("occurred_start", memory.occurred_start);
  members.time("occurred_end", memory.occurred_end);
  members.time("mentioned_at", memory.mentioned_at);
  members.text("chunk_id", memory.chunk_id);
  members.strings("source_fact_ids", memory.source_fact_ids);
  members.text("trend", memory.trend);
  members.text("trust", memory.trust);
  writer.member("valid", memory.valid);
  members.text("superseded_by", memory.superseded_by);
}

// What is said about a memory, where it came from, its revisions and links.
void write_memory(JsonWriter& writer, const MemoryDetail& detail, const DetailForm& form) {
  writer.key("memory").begin_object();
  MemberWriter members(writer, form.nulls);
  write_labels(members, writer, detail.memory);
  write_sources(writer, detail, form.sources);
  members.time("invalidated_at", detail.invalidated_at);
  members.time("expires_at", detail.expires_at);
  writer.member("revision", detail.revision);
  members.time("created_at", detail.created);
  members.time("updated_at", detail.updated);
  writer.member("links_total", detail.links_total).end_object();
  write_provenance(writer, detail, form.nulls);
  write_history(writer, detail, form.history);
  write_links(writer, detail, form.links);
}

}  // namespace

void write_score(JsonWriter& writer, double score) {
  constexpr double kDecimals = 1e4;
  const double rounded = std::round(score * kDecimals) / kDecimals;
  writer.number(std::isfinite(rounded) ? rounded : score);
}

void write_found_memory(JsonWriter& writer, const FoundMemory& found, bool full) {
  if (full) {
    write_full(writer, found);
  } else {
    write_compact(writer, found);
  }
}

void write_search_members(JsonWriter& writer, const SearchResult& result, bool full,
                          std::uint64_t cut_by_size) {
  if (full || !result.chunks.empty()) write_chunks(writer, result);
  if (full || !result.source_facts.empty()) write_source_facts(writer, result);
  if (full || !result.entities.empty()) write_entities(writer, result, full);
  write_arms(writer, result, full);
  writer.member("tokens", result.tokens);
  MemberWriter members(writer, true);
  members.strings("banks", result.banks);
  members.time("as_of", result.as_of);
  if (full || result.abstained) {
    writer.member("abstained", result.abstained);
    write_optional_score(writer, "best_score", result.best_score);
  }
  const std::uint64_t cut = result.cut_results + cut_by_size;
  if (cut > 0) {
    writer.key("cut").begin_object().member("by", cut_by_size > 0 ? "size" : "max_tokens");
    writer.member("results", cut).end_object();
  }
  if (result.trace) write_trace(writer, result);
}

void write_memory_detail(JsonWriter& writer, const MemoryDetail& detail, const DetailForm& form) {
  MemberWriter members(writer, form.nulls);
  members.text("id", detail.id);
  members.text("document_id", detail.document_id);
  writer.member("bank", detail.bank);
  if (form.text) writer.member("text", detail.text);
  writer.member("truncated", detail.next_offset.has_value()).member("bytes", detail.bytes);
  if (detail.next_offset) writer.member("next_offset", *detail.next_offset);
  if (detail.id.empty()) {
    write_document(writer, detail, form);
  } else {
    write_memory(writer, detail, form);
  }
}

void write_link(JsonWriter& writer, const MemoryLinkInfo& link) {
  writer.begin_object().member("from", link.from).member("to", link.to);
  writer.member("relation", link.relation);
  MemberWriter members(writer, false);
  members.time("valid_from", link.valid_from);
  members.time("valid_until", link.valid_until);
  writer.end_object();
}

void write_listed_memory(JsonWriter& writer, const ListedMemory& memory) {
  MemberWriter members(writer, false);
  writer.begin_object().member("id", memory.id).member("text", memory.text);
  writer.member("type", memory_type_name(memory.type));
  members.strings("tags", memory.tags);
  members.text("document_id", memory.document_id);
  members.time("mentioned_at", memory.mentioned_at);
  members.time("updated_at", memory.updated);
  write_optional_score(writer, "importance", memory.importance);
  writer.member("valid", memory.valid).member("bank", memory.bank).end_object();
}

void write_listed_document(JsonWriter& writer, const ListedDocument& document) {
  writer.begin_object().member("document_id", document.document_id);
  writer.member("memories", document.memories);
  MemberWriter members(writer, false);
  members.strings("tags", document.tags);
  members.time("created_at", document.created);
  members.time("updated_at", document.updated);
  writer.member("bank", document.bank).end_object();
}

void write_bank(JsonWriter& writer, const VisibleBank& bank) {
  writer.begin_object().member("name", bank.name).member("tag", bank.tag);
  if (bank.counted) {
    writer.member("entries", bank.entries).member("memories", bank.memories);
    writer.member("documents", bank.documents);
  }
  writer.member("is_default", bank.is_default).end_object();
}

void write_stats(JsonWriter& writer, const MemoryBankStats& stats) {
  writer.member("bank", stats.bank).member("tag", stats.tag);
  writer.member("entries", stats.entries).member("memories", stats.memories);
  writer.member("documents", stats.documents).member("links", stats.links);
  writer.key("by_type").begin_object();
  for (const auto& [type, count] : stats.by_type) writer.member(type, count);
  writer.end_object();
  writer.key("index").begin_object();
  const std::pair<const char*, std::uint64_t> parts[] = {{"rows", stats.rows},
                                                         {"live_rows", stats.live_rows},
                                                         {"dead_rows", stats.dead_rows},
                                                         {"tail_rows", stats.tail_rows},
                                                         {"segments", stats.segments},
                                                         {"merges_running", stats.merges_running},
                                                         {"tag_sets", stats.tag_sets},
                                                         {"speakers", stats.speakers},
                                                         {"garbage_blocks", stats.garbage_blocks}};
  for (const auto& [name, value] : parts) writer.member(name, value);
  writer.end_object().member("erase_pending", stats.erase_pending);
}

}  // namespace strongroom::service
