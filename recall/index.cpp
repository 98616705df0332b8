#include "recall/index.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "recall/columns.h"
#include "recall/index_impl.h"
#include "recall/share_work.h"

namespace strongroom::recall {

using vault::IndexKey;
using vault::Kind;
using vault::throw_corrupt;

namespace {

const IndexKey kManifestKey(Kind::index_manifest, 0, 0);
// A block takes about four microseconds to open, a thread ten times as long to start.
constexpr std::size_t kBlocksAThread = 100;

bool rewritten_in_place(Kind kind) {
  return kind == Kind::index_attributes || kind == Kind::index_times || kind == Kind::index_live ||
         kind == Kind::index_vectors || kind == Kind::index_codes;
}

// A set that the manifest does not have is nobody's, and so is what it holds.
void check_vectors(const TailRow& row, const Manifest& manifest) {
  for (const TailVector& vector : row.vectors) {
    for (const VectorSetInfo& set : manifest.vector_sets) {
      if (set.number == vector.set && !vector.cell.empty() &&
          vector.cell.size() != vector_bytes(set.dimensions)) {
        throw_corrupt("a tail row's vector has a wrong length");
      }
    }
  }
}

// The first two code points.
std::string_view word_prefix(std::string_view word) {
  const std::size_t first = utf8_sequence(word);
  return word.substr(0, first + utf8_sequence(word.substr(first)));
}

}  // namespace

std::string encode_tags(const std::vector<std::string>& tags) {
  std::string bytes;
  for (const std::string& tag : tags) {
    vault::append_varint(bytes, tag.size());
    bytes.append(tag);
  }
  return bytes;
}

std::vector<std::string> decode_tags(std::string_view bytes) {
  std::vector<std::string> tags;
  while (!bytes.empty()) {
    const std::uint64_t size = vault::take_varint(bytes);
    if (size > bytes.size()) throw_corrupt("a tag set of the index is cut off");
    tags.emplace_back(bytes.substr(0, static_cast<std::size_t>(size)));
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return tags;
}

// ---- Index

Index::Index(const vault::Bank& bank, const IndexOptions& options)
    : impl_(std::make_unique<Impl>(bank, options)) {}
Index::~Index() = default;
std::size_t Index::cached_bytes() const {
  return impl_->cache.bytes();
}

Index::Impl::Impl(const vault::Bank& bank, const IndexOptions& given)
    : options(given),
      terms(bank.keys().index, crypto::labels::kTerm),
      fingerprints(bank.keys().index, crypto::labels::kFingerprint),
      words(bank.keys().index, crypto::labels::kWord),
      prefixes(bank.keys().index, crypto::labels::kWordPrefix),
      sketcher(bank.keys().index),
      cache(given.cache_bytes),
      manifest(std::make_shared<Manifest>()),
      tail(std::make_shared<TailData>()) {
  if (options.fan_out < 2 || options.fan_out > 16) {
    throw Error(Code::internal, "The fan-out of merges is 2 to 16.");
  }
}

InternedNames::~InternedNames() {
  for (std::string& item : items) wipe(item);
  while (!numbers.empty()) {
    auto node = numbers.extract(numbers.begin());
    wipe(node.key());
  }
}

Index::Impl::~Impl() {
  for (std::vector<std::string>& tags : decoded_tag_sets) {
    for (std::string& tag : tags) wipe(tag);
  }
}

TermId Index::Impl::word_region(std::string_view word) const {
  return kWordTerms | (prefixes(word_prefix(word)) >> 50) << 48;
}
TermId Index::Impl::word_id(std::string_view word) const {
  return word_region(word) | words(word) >> 16;
}

void Index::Impl::open_block(vault::BankRead& bank, Kind kind, std::uint32_t segment,
                             std::uint32_t number, char* out) {
  const IndexKey key(kind, segment, number);
  const auto row = bank.index_row(key.view());
  if (!row) throw_corrupt("a block of the index is missing");
  bank.open_index(kind, *row, key.place(), out, kBlockBytes);
}

const char* Index::Impl::block(vault::BankRead& bank, Kind kind, std::uint32_t segment,
                               std::uint32_t number) {
  const std::uint64_t key = block_key(kind, segment, number);
  if (const char* const found = cache.find(key)) return found;
  char* const place = cache.insert(key);
  try {
    open_block(bank, kind, segment, number, place);
  } catch (...) {
    cache.erase(key);
    throw;
  }
  return place;
}

void Index::Impl::prefetch(vault::BankRead& bank, Kind kind, std::uint32_t segment,
                           std::uint32_t from, std::uint32_t to) {
  std::vector<std::string_view> rows;
  for (std::uint32_t number = from; number < to; ++number) {
    if (cache.find(block_key(kind, segment, number)) != nullptr) continue;
    if (const auto row = bank.index_row(IndexKey(kind, segment, number).view())) {
      rows.push_back(*row);
    }
  }
  if (rows.size() > 1) bank.txn().prefetch(rows);
}

void Index::Impl::load(vault::BankRead& bank, Kind kind, std::uint32_t segment,
                       std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<SealedBlock> blocks;
  std::vector<std::string_view> rows;
  for (const std::uint32_t number : numbers) {
    if (cache.find(block_key(kind, segment, number)) != nullptr) continue;
    if (const auto row = bank.index_row(IndexKey(kind, segment, number).view())) {
      blocks.push_back({number, *row});
      rows.push_back(*row);
    }
  }
  if (rows.size() > 1) bank.txn().prefetch(rows);
  // What does not fit is opened when it is asked for.
  const std::size_t count = std::min(blocks.size(), cache.safe_inserts());
  open_into_cache(bank, kind, segment, {blocks.data(), count});
}

void Index::Impl::fetch(Kind kind, std::uint32_t segment, const Cell& cell, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const char* const block = cache.find(block_key(kind, segment, cell.block));
  if (block == nullptr) return;
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(block + cell.offset + at);
  __builtin_prefetch(block + cell.offset + bytes - 1);
}

// Throws what opening one of them does; none of them is in the cache then.
void Index::Impl::open_into_cache(vault::BankRead& bank, Kind kind, std::uint32_t segment,
                                  std::span<const SealedBlock> blocks) {
  std::vector<char*> places;
  places.reserve(blocks.size());
  try {
    for (const SealedBlock& block : blocks) {
      places.push_back(cache.insert(block_key(kind, segment, block.number)));
    }
    share_work(blocks.size(), kBlocksAThread, [&](std::size_t i, std::size_t end_of_range) {
      for (; i < end_of_range; ++i) {
        const IndexKey key(kind, segment, blocks[i].number);
        bank.open_index(kind, blocks[i].sealed, key.place(), places[i], kBlockBytes);
      }
    });
  } catch (...) {
    for (const SealedBlock& block : blocks) cache.erase(block_key(kind, segment, block.number));
    throw;
  }
}

void Index::Impl::scan_blocks(vault::BankRead& bank, Kind kind, std::uint32_t segment,
                              std::uint32_t from, std::uint32_t to, const BlockVisitor& visit) {
  std::uint32_t number = from;
  for (; number < to; ++number) {
    const char* const found = cache.find(block_key(kind, segment, number));
    if (found == nullptr) break;
    visit(number, found);
  }
  if (number == to) return;
  // From the first that is missing on: one walk over the file finds them all.
  std::vector<SealedBlock> rows, missing;
  std::vector<std::string_view> cold;
  const IndexKey first(kind, segment, number), end(kind, segment, to);
  bank.txn().scan(vault::Table::index, first.view(), [&](std::string_view key, std::string_view v) {
    if (key >= end.view()) return false;
    rows.push_back({IndexKey(key).number(), v});
    if (cache.find(block_key(kind, segment, rows.back().number)) == nullptr) cold.push_back(v);
    return true;
  });
  if (cold.size() > 1) bank.txn().prefetch(cold);
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t batch_end = std::min(rows.size(), at + cache.safe_inserts());
    missing.clear();
    for (std::size_t i = at; i < batch_end; ++i) {
      if (cache.find(block_key(kind, segment, rows[i].number)) == nullptr) {
        missing.push_back(rows[i]);
      }
    }
    open_into_cache(bank, kind, segment, missing);
    for (; at < batch_end; ++at) {
      visit(rows[at].number, block(bank, kind, segment, rows[at].number));
    }
  }
}

void Index::Impl::sync(vault::BankRead& bank) {
  const auto row = bank.index_row(kManifestKey.view());
  if (!row) {
    // Nothing was ever retained here, or it is gone.
    if (have_manifest || bank.txn().rows(vault::Table::index) != 0 ||
        bank.head().counts.memories != 0) {
      throw_corrupt("the index's manifest is missing");
    }
    return;
  }
  if (row->size() < vault::kEnvelopeHeader + vault::kEnvelopeTag + 4) {
    throw_corrupt("the index's manifest is too short");
  }
  const vault::Id16 tag = vault::id_from(row->substr(row->size() - vault::kEnvelopeTag));
  if (have_manifest && tag == manifest_tag) return;
  SecretBytes plain;
  plain.resize(row->size() - vault::kEnvelopeHeader - vault::kEnvelopeTag);
  bank.open_index(Kind::index_manifest, *row, kManifestKey.place(), plain.data(), plain.size());
  const auto length = vault::load_le<std::uint32_t>(plain.view());
  if (length > plain.size() - 4) throw_corrupt("the index's manifest has a wrong length");
  auto fresh = std::make_shared<Manifest>(decode_manifest(plain.view().substr(4, length)));
  forget_changed(*fresh);
  load_tail(bank, *fresh);
  load_names(bank, NamesTable::tag_sets, fresh->tag_sets, tag_sets);
  load_names(bank, NamesTable::speakers, fresh->speakers, speakers);
  if (decoded_tag_sets.size() > tag_sets.items.size()) decoded_tag_sets.clear();
  for (std::size_t i = decoded_tag_sets.size(); i < tag_sets.items.size(); ++i) {
    decoded_tag_sets.push_back(decode_tags(tag_sets.items[i]));
  }
  manifest = std::move(fresh);
  manifest_tag = tag;
  have_manifest = true;
}

// Blocks that were rewritten since this process looked. Where the list does not reach back so far,
// or the file went back in time (it was replaced), everything that can change goes.
void Index::Impl::forget_changed(const Manifest& fresh) {
  const std::uint64_t seen = manifest->generation;
  const bool reaches = fresh.changed.size() < kChangedBlocks ||
                       (!fresh.changed.empty() && fresh.changed.front().generation <= seen);
  if (fresh.generation < seen || !reaches) {
    cache.erase_kinds(rewritten_in_place);
    tail = std::make_shared<TailData>();
    return;
  }
  for (const ChangedBlock& changed : fresh.changed) {
    if (changed.generation > seen) cache.erase(changed.key);
  }
}

void Index::Impl::load_tail(vault::BankRead& bank, const Manifest& fresh) {
  auto loaded = std::make_shared<TailData>();
  loaded->start = fresh.tail_start;
  const std::uint64_t seen = manifest->generation;
  const auto reuse = [&](Row row) {
    return row >= tail->start && row - tail->start < tail->rows.size();
  };
  loaded->rows.resize(fresh.next_row - fresh.tail_start);
  for (Row row = fresh.tail_start; row < fresh.next_row; ++row) {
    if (reuse(row)) loaded->rows[row - loaded->start] = tail->rows[row - tail->start];
  }
  for (const ChangedBlock& changed : fresh.changed) {
    const auto row = static_cast<Row>(changed.key);
    const bool of_tail = changed.key == block_key(Kind::index_tail, 0, row);
    if (of_tail && changed.generation > seen && row >= fresh.tail_start && row < fresh.next_row) {
      loaded->rows[row - loaded->start].reset();
    }
  }
  SecretBytes plain;
  for (Row row = fresh.tail_start; row < fresh.next_row; ++row) {
    if (loaded->rows[row - loaded->start]) continue;
    const IndexKey index_key(Kind::index_tail, 0, row);
    const auto sealed = bank.index_row(index_key.view());
    if (!sealed || sealed->size() < vault::kEnvelopeHeader + vault::kEnvelopeTag) {
      throw_corrupt("a tail row of the index is missing");
    }
    plain.resize(sealed->size() - vault::kEnvelopeHeader - vault::kEnvelopeTag);
    bank.open_index(Kind::index_tail, *sealed, index_key.place(), plain.data(), plain.size());
    auto opened = std::make_shared<TailRow>(decode_tail_row(plain.view()));
    check_vectors(*opened, fresh);
    loaded->rows[row - loaded->start] = std::move(opened);
  }
  tail = std::move(loaded);
}

void Index::Impl::load_names(vault::BankRead& bank, NamesTable table, const NamesInfo& info,
                             InternedNames& names) {
  if (info.bytes < names.bytes) {
    names = InternedNames();
    if (table == NamesTable::tag_sets) decoded_tag_sets.clear();
  }
  if (info.bytes == names.bytes) return;
  // The stream from where it was decoded to; the block that holds that place first.
  SecretBytes stream, block;
  block.resize(kBlockBytes);
  const std::uint64_t from = names.bytes / kBlockBytes,
                      end = (info.bytes + kBlockBytes - 1) / kBlockBytes;
  for (std::uint64_t number = from; number < end; ++number) {
    open_block(bank, Kind::index_names, static_cast<std::uint32_t>(table),
               static_cast<std::uint32_t>(number), block.data());
    stream.append(block.view());
  }
  std::string_view in =
      stream.view().substr(static_cast<std::size_t>(names.bytes - from * kBlockBytes),
                           static_cast<std::size_t>(info.bytes - names.bytes));
  while (!in.empty()) {
    const std::uint64_t size = vault::take_varint(in);
    if (size > in.size()) throw_corrupt("a table of the index is cut off");
    names.items.emplace_back(in.substr(0, static_cast<std::size_t>(size)));
    names.numbers.emplace(names.items.back(), static_cast<std::uint32_t>(names.items.size()));
    in.remove_prefix(static_cast<std::size_t>(size));
  }
  if (names.items.size() != info.count) throw_corrupt("a table of the index has a wrong count");
  names.bytes = info.bytes;
}

// ---- IndexView

IndexView::IndexView(Index& index, vault::BankRead& bank) : index_(index), bank_(bank) {
  Index::Impl& impl = *index.impl_;
  impl.sync(bank);
  manifest_ = impl.manifest;
  tail_ = impl.tail;
}
IndexView::~IndexView() = default;

IndexState IndexView::state() const {
  const Manifest& m = *manifest_;
  IndexState state;
  state.rows = m.next_row - 1;
  state.live_rows = m.live_rows;
  state.live_length = m.live_length;
  for (const SegmentInfo& s : m.segments) {
    state.dead_rows += s.dead;
    state.blocks += s.posting_blocks + s.directory_blocks + s.top_blocks + s.filter_blocks;
  }
  for (const GarbageInfo& g : m.garbage) {
    state.garbage_blocks += g.segment.posting_blocks + g.segment.directory_blocks +
                            g.segment.top_blocks + g.segment.filter_blocks;
  }
  state.segments = m.segments.size();
  state.merges_running = m.merges.size();
  state.tail_rows = m.next_row - m.tail_start;
  return state;
}

Row IndexView::row_end() const {
  return manifest_->next_row;
}
Row IndexView::tail_start() const {
  return manifest_->tail_start;
}
std::uint64_t IndexView::live_rows() const {
  return manifest_->live_rows;
}
double IndexView::average_length() const {
  if (manifest_->live_rows == 0) return 1;
  return static_cast<double>(manifest_->live_length) / static_cast<double>(manifest_->live_rows);
}
bool IndexView::all_live() const {
  return manifest_->live_rows == manifest_->next_row - 1u;
}
double IndexView::class_length(unsigned length_class) {
  return class_words(length_class);
}

RowAttributes IndexView::attributes(Row row) {
  if (row == 0 || row >= manifest_->next_row)
    throw_corrupt("the index names a row that is not there");
  if (row >= manifest_->tail_start) return tail_->at(row).attributes;
  const Cell cell = attribute_cell(row);
  return decode_attributes(index_.impl_->block(bank_, Kind::index_attributes, 0, cell.block) +
                           cell.offset);
}

RowTimes IndexView::times(Row row) {
  if (row == 0 || row >= manifest_->next_row)
    throw_corrupt("the index names a row that is not there");
  if (row >= manifest_->tail_start) return tail_->at(row).times;
  const Cell cell = time_cell(row);
  return decode_times(index_.impl_->block(bank_, Kind::index_times, 0, cell.block) + cell.offset);
}

void IndexView::prefetch_attributes(const std::vector<Row>& rows) {
  Index::Impl& impl = *index_.impl_;
  if (rows.empty() && manifest_->tail_start > 1) {
    const std::uint32_t end = attribute_cell(manifest_->tail_start - 1).block + 1;
    impl.prefetch(bank_, Kind::index_attributes, 0, 0, end);
    return;
  }
  std::vector<std::uint32_t> blocks;
  for (const Row row : rows) {
    if (row < manifest_->tail_start) blocks.push_back(attribute_cell(row).block);
  }
  impl.load(bank_, Kind::index_attributes, 0, std::move(blocks));
  for (const Row row : rows) {
    if (row < manifest_->tail_start) {
      impl.fetch(Kind::index_attributes, 0, attribute_cell(row), kAttributeBytes);
    }
  }
}

bool IndexView::live(Row row) {
  if (row >= manifest_->tail_start) {
    const RowAttributes& a = tail_->at(row).attributes;
    return !a.closed && !a.dead;
  }
  return bit_at(index_.impl_->block(bank_, Kind::index_live, 0, row / kLiveRows), row % kLiveRows);
}

bool IndexView::timed(Row row) {
  if (row >= manifest_->tail_start) return tail_->at(row).attributes.timed;
  return bit_at(index_.impl_->block(bank_, Kind::index_live, 0, row / kLiveRows) + kLiveHalf,
                row % kLiveRows);
}

TermId IndexView::term_id(std::string_view term) const {
  return index_.impl_->term_id(term);
}

std::uint64_t IndexView::postings(TermId term, std::vector<Posting>& out) {
  CachedBlocks blocks(*index_.impl_, bank_);
  std::uint64_t live_count = 0;
  for (const SegmentInfo& segment : manifest_->segments) {
    std::size_t at = out.size();
    read_postings(blocks, segment, term, out);
    if (segment.hidden == 0) {
      live_count += out.size() - at;
      continue;
    }
    // Postings of forgotten rows stay until a merge; nothing may see them.
    std::size_t keep = at;
    for (; at < out.size(); ++at) {
      if (live(out[at].row)) {
        ++live_count;
      } else if (attributes(out[at].row).dead) {
        continue;
      }
      out[keep++] = out[at];
    }
    out.resize(keep);
  }
  for (std::size_t i = 0; i < tail_->rows.size(); ++i) {
    const TailRow& row = *tail_->rows[i];
    const std::uint8_t* const code = row.find(term);
    if (code == nullptr || row.attributes.dead) continue;
    out.push_back({tail_->start + static_cast<Row>(i), *code});
    if (!row.attributes.closed) ++live_count;
  }
  return live_count;
}

std::vector<IndexView::NearWord> IndexView::words_near(std::string_view word, unsigned limit,
                                                       std::size_t most) {
  Index::Impl& impl = *index_.impl_;
  const TermId from = impl.word_region(word), to = from + (TermId{1} << 48);
  const std::string_view prefix = word_prefix(word);
  std::vector<NearWord> near;
  const auto consider = [&](std::string_view candidate) {
    if (candidate.substr(0, prefix.size()) != prefix || candidate == word) return;
    const unsigned distance = edit_distance(word, candidate, limit);
    if (distance <= limit) near.push_back({std::string(candidate), distance});
  };
  CachedBlocks blocks(impl, bank_);
  for (const SegmentInfo& segment : manifest_->segments) {
    const BlockRange range = find_blocks(blocks, segment, from, to);
    for (std::uint32_t number = range.first; number <= range.last; ++number) {
      EntryReader entries(blocks.block(Kind::index_postings, segment.id, number));
      while (entries.next()) {
        if (entries.term() >= from && entries.term() < to) consider(entries.word());
      }
    }
  }
  for (const auto& row : tail_->rows) {
    for (const std::string& candidate : row->words) consider(candidate);
  }
  std::sort(near.begin(), near.end(), [](const NearWord& a, const NearWord& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.word < b.word;
  });
  near.erase(std::unique(near.begin(), near.end(),
                         [](const NearWord& a, const NearWord& b) { return a.word == b.word; }),
             near.end());
  if (near.size() > most) near.resize(most);
  return near;
}

std::vector<Row> IndexView::find_fingerprint(std::string_view normalized_text) {
  Index::Impl& impl = *index_.impl_;
  const TermId term = impl.fingerprint_id(normalized_text);
  CachedBlocks blocks(impl, bank_);
  std::vector<Posting> found;
  for (const SegmentInfo& segment : manifest_->segments) {
    if (filter_contains(blocks, segment, term)) read_postings(blocks, segment, term, found);
  }
  std::vector<Row> rows;
  for (const Posting& posting : found) {
    if (!attributes(posting.row).dead) rows.push_back(posting.row);
  }
  for (std::size_t i = 0; i < tail_->rows.size(); ++i) {
    const TailRow& row = *tail_->rows[i];
    if (!row.attributes.dead && row.find(term) != nullptr) {
      rows.push_back(tail_->start + static_cast<Row>(i));
    }
  }
  return rows;
}

// ---- vectors

std::vector<VectorSet> public_sets(const Manifest& manifest) {
  std::vector<VectorSet> sets;
  for (const VectorSetInfo& info : manifest.vector_sets) {
    sets.push_back({info.number, info.model, info.dimensions, info.filled});
  }
  return sets;
}

std::vector<VectorSet> IndexView::vector_sets() const {
  return public_sets(*manifest_);
}

const char* IndexView::vector(const VectorSet& set, Row row) {
  if (row == 0 || row >= manifest_->next_row)
    throw_corrupt("the index names a row that is not there");
  if (row >= manifest_->tail_start) return tail_->at(row).vector(set.number);
  const Cell at = vector_cell(row, set.dimensions);
  if (row >= set.filled &&
      !bank_.index_row(IndexKey(Kind::index_vectors, set.number, at.block).view())) {
    return nullptr;
  }
  const char* const cell =
      index_.impl_->block(bank_, Kind::index_vectors, set.number, at.block) + at.offset;
  return vector_scale(cell, set.dimensions) == 0 ? nullptr : cell;
}

void IndexView::scan_column(const VectorSet& set, vault::Kind kind, Row rows_a_block,
                            const VectorVisitor& visit) {
  const Row end = manifest_->tail_start;
  if (end <= 1) return;
  const std::size_t cell_bytes =
      kind == Kind::index_vectors ? vector_bytes(set.dimensions) : code_bytes(set.dimensions);
  const std::uint32_t blocks = (end - 1) / rows_a_block + 1;
  const Row filled = std::min(set.filled, end);
  const std::uint32_t needed = filled <= 1 ? 0 : (filled - 1) / rows_a_block + 1;
  std::uint32_t next = 0;
  const auto skip_to = [&](std::uint32_t number) {
    if (next < std::min(number, needed)) throw_corrupt("a block of the index is missing");
    next = number + 1;
  };
  index_.impl_->scan_blocks(
      bank_, kind, set.number, 0, blocks, [&](std::uint32_t number, const char* block) {
        skip_to(number);
        const Row first = number == 0 ? 1 : number * rows_a_block;
        const Row last = std::min<Row>((number + 1) * rows_a_block, end);
        visit(first, block + (first - number * rows_a_block) * cell_bytes, last - first);
      });
  skip_to(blocks);
}

void IndexView::scan_tail(const VectorSet& set, const VectorVisitor& visit) {
  for (std::size_t i = 0; i < tail_->rows.size(); ++i) {
    const char* const cell = tail_->rows[i]->vector(set.number);
    if (cell != nullptr) visit(tail_->start + static_cast<Row>(i), cell, 1);
  }
}

void IndexView::scan_vectors(const VectorSet& set, const VectorVisitor& visit) {
  scan_column(set, Kind::index_vectors, vector_rows(set.dimensions), visit);
  scan_tail(set, visit);
}

void IndexView::scan_codes(const VectorSet& set, const VectorVisitor& visit,
                           const VectorVisitor& tail_visit) {
  scan_column(set, Kind::index_codes, code_rows(set.dimensions), visit);
  scan_tail(set, tail_visit);
}

void IndexView::prefetch_vectors(const VectorSet& set, const std::vector<Row>& rows) {
  std::vector<std::uint32_t> blocks;
  for (const Row row : rows) {
    if (row < manifest_->tail_start) blocks.push_back(vector_cell(row, set.dimensions).block);
  }
  index_.impl_->load(bank_, Kind::index_vectors, set.number, std::move(blocks));
  for (const Row row : rows) {
    if (row < manifest_->tail_start) {
      index_.impl_->fetch(Kind::index_vectors, set.number, vector_cell(row, set.dimensions),
                          vector_bytes(set.dimensions));
    }
  }
}

std::size_t IndexView::tag_set_count() {
  return manifest_->tag_sets.count;
}
const std::vector<std::string>& IndexView::tag_set(TagSet number) {
  static const std::vector<std::string> none;
  if (number == 0) return none;
  if (number > manifest_->tag_sets.count)
    throw_corrupt("the index names a tag set that is not there");
  return index_.impl_->decoded_tag_sets[number - 1];
}
std::size_t IndexView::speaker_count() {
  return manifest_->speakers.count;
}
const std::string& IndexView::speaker(Speaker number) {
  if (number == 0 || number > manifest_->speakers.count) {
    throw_corrupt("the index names a speaker that is not there");
  }
  return index_.impl_->speakers.items[number - 1];
}

}  // namespace strongroom::recall
