// Named values in a bank: revisions, classes, large values, tombstones (docs/format.md, "entry").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vault/bank.h"

namespace strongroom::vault {

enum class ValueForm : std::uint8_t { text = 0, json = 1 };
enum class EntryClass : std::uint8_t { normal = 0, secret = 1 };
enum class SourceKind : std::uint8_t { unknown = 0, cli = 1, mcp = 2, library = 3, import = 4 };
enum class Trust : std::uint8_t { owner = 0, agent = 1, imported = 2, untrusted = 3 };

std::string_view source_name(SourceKind source) noexcept;

inline constexpr std::size_t kInlineLimit = 32 * 1024;
inline constexpr std::size_t kChunkBytes = 65473;

/// A current or older revision; views lead into the buffer that it was opened into.
struct Entry {
  RecordId id = 0;
  std::string_view name;
  std::uint64_t revision = 0;
  RecordId previous = 0;
  TimeMs created = 0, updated = 0;
  std::optional<TimeMs> expires;
  EntryClass entry_class = EntryClass::normal;
  ValueForm form = ValueForm::text;
  std::optional<std::string_view> inline_value;
  Id16 content_id{};              // when there is no inline value
  std::uint64_t bytes = 0;        // of the value
  std::string_view content_hash;  // 32
  std::string_view tags_field;    // undecoded; tags() decodes
  std::string_view principal, tool;
  SourceKind source = SourceKind::unknown;
  Id16 session{};
  Trust trust = Trust::agent;
  std::string_view older;  // record ids of the older revisions that are kept, newest first

  std::vector<std::string> tags() const;
  std::vector<RecordId> older_ids() const;
  bool expired(TimeMs now) const { return expires && *expires <= now; }
};

struct Tombstone {
  std::uint64_t last_revision = 0;
  TimeMs time = 0;
  EntryClass entry_class = EntryClass::normal;  // of what was forgotten
};

/// What a name points at.
struct NamedEntry {
  std::optional<Entry> entry;  // expired ones too: the caller looks at the time
  std::optional<Tombstone> tombstone;
};

/// Looks a name up; opens its newest record into `plain`. nullopt: never stored.
std::optional<NamedEntry> find_entry(BankRead& bank, std::string_view name, SecretBytes& plain);

/// Opens a revision by record id. Throws corrupt unless it is an entry.
Entry open_entry(BankRead& bank, RecordId id, SecretBytes& plain);

/// Appends bytes [offset, offset + size) of the value to `out`. Opens only the chunks that hold
/// them; the whole value's hash is checked when all of it is read. Throws corrupt; locked when the
/// secret-class key is not held.
void read_value(BankRead& bank, const Entry& entry, std::uint64_t offset, std::uint64_t size,
                SecretBytes& out);

struct EntryDraft {
  std::string_view name;
  std::string_view value;
  ValueForm form = ValueForm::text;
  EntryClass entry_class = EntryClass::normal;
  std::vector<std::string> tags;
  std::optional<TimeMs> expires;
  std::string principal, tool;
  SourceKind source = SourceKind::unknown;
  Id16 session{};
  Trust trust = Trust::agent;
};

struct PutResult {
  RecordId id = 0;
  std::uint64_t revision = 0;
};

/// Stores a new revision; of the older ones the newest `keep - 1` stay. `current` is what
/// find_entry() gave in the same transaction; `now` is the time of the change.
PutResult put_entry(BankWrite& bank, const std::optional<NamedEntry>& current,
                    const EntryDraft& draft, std::size_t keep, TimeMs now);

/// Deletes every revision and chunk and leaves a tombstone; returns its record id.
RecordId forget_entry(BankWrite& bank, const Entry& current, std::string_view principal,
                      TimeMs now);

/// A line of a listing.
struct EntryLine {
  std::string name;
  RecordId id = 0;
  std::uint64_t revision = 0;
  TimeMs updated = 0;
  std::optional<TimeMs> expires;
  std::vector<std::string> tags;
  std::uint64_t bytes = 0;
  EntryClass entry_class = EntryClass::normal;
};

/// Every current entry, expired ones included, ascending by name bytes. Opens records, never
/// chunks.
std::vector<EntryLine> list_entries(BankRead& bank);

/// Chunk rows of a content id.
std::string chunk_key(const Id16& content, std::uint32_t index);

}  // namespace strongroom::vault
