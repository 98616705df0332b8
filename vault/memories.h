// Free-text memories in a bank: revisions, states, tombstones, and their public ids
// (docs/format.md, "memory").
//
// A memory is named by the record id of its first revision. A later revision is a record of its
// own, which `names` (kind memory, the first id in decimal) then leads to; a memory without one is
// the record itself. The index (recall/) is kept by the caller in the same transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vault/bank.h"
#include "vault/entries.h"

namespace strongroom::vault {

enum class MemoryType : std::uint8_t { world = 0, experience = 1, observation = 2 };

/// "k7q2m-1f": the tag of its bank and the first record's id in base 36.
std::string memory_id(std::string_view bank_tag, RecordId first);
struct MemoryId {
  std::string tag;
  RecordId first = 0;
};
/// nullopt when `id` is not of that form (five letters or digits, '-', base 36, no leading zero).
std::optional<MemoryId> parse_memory_id(std::string_view id);

/// The name of a memory in `names`, of kind memory: its first record's id in decimal.
class MemoryName {
 public:
  explicit MemoryName(RecordId first);
  std::string_view view() const { return {text_, size_}; }

 private:
  char text_[20];
  std::size_t size_;
};

/// A revision as stored; views lead into the buffer that it was opened into.
struct Memory {
  RecordId id = 0;     // of this revision
  RecordId first = 0;  // of the memory; equal to id for the first revision
  std::uint64_t revision = 0;
  RecordId previous = 0;
  std::string_view text;
  MemoryType type = MemoryType::world;
  double importance = 0.5;
  TimeMs created = 0;  // of the memory
  TimeMs updated = 0;  // of this revision
  TimeMs mentioned = 0;
  std::optional<TimeMs> occurred_start, occurred_end, expires;
  bool occurred_found = false;        // the occurred span was found in the text, not given
  std::optional<TimeMs> invalidated;  // since when; absent: valid
  std::optional<TimeMs> restored;     // when last
  RecordId superseded_by = 0;         // first id of the memory that replaces it
  std::string_view context, speaker, source_label;
  std::optional<std::int64_t> position;
  std::string_view document;      // its document_id; empty = none
  RecordId document_first = 0;    // Document::first
  std::uint32_t chunk_index = 0;  // its part of the document
  std::uint32_t row = 0;          // first row of this revision's text in the index
  std::uint32_t rows = 0;         // passages; an invalidation keeps the rows of the text
  RecordId refines = 0;           // first id of the observation that this one refines
  std::string_view sources;       // first ids of the memories that an observation quotes
  std::string_view tags_field, entities_field, metadata_field;  // undecoded lists
  std::string_view principal, tool;
  SourceKind source = SourceKind::unknown;
  Id16 session{};
  Trust trust = Trust::agent;
  std::string_view older;  // record ids of the older revisions, newest first

  std::vector<std::string> tags() const;
  std::vector<std::string> entities() const;
  std::vector<std::pair<std::string, std::string>> metadata() const;
  std::vector<RecordId> older_ids() const;
  std::vector<RecordId> source_ids() const;
  bool expired(TimeMs now) const { return expires && *expires <= now; }
  bool current(TimeMs now) const { return !invalidated && !expired(now); }
};

struct MemoryTombstone {
  RecordId first = 0;
  std::uint64_t last_revision = 0;
  TimeMs time = 0;
};

struct NamedMemory {
  std::optional<Memory> memory;  // invalidated and expired ones too
  std::optional<MemoryTombstone> tombstone;
};

/// The newest revision of a memory; nullopt: there is no such memory, also when `first` is a later
/// revision. Costs one name look-up and one AEAD.
std::optional<NamedMemory> find_memory(BankRead& bank, RecordId first, SecretBytes& plain);
/// Opens a revision by its record id. Throws corrupt unless it is a memory.
Memory open_memory(BankRead& bank, RecordId id, SecretBytes& plain);
MemoryTombstone open_memory_tombstone(BankRead& bank, RecordId id, SecretBytes& plain);

/// What a new revision holds. Owned strings are not needed: views live until put_memory returns.
struct MemoryDraft {
  std::string_view text;
  MemoryType type = MemoryType::world;
  double importance = 0.5;
  TimeMs mentioned = 0;
  std::optional<TimeMs> occurred_start, occurred_end, expires;
  bool occurred_found = false;
  std::optional<TimeMs> invalidated, restored;
  RecordId superseded_by = 0;
  std::string_view context, speaker, source_label;
  std::optional<std::int64_t> position;
  std::string_view document;
  RecordId document_first = 0;
  std::uint32_t chunk_index = 0;
  std::uint32_t row = 0, rows = 0;
  RecordId refines = 0;
  std::vector<RecordId> sources;
  std::vector<std::string> tags, entities;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string_view principal, tool;
  SourceKind source = SourceKind::unknown;
  Id16 session{};
  Trust trust = Trust::agent;
};
/// The draft that would store `memory` again: for a new revision that changes little. Its views
/// lead where the memory's do.
MemoryDraft draft_of(const Memory& memory);

/// Stores a new memory; its id is BankWrite::next_id() before the call. Counts it unless the draft
/// is invalidated.
RecordId add_memory(BankWrite& bank, const MemoryDraft& draft, TimeMs now);
/// Stores a new revision of `current` (read in the same transaction) and leads its name there.
/// `current` may view a buffer that the draft views too. Keeps every older revision: as_of answers
/// from them. Counts a change between valid and invalidated.
RecordId revise_memory(BankWrite& bank, const Memory& current, const MemoryDraft& draft,
                       TimeMs now);
/// Deletes every revision and leaves a tombstone without content; returns its record id.
RecordId forget_memory(BankWrite& bank, const Memory& current, std::string_view principal,
                       TimeMs now);

/// Every memory's newest revision (tombstones left out), ascending by first id, from the first one
/// >= `from`; false stops. Opens records. `visit` may write to the bank; memories that it adds may
/// be visited too.
void for_each_memory(BankRead& bank, RecordId from,
                     const std::function<bool(const Memory&)>& visit);

}  // namespace strongroom::vault
