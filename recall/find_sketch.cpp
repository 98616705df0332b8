// Looking up sketches in segments and the tail.
#include "recall/index_impl.h"

namespace strongroom::recall {

std::vector<std::vector<Row>> IndexView::rows_of(const std::vector<TermId>& bands) {
  std::vector<std::vector<Row>> rows(bands.size());
  CachedBlocks blocks(*index_.impl_, bank_);
  std::vector<Posting> found;
  for (const SegmentInfo& segment : manifest_->segments) {
    for (std::size_t i = 0; i < bands.size(); ++i) {
      if (!filter_contains(blocks, segment, bands[i])) continue;
      found.clear();
      read_postings(blocks, segment, bands[i], found);
      for (const Posting& posting : found) {
        if (segment.hidden == 0 || live(posting.row)) rows[i].push_back(posting.row);
      }
    }
  }
  for (Row row = tail_->start; row < manifest_->next_row; ++row) {
    if (live(row)) add_bands(bands, tail_->at(row).terms, row, rows);
  }
  return rows;
}

std::vector<Row> IndexView::find_sketch(std::string_view normalized_text) {
  const std::optional<Sketch> sketch = index_.impl_->sketcher(normalized_text);
  if (!sketch) return {};
  return best_matches(rows_of({sketch->begin(), sketch->end()}), [](Row) { return true; });
}

}  // namespace strongroom::recall
