// The index checked against itself: for verify, which reads everything.
#include <algorithm>
#include <cstring>
#include <set>

#include "recall/columns.h"
#include "recall/index_impl.h"

namespace strongroom::recall {
namespace {

using vault::Kind;
using vault::throw_corrupt;

class SegmentCheck {
 public:
  /// `dead` has a bit a row.
  SegmentCheck(vault::BankRead& bank, const SegmentInfo& segment, const std::vector<bool>& dead)
      : blocks_(bank), segment_(segment), dead_(dead) {}

  void run() {
    TermId last_term = 0;
    Row last_row = 0;
    std::vector<IndexView::Posting> postings;
    PlainBlocks& blocks = blocks_;
    for (std::uint32_t number = 0; number < segment_.posting_blocks; ++number) {
      SecretBytes block(
          std::string_view(blocks.block(Kind::index_postings, segment_.id, number), kBlockBytes));
      EntryReader entries(block.data());
      bool first = true;
      while (entries.next()) {
        if (first) check_directory(number, entries.term());
        first = false;
        if (entries.term() < last_term) throw_corrupt("the terms of the index are out of order");
        if (entries.term() != last_term) last_row = 0;
        last_term = entries.term();
        if (is_word(last_term)) continue;
        postings.clear();
        entries.postings(postings);
        for (const IndexView::Posting& posting : postings) {
          if (posting.row <= last_row || posting.row < segment_.first ||
              posting.row > segment_.last) {
            throw_corrupt("the index names a row outside its segment");
          }
          last_row = posting.row;
          if (segment_.dead == 0 && dead_[posting.row]) {
            throw_corrupt("the index holds terms of a forgotten row");
          }
        }
        if (is_filtered(last_term) && !filter_contains(blocks, segment_, last_term)) {
          throw_corrupt("a filter of the index lacks a row");
        }
      }
    }
    check_top();
  }

 private:
  void check_directory(std::uint32_t number, TermId first) {
    const auto entries = static_cast<std::uint32_t>(kDirectoryEntries);
    const char* const directory =
        blocks_.block(Kind::index_directory, segment_.id, number / entries);
    const auto stored =
        vault::load_le<TermId>({directory, kBlockBytes}, std::size_t{number % entries} * 8);
    if (stored != first) throw_corrupt("a directory of the index is wrong");
    if (number % entries == 0) tops_.push_back(first);
  }

  void check_top() {
    if (segment_.directory_blocks <= 1) return;
    for (std::size_t i = 0; i < tops_.size(); ++i) {
      const char* const top = blocks_.block(Kind::index_top, segment_.id,
                                            static_cast<std::uint32_t>(i / kDirectoryEntries));
      if (vault::load_le<TermId>({top, kBlockBytes}, i % kDirectoryEntries * 8) != tops_[i]) {
        throw_corrupt("a directory of the index is wrong");
      }
    }
  }

  PlainBlocks blocks_;
  const SegmentInfo& segment_;
  const std::vector<bool>& dead_;
  std::vector<TermId> tops_;
};

// A vector that no model gives, or a code that is not its signs, would rank wrong for ever.
void check_vectors(IndexView& view, const VectorSet& set, const std::vector<bool>& dead) {
  std::vector<char> codes(std::size_t{view.row_end()} * code_bytes(set.dimensions));
  const auto keep = [&](Row first, const char* cells, std::size_t count) {
    std::memcpy(codes.data() + first * code_bytes(set.dimensions), cells,
                count * code_bytes(set.dimensions));
  };
  view.scan_codes(set, keep, [](Row, const char*, std::size_t) {});
  std::vector<char> expected(code_bytes(set.dimensions));
  const Row tail_start = view.tail_start();
  view.scan_vectors(set, [&](Row first, const char* cells, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const Row row = first + static_cast<Row>(i);
      const char* const cell = cells + i * vector_bytes(set.dimensions);
      const float scale = vector_scale(cell, set.dimensions);
      if (!(scale >= 0 && scale <= 1)) throw_corrupt("a vector of the index is none");
      const std::string_view components(cell, set.dimensions);
      const bool blank = components.find_first_not_of('\0') == std::string_view::npos;
      if ((scale == 0) != blank || (dead[row] && !blank) ||
          components.find('\x80') != std::string_view::npos) {
        throw_corrupt("a vector of the index is none");
      }
      if (row >= tail_start) continue;
      std::fill(expected.begin(), expected.end(), '\0');
      encode_code(cell, set.dimensions, expected.data());
      if (std::memcmp(expected.data(), codes.data() + row * expected.size(), expected.size()) !=
          0) {
        throw_corrupt("a sign code of the index is not its vector's");
      }
    }
  });
  wipe(codes.data(), codes.size());
}

}  // namespace

void IndexView::check(
    const std::function<void(Row, const RowAttributes&, const RowTimes&)>& visit_row) {
  const Manifest& m = *manifest_;
  std::vector<bool> dead(m.next_row, false);
  std::uint64_t live_rows = 0, live_length = 0, dead_rows = 0;
  std::vector<std::uint32_t> hidden(m.segments.size(), 0);
  std::size_t at = 0;
  for (Row row = 1; row < m.next_row; ++row) {
    const RowAttributes a = attributes(row);
    const RowTimes t = times(row);
    const bool is_live = !a.closed && !a.dead;
    if (live(row) != is_live || timed(row) != a.timed) {
      throw_corrupt("the columns of the index disagree");
    }
    while (at < m.segments.size() && m.segments[at].last < row) ++at;
    // A row that was forgotten in the tail came without postings.
    if (at < m.segments.size() && a.closed && !a.dead) ++hidden[at];
    if (is_live) {
      ++live_rows;
      live_length += class_words(a.length_class);
    }
    if (a.dead) {
      ++dead_rows;
      dead[row] = true;
      continue;
    }
    if (a.previous >= m.next_row || a.next >= m.next_row || a.tag_set > m.tag_sets.count ||
        a.speaker > m.speakers.count) {
      throw_corrupt("the index names something that is not there");
    }
    visit_row(row, a, t);
  }
  if (live_rows != m.live_rows || live_length != m.live_length || dead_rows != m.dead_rows) {
    throw_corrupt("the index counts its rows wrong");
  }
  for (const SegmentInfo& segment : m.segments) SegmentCheck(bank_, segment, dead).run();
  for (const VectorSet& set : vector_sets()) check_vectors(*this, set, dead);
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    if (hidden[i] > m.segments[i].hidden)
      throw_corrupt("a segment of the index counts its rows wrong");
  }
}

}  // namespace strongroom::recall
