#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "crypto/aead.h"
#include "recall/columns.h"
#include "recall/index_impl.h"

namespace strongroom::recall {

using vault::IndexKey;
using vault::Kind;
using vault::throw_corrupt;

namespace {

// Merge work owed for a row in each tier: more than a row's postings weigh, so that merges keep up.
constexpr std::uint64_t kDebtPerRow = 256;
// An import is over sooner than its merges would be, and does not mind a longer call.
constexpr std::uint64_t kDebtPerRowOfMany = 4 * kDebtPerRow;
// Work below this waits, so that most single writes do none.
constexpr std::uint64_t kMergeStep = 32 * 1024;
constexpr std::uint64_t kFreedBlocks = 8;

constexpr std::size_t kManifestFloor = 1024;

SecretBytes vector_cell_of(const VectorSetInfo& set, const Embedding& embedding) {
  if (embedding.bytes.size() != set.dimensions) {
    throw Error(Code::internal, "A vector has another dimension than its set.");
  }
  SecretBytes cell;
  cell.reserve(vector_bytes(set.dimensions));
  cell.append(embedding.bytes.view());
  char scale[4];
  std::memcpy(scale, &embedding.scale, 4);
  cell.append({scale, 4});
  return cell;
}

struct ColumnBlock {
  std::array<char, kBlockBytes> bytes{};
  bool fresh = false;  // not on disk yet
};

}  // namespace

struct IndexWriter::Impl {
  Impl(Index& given, vault::BankWrite& write)
      : owner(given), index(*given.impl_), bank(write), view(given, write), m(*index.manifest) {
    tail_start = m.tail_start;
    old_end = m.next_row;
    ++m.generation;
  }

  // ---- rows of the tail, old and new
  TailRow& tail_row(Row row);
  const TailRow& peek_tail(Row row) const;
  // ---- columns
  char* column(Kind kind, std::uint32_t number, std::uint32_t segment = 0);
  const char* peek_column(Kind kind, std::uint32_t number);
  RowAttributes attributes(Row row);
  void set_attributes(Row row, const RowAttributes& attributes);
  RowTimes times(Row row);
  void set_times(Row row, const RowTimes& times);
  void hide(Row row, const RowAttributes& attributes);
  VectorSetInfo& set_info(std::uint32_t set);
  void set_cell(const VectorSetInfo& set, Row row, const char* cell);
  void blank_vectors(Row row);

  void write_tail();
  void flush_to_segment();
  void write_segment(const std::vector<const TailRow*>& rows);
  void append_columns(const std::vector<const TailRow*>& rows);
  void write_columns();
  void write_names(NamesTable table, NamesInfo& info, const std::vector<std::string>& added);
  void pay_debt();
  void write_manifest();
  void changed(std::uint64_t key);

  Index& owner;
  Index::Impl& index;
  vault::BankWrite& bank;
  IndexView view;  // of the state before
  Manifest m;      // as it will be
  Row tail_start, old_end;
  std::map<Row, TailRow> touched;  // old tail rows that changed
  std::vector<TailRow> fresh;      // rows from old_end on
  std::unordered_map<TermId, std::vector<Row>> fresh_fingerprints;
  struct ColumnPlace {
    Kind kind;
    std::uint32_t segment, number;
  };
  std::map<std::uint64_t, ColumnPlace> column_places;
  std::unordered_map<std::uint64_t, ColumnBlock> columns;
  std::vector<std::string> new_tag_sets, new_speakers;
  std::unordered_map<std::string, std::uint32_t> new_tag_numbers, new_speaker_numbers;
  bool finished = false, purging = false;
};

IndexWriter::IndexWriter(Index& index, vault::BankWrite& bank)
    : impl_(std::make_unique<Impl>(index, bank)) {}
IndexWriter::~IndexWriter() = default;

// ---- cells, wherever they are

const TailRow& IndexWriter::Impl::peek_tail(Row row) const {
  if (row >= old_end) return fresh[row - old_end];
  const auto at = touched.find(row);
  return at != touched.end() ? at->second : view.tail_->at(row);
}

TailRow& IndexWriter::Impl::tail_row(Row row) {
  if (row >= old_end) return fresh[row - old_end];
  const auto at = touched.find(row);
  if (at != touched.end()) return at->second;
  return touched.emplace(row, view.tail_->at(row)).first->second;
}

char* IndexWriter::Impl::column(Kind kind, std::uint32_t number, std::uint32_t segment) {
  const std::uint64_t key = block_key(kind, segment, number);
  const auto at = columns.find(key);
  if (at != columns.end()) return at->second.bytes.data();
  ColumnBlock& block = columns[key];
  column_places[key] = {kind, segment, number};
  if (bank.index_row(IndexKey(kind, segment, number).view())) {
    std::memcpy(block.bytes.data(), index.block(bank, kind, segment, number), kBlockBytes);
  } else {
    block.fresh = true;
  }
  return block.bytes.data();
}

const char* IndexWriter::Impl::peek_column(Kind kind, std::uint32_t number) {
  const auto at = columns.find(block_key(kind, 0, number));
  if (at != columns.end()) return at->second.bytes.data();
  return index.block(bank, kind, 0, number);
}

RowAttributes IndexWriter::Impl::attributes(Row row) {
  if (row == 0 || row >= m.next_row) throw_corrupt("the index names a row that is not there");
  if (row >= tail_start) return peek_tail(row).attributes;
  const Cell cell = attribute_cell(row);
  return decode_attributes(peek_column(Kind::index_attributes, cell.block) + cell.offset);
}

void IndexWriter::Impl::set_attributes(Row row, const RowAttributes& attributes) {
  if (row >= tail_start) {
    tail_row(row).attributes = attributes;
    return;
  }
  const Cell cell = attribute_cell(row);
  encode_attributes(attributes, column(Kind::index_attributes, cell.block) + cell.offset);
  char* const bits = column(Kind::index_live, row / kLiveRows);
  set_bit(bits, row % kLiveRows, !attributes.closed && !attributes.dead);
  set_bit(bits + kLiveHalf, row % kLiveRows, attributes.timed);
}

RowTimes IndexWriter::Impl::times(Row row) {
  if (row == 0 || row >= m.next_row) throw_corrupt("the index names a row that is not there");
  if (row >= tail_start) return peek_tail(row).times;
  const Cell cell = time_cell(row);
  return decode_times(peek_column(Kind::index_times, cell.block) + cell.offset);
}

void IndexWriter::Impl::set_times(Row row, const RowTimes& times) {
  if (row >= tail_start) {
    tail_row(row).times = times;
    return;
  }
  const Cell cell = time_cell(row);
  encode_times(times, column(Kind::index_times, cell.block) + cell.offset);
}

// ---- vectors

VectorSetInfo& IndexWriter::Impl::set_info(std::uint32_t set) {
  for (VectorSetInfo& info : m.vector_sets) {
    if (info.number == set) return info;
  }
  throw_corrupt("the index names a set of vectors that is not there");
}

// `cell` may be nullptr: none.
void IndexWriter::Impl::set_cell(const VectorSetInfo& set, Row row, const char* cell) {
  const Cell vector = vector_cell(row, set.dimensions), code = code_cell(row, set.dimensions);
  char* const to = column(Kind::index_vectors, vector.block, set.number) + vector.offset;
  char* const bits = column(Kind::index_codes, code.block, set.number) + code.offset;
  if (cell == nullptr) {
    std::memset(to, 0, vector_bytes(set.dimensions));
    std::memset(bits, 0, code_bytes(set.dimensions));
    return;
  }
  std::memcpy(to, cell, vector_bytes(set.dimensions));
  encode_code(cell, set.dimensions, bits);
}

void IndexWriter::Impl::blank_vectors(Row row) {
  if (row >= tail_start) {
    tail_row(row).vectors.clear();
    return;
  }
  for (const VectorSetInfo& set : m.vector_sets) {
    // Beyond what is filled a block may be missing, and then holds nothing.
    const std::uint32_t block = vector_cell(row, set.dimensions).block;
    if (row < set.filled || columns.count(block_key(Kind::index_vectors, set.number, block)) != 0 ||
        bank.index_row(IndexKey(Kind::index_vectors, set.number, block).view())) {
      set_cell(set, row, nullptr);
    }
  }
}

// A live row stops being one: statistics, and the segment that holds its postings.
void IndexWriter::Impl::hide(Row row, const RowAttributes& a) {
  if (a.closed || a.dead) return;
  --m.live_rows;
  m.live_length -= class_words(a.length_class);
  if (row >= tail_start) return;
  for (SegmentInfo& segment : m.segments) {
    if (row >= segment.first && row <= segment.last) ++segment.hidden;
  }
}

// ---- changes

Row IndexWriter::next_row() const {
  return impl_->m.next_row;
}

RowAttributes IndexWriter::attributes(Row row) {
  return impl_->attributes(row);
}
RowTimes IndexWriter::times(Row row) {
  return impl_->times(row);
}

Row IndexWriter::add(const RowDraft& draft, Row previous) {
  Impl& w = *impl_;
  if (w.m.next_row >= 0xFFFFFFFE) {
    throw Error(Code::too_large, "Too large: a bank's index holds no more rows.");
  }
  const Row row = w.m.next_row;
  TailRow added;
  added.attributes = draft.attributes;
  added.times = draft.times;
  RowAttributes& a = added.attributes;
  a.previous = previous;
  a.next = 0;
  a.closed = a.dead = false;
  a.length_class = length_class_of(draft.text->length);
  added.terms.reserve(draft.text->terms.size() + 1);
  for (const AnalyzedText::Term& term : draft.text->terms) {
    const std::uint32_t frequency = std::min<std::uint32_t>(term.frequency, 8);
    added.terms.emplace_back(w.index.term_id(term.text),
                             static_cast<std::uint8_t>((frequency - 1) << 5 | a.length_class));
  }
  if (!draft.fingerprint.empty()) {
    const TermId print = w.index.fingerprint_id(draft.fingerprint);
    added.terms.emplace_back(print, a.length_class);
    w.fresh_fingerprints[print].push_back(row);
  }
  if (draft.sketched) {
    if (const auto sketch = w.index.sketcher(draft.fingerprint)) {
      for (const TermId band : *sketch) added.terms.emplace_back(band, a.length_class);
    }
  }
  std::sort(added.terms.begin(), added.terms.end());
  // Two terms of one number would be two postings of one row: the hash is keyed, so this is chance.
  added.terms.erase(std::unique(added.terms.begin(), added.terms.end(),
                                [](const auto& x, const auto& y) { return x.first == y.first; }),
                    added.terms.end());
  added.words.reserve(draft.text->words.size());
  for (const std::string_view word : draft.text->words) added.words.emplace_back(word);
  for (const RowVector& vector : draft.vectors) {
    VectorSetInfo& set = w.set_info(vector.set);
    if (set.filled == row) set.filled = row + 1;
    if (!vector.embedding->empty()) {
      added.vectors.emplace_back(vector.set, vector_cell_of(set, *vector.embedding));
    }
  }
  w.m.next_row = row + 1;
  ++w.m.live_rows;
  w.m.live_length += class_words(a.length_class);
  w.fresh.push_back(std::move(added));
  if (previous != 0) {
    RowAttributes before = w.attributes(previous);
    if (!before.dead) {
      before.next = row;
      w.set_attributes(previous, before);
    }
  }
  return row;
}

void IndexWriter::take_place(Row old_first, Row old_last, Row fresh_first, Row fresh_last) {
  Impl& w = *impl_;
  const Row before = w.attributes(old_first).previous, after = w.attributes(old_last).next;
  const auto link = [&](Row row, Row RowAttributes::*side, Row to) {
    if (row == 0) return;
    RowAttributes a = w.attributes(row);
    if (a.dead) return;
    a.*side = to;
    w.set_attributes(row, a);
  };
  link(fresh_first, &RowAttributes::previous, before);
  link(fresh_last, &RowAttributes::next, after);
  link(before, &RowAttributes::next, fresh_first);
  link(after, &RowAttributes::previous, fresh_last);
}

void IndexWriter::close(Row row, TimeMs until) {
  Impl& w = *impl_;
  RowAttributes a = w.attributes(row);
  if (a.closed || a.dead) return;
  w.hide(row, a);
  a.closed = true;
  w.set_attributes(row, a);
  RowTimes t = w.times(row);
  t.believed_until = until;
  w.set_times(row, t);
}

void IndexWriter::set_record(Row row, vault::RecordId record) {
  RowAttributes a = impl_->attributes(row);
  a.record = record;
  impl_->set_attributes(row, a);
}

void IndexWriter::forget(Row row) {
  Impl& w = *impl_;
  const RowAttributes old = w.attributes(row);
  if (old.dead) return;
  w.hide(row, old);
  // The chain closes over the gap.
  if (old.previous != 0) {
    RowAttributes a = w.attributes(old.previous);
    if (a.next == row) a.next = old.next;
    w.set_attributes(old.previous, a);
  }
  if (old.next != 0) {
    RowAttributes a = w.attributes(old.next);
    if (a.previous == row) a.previous = old.previous;
    w.set_attributes(old.next, a);
  }
  RowAttributes blank;
  blank.closed = blank.dead = true;
  w.set_attributes(row, blank);
  RowTimes nothing;
  nothing.believed_until = 0;
  w.set_times(row, nothing);
  w.blank_vectors(row);
  ++w.m.dead_rows;
  if (row >= w.tail_start) {
    TailRow& gone = w.tail_row(row);
    if (row >= w.old_end) {
      for (auto& [print, rows] : w.fresh_fingerprints) std::erase(rows, row);
    }
    gone.terms.clear();
    for (std::string& word : gone.words) wipe(word);
    gone.words.clear();
    return;
  }
  for (SegmentInfo& segment : w.m.segments) {
    if (row < segment.first || row > segment.last) continue;
    ++segment.dead;
    if (old.closed) break;  // counted among the hidden since it was closed
  }
}

std::vector<Row> IndexWriter::find_fingerprint(std::string_view normalized_text) {
  Impl& w = *impl_;
  std::vector<Row> rows = w.view.find_fingerprint(normalized_text);
  std::erase_if(rows, [&](Row row) { return w.attributes(row).dead; });
  const auto at = w.fresh_fingerprints.find(w.index.fingerprint_id(normalized_text));
  if (at != w.fresh_fingerprints.end())
    rows.insert(rows.end(), at->second.begin(), at->second.end());
  return rows;
}

std::vector<Row> IndexWriter::find_sketch(std::string_view normalized_text) {
  Impl& w = *impl_;
  const std::optional<Sketch> sketch = w.index.sketcher(normalized_text);
  if (!sketch) return {};
  const std::vector<TermId> bands(sketch->begin(), sketch->end());
  std::vector<std::vector<Row>> rows = w.view.rows_of(bands);
  for (std::size_t i = 0; i < w.fresh.size(); ++i) {
    add_bands(bands, w.fresh[i].terms, w.old_end + static_cast<Row>(i), rows);
  }
  return best_matches(rows, [&w](Row row) {
    const RowAttributes a = w.attributes(row);
    return !a.closed && !a.dead;
  });
}

std::uint32_t IndexWriter::vector_set(std::string_view model, std::size_t dimensions) {
  Manifest& m = impl_->m;
  for (const VectorSetInfo& set : m.vector_sets) {
    if (set.model != model) continue;
    if (set.dimensions != dimensions) throw_corrupt("a model's vectors changed their dimension");
    return set.number;
  }
  if (dimensions < kDimensionStep || dimensions > kMaxDimensions ||
      dimensions % kDimensionStep != 0 || model.empty() || model.size() > kMaxModelId) {
    throw Error(Code::internal, "The index cannot hold vectors of such a model.");
  }
  VectorSetInfo& made = m.vector_sets.emplace_back();
  made.number = m.next_vector_set++;
  made.model = model;
  made.dimensions = static_cast<std::uint32_t>(dimensions);
  return made.number;
}

std::vector<VectorSet> IndexWriter::vector_sets() const {
  return public_sets(impl_->m);
}

void IndexWriter::set_vector(Row row, const RowVector& vector) {
  Impl& w = *impl_;
  const VectorSetInfo& set = w.set_info(vector.set);
  SecretBytes cell;
  if (!w.attributes(row).dead && !vector.embedding->empty()) {
    cell = vector_cell_of(set, *vector.embedding);
  }
  if (row < w.tail_start) {
    w.set_cell(set, row, cell.empty() ? nullptr : cell.data());
    return;
  }
  std::vector<TailVector>& vectors = w.tail_row(row).vectors;
  std::erase_if(vectors, [&](const TailVector& old) { return old.set == vector.set; });
  if (!cell.empty()) vectors.emplace_back(vector.set, std::move(cell));
}

void IndexWriter::set_filled(std::uint32_t set, Row row) {
  impl_->set_info(set).filled = std::min(row, impl_->m.next_row);
}

void IndexWriter::drop_vector_set(std::uint32_t set) {
  Impl& w = *impl_;
  const VectorSetInfo info = w.set_info(set);
  for (const Kind kind : {Kind::index_vectors, Kind::index_codes}) {
    const Row rows =
        kind == Kind::index_vectors ? vector_rows(info.dimensions) : code_rows(info.dimensions);
    for (std::uint32_t number = 0; number <= w.m.next_row / rows; ++number) {
      const IndexKey key(kind, set, number);
      w.columns.erase(block_key(kind, set, number));
      w.column_places.erase(block_key(kind, set, number));
      if (w.bank.index_row(key.view())) w.bank.erase_index(key.view());
    }
  }
  for (Row row = w.tail_start; row < w.m.next_row; ++row) {
    if (w.peek_tail(row).vector(set) == nullptr) continue;
    std::erase_if(w.tail_row(row).vectors, [&](const TailVector& v) { return v.set == set; });
  }
  std::erase_if(w.m.vector_sets, [&](const VectorSetInfo& v) { return v.number == set; });
}

namespace {

std::uint32_t intern(const InternedNames& known, NamesInfo& info, std::string bytes,
                     std::vector<std::string>& added,
                     std::unordered_map<std::string, std::uint32_t>& numbers) {
  const auto old = known.numbers.find(bytes);
  if (old != known.numbers.end()) return old->second;
  const auto [at, is_new] = numbers.try_emplace(std::move(bytes), info.count + 1);
  if (is_new) {
    ++info.count;
    added.push_back(at->first);
  }
  return at->second;
}

}  // namespace

TagSet IndexWriter::intern_tags(const std::vector<std::string>& tags) {
  if (tags.empty()) return 0;
  return intern(impl_->index.tag_sets, impl_->m.tag_sets, encode_tags(tags), impl_->new_tag_sets,
                impl_->new_tag_numbers);
}

Speaker IndexWriter::intern_speaker(std::string_view name) {
  if (name.empty()) return 0;
  return intern(impl_->index.speakers, impl_->m.speakers, std::string(name), impl_->new_speakers,
                impl_->new_speaker_numbers);
}

// ---- finish

void IndexWriter::Impl::changed(std::uint64_t key) {
  m.changed.push_back({key, m.generation});
}

void IndexWriter::Impl::write_tail() {
  const auto put = [&](Row row, const TailRow& tail, bool is_new) {
    const IndexKey key(Kind::index_tail, 0, row);
    bank.put_index(Kind::index_tail, key.view(), key.place(), encode_tail_row(tail).view(), is_new);
    if (!is_new) changed(block_key(Kind::index_tail, 0, row));
  };
  for (const auto& [row, tail] : touched) put(row, tail, false);
  for (std::size_t i = 0; i < fresh.size(); ++i) put(old_end + static_cast<Row>(i), fresh[i], true);
}

void IndexWriter::Impl::flush_to_segment() {
  std::vector<const TailRow*> rows;
  for (Row row = tail_start; row < m.next_row; ++row) rows.push_back(&peek_tail(row));
  write_segment(rows);
  append_columns(rows);
  for (Row row = tail_start; row < old_end; ++row) {
    bank.erase_index(IndexKey(Kind::index_tail, 0, row).view());
  }
  m.tail_start = m.next_row;
}

namespace {

// By ascending term; those of one term in the order that they have. Terms are hashes, so that their
// top bits part them into buckets that hold a few each.
template <class Item, class TermOf>
void sort_by_term(std::vector<Item>& items, const TermOf& term_of) {
  constexpr unsigned kBits = 12;
  std::vector<std::uint32_t> starts((std::size_t{1} << kBits) + 1, 0);
  const auto bucket = [&](const Item& item) { return term_of(item) >> (64 - kBits); };
  for (const Item& item : items) ++starts[bucket(item) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Item> sorted(items.size());
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (const Item& item : items) sorted[next[bucket(item)]++] = item;
  const auto before = [&](const Item& a, const Item& b) { return term_of(a) < term_of(b); };
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const auto first = sorted.begin() + starts[i], last = sorted.begin() + starts[i + 1];
    if (!std::is_sorted(first, last, before)) std::stable_sort(first, last, before);
  }
  items = std::move(sorted);
}

}  // namespace

void IndexWriter::Impl::write_segment(const std::vector<const TailRow*>& rows) {
  struct Item {
    TermId term;
    Row row;
    std::uint8_t code;
  };
  std::vector<Item> items;
  std::vector<std::pair<TermId, std::string_view>> words;
  SegmentInfo info;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row row = tail_start + static_cast<Row>(i);
    for (const auto& [term, code] : rows[i]->terms) items.push_back({term, row, code});
    for (const std::string& word : rows[i]->words) words.emplace_back(index.word_id(word), word);
    if (rows[i]->attributes.closed && !rows[i]->attributes.dead) ++info.hidden;
  }
  sort_by_term(items, [](const Item& item) { return item.term; });
  sort_by_term(words, [](const auto& word) { return word.first; });
  words.erase(std::unique(words.begin(), words.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; }),
              words.end());
  info.id = m.next_segment++;
  info.first = tail_start;
  info.last = m.next_row - 1;
  for (std::uint64_t room = kTailRows + 1; room < rows.size(); room *= index.options.fan_out) {
    ++info.tier;
  }
  PlainBlocks blocks(bank);
  SegmentWriter writer(info, static_cast<std::uint32_t>(rows.size()), blocks,
                       [&](Kind kind, std::uint32_t segment, std::uint32_t number,
                           std::string_view plain, bool is_new) {
                         const IndexKey key(kind, segment, number);
                         bank.put_index(kind, key.view(), key.place(), plain, is_new);
                       });
  // By ascending term: words lie before sketches.
  auto item = items.begin();
  for (; item != items.end() && item->term < kWordTerms; ++item) {
    writer.add(item->term, item->row, item->code);
  }
  for (const auto& [term, word] : words) writer.add_word(term, word);
  for (; item != items.end(); ++item) writer.add(item->term, item->row, item->code);
  writer.finish();
  m.segments.push_back(info);
}

void IndexWriter::Impl::append_columns(const std::vector<const TailRow*>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row row = tail_start + static_cast<Row>(i);
    const RowAttributes& a = rows[i]->attributes;
    const Cell cell = attribute_cell(row);
    encode_attributes(a, column(Kind::index_attributes, cell.block) + cell.offset);
    const Cell when = time_cell(row);
    encode_times(rows[i]->times, column(Kind::index_times, when.block) + when.offset);
    char* const bits = column(Kind::index_live, row / kLiveRows);
    set_bit(bits, row % kLiveRows, !a.closed && !a.dead);
    set_bit(bits + kLiveHalf, row % kLiveRows, a.timed);
    for (const VectorSetInfo& set : m.vector_sets) set_cell(set, row, rows[i]->vector(set.number));
  }
}

void IndexWriter::Impl::write_columns() {
  for (const auto& [key, place] : column_places) {
    const ColumnBlock& block = columns.at(key);
    const IndexKey index_key(place.kind, place.segment, place.number);
    bank.put_index(place.kind, index_key.view(), index_key.place(),
                   {block.bytes.data(), kBlockBytes}, block.fresh);
    // Nobody has seen a block that is new.
    if (!block.fresh) changed(key);
  }
}

void IndexWriter::Impl::write_names(NamesTable table, NamesInfo& info,
                                    const std::vector<std::string>& added) {
  if (added.empty()) return;
  std::string stream;
  for (const std::string& item : added) {
    vault::append_varint(stream, item.size());
    stream.append(item);
  }
  const auto segment = static_cast<std::uint32_t>(table);
  std::uint64_t at = 0;
  while (at < stream.size()) {
    const auto number = static_cast<std::uint32_t>(info.bytes / kBlockBytes);
    const auto offset = static_cast<std::size_t>(info.bytes % kBlockBytes);
    const std::size_t size =
        std::min<std::size_t>(kBlockBytes - offset, stream.size() - static_cast<std::size_t>(at));
    SecretBytes block;
    block.resize(kBlockBytes);
    if (offset != 0)
      Index::Impl::open_block(bank, Kind::index_names, segment, number, block.data());
    std::memcpy(block.data() + offset, stream.data() + at, size);
    const IndexKey key(Kind::index_names, segment, number);
    bank.put_index(Kind::index_names, key.view(), key.place(), block.view(), offset == 0);
    info.bytes += size;
    at += size;
  }
  wipe(stream);
}

// Every write pays for merges by the rows it adds; work is saved up to a step's worth.
void IndexWriter::Impl::pay_debt() {
  std::uint8_t tiers = 1;
  for (const SegmentInfo& s : m.segments) tiers = std::max<std::uint8_t>(tiers, s.tier + 1);
  const std::uint64_t by_row = fresh.size() > kTailRows ? kDebtPerRowOfMany : kDebtPerRow;
  m.debt += by_row * tiers * fresh.size();
  // With many segments waiting a reader pays for every one of them, so writers pay more.
  if (m.segments.size() > 12u * tiers) m.debt += kMergeStep;
  if (m.debt < kMergeStep) return;
  const std::uint64_t budget = std::exchange(m.debt, 0);
  merge_step(index, bank, m, budget, [this](Row row) { return attributes(row).dead; });
}

void IndexWriter::Impl::write_manifest() {
  std::stable_sort(
      m.changed.begin(), m.changed.end(),
      [](const ChangedBlock& a, const ChangedBlock& b) { return a.generation < b.generation; });
  if (m.changed.size() > kChangedBlocks) {
    m.changed.erase(m.changed.begin(),
                    m.changed.end() - static_cast<std::ptrdiff_t>(kChangedBlocks));
  }
  const SecretBytes body = encode_manifest(m);
  SecretBytes plain;
  const std::size_t size = crypto::padme(std::max(kManifestFloor, body.size() + 4));
  plain.reserve(size);
  const auto length = static_cast<std::uint32_t>(body.size());
  char length_bytes[4];
  std::memcpy(length_bytes, &length, 4);
  plain.append({length_bytes, 4});
  plain.append(body.view());
  plain.resize(size);
  const IndexKey key(Kind::index_manifest, 0, 0);
  bank.put_index(Kind::index_manifest, key.view(), key.place(), plain.view());
}

Manifest& IndexWriter::begin_purge() {
  impl_->purging = true;
  return impl_->m;
}

void IndexWriter::finish() {
  Impl& w = *impl_;
  if (w.finished) throw Error(Code::internal, "The index was finished before.");
  w.finished = true;
  // First, while the transaction still shows the columns as they were: nothing that this
  // transaction changes may get into the cache before it has committed.
  if (!w.purging) {
    w.pay_debt();
    free_garbage(w.bank, w.m, std::max<std::uint64_t>(kFreedBlocks, w.fresh.size()));
  }
  if (w.m.next_row - w.tail_start > kTailRows) {
    w.flush_to_segment();
  } else {
    w.write_tail();
  }
  w.write_columns();
  w.write_names(NamesTable::tag_sets, w.m.tag_sets, w.new_tag_sets);
  w.write_names(NamesTable::speakers, w.m.speakers, w.new_speakers);
  w.write_manifest();
}

}  // namespace strongroom::recall
