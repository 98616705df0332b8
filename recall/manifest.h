// The manifest: one sealed row that says which segments, columns and tail rows are live, and how
// far merges and clean-up have come. Written in every transaction that changes the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/wipe.h"
#include "recall/index.h"

namespace strongroom::recall {

/// An immutable posting segment over a range of rows.
struct SegmentInfo {
  std::uint32_t id = 0;
  std::uint8_t tier = 0;
  Row first = 0, last = 0;  // rows, inclusive
  std::uint32_t posting_blocks = 0, directory_blocks = 0, top_blocks = 0, filter_blocks = 0;
  std::uint32_t filter_lines = 0;
  std::uint32_t hidden = 0;  // rows closed or forgotten since they were written: an upper bound
  std::uint32_t dead = 0;    // forgotten rows whose postings may still be here
};

/// A merge under way: everything that its next step needs.
struct MergeInfo {
  std::uint8_t tier = 0;              // of the result
  std::vector<std::uint32_t> inputs;  // adjacent segments, ascending by row
  SegmentInfo output;                 // blocks written so far
  TermId term = 0;                    // the last posting that is in a written block
  Row row = 0;
  std::uint32_t dead_at_start = 0;
};

/// Blocks of a segment that is gone, still to be erased.
struct GarbageInfo {
  SegmentInfo segment;
};

/// A table of interned strings: a byte stream over blocks, only ever appended to.
struct NamesInfo {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
};

/// The vectors that one model gave. A row is a cell in blocks of its own, which are never merged.
struct VectorSetInfo {
  std::uint32_t number =
      0;  // in the place of a segment in the keys of its blocks; never used twice
  std::string model;
  std::uint32_t dimensions = 0;
  Row filled = 1;  // every row below has what the model gave for it
};

/// A block that was rewritten in place, and when.
struct ChangedBlock {
  std::uint64_t key = 0;  // block_key()
  std::uint64_t generation = 0;
};

inline constexpr std::size_t kChangedBlocks = 192;

struct Manifest {
  std::uint64_t generation = 0;
  Row next_row = 1;
  Row tail_start = 1;  // rows from here on are in the tail
  std::uint64_t live_rows = 0, live_length = 0;
  std::uint64_t dead_rows = 0;  // ever forgotten
  std::uint32_t next_segment = 1;
  std::vector<SegmentInfo> segments;  // ascending by row, without gaps up to tail_start
  std::vector<MergeInfo> merges;
  std::vector<GarbageInfo> garbage;
  NamesInfo tag_sets, speakers;
  std::vector<ChangedBlock> changed;  // the newest, ascending by generation
  std::uint64_t debt = 0;             // bytes of merge work owed
  std::vector<VectorSetInfo> vector_sets;
  std::uint32_t next_vector_set = 1;
  std::string unknown;  // optional fields of a newer version, carried on

  const SegmentInfo* segment_of(Row row) const;
};

SecretBytes encode_manifest(const Manifest& manifest);
/// Throws corrupt.
Manifest decode_manifest(std::string_view body);

}  // namespace strongroom::recall
