#include "recall/segment.h"

#include <algorithm>
#include <cstring>

namespace strongroom::recall {
namespace {

using vault::Kind;
using vault::throw_corrupt;

// Shortest LEB128, read without allocation; block contents are authentic, so a malformed one is a
// defect of a writer.
std::uint32_t take_number(std::string_view& in) {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (in.empty()) break;
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    if (shift == 28 && byte > 0x0F) break;
    value |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw_corrupt("a block of the index is malformed");
}

std::size_t put_number(char* out, std::uint32_t value) {
  std::size_t n = 0;
  for (; value >= 0x80; value >>= 7) out[n++] = static_cast<char>(value | 0x80);
  out[n++] = static_cast<char>(value);
  return n;
}

constexpr std::size_t kEntryHead = 8 + 5 + 5 + 1 + 5;  // at most
constexpr std::size_t kPosting = 5 + 1;                // at most
constexpr std::size_t kWordBytes = kMaxTermBytes;

TermId load_term(const char* at) {
  TermId term;
  std::memcpy(&term, at, sizeof term);
  return term;
}

// ---- the filter: lines of 512 bits, six bits a term, all in one line

constexpr unsigned kFilterProbes = 6;

// Lines ascend with terms, so that a merge that streams these in order writes the filter in order
// too: once for fingerprints, and again for sketches.
std::uint32_t filter_line(TermId term, std::uint32_t lines) {
  return static_cast<std::uint32_t>(((term << 2) >> 32) * lines >> 32);
}

template <class Visit>
void each_filter_bit(TermId term, const Visit& visit) {
  // The low bits choose; they are independent of the high ones, which chose the line.
  std::uint64_t bits = term * 0x9E3779B97F4A7C15u;
  bits ^= bits >> 29;
  for (unsigned i = 0; i < kFilterProbes; ++i, bits >>= 9)
    visit(static_cast<std::size_t>(bits & 511));
}

}  // namespace

// ---- reading

EntryReader::EntryReader(const char* block) {
  const auto used = vault::load_le<std::uint16_t>({block, 2});
  if (used < 2 || used > kBlockBytes) throw_corrupt("a block of the index has a wrong length");
  rest_ = {block + 2, used - 2u};
}

bool EntryReader::next() {
  if (rest_.empty()) return false;
  if (rest_.size() < 8) throw_corrupt("a block of the index is malformed");
  term_ = load_term(rest_.data());
  rest_.remove_prefix(8);
  count_ = take_number(rest_);
  std::size_t length = count_;
  if (!is_word(term_)) {
    first_ = take_number(rest_);
    if (rest_.empty() || count_ == 0) throw_corrupt("a block of the index is malformed");
    code_ = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    length = count_ > 1 ? take_number(rest_) : 0;
  }
  if (length > rest_.size()) throw_corrupt("a block of the index is malformed");
  // Every posting but the first takes two bytes at least.
  if (!is_word(term_) && (first_ == 0 || (count_ - 1) > length / 2)) {
    throw_corrupt("a block of the index is malformed");
  }
  bytes_ = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

void EntryReader::postings(std::vector<IndexView::Posting>& out) const {
  if (is_word(term_)) throw_corrupt("a block of the index is malformed");
  const std::size_t start = out.size();
  out.resize(start + count_);
  IndexView::Posting* to = out.data() + start;
  *to++ = {first_, code_};
  const auto* at = reinterpret_cast<const unsigned char*>(bytes_.data());
  const auto* const end = at + bytes_.size();
  Row row = first_;
  for (std::uint32_t i = 1; i < count_; ++i) {
    std::uint32_t gap = 0;
    unsigned shift = 0;
    for (;;) {
      if (at == end || shift > 28) throw_corrupt("a block of the index is malformed");
      const unsigned char byte = *at++;
      if (shift == 28 && byte > 0x0F) throw_corrupt("a block of the index is malformed");
      gap |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
      shift += 7;
    }
    if (at == end || gap == 0 || row + gap < row) {
      throw_corrupt("a block of the index is malformed");
    }
    row += gap;
    *to++ = {row, *at++};
  }
  if (at != end) throw_corrupt("a block of the index is malformed");
}

namespace {

// The first of `count` entries of a directory block that is >= term.
std::size_t lower_entry(const char* block, std::size_t count, TermId term) {
  std::size_t low = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    if (load_term(block + (low + half) * 8) < term) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

// Over `total` entries that lie `kDirectoryEntries` a block.
std::uint32_t lower_bound_in(BlockSource& source, Kind kind, std::uint32_t segment,
                             std::uint32_t block, std::uint32_t total, TermId term) {
  const std::uint32_t base = block * static_cast<std::uint32_t>(kDirectoryEntries);
  const auto here = std::min<std::size_t>(kDirectoryEntries, total - base);
  const char* const bytes = source.block(kind, segment, block);
  return base + static_cast<std::uint32_t>(lower_entry(bytes, here, term));
}

// The number of the first posting block whose first term is >= term.
std::uint32_t first_block_from(BlockSource& source, const SegmentInfo& s, TermId term) {
  std::uint32_t directory = 0;
  if (s.directory_blocks > 1) {
    std::uint32_t above = s.directory_blocks;
    for (std::uint32_t top = 0; top < s.top_blocks; ++top) {
      above = lower_bound_in(source, Kind::index_top, s.id, top, s.directory_blocks, term);
      if (above < (top + 1) * kDirectoryEntries) break;
    }
    // The directory block before may still have one; its last entries are below the next's first.
    if (above > 0) {
      const std::uint32_t found =
          lower_bound_in(source, Kind::index_directory, s.id, above - 1, s.posting_blocks, term);
      if (found < above * kDirectoryEntries) return found;
    }
    if (above == s.directory_blocks) return s.posting_blocks;
    directory = above;
  }
  return lower_bound_in(source, Kind::index_directory, s.id, directory, s.posting_blocks, term);
}

}  // namespace

BlockRange find_blocks(BlockSource& source, const SegmentInfo& s, TermId from, TermId to) {
  if (s.posting_blocks == 0) return {};
  std::uint32_t first = first_block_from(source, s, from);
  // The block before begins below `from` and may reach into it.
  if (first > 0) --first;
  std::uint32_t last =
      to == from ? first_block_from(source, s, from + 1) : first_block_from(source, s, to);
  if (last > 0) --last;
  return {first, std::max(first, std::min(last, s.posting_blocks - 1))};
}

void read_postings(BlockSource& source, const SegmentInfo& segment, TermId term,
                   std::vector<IndexView::Posting>& out) {
  const BlockRange range = find_blocks(source, segment, term, term);
  if (range.last > range.first + 2 && range.first <= range.last) {
    source.prefetch(Kind::index_postings, segment.id, range.first, range.last + 1);
  }
  for (std::uint32_t number = range.first; number <= range.last; ++number) {
    EntryReader entries(source.block(Kind::index_postings, segment.id, number));
    while (entries.next()) {
      if (entries.term() == term) entries.postings(out);
      if (entries.term() > term) return;
    }
  }
}

bool filter_contains(BlockSource& source, const SegmentInfo& segment, TermId term) {
  if (segment.filter_lines == 0) return false;
  const std::uint32_t line = filter_line(term, segment.filter_lines);
  const char* const block =
      source.block(Kind::index_filter, segment.id, line / kFilterLinesPerBlock);
  const char* const bits = block + line % kFilterLinesPerBlock * 64;
  bool all = true;
  each_filter_bit(term, [&](std::size_t bit) {
    all = all && (static_cast<unsigned char>(bits[bit / 8]) >> (bit % 8) & 1) != 0;
  });
  return all;
}

// ---- writing

SegmentWriter::SegmentWriter(SegmentInfo& info, std::uint32_t rows, BlockSource& source, Put put)
    : info_(info), source_(source), put_(std::move(put)), block_(kBlockBytes) {
  if (info_.filter_lines == 0) {
    info_.filter_lines = std::max<std::uint32_t>(
        1, static_cast<std::uint32_t>((std::uint64_t{rows} * kFilterBitsPerRow + 511) / 512));
  }
  if (info_.posting_blocks == 0) return;
  // A merge that goes on: take the directory block under way up again.
  full_directories_ = info_.posting_blocks / static_cast<std::uint32_t>(kDirectoryEntries);
  const std::size_t left = info_.posting_blocks % kDirectoryEntries;
  if (left == 0) return;
  const char* const stored = source_.block(Kind::index_directory, info_.id, full_directories_);
  for (std::size_t i = 0; i < left; ++i) firsts_.push_back(load_term(stored + i * 8));
  directory_stored_ = true;
}

void SegmentWriter::add(TermId term, Row row, std::uint8_t code) {
  if (open_ && term != term_) close_entry();
  if (open_ && used_ + kEntryHead + payload_.size() + kPosting > kBlockBytes) {
    close_entry();
    flush_block();
  }
  if (!open_) {
    if (used_ + kEntryHead > kBlockBytes) flush_block();
    open_ = true;
    term_ = term;
    count_ = 1;
    first_ = last_ = row;
    first_code_ = code;
    payload_.clear();
  } else {
    char bytes[5];
    payload_.append(bytes, put_number(bytes, row - last_));
    payload_.push_back(static_cast<char>(code));
    last_ = row;
    ++count_;
  }
  if (is_filtered(term)) add_to_filter(term);
}

void SegmentWriter::add_word(TermId term, std::string_view word) {
  if (open_) close_entry();
  word = word.substr(0, kWordBytes);
  if (used_ + 8 + 5 + word.size() > kBlockBytes) flush_block();
  char* at = block_.data() + used_;
  std::memcpy(at, &term, 8);
  std::size_t size = 8;
  size += put_number(at + size, static_cast<std::uint32_t>(word.size()));
  std::memcpy(at + size, word.data(), word.size());
  if (!block_has_first_) block_first_ = term;
  block_has_first_ = true;
  used_ += size + word.size();
  block_last_term_ = term;
  block_last_row_ = 0;
}

void SegmentWriter::close_entry() {
  char* const at = block_.data() + used_;
  std::memcpy(at, &term_, 8);
  std::size_t size = 8;
  size += put_number(at + size, count_);
  size += put_number(at + size, first_);
  at[size++] = static_cast<char>(first_code_);
  if (count_ > 1) {
    size += put_number(at + size, static_cast<std::uint32_t>(payload_.size()));
    std::memcpy(at + size, payload_.data(), payload_.size());
    size += payload_.size();
  }
  used_ += size;
  if (!block_has_first_) block_first_ = term_;
  block_has_first_ = true;
  block_last_term_ = term_;
  block_last_row_ = last_;
  open_ = false;
}

void SegmentWriter::flush_block() {
  if (!block_has_first_) return;
  const auto used = static_cast<std::uint16_t>(used_);
  std::memcpy(block_.data(), &used, 2);
  std::memset(block_.data() + used_, 0, kBlockBytes - used_);
  put_(Kind::index_postings, info_.id, info_.posting_blocks, {block_.data(), kBlockBytes}, true);
  ++info_.posting_blocks;
  ++blocks_written_;
  add_directory(block_first_);
  used_ = 2;
  block_has_first_ = false;
  written_term_ = block_last_term_;
  written_row_ = block_last_row_;
}

void SegmentWriter::add_directory(TermId first) {
  firsts_.push_back(first);
  if (firsts_.size() < kDirectoryEntries) return;
  write_directory();
  ++full_directories_;
  firsts_.clear();
  directory_stored_ = false;
}

void SegmentWriter::write_directory() {
  if (firsts_.empty()) return;
  directory_.assign(kBlockBytes, 0);
  std::memcpy(directory_.data(), firsts_.data(), firsts_.size() * 8);
  put_(Kind::index_directory, info_.id, full_directories_, {directory_.data(), kBlockBytes},
       !directory_stored_);
  directory_stored_ = true;
  info_.directory_blocks = std::max(info_.directory_blocks, full_directories_ + 1);
}

void SegmentWriter::add_to_filter(TermId term) {
  const std::uint32_t line = filter_line(term, info_.filter_lines);
  const auto block = static_cast<std::uint32_t>(line / kFilterLinesPerBlock);
  if (block != filter_block_) load_filter(block);
  char* const bits = filter_.data() + line % kFilterLinesPerBlock * 64;
  each_filter_bit(term, [&](std::size_t bit) {
    bits[bit / 8] = static_cast<char>(static_cast<unsigned char>(bits[bit / 8]) | 1u << (bit % 8));
  });
}

// Blocks before the one wanted are written, those that nothing is in as zeros.
void SegmentWriter::load_filter(std::uint32_t block) {
  flush_filter();
  const std::vector<char> zeros(kBlockBytes, 0);
  while (info_.filter_blocks < block) {
    put_(Kind::index_filter, info_.id, info_.filter_blocks++, {zeros.data(), kBlockBytes}, true);
  }
  filter_ = zeros;
  if (block < info_.filter_blocks) {
    std::memcpy(filter_.data(), source_.block(Kind::index_filter, info_.id, block), kBlockBytes);
  }
  filter_block_ = block;
}

void SegmentWriter::flush_filter() {
  if (filter_block_ == ~0u) return;
  const bool fresh = filter_block_ >= info_.filter_blocks;
  put_(Kind::index_filter, info_.id, filter_block_, {filter_.data(), kBlockBytes}, fresh);
  if (fresh) info_.filter_blocks = filter_block_ + 1;
  filter_block_ = ~0u;
}

void SegmentWriter::flush() {
  if (open_) close_entry();
  flush_block();
}

bool SegmentWriter::contains(TermId term) {
  // The last block that begins at or below the term: in the directory under way, else in a full
  // one.
  const auto base = full_directories_ * static_cast<std::uint32_t>(kDirectoryEntries);
  std::uint32_t block = 0;
  if (!firsts_.empty() && firsts_.front() <= term) {
    block =
        base + static_cast<std::uint32_t>(std::upper_bound(firsts_.begin(), firsts_.end(), term) -
                                          firsts_.begin() - 1);
  } else {
    std::uint32_t directory = full_directories_;
    const char* bytes = nullptr;
    do {
      if (directory == 0) return false;
      bytes = source_.block(Kind::index_directory, info_.id, --directory);
    } while (load_term(bytes) > term);
    const std::size_t behind = lower_entry(bytes, kDirectoryEntries, term + 1);
    block = directory * static_cast<std::uint32_t>(kDirectoryEntries) +
            static_cast<std::uint32_t>(behind - 1);
  }
  EntryReader entries(source_.block(Kind::index_postings, info_.id, block));
  while (entries.next()) {
    if (entries.term() == term) return true;
  }
  return false;
}

void SegmentWriter::pause() {
  open_ = false;
  used_ = 2;
  block_has_first_ = false;
  write_directory();
  flush_filter();
}

void SegmentWriter::finish() {
  flush();
  write_directory();
  flush_filter();
  const auto filters = static_cast<std::uint32_t>((info_.filter_lines + kFilterLinesPerBlock - 1) /
                                                  kFilterLinesPerBlock);
  const std::vector<char> zeros(kBlockBytes, 0);
  while (info_.filter_blocks < filters) {
    put_(Kind::index_filter, info_.id, info_.filter_blocks++, {zeros.data(), kBlockBytes}, true);
  }
  if (info_.directory_blocks <= 1) return;
  std::vector<TermId> tops;
  for (std::uint32_t i = 0; i < info_.directory_blocks; ++i) {
    tops.push_back(load_term(source_.block(Kind::index_directory, info_.id, i)));
  }
  for (std::size_t at = 0; at < tops.size(); at += kDirectoryEntries) {
    std::vector<char> top(kBlockBytes, 0);
    const std::size_t here = std::min(kDirectoryEntries, tops.size() - at);
    std::memcpy(top.data(), tops.data() + at, here * 8);
    put_(Kind::index_top, info_.id, info_.top_blocks++, {top.data(), kBlockBytes}, true);
  }
}

}  // namespace strongroom::recall
