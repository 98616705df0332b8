// Merging segments: in steps, each within the transaction that pays for it. A step ends where a
// block has just been written; the next one begins behind the last posting in it.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "recall/index_impl.h"

namespace strongroom::recall {
namespace {

using vault::IndexKey;
using vault::Kind;
using vault::throw_corrupt;

// The entries of one input from a place on.
class Input {
 public:
  Input(vault::BankRead& bank, const SegmentInfo& segment, TermId from)
      : bank_(bank), segment_(segment) {
    block_.resize(kBlockBytes);
    PlainBlocks blocks(bank);
    if (segment.posting_blocks == 0) return;
    number_ = find_blocks(blocks, segment, from, from).first;
    open();
    while (valid_ && entry_.term() < from) next();
  }
  bool valid() const { return valid_; }
  const EntryReader& entry() const { return entry_; }
  const SegmentInfo& segment() const { return segment_; }
  void next() {
    if (entry_.next()) return;
    ++number_;
    open();
  }

 private:
  void open() {
    valid_ = false;
    while (number_ < segment_.posting_blocks) {
      Index::Impl::open_block(bank_, Kind::index_postings, segment_.id, number_, block_.data());
      entry_ = EntryReader(block_.data());
      if (entry_.next()) {
        valid_ = true;
        return;
      }
      ++number_;
    }
  }
  vault::BankRead& bank_;
  const SegmentInfo& segment_;
  SecretBytes block_;
  EntryReader entry_;
  std::uint32_t number_ = 0;
  bool valid_ = false;
};

const SegmentInfo& find_segment(const Manifest& m, std::uint32_t id) {
  for (const SegmentInfo& s : m.segments) {
    if (s.id == id) return s;
  }
  throw_corrupt("a merge of the index names a segment that is not there");
}

class MergeStep {
 public:
  MergeStep(Index::Impl& impl, vault::BankWrite& bank, const Manifest& manifest, MergeInfo& merge,
            const std::function<bool(Row)>& is_dead, const KeptWords* kept = nullptr)
      : impl_(impl), bank_(bank), merge_(merge), is_dead_(is_dead), kept_(kept), blocks_(bank) {
    std::uint32_t rows = 0;
    for (const std::uint32_t id : merge.inputs) {
      const SegmentInfo& segment = find_segment(manifest, id);
      inputs_.push_back(std::make_unique<Input>(bank, segment, merge.term));
      rows += segment.last - segment.first + 1;
      dropping_ = dropping_ || segment.dead != 0;
    }
    writer_.emplace(merge.output, rows, blocks_,
                    [&](Kind kind, std::uint32_t segment, std::uint32_t number,
                        std::string_view plain, bool fresh) {
                      const IndexKey key(kind, segment, number);
                      bank_.put_index(kind, key.view(), key.place(), plain, fresh);
                    });
  }

  /// True when the merge is complete; else it stopped after about `blocks` blocks.
  bool run(std::uint64_t blocks) {
    blocks_allowed_ = blocks;
    work_allowed_ = blocks * kWorkPerBlock;
    while (const std::optional<TermId> term = lowest()) {
      if (is_word(*term)) {
        copy_word(*term);
      } else {
        copy_postings(*term);
      }
      if (stopped_) {
        writer_->pause();
        return false;
      }
    }
    writer_->finish();
    return true;
  }
  std::uint64_t written() const { return writer_->blocks_written(); }

 private:
  // Dropping writes nothing, so a step counts what it looks at as well.
  static constexpr std::uint64_t kWorkPerBlock = 4096;
  static constexpr std::uint64_t kWorkPerLookUp = 64;

  std::optional<TermId> lowest() const {
    std::optional<TermId> term;
    for (const auto& input : inputs_) {
      if (input->valid() && (!term || input->entry().term() < *term)) term = input->entry().term();
    }
    return term;
  }

  // After a posting (or, with row 0, a word) was dealt with: is the step over? Behind a block that
  // was just written nothing is lost but what went into the next one.
  void check_stop(TermId term, Row row, std::uint64_t work = 1) {
    if (writer_->blocks_written() >= blocks_allowed_) {
      merge_.term = writer_->written_term();
      merge_.row = writer_->written_row();
      stopped_ = true;
    } else if ((work_ += work) >= work_allowed_) {
      writer_->flush();
      merge_.term = term;
      merge_.row = row;
      stopped_ = true;
    }
  }

  // Inputs are in the order of their rows, so the postings of a term are copied input by input.
  void copy_postings(TermId term) {
    for (const auto& input : inputs_) {
      while (input->valid() && input->entry().term() == term) {
        postings_.clear();
        input->entry().postings(postings_);
        for (const IndexView::Posting& posting : postings_) {
          if (term == merge_.term && posting.row <= merge_.row) continue;  // written before
          if (input->segment().dead == 0 || !is_dead_(posting.row)) {
            writer_->add(term, posting.row, posting.code);
          }
          check_stop(term, posting.row);
          if (stopped_) return;
        }
        input->next();
      }
    }
  }

  void copy_word(TermId term) {
    std::string word;
    for (const auto& input : inputs_) {
      while (input->valid() && input->entry().term() == term) {
        word = input->entry().word();
        input->next();
      }
    }
    if (term == merge_.term) return;  // dealt with before
    if (kept_ != nullptr) {
      if (kept_->count(term) != 0) writer_->add_word(term, word);
      check_stop(term, 0);
      return;
    }
    if (!dropping_ || in_use(word)) writer_->add_word(term, word);
    // Asking whether a word is in use opens blocks.
    check_stop(term, 0, dropping_ ? kWorkPerLookUp : 1);
  }

  // Words of forgotten rows go with their postings, all of which are written by now.
  bool in_use(const std::string& word) {
    if (!words_begun_) writer_->flush();
    words_begun_ = true;
    return writer_->contains(impl_.term_id(impl_.analyzer.stem(word)));
  }

  Index::Impl& impl_;
  vault::BankWrite& bank_;
  MergeInfo& merge_;
  const std::function<bool(Row)>& is_dead_;
  const KeptWords* kept_;
  PlainBlocks blocks_;
  std::vector<std::unique_ptr<Input>> inputs_;
  std::optional<SegmentWriter> writer_;
  std::vector<IndexView::Posting> postings_;
  std::uint64_t blocks_allowed_ = 0, work_allowed_ = 0, work_ = 0;
  bool dropping_ = false, words_begun_ = false, stopped_ = false;
};

bool merging(const Manifest& m, std::uint32_t segment) {
  for (const MergeInfo& merge : m.merges) {
    if (std::find(merge.inputs.begin(), merge.inputs.end(), segment) != merge.inputs.end()) {
      return true;
    }
  }
  return false;
}

void start_merge(Manifest& m, std::size_t first, std::size_t count, std::uint8_t tier) {
  MergeInfo merge;
  merge.tier = tier;
  for (std::size_t i = first; i < first + count; ++i) {
    merge.inputs.push_back(m.segments[i].id);
    merge.dead_at_start += m.segments[i].dead;
  }
  merge.output.id = m.next_segment++;
  merge.output.tier = tier;
  merge.output.first = m.segments[first].first;
  merge.output.last = m.segments[first + count - 1].last;
  m.merges.push_back(std::move(merge));
}

// A run of `fan_out` neighbours of this tier or below, at least half of them of this tier.
void start_tier(Manifest& m, std::uint8_t tier, unsigned fan_out) {
  std::size_t run = 0, at_tier = 0;
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    if (m.segments[i].tier > tier || merging(m, m.segments[i].id)) {
      run = at_tier = 0;
      continue;
    }
    ++run;
    if (m.segments[i].tier == tier) ++at_tier;
    if (run < fan_out) continue;
    if (2 * at_tier >= fan_out) {
      start_merge(m, i + 1 - fan_out, fan_out, static_cast<std::uint8_t>(tier + 1));
      return;
    }
    if (m.segments[i + 1 - fan_out].tier == tier) --at_tier;
    --run;
  }
}

// One running merge for each tier of a result.
void start_merges(Manifest& m, unsigned fan_out) {
  std::uint8_t top = 0;
  for (const SegmentInfo& s : m.segments) top = std::max(top, s.tier);
  const auto running = [&](unsigned tier) {
    return std::any_of(m.merges.begin(), m.merges.end(),
                       [&](const MergeInfo& merge) { return merge.tier == tier; });
  };
  for (std::uint8_t tier = 0; tier <= top; ++tier) {
    if (!running(tier + 1u)) start_tier(m, tier, fan_out);
  }
  // A segment of which a fifth is forgotten is rewritten by itself.
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    const SegmentInfo& s = m.segments[i];
    const std::uint64_t rows = s.last - s.first + 1u;
    if (s.dead != 0 && std::uint64_t{s.dead} * 5 >= rows && !running(s.tier) && !merging(m, s.id)) {
      start_merge(m, i, 1, s.tier);
    }
  }
}

// The result takes the place of its inputs, whose blocks are garbage from now on.
void swap_in(Manifest& m, std::size_t index) {
  MergeInfo merge = std::move(m.merges[index]);
  m.merges.erase(m.merges.begin() + static_cast<std::ptrdiff_t>(index));
  SegmentInfo result = merge.output;
  result.hidden = result.dead = 0;
  std::size_t at = m.segments.size();
  for (const std::uint32_t id : merge.inputs) {
    const auto input = std::find_if(m.segments.begin(), m.segments.end(),
                                    [&](const SegmentInfo& s) { return s.id == id; });
    result.hidden += input->hidden;
    result.dead += input->dead;
    m.garbage.push_back({*input});
    at = static_cast<std::size_t>(input - m.segments.begin());
    m.segments.erase(input);
  }
  result.dead -= merge.dead_at_start;
  m.segments.insert(m.segments.begin() + static_cast<std::ptrdiff_t>(at), result);
}

}  // namespace

void merge_step(Index::Impl& impl, vault::BankWrite& bank, Manifest& m, std::uint64_t budget,
                const std::function<bool(Row)>& is_dead) {
  start_merges(m, impl.options.fan_out);
  while (!m.merges.empty() && budget >= kBlockBytes) {
    const auto lowest =
        std::min_element(m.merges.begin(), m.merges.end(),
                         [](const MergeInfo& a, const MergeInfo& b) { return a.tier < b.tier; });
    const std::uint64_t blocks = budget / kBlockBytes;
    MergeStep step(impl, bank, m, *lowest, is_dead);
    const bool complete = step.run(blocks);
    budget -= std::min(budget, std::max<std::uint64_t>(step.written(), 1) * kBlockBytes);
    if (!complete) return;
    swap_in(m, static_cast<std::size_t>(lowest - m.merges.begin()));
    start_merges(m, impl.options.fan_out);
  }
}

void start_rewrite(Manifest& m, std::uint32_t segment) {
  for (std::size_t i = 0; i < m.segments.size(); ++i) {
    if (m.segments[i].id == segment) return start_merge(m, i, 1, m.segments[i].tier);
  }
  throw_corrupt("a segment of the index is gone");
}

bool rewrite_step(Index::Impl& impl, vault::BankWrite& bank, Manifest& m, std::uint64_t budget,
                  const std::function<bool(Row)>& is_dead, const KeptWords& kept) {
  MergeStep step(impl, bank, m, m.merges.front(), is_dead, &kept);
  if (!step.run(budget / kBlockBytes)) return false;
  swap_in(m, 0);
  return true;
}

void abandon_merges(Manifest& m) {
  for (MergeInfo& merge : m.merges) m.garbage.push_back({merge.output});
  m.merges.clear();
}

void free_garbage(vault::BankWrite& bank, Manifest& m, std::uint64_t blocks) {
  while (!m.garbage.empty() && blocks > 0) {
    SegmentInfo& s = m.garbage.front().segment;
    const auto erase = [&](Kind kind, std::uint32_t& count) {
      for (; count > 0 && blocks > 0; --blocks) {
        bank.erase_index(IndexKey(kind, s.id, --count).view());
      }
    };
    erase(Kind::index_postings, s.posting_blocks);
    erase(Kind::index_directory, s.directory_blocks);
    erase(Kind::index_top, s.top_blocks);
    erase(Kind::index_filter, s.filter_blocks);
    if (s.posting_blocks + s.directory_blocks + s.top_blocks + s.filter_blocks != 0) return;
    m.garbage.erase(m.garbage.begin());
  }
}
}  // namespace strongroom::recall
