#include "recall/purge.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "recall/index_impl.h"

namespace strongroom::recall {
namespace {

using vault::IndexKey;
using vault::Kind;

// What a step writes at most; LMDB keeps it in memory until the commit.
constexpr std::uint64_t kStepBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kFreedBlocks = 4096;

}  // namespace

struct Purge::Impl {
  Impl(Index& given, Index::Impl& inside, RowWords told)
      : owner(given), index(inside), words(std::move(told)) {}

  KeptWords words_of(IndexView& view, const SegmentInfo& segment) const;
  bool holds_others(vault::BankRead& bank, const SegmentInfo& segment, const KeptWords& kept) const;
  bool step_segments(IndexView& view, vault::BankWrite& bank, Manifest& m);
  void blank_names(IndexView& view, vault::BankWrite& bank, const Manifest& m);
  static void blank(vault::BankWrite& bank, NamesTable table, const NamesInfo& info,
                    const std::vector<bool>& used);

  Index& owner;
  Index::Impl& index;
  RowWords words;
  bool begun = false;
  std::set<std::uint32_t> done;        // segments
  std::optional<KeptWords> rewriting;  // of the segment that is written anew
};

KeptWords Purge::Impl::words_of(IndexView& view, const SegmentInfo& segment) const {
  KeptWords kept;
  for (Row row = segment.first; row <= segment.last; ++row) {
    const RowAttributes attributes = view.attributes(row);
    if (attributes.dead) continue;
    words(row, attributes, [&](std::string_view word) { kept.insert(index.word_id(word)); });
  }
  return kept;
}

// Words that no row of the segment has: of rows that were forgotten before an earlier merge, which
// keeps a word as long as its stem is in use.
bool Purge::Impl::holds_others(vault::BankRead& bank, const SegmentInfo& segment,
                               const KeptWords& kept) const {
  PlainBlocks blocks(bank);
  const BlockRange range = find_blocks(blocks, segment, kWordTerms, kSketchTerms);
  for (std::uint32_t number = range.first; number <= range.last && range.first <= range.last;
       ++number) {
    EntryReader entries(blocks.block(Kind::index_postings, segment.id, number));
    while (entries.next()) {
      if (is_word(entries.term()) && kept.count(entries.term()) == 0) return true;
    }
  }
  return false;
}

// True when every segment is as it shall be.
bool Purge::Impl::step_segments(IndexView& view, vault::BankWrite& bank, Manifest& m) {
  const auto is_dead = [&](Row row) { return view.attributes(row).dead; };
  if (!rewriting) {
    for (const SegmentInfo& segment : m.segments) {
      if (!done.insert(segment.id).second) continue;
      KeptWords kept = words_of(view, segment);
      if (segment.dead == 0 && !holds_others(bank, segment, kept)) continue;
      rewriting = std::move(kept);
      start_rewrite(m, segment.id);
      break;
    }
    if (!rewriting) return true;
  }
  const std::uint32_t output = m.merges.front().output.id;
  if (!rewrite_step(index, bank, m, kStepBytes, is_dead, *rewriting)) return false;
  rewriting.reset();
  done.insert(output);
  return false;
}

// Numbers stay, and so does the length of the table, by which readers know what they have read:
// what no row has becomes zeros.
void Purge::Impl::blank_names(IndexView& view, vault::BankWrite& bank, const Manifest& m) {
  std::vector<bool> tag_sets(m.tag_sets.count + std::size_t{1}),
      speakers(m.speakers.count + std::size_t{1});
  for (Row row = 1; row < view.row_end(); ++row) {
    const RowAttributes a = view.attributes(row);
    if (a.dead) continue;
    if (a.tag_set > m.tag_sets.count || a.speaker > m.speakers.count) {
      vault::throw_corrupt("the index names something that is not there");
    }
    tag_sets[a.tag_set] = true;
    speakers[a.speaker] = true;
  }
  blank(bank, NamesTable::tag_sets, m.tag_sets, tag_sets);
  blank(bank, NamesTable::speakers, m.speakers, speakers);
}

void Purge::Impl::blank(vault::BankWrite& bank, NamesTable table, const NamesInfo& info,
                        const std::vector<bool>& used) {
  const auto segment = static_cast<std::uint32_t>(table);
  const auto blocks = static_cast<std::uint32_t>((info.bytes + kBlockBytes - 1) / kBlockBytes);
  SecretBytes stream;
  stream.resize(blocks * kBlockBytes);
  for (std::uint32_t number = 0; number < blocks; ++number) {
    Index::Impl::open_block(bank, Kind::index_names, segment, number,
                            stream.data() + number * kBlockBytes);
  }
  std::vector<bool> changed(blocks);
  std::string_view in = stream.view().substr(0, static_cast<std::size_t>(info.bytes));
  for (std::size_t item = 1; !in.empty(); ++item) {
    const std::uint64_t size = vault::take_varint(in);
    if (size > in.size() || item >= used.size()) {
      vault::throw_corrupt("a table of the index is cut off");
    }
    const std::string_view bytes = in.substr(0, static_cast<std::size_t>(size));
    in.remove_prefix(bytes.size());
    if (used[item] || bytes.find_first_not_of('\0') == std::string_view::npos) continue;
    const auto at = static_cast<std::size_t>(bytes.data() - stream.data());
    for (std::size_t b = at / kBlockBytes; b <= (at + bytes.size() - 1) / kBlockBytes; ++b) {
      changed[b] = true;
    }
    std::memset(stream.data() + at, 0, bytes.size());
  }
  for (std::uint32_t number = 0; number < blocks; ++number) {
    if (!changed[number]) continue;
    const IndexKey key(Kind::index_names, segment, number);
    bank.put_index(Kind::index_names, key.view(), key.place(),
                   stream.view().substr(number * kBlockBytes, kBlockBytes));
  }
}

Purge::Purge(Index& index, RowWords words)
    : impl_(std::make_unique<Impl>(index, *index.impl_, std::move(words))) {}
Purge::~Purge() = default;

bool Purge::step(vault::BankWrite& bank) {
  Impl& w = *impl_;
  Index& index = w.owner;
  IndexWriter writer(index, bank);
  Manifest& m = writer.begin_purge();
  IndexView view(index, bank);
  if (!std::exchange(w.begun, true)) abandon_merges(m);
  bool all = w.step_segments(view, bank, m);
  if (all) {
    free_garbage(bank, m, kFreedBlocks);
    all = m.garbage.empty();
  }
  if (all) w.blank_names(view, bank, m);
  writer.finish();
  return all;
}

}  // namespace strongroom::recall
