#include "recall/manifest.h"

#include <algorithm>

#include "recall/embedder.h"
#include "vault/format.h"

namespace strongroom::recall {
namespace {

using vault::append_varint;
using vault::take_varint;
using vault::throw_corrupt;

void put_segment(std::string& out, const SegmentInfo& s) {
  out.push_back(static_cast<char>(s.tier));
  for (const std::uint64_t n : {s.id, s.first, s.last, s.posting_blocks, s.directory_blocks,
                                s.top_blocks, s.filter_blocks, s.filter_lines, s.hidden, s.dead}) {
    append_varint(out, n);
  }
}

std::uint32_t take_u32(std::string_view& in) {
  const std::uint64_t n = take_varint(in);
  if (n > 0xFFFFFFFF) throw_corrupt("the index's manifest has a number that is too large");
  return static_cast<std::uint32_t>(n);
}

std::uint8_t take_u8(std::string_view& in) {
  if (in.empty()) throw_corrupt("the index's manifest is cut off");
  const auto byte = static_cast<std::uint8_t>(in.front());
  in.remove_prefix(1);
  return byte;
}

SegmentInfo take_segment(std::string_view& in) {
  SegmentInfo s;
  s.tier = take_u8(in);
  for (std::uint32_t* const n :
       {&s.id, &s.first, &s.last, &s.posting_blocks, &s.directory_blocks, &s.top_blocks,
        &s.filter_blocks, &s.filter_lines, &s.hidden, &s.dead}) {
    *n = take_u32(in);
  }
  return s;
}

// Each item takes at least a byte, so a count beyond that is damage, not a reason to allocate.
std::uint64_t take_count(std::string_view& in) {
  const std::uint64_t n = take_varint(in);
  if (n > in.size()) throw_corrupt("the index's manifest is cut off");
  return n;
}

std::string merges_field(const Manifest& m) {
  std::string out;
  append_varint(out, m.merges.size());
  for (const MergeInfo& merge : m.merges) {
    out.push_back(static_cast<char>(merge.tier));
    append_varint(out, merge.inputs.size());
    for (const std::uint32_t id : merge.inputs) append_varint(out, id);
    put_segment(out, merge.output);
    vault::append_le(out, merge.term);
    append_varint(out, merge.row);
    append_varint(out, merge.dead_at_start);
  }
  return out;
}

std::vector<MergeInfo> take_merges(std::string_view in) {
  std::vector<MergeInfo> merges;
  for (std::uint64_t n = take_count(in); n > 0; --n) {
    MergeInfo merge;
    merge.tier = take_u8(in);
    for (std::uint64_t i = take_count(in); i > 0; --i) merge.inputs.push_back(take_u32(in));
    merge.output = take_segment(in);
    if (in.size() < 8) throw_corrupt("the index's manifest is cut off");
    merge.term = vault::load_le<TermId>(in);
    in.remove_prefix(8);
    merge.row = take_u32(in);
    merge.dead_at_start = take_u32(in);
    merges.push_back(std::move(merge));
  }
  return merges;
}

std::string names_field(const NamesInfo& names) {
  std::string out;
  append_varint(out, names.count);
  append_varint(out, names.bytes);
  return out;
}

NamesInfo take_names(std::string_view in) {
  NamesInfo names;
  names.count = take_u32(in);
  names.bytes = take_varint(in);
  return names;
}

std::string changed_field(const Manifest& m) {
  std::string out;
  append_varint(out, m.changed.size());
  for (const ChangedBlock& block : m.changed) {
    vault::append_le(out, block.key);
    append_varint(out, m.generation - block.generation);
  }
  return out;
}

std::string vector_sets_field(const Manifest& m) {
  std::string out;
  append_varint(out, m.next_vector_set);
  append_varint(out, m.vector_sets.size());
  for (const VectorSetInfo& set : m.vector_sets) {
    append_varint(out, set.number);
    append_varint(out, set.dimensions);
    append_varint(out, set.filled);
    append_varint(out, set.model.size());
    out.append(set.model);
  }
  return out;
}

void take_vector_sets(std::string_view in, Manifest& m) {
  m.next_vector_set = take_u32(in);
  if (m.next_vector_set < 1) throw_corrupt("the index's vectors are not what they can be");
  for (std::uint64_t n = take_count(in); n > 0; --n) {
    VectorSetInfo set;
    set.number = take_u32(in);
    set.dimensions = take_u32(in);
    set.filled = take_u32(in);
    const std::uint64_t size = take_varint(in);
    if (size > in.size()) throw_corrupt("the index's manifest is cut off");
    set.model = in.substr(0, static_cast<std::size_t>(size));
    in.remove_prefix(static_cast<std::size_t>(size));
    m.vector_sets.push_back(std::move(set));
  }
  if (!in.empty()) throw_corrupt("the index's vectors are not what they can be");
}

void check_vector_sets(const Manifest& m) {
  std::uint32_t last = 0;
  for (const VectorSetInfo& set : m.vector_sets) {
    const bool fits = set.dimensions >= kDimensionStep && set.dimensions <= kMaxDimensions &&
                      set.dimensions % kDimensionStep == 0;
    const bool named = !set.model.empty() && set.model.size() <= kMaxModelId;
    if (set.number <= last || set.number >= m.next_vector_set || !fits || !named ||
        set.filled < 1 || set.filled > m.next_row) {
      throw_corrupt("the index's vectors are not what they can be");
    }
    last = set.number;
  }
}

void check(const Manifest& m) {
  Row next = 1;
  for (const SegmentInfo& s : m.segments) {
    if (s.first != next || s.last < s.first || s.id >= m.next_segment) {
      throw_corrupt("the index's segments do not follow each other");
    }
    next = s.last + 1;
  }
  if (next != m.tail_start || m.next_row < m.tail_start || m.next_row - m.tail_start > kTailRows) {
    throw_corrupt("the index's tail does not follow its segments");
  }
  check_vector_sets(m);
}

}  // namespace

const SegmentInfo* Manifest::segment_of(Row row) const {
  const auto at = std::lower_bound(segments.begin(), segments.end(), row,
                                   [](const SegmentInfo& s, Row r) { return s.last < r; });
  return at == segments.end() || at->first > row ? nullptr : &*at;
}

SecretBytes encode_manifest(const Manifest& m) {
  vault::BodyWriter body;
  std::string bytes;
  body.u64(1, m.generation);
  for (const std::uint64_t n : {std::uint64_t{m.next_row}, std::uint64_t{m.tail_start}, m.live_rows,
                                m.live_length, m.dead_rows, std::uint64_t{m.next_segment}}) {
    append_varint(bytes, n);
  }
  body.field(3, bytes);
  bytes.clear();
  append_varint(bytes, m.segments.size());
  for (const SegmentInfo& segment : m.segments) put_segment(bytes, segment);
  body.field(5, bytes);
  body.field(7, merges_field(m));
  bytes.clear();
  append_varint(bytes, m.garbage.size());
  for (const GarbageInfo& garbage : m.garbage) put_segment(bytes, garbage.segment);
  body.field(9, bytes);
  body.field(11, names_field(m.tag_sets));
  body.field(13, names_field(m.speakers));
  body.field(14, changed_field(m));
  body.u64(16, m.debt);
  if (m.next_vector_set > 1) body.field(18, vector_sets_field(m));
  body.unknown(m.unknown);
  return body.take();
}

Manifest decode_manifest(std::string_view bytes) {
  Manifest m;
  unsigned required = 0;
  for (vault::BodyReader body(bytes); body.next();) {
    required += body.id() % 2;
    std::string_view in = body.bytes();
    switch (body.id()) {
      case 1: m.generation = body.u64(); break;
      case 3:
        m.next_row = take_u32(in);
        m.tail_start = take_u32(in);
        m.live_rows = take_varint(in);
        m.live_length = take_varint(in);
        m.dead_rows = take_varint(in);
        m.next_segment = take_u32(in);
        break;
      case 5:
        for (std::uint64_t n = take_count(in); n > 0; --n) m.segments.push_back(take_segment(in));
        break;
      case 7: m.merges = take_merges(in); break;
      case 9:
        for (std::uint64_t n = take_count(in); n > 0; --n) m.garbage.push_back({take_segment(in)});
        break;
      case 11: m.tag_sets = take_names(in); break;
      case 13: m.speakers = take_names(in); break;
      case 14:
        for (std::uint64_t n = take_count(in); n > 0; --n) {
          if (in.size() < 8) throw_corrupt("the index's manifest is cut off");
          const auto key = vault::load_le<std::uint64_t>(in);
          in.remove_prefix(8);
          m.changed.push_back({key, m.generation - take_varint(in)});
        }
        break;
      case 16: m.debt = body.u64(); break;
      case 18: take_vector_sets(in, m); break;
      default:
        if (body.id() < 16) throw_corrupt("the index's manifest has an unknown field");
        body.unknown(&m.unknown);
    }
  }
  if (required != 7) throw_corrupt("the index's manifest lacks a field");
  check(m);
  return m;
}

}  // namespace strongroom::recall
