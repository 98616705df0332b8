// The tail: the newest rows, each a sealed row of its own, until there are enough for a segment.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wipe.h"
#include "recall/index.h"

namespace strongroom::recall {

/// A row's vector in one set; without bytes when the text said nothing to the model.
struct TailVector {
  std::uint32_t set = 0;
  SecretBytes cell;  // as in the column (columns.h)

  TailVector() = default;
  TailVector(std::uint32_t of, SecretBytes bytes) : set(of), cell(std::move(bytes)) {}
  TailVector(const TailVector& other) : set(other.set), cell(other.cell.view()) {}
  TailVector& operator=(const TailVector& other) { return *this = TailVector(other); }
  TailVector(TailVector&&) = default;
  TailVector& operator=(TailVector&&) = default;
};

struct TailRow {
  RowAttributes attributes;
  RowTimes times;
  std::vector<std::pair<TermId, std::uint8_t>> terms;  // ascending; fingerprints, sketches too
  std::vector<std::string> words;
  std::vector<TailVector> vectors;

  ~TailRow();
  TailRow() = default;
  TailRow(const TailRow&) = default;
  TailRow& operator=(const TailRow&) = default;
  TailRow(TailRow&&) = default;
  TailRow& operator=(TailRow&&) = default;

  /// The code of a term; nullptr when the row lacks it.
  const std::uint8_t* find(TermId term) const;
  /// The cell of its vector; nullptr when it has none in this set.
  const char* vector(std::uint32_t set) const;
};

/// Length u32, cells of attributes and times, terms, words, vectors, zeros up to Padme.
SecretBytes encode_tail_row(const TailRow& row);
/// Throws corrupt.
TailRow decode_tail_row(std::string_view plain);

class TailData {
 public:
  Row start = 1;
  std::vector<std::shared_ptr<const TailRow>> rows;
  const TailRow& at(Row row) const { return *rows[row - start]; }
};

}  // namespace strongroom::recall
