// The options of `recall`, as the members of the search that the service reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/parser.h"
#include "service/memory_json.h"

namespace strongroom::cli {

struct RecallOptions {
  std::optional<std::string> query, batch;
  std::vector<std::string> scope, types, tag_lists, tags, arms;
  std::optional<std::string> tags_match, tag_groups, min_scores, budget, query_timestamp,
      window_start, window_end, as_of, detail;
  std::optional<std::uint64_t> limit, max_tokens, chunks, source_facts, entities;
  std::optional<double> min_score;
  bool no_entities = false, invalid = false, prefer_observations = false, trace = false;
};

void describe(Command& command, RecallOptions& options);
/// The options on tags alone, for another command that searches.
void describe_tags(Command& command, RecallOptions& options);

/// Names and JSON texts, without the query.
using SearchMembers = std::vector<std::pair<std::string, std::string>>;
/// Throws invalid for JSON that is none.
SearchMembers search_members(const RecallOptions& options);

/// The search that the options ask for. Throws invalid, too_large.
service::SearchOptions search_of(const SearchMembers& members, const std::string& query);
/// The same for a line of a batch, whose members replace options of their name and whose `qid` is
/// left to the caller; `field` names it in errors.
service::SearchOptions search_of(const SearchMembers& defaults, const Json& line,
                                 const std::string& field);

}  // namespace strongroom::cli
