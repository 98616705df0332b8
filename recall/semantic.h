// The semantic arm: the rows whose vectors point where the query's does.
//
// Up to kExactRows rows every vector is compared. Beyond, one bit a dimension is compared with the
// query in four bits first, and the best of that are compared in full: far less to read. Both give
// the same bits on every processor and whatever segments the index happens to have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "recall/embedder.h"
#include "recall/index.h"
#include "recall/ranking.h"

namespace strongroom::recall {

struct VectorHit {
  Row row;
  float cosine;
};

class SemanticArm {
 public:
  /// `query` is of the set's model and not empty; it lives as long. Beyond `exact_rows` codes
  /// choose `rescored` rows.
  SemanticArm(IndexView& view, VectorSet set, const Embedding& query,
              Row exact_rows = ranking::kExactRows, std::size_t rescored = ranking::kRescored)
      : view_(view),
        set_(std::move(set)),
        query_(query),
        exact_rows_(exact_rows),
        rescored_(rescored) {}

  /// At most `count` rows that `may_show` lets pass, nearest first, ties to the lower row; those
  /// whose cosine is not above 0 are left out.
  std::vector<VectorHit> nearest(std::size_t count, const std::function<bool(Row)>& may_show);
  /// Of one row; 0 when it has no vector.
  float cosine(Row row);
  /// cosine() of these rows is about to be asked for.
  void prefetch(const std::vector<Row>& rows);
  bool exact() const;
  const VectorSet& set() const { return set_; }
  /// Vectors that the latest nearest() compared in full.
  std::uint64_t compared() const { return compared_; }

 private:
  float cosine_of(const char* cell, std::int32_t dot) const;
  void compare_all(std::size_t count, const std::function<bool(Row)>& may_show);
  void compare_codes(std::size_t count, const std::function<bool(Row)>& may_show);
  void offer(const VectorHit& hit, std::size_t count);

  IndexView& view_;
  VectorSet set_;
  const Embedding& query_;
  Row exact_rows_;
  std::size_t rescored_;
  std::uint64_t compared_ = 0;
  std::vector<VectorHit> best_;  // unordered; up to four times as many as wanted
  float least_ = 0;              // what a row needs to be among the best so far
};

}  // namespace strongroom::recall
