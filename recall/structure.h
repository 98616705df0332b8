// What surroundings lend a row: the rows before and behind it, the best of the same document, and
// being said by the one speaker that the query names. Internal to recall/.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "recall/ranking.h"
#include "recall/search_state.h"

namespace strongroom::recall {

class Structure {
 public:
  /// Looks at the state's candidates, and adds those that lie beside them. With the query's
  /// structure off nothing is lent.
  explicit Structure(SearchState& state);

  /// Words are lent, meaning is not: that costs more than it brings (docs/performance.md).
  double lent_to(const Node& node);
  /// The share of the query's weight that a row and its neighbours hold between them. Words for a
  /// time are held by what lies in it, an entity's name by what is linked with it.
  double coverage(const Node& node);

 private:
  ranking::Lending lending_of(const Node& node) const;
  void add_neighbours();
  void find_sessions();
  void find_speakers();
  bool wordless(Row row);
  RowAttributes attributes_of(Row row);
  double lent_by(Row row);
  double lent_from_further(const RowAttributes& attributes, const ranking::Lending& lending);

  SearchState& state_;
  double best_own_ = 0;
  std::unordered_map<std::uint32_t, double> sessions_;
  Speaker speaker_ = 0;
};

}  // namespace strongroom::recall
