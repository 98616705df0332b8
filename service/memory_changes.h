// Changes to memories in one write transaction: records, rows of the index, links and documents
// change together or not at all. Internal to service/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recall/index.h"
#include "recall/splitter.h"
#include "service/state.h"
#include "vault/documents.h"
#include "vault/links.h"
#include "vault/memories.h"

namespace strongroom::service {

/// The relation between a memory and the one that it replaces.
inline constexpr std::string_view kSupersedes = "supersedes";
/// Between a memory and an older one that says nearly the same.
inline constexpr std::string_view kSimilarTo = "similar";
/// Between an observation and a memory that it quotes; the link holds the quotes. Only observe
/// makes them.
inline constexpr std::string_view kQuotes = "quotes";

class MemoryChanges {
 public:
  /// Begins the write transaction; waits for another writer of the bank. `tool` is a constant.
  MemoryChanges(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank,
                std::string_view tool);
  ~MemoryChanges();
  MemoryChanges(const MemoryChanges&) = delete;
  MemoryChanges& operator=(const MemoryChanges&) = delete;

  vault::BankWrite& bank() { return write_; }
  recall::IndexWriter& rows() { return rows_; }
  TimeMs now() const { return now_; }

  /// Sets who writes a revision, through what and in which session.
  void sign(vault::MemoryDraft& draft) const;

  struct Added {
    vault::RecordId id = 0;
    recall::Row last_row = 0;
  };
  /// A new memory, its rows behind `previous` (0 = none). `normalized` is that of its text. Sets
  /// row and rows of the draft.
  Added add(vault::MemoryDraft& draft, recall::Row previous, std::string_view normalized);

  /// A new revision of `current` whose text is indexed anew, in the place of its old rows, which
  /// from now on only as_of sees. Returns its record.
  vault::RecordId rewrite(const vault::Memory& current, vault::MemoryDraft& draft);
  /// A new revision with the same text, tags and importance: the rows lead to it.
  vault::RecordId revise(const vault::Memory& current, const vault::MemoryDraft& draft);
  /// Ends the validity of a current memory; `superseded_by` (0 = none) is what replaces it.
  vault::RecordId invalidate(const vault::Memory& current, vault::RecordId superseded_by);
  /// The same for one that may be invalid already: then only what replaces it is news. Its record
  /// as it was when nothing is.
  vault::RecordId supersede(const vault::Memory& memory, vault::RecordId superseded_by);
  /// Makes an invalidated memory valid again, from now on.
  vault::RecordId restore(const vault::Memory& current);
  /// Deletes a memory with its history, rows and links. Observations that quote it become invalid
  /// and lose the quotes. `affected` gets the memories that changed with it. Returns the tombstone.
  /// With `document_goes` its document is about to be erased.
  vault::RecordId forget(const vault::Memory& current, std::vector<vault::RecordId>& affected,
                         bool document_goes = false);

  void link_supersedes(vault::RecordId replacement, vault::RecordId replaced);
  void unlink_supersedes(vault::RecordId replacement, vault::RecordId replaced);
  void link_similar(vault::RecordId memory, vault::RecordId older);
  void link_quotes(vault::RecordId observation, vault::RecordId source,
                   std::vector<std::string> quotes);

  /// Texts that rows will be added for, as whole passages: embedded together, which takes a
  /// fraction of the time. They live until the commit.
  void embed_ahead(const std::vector<std::string_view>& passages);

  /// Finishes the index, sweeps operations and commits; log with bank().log() before. Then the
  /// bank's own model, where it has one, is asked for the vectors of the new rows: what it cannot
  /// give now is made up for later.
  void commit();

 private:
  recall::Row add_rows(const vault::MemoryDraft& draft, vault::RecordId record,
                       recall::Row previous, std::string_view normalized,
                       const std::vector<recall::Span>& passages, const vault::Memory* replaced);
  recall::RowDraft row_draft(const vault::MemoryDraft& draft, vault::RecordId record);
  recall::TagSet tag_set(const std::vector<std::string>& tags);
  recall::Speaker speaker(std::string_view name);
  /// The vector of a passage by the model in the program. Valid until the next call.
  recall::RowVector embed(const vault::MemoryDraft& draft, std::string_view passage);
  void put_link(vault::RecordId from, vault::RecordId to, std::string_view relation,
                std::vector<std::string> quotes = {});
  bool in_document(const vault::Memory& memory);
  void move_last_row(const vault::Memory& memory, recall::Row from, recall::Row to);

  MemoryService::State& state_;
  std::string_view tool_;
  TimeMs now_;
  std::shared_ptr<vault::Bank> bank_;
  vault::BankWrite write_;
  recall::IndexWriter rows_;
  recall::Row first_row_;  // that this transaction can add
  std::string findable_;
  // What was interned last: items in a row mostly have the same.
  std::vector<std::string> tags_;
  recall::TagSet tag_set_ = 0;
  std::string speaker_name_;
  recall::Speaker speaker_ = 0;
  recall::Embedding embedding_;
  std::unordered_map<std::string_view, recall::Embedding> ahead_;
  std::uint32_t vector_set_ = 0;
};

/// The passages of a memory's text, a row each; 1 to 255.
std::vector<recall::Span> passages_of(std::string_view text);
/// What finds a memory's first row: the passage, and context, entities and speaker, which find it
/// as its text does. `room` is where they are put together.
std::string_view findable_text(const vault::MemoryDraft& draft, std::string_view passage,
                               std::string& room);

/// 0 to 255 for 0 to 1; 255 is exactly 1, which means permanent.
std::uint8_t importance_byte(double importance);

}  // namespace strongroom::service
