// Ways through all memories of a bank. Internal to service/.
#pragma once

#include <functional>

#include "recall/index.h"
#include "vault/memories.h"

namespace strongroom::service {

/// The newest revision of each memory below an id, newest memory first; false stops.
void for_each_newest_first(vault::BankRead& view, vault::RecordId below,
                           const std::function<bool(const vault::Memory&)>& visit);

/// Current memories by what they have in the index, visit(row, attributes) for the first row of
/// each; no record is opened.
template <class Visit>
void for_each_current(recall::IndexView& view, TimeMs now, const Visit& visit) {
  for (recall::Row row = 1; row < view.row_end(); ++row) {
    if (!view.live(row)) continue;
    const recall::RowAttributes attributes = view.attributes(row);
    // A memory is counted by its first passage.
    if (attributes.passage != 0) continue;
    if (attributes.timed && view.times(row).expires <= now) continue;
    visit(row, attributes);
  }
}

}  // namespace strongroom::service
