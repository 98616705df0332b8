#include "service/verify_index.h"

#include "recall/index.h"
#include "service/memory_changes.h"
#include "service/memory_words.h"

namespace strongroom::service {
namespace {

using vault::throw_corrupt;

constexpr std::size_t kCacheBytes = std::size_t{16} << 20;

// What a row says of its memory.
void check_row(recall::IndexView& view, const vault::Memory& memory, recall::Row row,
               const recall::RowAttributes& a, const recall::RowTimes& t) {
  if (row < memory.row || row - memory.row >= memory.rows) {
    throw_corrupt("a row of the index and its memory disagree");
  }
  const bool same =
      a.passage == static_cast<std::uint8_t>(row - memory.row) && a.type == memory.type &&
      a.importance == importance_byte(memory.importance) && t.mentioned == memory.mentioned &&
      a.document == static_cast<std::uint32_t>(memory.document_first) &&
      view.tag_set(a.tag_set) == sorted(memory.tags()) &&
      (a.speaker == 0 ? memory.speaker.empty() : view.speaker(a.speaker) == memory.speaker);
  if (!same) throw_corrupt("a row of the index and its memory disagree");
}

}  // namespace

void verify_index(vault::BankRead& bank, const vault::BankInfo&) {
  recall::Index index(bank.bank(), {kCacheBytes, recall::kDefaultFanOut});
  recall::IndexView view(index, bank);
  SecretBytes plain;
  std::uint64_t live_rows = 0;
  view.check([&](recall::Row row, const recall::RowAttributes& a, const recall::RowTimes& t) {
    check_row(view, vault::open_memory(bank, a.record, plain), row, a, t);
    if (!a.closed) ++live_rows;
  });
  // And the other way round: every memory that holds is found by all of its rows, and no other row.
  vault::for_each_memory(bank, 0, [&](const vault::Memory& memory) {
    if (memory.invalidated) return true;
    for (std::uint32_t i = 0; i < memory.rows; ++i) {
      const recall::Row row = memory.row + i;
      if (row >= view.row_end() || !view.live(row) || view.attributes(row).record != memory.id) {
        throw_corrupt("a memory is not in the index");
      }
      --live_rows;
    }
    return true;
  });
  if (live_rows != 0) throw_corrupt("the index holds rows of no memory");
}

}  // namespace strongroom::service
