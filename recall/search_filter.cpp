// Which rows a search may find.
#include "recall/search.h"

namespace strongroom::recall {
namespace {

bool tags_pass(IndexView& view, const SearchFilter& filter, TagSet set,
               std::vector<std::uint8_t>& decisions) {
  if (!filter.tags) return true;
  if (decisions.size() <= set) decisions.resize(view.tag_set_count() + 1, 0);
  std::uint8_t& decision = decisions[set];
  if (decision == 0) decision = filter.tags(view.tag_set(set)) ? 1 : 2;
  return decision == 1;
}

bool time_passes(IndexView& view, const SearchFilter& filter, Row row, const RowAttributes& a) {
  if (filter.as_of) {
    const RowTimes t = view.times(row);
    return t.believed_from <= *filter.as_of && *filter.as_of < t.believed_until &&
           *filter.as_of < t.expires;
  }
  if (filter.include_invalid) return true;
  if (a.closed) return false;
  return !a.timed || view.times(row).expires > filter.now;
}

bool window_passes(IndexView& view, const SearchFilter& filter, Row row, const RowAttributes& a) {
  if (!filter.window) return true;
  const RowTimes t = view.times(row);
  if (!a.dated) return t.mentioned >= filter.window->start && t.mentioned <= filter.window->end;
  const TimeMs start = t.occurred_start == RowTimes::kNever ? t.occurred_end : t.occurred_start;
  const TimeMs end = t.occurred_end == RowTimes::kNever ? t.occurred_start : t.occurred_end;
  return start <= filter.window->end && end >= filter.window->start;
}

}  // namespace

bool passes(IndexView& view, const SearchFilter& filter, Row row, const RowAttributes& a,
            std::vector<std::uint8_t>& tag_decisions) {
  if (a.dead) return false;
  const bool type = (filter.types >> static_cast<unsigned>(a.type) & 1) != 0;
  if (!type && !(filter.permanent && a.importance == 255)) return false;
  return tags_pass(view, filter, a.tag_set, tag_decisions) && time_passes(view, filter, row, a) &&
         window_passes(view, filter, row, a);
}

}  // namespace strongroom::recall
