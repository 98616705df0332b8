// Requests and replies for what follows from memories: observations, what needs a look, what might
// be put together, and what memories are about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "service/memories.h"

namespace strongroom::service {

inline constexpr std::size_t kMaxSources = 32;
inline constexpr std::size_t kMaxQuoteBytes = 4096;

// ---- observe

struct ObservedSource {
  std::string id;
  std::string quote;  // must be in the memory's current text, byte for byte
};
struct ObserveRequest {
  std::string text;                     // at most 2,000 tokens
  std::vector<ObservedSource> sources;  // 1 to kMaxSources; a memory may be quoted more than once
  std::vector<std::string> tags;
  std::optional<double> importance;  // absent: .5
  std::string refines;               // id of the observation that this one takes the place of
  std::string operation_id;          // empty = none
  std::string bank;                  // must not contradict the ids
};
struct ObserveResult {
  std::string status;  // stored; duplicate: a current memory has the same text
  std::string id, bank;
  std::string trend;                  // of one that is stored
  std::vector<std::string> affected;  // the observation that was refined
  bool repeated = false;              // answered from an earlier call with the same operation_id
  std::vector<std::string> notes;
};

// ---- review

struct ReviewRequest {
  std::string bank;
  std::int64_t days = 30;    // 1 to 3,650: what expires within so many
  std::size_t newest = 200;  // 1 to 1,000: memories that are looked at for contradictions
  std::size_t limit = 50;    // 1 to 200: of each list
};
/// A memory that a review names.
struct ReviewedMemory {
  std::string id, text;  // text whole: the caller shortens
  MemoryType type = MemoryType::world;
  std::optional<TimeMs> expires_at;
  std::vector<std::string> source_fact_ids;
};
struct ReviewResult {
  std::vector<Contradiction> contradictions;
  std::vector<ReviewedMemory> quarantined;  // none in this release
  std::vector<ReviewedMemory> expiring;     // soonest first
  std::vector<ReviewedMemory> stale;        // observations, newest first
  std::uint64_t contradictions_cut = 0, expiring_cut = 0, stale_cut = 0;  // beyond limit
  std::uint64_t compared = 0;      // memories that were compared with their neighbours
  std::uint64_t observations = 0;  // that were looked at
  bool all_compared = false;       // no visible memory was left out
  std::string bank;
  std::vector<std::string> notes;
};

// ---- consolidation_candidates

enum class CandidateAction : std::uint8_t { extract, merge, archive };
std::string_view candidate_action_name(CandidateAction action) noexcept;
std::optional<CandidateAction> parse_candidate_action(std::string_view word) noexcept;

struct CandidatesRequest {
  std::string bank;
  std::vector<CandidateAction> actions;  // empty = all
  std::int64_t older_than_days = 90;     // 0 to 36,500: of what is to be archived
  std::size_t limit = 20;                // 1 to 100
  std::string cursor;                    // from an earlier page; opaque
};
struct Candidate {
  CandidateAction action = CandidateAction::extract;
  std::vector<std::string> ids;  // newest first
  std::string reason, prompt;
  std::string document_id;  // of an extract
};
struct CandidatesResult {
  std::vector<Candidate> candidates;
  std::optional<std::string> cursor;  // where to go on; a page may be empty and have one
  std::uint64_t looked_at = 0;        // memories
  std::string bank;
  std::vector<std::string> notes;
};

// ---- list_entities

struct ListEntitiesRequest {
  std::string bank;
  std::string prefix;       // of the canonical name, in any case
  std::size_t limit = 200;  // 0 = no limit (CLI); at most 1,000
  std::string cursor;       // from an earlier page; opaque
};
struct ListedEntity {
  std::string name;     // canonical
  std::string display;  // as the newest memory spells it
  std::string kind;     // name, mention, path, ..., given
  std::uint64_t memories = 0;
  TimeMs last_mentioned = 0;
};
struct ListEntitiesResult {
  std::vector<ListedEntity> entities;  // most memories first, then by name
  std::optional<std::string> cursor;
  std::uint64_t total = 0;  // with that prefix
  std::string bank;
  std::vector<std::string> notes;
};

}  // namespace strongroom::service
