// The one door to stored data: policy, then work, then audit, for one principal.
//
// A MemoryService opens nothing until the first call that needs the vault; it may then be closed
// when idle and opens again on demand. All functions may be called from any thread; calls on one
// service run one after the other. Every failure is an Error; absence is std::nullopt.
//
// Any call may throw what opening a vault may (no_vault, locked, wrong_key, unsupported, corrupt,
// rollback, fork), denied, not_found for a bank that is named and not there, and busy, io; one that
// writes also no_space and uncertain. What a call throws beside stands with it. After a throw
// nothing of the call is stored, except after uncertain: then nobody knows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/wipe.h"
#include "service/consolidation.h"
#include "service/key_source.h"
#include "service/memories.h"
#include "service/project.h"

namespace strongroom::service {

inline constexpr std::size_t kMaxKeyBytes = 1024;
inline constexpr std::uint64_t kMaxValueBytes = 64ull << 20;
inline constexpr std::int64_t kMaxTtlSeconds = 3'155'760'000;  // 100 years
inline constexpr std::size_t kMaxTags = 64;
inline constexpr std::size_t kMaxTagBytes = 256;
inline constexpr std::size_t kDefaultListLimit = 200;
inline constexpr std::size_t kMaxListLimit = 1000;

enum class ValueForm : std::uint8_t { text = 0, json = 1 };
enum class EntryClass : std::uint8_t { normal = 0, secret = 1 };

struct ServiceOptions {
  std::string vault_path;
  KeySource key;               // where the owner's secret comes from
  std::string principal;       // "local:mcp"
  std::string source;          // source kind: "mcp", "cli"
  std::string project_folder;  // --project, or the working directory
  bool project_explicit = false;
  std::string bank_override;  // STRONGROOM_BANK or --bank
  bool read_only = false;     // writes are denied; the vault is opened without writing anything
  bool no_anchor = false;     // for throw-away machines
  bool as_backup = false;     // the vault is a backup: read-only, without anchor and audit
  /// Decrypted blocks of the search index that are kept, over all banks; wiped on close.
  std::size_t cache_bytes = std::size_t{172} << 20;
};

/// How the bank of a call was found, and what the caller should be told about it.
struct Place {
  std::string bank;  // the bank used
  std::vector<std::string> notes;
};

struct RememberRequest {
  std::string_view key;
  std::string_view value;  // UTF-8 text, or one JSON value when form is json
  ValueForm form = ValueForm::text;
  std::optional<std::vector<std::string>> tags;  // absent: as the entry has them
  std::optional<std::int64_t> ttl_seconds;       // absent: never expires
  std::optional<EntryClass> entry_class;         // absent: as the entry has it, else normal
  std::optional<std::uint64_t> if_revision;      // 0 = must not exist
  std::string operation_id;                      // empty = none; at most 256 bytes
  std::string bank;                              // empty = the project's
  bool allow_secret = false;                     // CLI --allow-secret: store flagged text as normal
};
struct RememberResult {
  std::string key;
  std::uint64_t revision = 0;
  TimeMs updated = 0;
  EntryClass entry_class = EntryClass::normal;
  bool repeated = false;  // answered from an earlier call with the same operation_id
  Place place;
};

struct RecallRequest {
  std::string_view key;
  std::string bank;
  std::uint64_t offset = 0;         // bytes into the value
  std::uint64_t max_bytes = ~0ull;  // a cut never splits a UTF-8 sequence
};
struct RecalledValue {
  SecretBytes value;                 // the bytes asked for
  ValueForm form = ValueForm::text;  // of the whole value, also when this is a part
  EntryClass entry_class = EntryClass::normal;
  std::uint64_t revision = 0;
  TimeMs created = 0;
  TimeMs updated = 0;
  std::optional<TimeMs> expires;
  std::vector<std::string> tags;
  std::uint64_t total_bytes = 0;
  std::optional<std::uint64_t> next_offset;  // set when truncated
  std::string principal;                     // who wrote this revision
  std::string source;
  Place place;
};

struct ListRequest {
  std::string_view prefix;
  std::size_t limit = kDefaultListLimit;  // 0 = no limit (CLI)
  std::string cursor;                     // from an earlier page; opaque
  std::uint64_t offset = 0;               // items to skip
  std::string bank;
  bool include_secret = false;  // names of class secret (the owner's CLI)
};
struct ListedEntry {
  std::string key;
  std::uint64_t revision = 0;
  TimeMs updated = 0;
  std::optional<TimeMs> expires;
  std::vector<std::string> tags;
  std::uint64_t bytes = 0;
  EntryClass entry_class = EntryClass::normal;
  std::string bank;
};
struct ListResult {
  std::vector<ListedEntry> entries;   // ascending by key bytes
  std::optional<std::string> cursor;  // set when there is more
  bool bank_empty = false;            // nothing is stored at all (regardless of prefix)
  Place place;
};

struct Revision {
  std::uint64_t revision = 0;
  TimeMs updated = 0;
  std::uint64_t bytes = 0;
  EntryClass entry_class = EntryClass::normal;
  std::string principal;
  std::string source;
  std::vector<std::string> tags;
};

struct ForgetRequest {
  std::string_view key;
  std::string bank;
  bool erase = false;  // so that it cannot be recovered from the file
};
struct ForgetResult {
  bool found = false;
  std::optional<EraseReceipt> receipt;
  Place place;
};

struct ContextMemory {
  std::string id, text, bank;
  MemoryType type = MemoryType::world;
  TimeMs mentioned_at = 0;
  double importance = 0.5;
};
struct ContextKey {
  std::string key;
  std::vector<std::string> tags;
  TimeMs updated = 0;
};
/// What an agent should know first; never values.
struct ProjectContext {
  std::string bank;
  std::string chosen_by;
  std::vector<std::string> reads;  // banks read, in order
  std::uint64_t entries = 0, memories = 0, secrets = 0;
  std::vector<ContextKey> keys;  // newest first, cut to the token budget
  std::uint64_t keys_cut = 0;
  std::vector<ContextMemory> context_memories;  // importance >= .9 first, then newest; cut likewise
  std::uint64_t memories_cut = 0;
  std::vector<std::string> arms;  // of recall, that can run
  std::vector<std::string> may;   // tools the policy permits here
  std::string vault;              // "open", "locked", "no_vault"
  std::string unlock_hint;        // how to unlock; empty when open
  std::string anchor;             // "ok", "new", "off", "unavailable"
  std::uint64_t erase_pending = 0;
  std::vector<std::string> notes;
};

/// The token rule used everywhere: ceil(ASCII bytes / 4) plus 1 for each other code point.
std::uint64_t count_tokens(std::string_view text) noexcept;

class MemoryService {
 public:
  /// Does no I/O.
  explicit MemoryService(ServiceOptions options);
  ~MemoryService();
  MemoryService(const MemoryService&) = delete;
  MemoryService& operator=(const MemoryService&) = delete;

  /// Stores the newest revision of a named value. Throws invalid and too_large naming the member,
  /// secret_detected for what looks like a credential, conflict when if_revision does not hold.
  RememberResult remember(const RememberRequest& request);
  /// nullopt: no such entry (or expired).
  std::optional<RecalledValue> recall(const RecallRequest& request);
  /// Names of this bank, and of `global` where the scoping mode reads both; never values.
  ListResult list(const ListRequest& request);
  /// Deletes the entry with all of its revisions; not there is no error.
  ForgetResult forget(const ForgetRequest& request);
  /// Newest first; nullopt: no such entry.
  std::optional<std::vector<Revision>> history(std::string_view key, const std::string& bank);

  // ---- memories (memories.h)

  /// One call is one transaction. A schema error in any item refuses all of it, naming
  /// items[i].field; otherwise each item is judged alone.
  RetainResult retain(const RetainRequest& request);
  /// Throws invalid for an empty query or one over 500 tokens.
  SearchResult search(const SearchRequest& request);
  /// What a question finds, ordered for a reader who draws conclusions; no model is asked. Throws
  /// as search(); invalid when query and context together have over 500 tokens.
  ReflectResult reflect(const ReflectRequest& request);
  /// Throws not_found ("No memory found with id ...").
  EditResult edit_memory(const EditRequest& request);
  MemoryDetail get_memory(const GetMemoryRequest& request);
  LinkResult link_memories(const LinkRequest& request);
  /// Throws invalid for a quote that its memory does not have, not_found for an unknown memory.
  ObserveResult observe(const ObserveRequest& request);
  ReviewResult review(const ReviewRequest& request);
  CandidatesResult consolidation_candidates(const CandidatesRequest& request);
  /// Reads every memory of the bank at the first call after a change.
  ListEntitiesResult list_entities(const ListEntitiesRequest& request);
  ListMemoriesResult list_memories(const ListMemoriesRequest& request);
  ListDocumentsResult list_documents(const std::string& bank);
  ListTagsResult list_tags(const std::string& bank);
  /// Forgets a document's memories and its name.
  DeleteDocumentResult delete_document(const std::string& document_id, const std::string& bank,
                                       bool erase = false);
  MemoryBankStats bank_stats(const std::string& bank);
  PurgeResult purge_memories(const PurgeRequest& request);
  /// Banks that the policy lets this principal read.
  std::vector<VisibleBank> visible_banks();
  /// Throws denied where the policy does not permit create_bank; conflict when it exists.
  VisibleBank create_bank(const std::string& name);

  /// `tools` are the names the caller serves; `may` is the permitted part. Never throws for a vault
  /// that is locked or missing: that is an answer here.
  ProjectContext project_context(std::uint64_t max_tokens, const std::string& bank,
                                 const std::vector<std::string>& tools);

  /// Writes buffered audit records; called by a timer and before a process ends. Throws when they
  /// cannot be written; they stay buffered.
  void flush_audit();
  /// Closes the vault when nothing called for `idle`; buffered records are written first.
  void close_if_idle(TimeMs idle);
  /// Flushes and closes.
  void close();

  struct State;  // internal to service/

 private:
  std::unique_ptr<State> state_;
};

}  // namespace strongroom::service
