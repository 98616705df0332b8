// From candidates to hits: memories in their order, and what each is worth as an answer. Internal
// to recall/.
#pragma once

#include <vector>

#include "recall/search_state.h"
#include "recall/structure.h"

namespace strongroom::recall {

/// A memory by its best passage; what one passage guarantees holds for it.
struct Ranked {
  double final = 0;  // score and priors
  double score = 0;
  double lent = 0;  // of it, by structure
  vault::RecordId record = 0;
  Node* node = nullptr;
  bool guaranteed = false, whole = false;
};

/// Best first; ties to the lower record.
inline bool before(const Ranked& a, const Ranked& b) {
  return a.final != b.final ? a.final > b.final : a.record < b.record;
}

class Ranker {
 public:
  Ranker(SearchState& state, Structure& structure) : state_(state), structure_(structure) {}

  /// Fills the outcome's hits.
  void run();

 private:
  Prior prior_of(const RowAttributes& attributes) const;
  std::vector<Ranked> rank();
  void add_linked(std::vector<Ranked>& ranked);
  double spread(double score, double margin) const;
  double confidence(const std::vector<Ranked>& ranked);
  void scale(const std::vector<Ranked>& ranked);
  Hit hit_of(const Ranked& ranked, double factor, double margin);
  void promote();
  template <class Sure>
  void promote_where(const Sure& sure);

  SearchState& state_;
  Structure& structure_;
};

}  // namespace strongroom::recall
