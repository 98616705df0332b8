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

struct TailRow {
  RowAttributes attributes;
  RowTimes times;
  std::vector<std::pair<TermId, std::uint8_t>> terms;  // ascending; fingerprints among them
  std::vector<std::string> words;

  ~TailRow();
  TailRow() = default;
  TailRow(const TailRow&) = default;
  TailRow& operator=(const TailRow&) = default;
  TailRow(TailRow&&) = default;
  TailRow& operator=(TailRow&&) = default;

  /// The code of a term; nullptr when the row lacks it.
  const std::uint8_t* find(TermId term) const;
};

/// Length u32, cells of attributes and times, terms, words, vectors (none yet), zeros up to Padme.
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
