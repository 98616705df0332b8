// A bank's reranker: the best hits are read together with the question, and trade places.
// Internal to service/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/memories.h"
#include "service/search_answer.h"
#include "service/state.h"

namespace strongroom::service {

struct Reranked {
  bool asked = false;      // a bank has a reranker, and the budget asks it
  std::string model;       // ids of those that answered
  std::uint64_t hits = 0;  // that were read
  std::string problem;     // why one did not answer
};

/// Asks the rerankers of the banks about their best hits: none with budget low, 10 with mid, 50
/// with high. The hits of a bank keep their scores as a set: the reranker changes who has which, so
/// that scores go on telling how well words and meaning fit, and abstention stays as it is. A hit's
/// new place is by the mean of its own evidence, as a share of the best, and the reranker's. What
/// holds a rare literal term of the question keeps its place. `ranked` is sorted by score, also
/// after.
Reranked rerank(MemoryService::State& state, const SearchRequest& request,
                std::vector<std::unique_ptr<SearchedBank>>& banks, std::vector<Ranked>& ranked);

}  // namespace strongroom::service
