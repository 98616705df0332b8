// What the parts of one search share: the query, the rows looked at, and what each row's own
// evidence is worth. Internal to recall/.
#pragma once

#include <optional>
#include <vector>

#include "recall/node_table.h"
#include "recall/query_terms.h"
#include "recall/search.h"
#include "recall/semantic.h"

namespace strongroom::recall {

/// A row and its BM25.
struct Scored {
  float score;
  Row row;
};

struct SearchState {
  SearchState(IndexView& in, Analyzer& words, const SearchQuery& asked)
      : view(in), analyzer(words), query(asked) {}

  /// What a cosine is worth, 0 to 1. There are vectors to compare with.
  double evidence(double cosine) const;
  /// By words, meaning and time together; what surroundings lend comes on top.
  double own(const Node& node) const;
  /// How well a row's time fits one that the query names, 0 to 1.
  double time_evidence(Row row, bool dated);
  /// Reads attributes, visibility and time. Once a node.
  void open(Node& node);
  /// A row that comes in from beside, opened; remembered.
  Node& node(Row row);

  bool without(Part part) const { return (query.without & bit(part)) != 0; }

  IndexView& view;
  Analyzer& analyzer;
  const SearchQuery& query;
  SearchOutcome out;
  std::optional<QueryTerms> terms;
  std::optional<SemanticArm> meaning;  // none: no vectors to compare with
  std::vector<Scored> by_words;        // best first
  NodeTable nodes;
  std::vector<Node*> candidates;
  /// What full evidence by meaning or time is measured against: the best lexical score, or what a
  /// row with all the words could have where few are known.
  double unit = 1;
  bool names_only = false;  // the query is identifiers, paths or hashes and nothing else
  std::vector<std::uint8_t> tag_decisions;
};

}  // namespace strongroom::recall
