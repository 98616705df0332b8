// From ranked rows to what a caller is shown: texts, chunks, entities, trace. Internal to service/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recall/search.h"
#include "service/memories.h"
#include "service/state.h"

namespace strongroom::service {

struct ShownMemory {
  vault::RecordId first = 0;
  std::uint64_t bytes = 0;
};

/// A bank as one search sees it: one snapshot.
struct SearchedBank {
  SearchedBank(MemoryService::State& state, std::shared_ptr<vault::Bank> opened)
      : bank(std::move(opened)), read(bank->read()), view(state.index(bank), read) {}
  std::shared_ptr<vault::Bank> bank;
  vault::BankRead read;
  recall::IndexView view;
  recall::SearchOutcome outcome;
  std::string_view tool = tool::kSearch;  // whose policy and log these are
  std::string rule;
  bool narrowed = false;  // the policy may hide memories of it: counts would tell how many
  std::vector<ShownMemory> shown;
};

struct Ranked {
  recall::Hit hit;
  std::size_t bank;  // of the banks searched
};

/// At most 1: a prior may lift what is certain already.
double shown_score(double score);

/// Opens the memories of `ranked`, best first, within limit and max_tokens, and fills the result
/// but for its arms. Throws corrupt when a row and its record disagree.
void build_answer(MemoryService::State& state, const SearchRequest& request,
                  std::vector<std::unique_ptr<SearchedBank>>& banks,
                  const std::vector<Ranked>& ranked, SearchResult& result);

}  // namespace strongroom::service
