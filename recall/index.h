// The sealed index of one bank: rows, posting segments, columns, the tail of newest rows, and the
// manifest that says which of them are live (docs/format.md, "Index"; docs/adr on layout).
//
// A row is a passage of a memory's text. It changes in the same transaction as the memory, so that
// there is never one without the other. Nothing here is shared between processes but the bank's
// file: an Index is one process's cache of it, and each view or writer is bound to a transaction.
//
// Thread rule: one thread at a time for an Index and all made from it. Errors: corrupt when a block
// is missing, not authentic, or disagrees with the manifest; too_large at 2^32 - 2 rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recall/analyzer.h"
#include "recall/embedder.h"
#include "vault/bank.h"
#include "vault/memories.h"

namespace strongroom::recall {

/// Ascending from 1 in each bank, never reused; 0 = none.
using Row = std::uint32_t;
/// A keyed hash of a term: it occurs inside ciphertext only.
using TermId = std::uint64_t;
/// Numbers of interned strings, from 1; 0 = none.
using TagSet = std::uint32_t;
using Speaker = std::uint32_t;

inline constexpr std::size_t kDefaultCacheBytes = std::size_t{172} << 20;
inline constexpr unsigned kDefaultFanOut = 8;
inline constexpr std::size_t kTailRows = 240;

struct IndexOptions {
  std::size_t cache_bytes = kDefaultCacheBytes;
  unsigned fan_out = kDefaultFanOut;  // of merges; 2 to 16. Never changes an answer.
};

/// What the filters and the ranking need of a row.
struct RowAttributes {
  vault::RecordId record = 0;  // the revision whose text this is
  std::uint32_t document = 0;  // vault::Document::first; 0 = none
  Row previous = 0, next = 0;  // neighbours in the conversation or text, by stored links
  TagSet tag_set = 0;
  Speaker speaker = 0;
  vault::MemoryType type = vault::MemoryType::world;
  vault::Trust trust = vault::Trust::agent;
  std::uint8_t passage = 0;     // which passage of its memory
  std::uint8_t importance = 0;  // 0 to 255 for 0 to 1
  std::uint8_t length_class = 0;
  bool closed = false;              // superseded by an edit, or invalidated: only as_of sees it
  bool dead = false;                // forgotten: nothing sees it
  bool timed = false;               // has an expiry: live() alone does not decide
  bool dated = false;               // has an occurred span
  std::uint32_t created_hours = 0;  // hours since 1970 of the latest of created, edited, restored
};

struct RowTimes {
  TimeMs believed_from = 0;
  TimeMs believed_until = kForever;
  TimeMs occurred_start = kNever, occurred_end = kNever;
  TimeMs mentioned = 0;
  TimeMs expires = kForever;
  static constexpr TimeMs kForever = INT64_MAX;
  static constexpr TimeMs kNever = INT64_MIN;
};

/// The vectors of one model in a bank.
struct VectorSet {
  std::uint32_t number = 0;  // 0 = none
  std::string model;
  std::size_t dimensions = 0;
  Row filled = 1;  // rows below have been through the model
};

/// What a model gave for a row's text.
struct RowVector {
  std::uint32_t set = 0;
  const Embedding* embedding = nullptr;  // may be empty
};

/// A new row. `text` is what Analyzer::analyze() gave for the passage; `more` are further texts
/// that find it (context, entities, speaker), already analysed into terms.
struct RowDraft {
  RowAttributes attributes;  // previous, next, length_class, dead, closed are set by the writer
  RowTimes times;
  const AnalyzedText* text = nullptr;
  std::span<const RowVector> vectors;  // of every set that shall stay filled
  std::string_view
      fingerprint;        // normalized() of the memory's whole text; empty for later passages
  bool sketched = false;  // its sketch is kept beside the fingerprint: find_sketch() finds it
};

/// What is live, and how the index stands.
struct IndexState {
  std::uint64_t rows = 0;         // ever made
  std::uint64_t live_rows = 0;    // neither closed nor forgotten
  std::uint64_t live_length = 0;  // sum of their lengths, by class
  std::uint64_t dead_rows = 0;    // forgotten, and still in postings
  std::size_t segments = 0, merges_running = 0, tail_rows = 0;
  std::uint64_t garbage_blocks = 0;  // waiting to be freed
  std::uint64_t blocks = 0;          // of segments
};

class Index;
struct Manifest;
class TailData;

/// A consistent view of the index: what the bank's transaction sees. References that it returns
/// live until its next call.
class IndexView {
 public:
  IndexView(Index& index, vault::BankRead& bank);
  ~IndexView();
  IndexView(const IndexView&) = delete;
  IndexView& operator=(const IndexView&) = delete;

  IndexState state() const;
  Row row_end() const;     // rows are 1 to row_end() - 1
  Row tail_start() const;  // rows from here on are in the tail
  std::uint64_t live_rows() const;
  /// Average length of a live row, as the ranking uses it; 1 for an empty index.
  double average_length() const;

  /// Throws corrupt for a row that does not exist.
  RowAttributes attributes(Row row);
  RowTimes times(Row row);
  /// The attributes of these rows, or of all (none given), are about to be read: a cold file then
  /// gives them in few large reads.
  void prefetch_attributes(const std::vector<Row>& rows);
  /// Neither closed nor forgotten. Cheap: a bit a row.
  bool live(Row row);
  /// live() does not decide alone: the row has an expiry.
  bool timed(Row row);
  /// True while no row of the bank is closed or forgotten.
  bool all_live() const;

  /// One posting: a row, its term frequency (1 to 8, 8 = or more) and its length class.
  struct Posting {
    Row row;
    std::uint8_t code;  // (frequency - 1) << 5 | length class
  };
  static unsigned frequency(std::uint8_t code) { return (code >> 5) + 1u; }
  static unsigned length_class(std::uint8_t code) { return code & 31u; }
  /// The number of words that a length class stands for.
  static double class_length(unsigned length_class);

  TermId term_id(std::string_view term) const;
  /// Appends every posting of a term that is not forgotten, ascending by row; closed rows are among
  /// them. Returns how many of those are live.
  std::uint64_t postings(TermId term, std::vector<Posting>& out);

  /// Words of the bank within `limit` edits of `word` that share its first two code points, nearest
  /// first, then by bytes; at most `most`.
  struct NearWord {
    std::string word;
    unsigned distance = 0;
  };
  std::vector<NearWord> words_near(std::string_view word, unsigned limit, std::size_t most);

  /// Rows, not forgotten, whose memory's normalised text has this fingerprint, ascending. The
  /// caller compares the text itself.
  std::vector<Row> find_fingerprint(std::string_view normalized_text);
  /// Rows, neither closed nor forgotten, whose memory may say nearly the same as this text
  /// (recall/sketch.h): those that have most in common with it first, then the newest; at most
  /// kSketchMatches. The caller compares the texts.
  std::vector<Row> find_sketch(std::string_view normalized_text);

  // ---- vectors
  std::vector<VectorSet> vector_sets() const;  // ascending by number
  /// A row's cell in a set: `dimensions` components, then the f32 scale; nullptr when it has none.
  const char* vector(const VectorSet& set, Row row);
  /// Cells of consecutive rows, `count` of them from `first` on. A row without a vector has scale
  /// 0.
  using VectorVisitor = std::function<void(Row first, const char* cells, std::size_t count)>;
  /// Every row's vector, ascending by row.
  void scan_vectors(const VectorSet& set, const VectorVisitor& visit);
  /// Every row's sign code, of dimensions / 8 bytes. Rows of the tail come through `tail_visit` as
  /// vectors.
  void scan_codes(const VectorSet& set, const VectorVisitor& visit,
                  const VectorVisitor& tail_visit);
  /// The vectors of these rows are about to be read.
  void prefetch_vectors(const VectorSet& set, const std::vector<Row>& rows);

  // Interned tables.
  std::size_t tag_set_count();  // numbers are 1 to count; 0 is the empty set
  const std::vector<std::string>& tag_set(TagSet number);  // sorted, distinct
  std::size_t speaker_count();
  const std::string& speaker(Speaker number);

  /// Opens every block and checks them against each other; `visit_row` is called for each row that
  /// is not forgotten. For verify.
  void check(const std::function<void(Row, const RowAttributes&, const RowTimes&)>& visit_row);

  vault::BankRead& bank() const { return bank_; }

 protected:
  friend class IndexWriter;
  /// The live rows with each of these bands of a sketch, ascending.
  std::vector<std::vector<Row>> rows_of(const std::vector<TermId>& bands);
  Index& index_;
  vault::BankRead& bank_;
  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<const TailData> tail_;

 private:
  void scan_column(const VectorSet& set, vault::Kind kind, Row rows_a_block,
                   const VectorVisitor& visit);
  void scan_tail(const VectorSet& set, const VectorVisitor& visit);
};

/// Changes the index within a write transaction. finish() must be called before the transaction
/// commits; a writer that is destroyed without it changes nothing (abort the transaction). The
/// inherited readers see the state before this writer's own changes, except find_fingerprint(),
/// find_sketch(), attributes(), times() and live(), which see them.
class IndexWriter {
 public:
  IndexWriter(Index& index, vault::BankWrite& bank);
  ~IndexWriter();
  IndexWriter(const IndexWriter&) = delete;
  IndexWriter& operator=(const IndexWriter&) = delete;

  /// The number that the next add() gives.
  Row next_row() const;
  /// Adds a row behind `previous` (0 = none): both are linked.
  Row add(const RowDraft& draft, Row previous);
  /// Puts rows into the chain in the place of others (an edit): the neighbours of old_first to
  /// old_last lead to fresh_first to fresh_last, which are linked among themselves already.
  void take_place(Row old_first, Row old_last, Row fresh_first, Row fresh_last);
  /// Ends the belief in a row at `until`: it is found by as_of alone.
  void close(Row row, TimeMs until);
  /// Points a row at another revision with the same text.
  void set_record(Row row, vault::RecordId record);
  /// Blanks a row: times, links, attributes. Its postings go at the next merge; no search sees
  /// them.
  void forget(Row row);

  RowAttributes attributes(Row row);
  RowTimes times(Row row);
  std::vector<Row> find_fingerprint(std::string_view normalized_text);
  std::vector<Row> find_sketch(std::string_view normalized_text);

  /// The set of a model, made when there is none. Throws corrupt when the model's vectors have
  /// another dimension here.
  std::uint32_t vector_set(std::string_view model, std::size_t dimensions);
  std::vector<VectorSet> vector_sets() const;
  /// Gives an older row its vector, in a set that is not filled yet.
  void set_vector(Row row, const RowVector& vector);
  /// Every row below `row` has been through the set's model.
  void set_filled(std::uint32_t set, Row row);
  /// A set that is no longer wanted; its blocks go at once.
  void drop_vector_set(std::uint32_t set);

  /// Interns. `tags` sorted and distinct; an empty list is 0.
  TagSet intern_tags(const std::vector<std::string>& tags);
  Speaker intern_speaker(std::string_view name);

  /// Writes all, pays its share of merge and clean-up work, and writes the manifest.
  void finish();

  /// For Purge: the manifest as it will be. finish() then does no merge or clean-up work.
  Manifest& begin_purge();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One process's cache of a bank's index. Holds decrypted blocks in memory that is kept out of core
/// dumps and wiped at the end.
class Index {
 public:
  Index(const vault::Bank& bank, const IndexOptions& options);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  std::size_t cached_bytes() const;

  struct Impl;  // internal to recall/

 private:
  friend class IndexView;
  friend class IndexWriter;
  friend class Purge;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strongroom::recall
