// Vectors of rows against each other, not against the query. Internal to recall/.
#pragma once

#include <cstddef>
#include <vector>

#include "base/wipe.h"
#include "recall/index.h"

namespace strongroom::recall {

/// Copies, so that they can be compared while the view goes on reading.
class VectorsOf {
 public:
  VectorsOf(IndexView& view, const VectorSet& set, const std::vector<Row>& rows);
  /// The cosine of two of them, by their places in `rows`; 0 when one has no vector.
  double cosine(std::size_t a, std::size_t b) const;

 private:
  const char* cell(std::size_t at) const { return cells_.data() + at * stride_; }

  std::size_t dimensions_, stride_;
  SecretBytes cells_;
};

}  // namespace strongroom::recall
