// Options of a search, as JSON.
#include <string>
#include <vector>

#include "base/json.h"
#include "fuzz/fuzz.h"
#include "service/memory_json.h"

using namespace strongroom;
using service::TagGroup;

namespace {

std::size_t check_groups(const std::vector<TagGroup>& groups, int depth) {
  fuzz::require(groups.empty() || depth <= service::kMaxTagGroupDepth, "groups are not deep");
  std::size_t tags = 0;
  for (const TagGroup& group : groups) {
    const bool leaf = group.kind == TagGroup::Kind::leaf;
    fuzz::require(leaf ? group.parts.empty() : group.tags.empty(), "a group has one form");
    fuzz::require(group.kind != TagGroup::Kind::none_of || group.parts.size() == 1,
                  "not has one part");
    tags += group.tags.size() + check_groups(group.parts, depth + 1);
  }
  return tags;
}

}  // namespace

FUZZ_TARGET(input) {
  Json json;
  if (!fuzz::accepts({Code::invalid}, [&] { json = Json::parse(input); })) return;
  service::SearchOptions options;
  const bool batch = fuzz::accepts({Code::invalid, Code::too_large},
                                   [&] { options = service::parse_search(json, "line 1", true); });
  const bool single = fuzz::accepts({Code::invalid, Code::too_large},
                                    [&] { (void)service::parse_search(json, "", false); });
  fuzz::require(batch || !single, "a batch takes what a call takes");
  if (!batch) return;
  fuzz::require(single || json.find("qid") != nullptr, "and beside it only qid");

  const service::SearchRequest& request = options.request;
  fuzz::require(!request.query.empty(), "a search has a question");
  fuzz::require(request.limit >= 1 && request.limit <= service::kMaxResults, "results are few");
  fuzz::require(request.min_score >= 0 && request.min_score <= 1, "a score is in its range");
  for (const auto& score :
       {request.min_scores.semantic, request.min_scores.keyword, request.min_scores.final}) {
    fuzz::require(!score || (*score >= 0 && *score <= 1), "a score is in its range");
  }
  if (request.window_start && request.window_end) {
    fuzz::require(*request.window_start <= *request.window_end, "a window has a beginning");
  }
  fuzz::require(request.tags.size() <= service::kMaxFilterTags, "tags are not too many");
  fuzz::require(check_groups(request.tag_groups, 1) <= service::kMaxFilterTags,
                "tags of groups are not too many");
  fuzz::require(request.types.size() <= 3, "there are three types");
  for (const std::string& arm : request.arms) {
    fuzz::require(arm == "keyword" || arm == "graph", "an arm is one that there is");
  }
}
