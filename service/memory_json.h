// Memories as JSON: what callers send (items to retain, options of a search) and what they are
// shown. Tools, lines of `retain --jsonl` and of `recall --batch`, and `--json` share these names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "service/memories.h"

namespace strongroom::service {

// ---- reading
//
// `field` is the path of the object in errors ("items[2]", "line 7"); empty for a whole input. An
// unknown member is invalid and names the nearest known one; null counts as absent. What is checked
// here is form; limits that need the vault or the whole request are the service's.

/// Throws invalid or too_large.
RetainItem parse_retain_item(const Json& object, const std::string& field);

struct SearchOptions {
  SearchRequest request;
  std::optional<bool> full;  // `detail`: full or compact; absent: as the caller's default is
  std::string qid;           // of a line of a batch; empty = none
};
/// `batch`: the member `qid` is known. Throws invalid or too_large.
SearchOptions parse_search(const Json& object, const std::string& field, bool batch = true);

/// The input of reflect. Throws invalid or too_large.
ReflectRequest parse_reflect(const Json& object);

/// The words of `types` (world, fact, permanent, ...). Throws invalid.
void parse_types(const std::vector<std::string>& words, const std::string& field,
                 std::vector<MemoryType>& types, bool& permanent);

/// The member `metadata` of `object`: names to strings; nullopt when absent. Throws invalid.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_metadata(
    const Json& object, const std::string& field);

// ---- writing
//
// Scores have at most four decimals, times are RFC 3339 in UTC. Functions that "write the members"
// write into an object that the caller has begun, and leave `notes` to it.

/// One object. `full`: every member, null when unset; else the short form without empty members.
void write_found_memory(JsonWriter& writer, const FoundMemory& found, bool full);

/// Writes the members that stand around the results: chunks, source_facts, entities, arms, tokens,
/// banks, as_of, abstained, best_score, cut, trace. `cut_by_size` results were left out by the
/// caller.
void write_search_members(JsonWriter& writer, const SearchResult& result, bool full,
                          std::uint64_t cut_by_size = 0);

/// Writes the members of a reflection: themes, timeline, contradictions, superseded, gaps, ids,
/// banks, cut; `full`: also as_of, arms, tokens, abstained and best_score, and results with every
/// member. `cut_by_size` results were left out by the caller.
void write_reflection(JsonWriter& writer, const ReflectResult& result, bool full,
                      std::uint64_t cut_by_size = 0);

/// How much of a MemoryDetail is written.
struct DetailForm {
  bool text = true;   // false: all but the text
  bool nulls = true;  // false: what is unset is left out
  std::size_t history = ~std::size_t{0};
  std::size_t links = ~std::size_t{0};
  std::size_t sources = ~std::size_t{0};
  std::size_t parts = ~std::size_t{0};
};
/// Writes the members of a memory (id, bank, text, ..., memory {labels}, provenance, history,
/// links), or of a document (document_id, bank, text, ..., document {labels}, memories).
void write_memory_detail(JsonWriter& writer, const MemoryDetail& detail,
                         const DetailForm& form = {});
// One object each.
void write_link(JsonWriter& writer, const MemoryLinkInfo& link);
void write_listed_memory(JsonWriter& writer, const ListedMemory& memory);
void write_listed_document(JsonWriter& writer, const ListedDocument& document);
void write_bank(JsonWriter& writer, const VisibleBank& bank);
/// Writes the members of a bank's statistics.
void write_stats(JsonWriter& writer, const MemoryBankStats& stats);

/// A number with at most four decimals.
void write_score(JsonWriter& writer, double score);

}  // namespace strongroom::service
