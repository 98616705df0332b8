// The rows that a search has looked at, with what it knows of them. Internal to recall/.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "recall/index.h"

namespace strongroom::recall {

struct Node {
  Row row = 0;
  float lexical = 0;   // BM25
  float cosine = 0;    // with the query's vector
  float temporal = 0;  // how well its time fits, 0 to 1
  bool opened = false;
  bool visible = false;  // may be found, and may lend
  bool guaranteed = false, whole = false;
  bool of_entity = false;  // linked with an entity that the query names
  RowAttributes attributes;
};

/// A hash table with open addressing: a search asks it some thousand times.
class NodeTable {
 public:
  NodeTable() : slots_(4096, 0) {}

  Node* find(Row row) {
    for (std::size_t at = slot(row);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == 0) return nullptr;
      if (nodes_[slots_[at] - 1].row == row) return &nodes_[slots_[at] - 1];
    }
  }
  /// The row's node, and whether it is new. References stay.
  std::pair<Node&, bool> add(Row row) {
    if (Node* const known = find(row)) return {*known, false};
    if ((nodes_.size() + 1) * 2 > slots_.size()) grow();
    nodes_.emplace_back().row = row;
    place(nodes_.size());
    return {nodes_.back(), true};
  }
  /// In the order in which they came.
  std::deque<Node>& all() { return nodes_; }

 private:
  std::size_t slot(Row row) const { return (row * 2654435761u >> 7) & (slots_.size() - 1); }
  void place(std::size_t number) {
    std::size_t at = slot(nodes_[number - 1].row);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(number);
  }
  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (std::size_t number = 1; number <= nodes_.size(); ++number) place(number);
  }
  std::deque<Node> nodes_;
  std::vector<std::uint32_t> slots_;  // number of a node, from 1; 0 = free
};

}  // namespace strongroom::recall
