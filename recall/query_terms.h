// A query's words, their postings and what each is worth. Internal to recall/.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "recall/index.h"
#include "recall/search.h"

namespace strongroom::recall {

/// A query term with its postings and what one of them is worth.
struct ScoredTerm {
  std::vector<IndexView::Posting> postings;
  std::array<float, 256> worth{};  // by code
  std::string text;                // empty for what the typo rule put in another's place
  double attainable = 0;           // once in a text of average length
  bool rare = false;               // in at most two memories
  bool whole = false;
  bool tells_time = false;    // part of a time that the query names
  bool names_entity = false;  // part of an entity's name that links lead from

  float of(Row row) const;
};

class QueryTerms {
 public:
  /// Looks the words up; unknown ones are replaced by the typo rule. `out` gets what was searched
  /// for, and the attainable score.
  QueryTerms(IndexView& view, Analyzer& analyzer, const SearchQuery& query, SearchOutcome& out);

  const std::vector<ScoredTerm>& all() const { return terms_; }
  /// Marks the terms of a name that the query has.
  void mark_entity(std::string_view name);
  /// BM25 of a row.
  float score(Row row) const;

 private:
  double idf(std::uint64_t live) const;
  void add(ScoredTerm term, std::uint64_t live, double weight);
  bool is_rare(const ScoredTerm& term, std::uint64_t live);
  bool correct(const QueryTerm& term, SearchedTerm& searched);
  bool holds_form(const std::vector<IndexView::Posting>& postings, const std::string& word);

  IndexView& view_;
  Analyzer& analyzer_;
  const SearchQuery& query_;
  SearchOutcome& out_;
  std::vector<ScoredTerm> terms_;
};

}  // namespace strongroom::recall
