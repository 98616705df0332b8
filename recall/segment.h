// A posting segment: the terms of a range of rows, sorted, in sealed one-page blocks that are
// written once. Beside the postings a segment has a directory (the first term of each block) and a
// filter of its rows' fingerprints and sketches: what is looked up before a memory is stored, and
// mostly is not there.
//
// Block of postings: u16 bytes used, then entries in ascending order of term. An entry of postings
// is term u64 | count varint | first row varint | code u8 and, when count > 1, payload length
// varint | (gap varint, code u8)*. An entry of a word is term u64 | length varint | bytes. A term
// whose postings do not fit goes on in the next block under the same number.
//
// Term numbers, by their two top bits: 00 terms of the text, 01 fingerprints, 10 words (the next 14
// bits are a hash of the word's first two code points, so that words that may be meant for one
// another lie together), 11 bands of sketches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "recall/block_cache.h"
#include "recall/index.h"
#include "recall/manifest.h"

namespace strongroom::recall {

inline constexpr TermId kFingerprintTerms = TermId{1} << 62;
inline constexpr TermId kWordTerms = TermId{2} << 62;
inline constexpr TermId kSketchTerms = TermId{3} << 62;
inline constexpr std::size_t kDirectoryEntries = 504;    // a block
inline constexpr std::size_t kFilterLinesPerBlock = 63;  // of 64 bytes
inline constexpr unsigned kFilterBitsPerRow = 40;        // ten for a fingerprint or band

inline bool is_word(TermId term) {
  return term >> 62 == 2;
}
/// A fingerprint or a band of a sketch.
inline bool is_filtered(TermId term) {
  return (term >> 62 & 1) != 0;
}

/// Gives the plain bytes of a block; valid until the next call.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual const char* block(vault::Kind kind, std::uint32_t segment, std::uint32_t number) = 0;
  /// Blocks [from, to) are about to be read.
  virtual void prefetch(vault::Kind, std::uint32_t, std::uint32_t, std::uint32_t) {}
};

/// The blocks of a posting block, one after another. Throws corrupt on any malformed byte.
class EntryReader {
 public:
  EntryReader() = default;
  explicit EntryReader(const char* block);
  bool next();
  TermId term() const { return term_; }
  // Of an entry of postings:
  std::uint32_t count() const { return count_; }
  Row first() const { return first_; }
  std::uint8_t first_code() const { return code_; }
  std::string_view payload() const { return bytes_; }
  /// Appends all of them; rows must ascend.
  void postings(std::vector<IndexView::Posting>& out) const;
  // Of a word:
  std::string_view word() const { return bytes_; }

 private:
  std::string_view rest_, bytes_;
  TermId term_ = 0;
  std::uint32_t count_ = 0;
  Row first_ = 0;
  std::uint8_t code_ = 0;
};

/// Blocks [first, last] of a segment that may hold `term`; none when last < first.
struct BlockRange {
  std::uint32_t first = 1, last = 0;
};
BlockRange find_blocks(BlockSource& source, const SegmentInfo& segment, TermId from, TermId to);

/// Appends the postings of a term in a segment.
void read_postings(BlockSource& source, const SegmentInfo& segment, TermId term,
                   std::vector<IndexView::Posting>& out);

/// False: no row of the segment has this term, one that is_filtered(). True: perhaps.
bool filter_contains(BlockSource& source, const SegmentInfo& segment, TermId term);

/// Writes a segment's blocks. Terms come in ascending order, rows of a term too.
class SegmentWriter {
 public:
  using Put = std::function<void(vault::Kind, std::uint32_t segment, std::uint32_t number,
                                 std::string_view plain, bool fresh)>;
  /// `info` has the id; for a merge that goes on also the blocks written so far. `rows` is what the
  /// filter is made for. `source` gives back what was written before.
  SegmentWriter(SegmentInfo& info, std::uint32_t rows, BlockSource& source, Put put);

  void add(TermId term, Row row, std::uint8_t code);
  void add_word(TermId term, std::string_view word);

  /// The last posting (or word, with row 0) that is in a written block.
  TermId written_term() const { return written_term_; }
  Row written_row() const { return written_row_; }
  std::uint32_t blocks_written() const { return blocks_written_; }

  /// Ends the block under way, so that everything added is in a written block.
  void flush();
  /// Has the segment, as far as it is written, postings of this term?
  bool contains(TermId term);
  /// Writes directory and filter as they stand, drops what is not in a written block: a pause.
  void pause();
  /// Writes all that is left, and the top of the directory.
  void finish();

 private:
  void close_entry();
  void flush_block();
  void add_directory(TermId first);
  void write_directory();
  void add_to_filter(TermId term);
  void flush_filter();
  void load_filter(std::uint32_t block);

  SegmentInfo& info_;
  BlockSource& source_;
  Put put_;
  std::vector<char> block_, directory_, filter_;
  std::size_t used_ = 2;
  std::vector<TermId> firsts_;          // of the directory block under way
  std::uint32_t full_directories_ = 0;  // blocks of the directory that are complete
  bool directory_stored_ = false;       // the one under way is on disk in an earlier state
  std::uint32_t filter_block_ = ~0u;
  TermId block_first_ = 0;
  bool block_has_first_ = false;
  // The entry under way.
  bool open_ = false;
  TermId term_ = 0;
  std::uint32_t count_ = 0;
  Row first_ = 0, last_ = 0;
  std::uint8_t first_code_ = 0;
  std::string payload_;
  TermId block_last_term_ = 0, written_term_ = 0;
  Row block_last_row_ = 0, written_row_ = 0;
  std::uint32_t blocks_written_ = 0;
};

}  // namespace strongroom::recall
