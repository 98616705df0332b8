// Reviews, candidates and entities as JSON, for tools and for --json.
#pragma once

#include "base/json.h"
#include "service/consolidation.h"

namespace strongroom::service {

/// Writes the members of a review: contradictions, quarantined, expiring, stale, looked_at, cut.
void write_review(JsonWriter& writer, const ReviewResult& result);

// One object each.
void write_reviewed(JsonWriter& writer, const ReviewedMemory& memory);
void write_candidate(JsonWriter& writer, const Candidate& candidate);
void write_listed_entity(JsonWriter& writer, const ListedEntity& entity);

}  // namespace strongroom::service
