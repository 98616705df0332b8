// Requests and replies for free-text memories: what agents and people may ask of MemoryService
// beside named entries. Limits and words are the contract's; every check is made here, so that all
// callers have the same.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace strongroom::service {

inline constexpr std::size_t kMaxContentBytes = std::size_t{1} << 20;    // of a memory
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{16} << 20;  // with document_id
inline constexpr std::size_t kMaxContextBytes = 4096;
inline constexpr std::size_t kMaxNameBytes = 256;  // speaker, entity, document_id, source, relation
inline constexpr std::size_t kMaxEntities = 64;
inline constexpr std::size_t kMaxMetadata = 64;         // pairs
inline constexpr std::size_t kMaxMetadataBytes = 4096;  // of one value
inline constexpr std::uint64_t kMaxQueryTokens = 500;
inline constexpr std::size_t kMaxResults = 200;
inline constexpr std::size_t kMaxFilterTags = 10'000;  // in one request, groups together

enum class MemoryType : std::uint8_t { world = 0, experience = 1, observation = 2 };
std::string_view memory_type_name(MemoryType type) noexcept;
/// Types and their aliases on retain and as filters; `permanent` is none of these.
std::optional<MemoryType> parse_memory_type(std::string_view name) noexcept;

/// RFC 3339, a date alone, or a time without zone (UTC). Throws invalid naming `field`: 30
/// February, years 0 or above 9999.
TimeMs parse_time(std::string_view text, std::string_view field);

// ---- retain

struct RetainItem {
  std::string content;
  std::string context, speaker, document_id;
  std::optional<MemoryType> type;
  std::vector<std::string> tags, entities;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::optional<TimeMs> timestamp;  // absent: now
  std::optional<TimeMs> occurred_start, occurred_end, expires_at;
  std::optional<double> importance;  // absent: .5
  std::optional<std::int64_t> position;
  bool append = false;  // update_mode
};
struct RetainRequest {
  std::vector<RetainItem> items;
  std::string source;         // a free label
  std::string operation_id;   // empty = none; at most 256 bytes
  std::string bank;           // empty = the project's
  bool allow_secret = false;  // CLI --allow-secret
};
enum class ItemStatus : std::uint8_t { stored, duplicate, rejected, quarantined };
std::string_view item_status_name(ItemStatus status) noexcept;
struct RetainedItem {
  std::string id;  // of the memory, the original of a duplicate, or the document's first memory
  ItemStatus status = ItemStatus::stored;
  std::string reason;          // of a rejection; of one that is stored, what it is similar to
  std::uint64_t memories = 1;  // more than one for a document
  std::string document_id;
};
struct RetainResult {
  std::vector<RetainedItem> items;  // in the order of the request
  std::uint64_t count = 0;          // stored and duplicate
  bool repeated = false;            // answered from an earlier call with the same operation_id
  std::string bank;
  std::vector<std::string> notes;
  std::string warning;  // what went wrong behind an answer that stands; one of the notes as well
};

// ---- search

enum class TagMatch : std::uint8_t { any, any_strict, all, all_strict, exact };
/// nullopt for an unknown word.
std::optional<TagMatch> parse_tag_match(std::string_view word) noexcept;

/// A tag expression: a leaf, or a combination of others. Nested to 16.
struct TagGroup {
  enum class Kind : std::uint8_t { leaf, all_of, any_of, none_of };
  Kind kind = Kind::leaf;
  std::vector<std::string> tags;  // leaf
  TagMatch match = TagMatch::any_strict;
  std::vector<TagGroup> parts;  // none_of has one
};
inline constexpr int kMaxTagGroupDepth = 16;

enum class Budget : std::uint8_t { low, mid, high };

struct SearchRequest {
  std::string query;
  std::vector<std::string> scope;  // "global", "project" (or "bank"), or empty: as the mode says
  std::string bank;
  std::vector<MemoryType> types;  // empty = all, unless permanent is set
  bool permanent = false;         // also importance 1
  std::vector<std::string> tags;
  TagMatch tags_match = TagMatch::any;
  std::vector<TagGroup> tag_groups;  // AND-ed with each other and with tags
  std::size_t limit = 30;
  std::uint64_t max_tokens = 4096;
  double min_score = 0.3;
  struct MinScores {
    std::optional<double> semantic, keyword, final;
  } min_scores;
  Budget budget = Budget::mid;
  std::optional<TimeMs> query_timestamp, as_of;
  std::optional<TimeMs> window_start, window_end;
  bool prefer_observations = false;
  std::optional<std::uint64_t> include_chunks;        // tokens; absent = off
  std::optional<std::uint64_t> include_source_facts;  // tokens; absent = off
  std::optional<std::uint64_t> include_entities = 500;
  bool find_entities = false;  // those of the texts too, besides those that were given with them
  bool include_invalid = false;
  bool trace = false;
  /// Arms to run: "keyword", "graph". Empty = all there are.
  std::vector<std::string> arms;
  /// Parts of the ranking to leave out (recall::part_named), to see what each brings.
  std::vector<std::string> without;
};

struct FoundPrior {
  double similarity = 0, weight = 1, recency = 1, scope = 1, access = 1, type = 1;
};
struct FoundMemory {
  std::string id, text, context, document_id, chunk_id, superseded_by, source, speaker, bank;
  std::uint32_t chunk_index = 0;
  MemoryType type = MemoryType::world;
  std::string trust;  // owner, agent, imported, untrusted
  std::string trend;  // of an observation with sources: new, stable, stale (observations.h)
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::string> tags, entities, source_fact_ids;
  std::optional<TimeMs> occurred_start, occurred_end;
  TimeMs mentioned_at = 0;
  double importance = 0.5;
  bool valid = true;
  bool truncated = false;  // the first result, cut to max_tokens
  struct Window {
    std::uint64_t start, end;  // bytes of the best passage; for texts of more than one
  };
  std::optional<Window> window;
  double score = 0;                                          // = final
  std::optional<double> semantic, keyword, temporal, graph;  // null: the arm did not run
  FoundPrior prior;
  std::string band;  // apply, hint, weak
};
struct FoundChunk {
  std::string id, text;
  std::uint32_t chunk_index = 0;
  bool truncated = false;
};
/// A memory that an observation quotes.
struct FoundSource {
  std::string id, text;
  MemoryType type = MemoryType::world;
  TimeMs mentioned_at = 0;
  bool valid = true;
  bool truncated = false;
  std::vector<std::string> quotes;  // of the first result that quotes it
};
struct FoundEntity {
  std::string entity_id, canonical_name;
  std::vector<std::string> observations;
};
/// keyword, semantic, temporal or graph.
bool known_arm(std::string_view name) noexcept;

struct ArmReport {
  std::string name;
  std::string state;   // "ran", "off", "behind" (it ran on what it has), "unavailable"
  std::string reason;  // why not, or what was cut
  std::string model;   // of the semantic arm
  std::uint64_t candidates = 0;
  bool cut = false;
};
/// A time that the query names.
struct SearchTraceTime {
  std::string words;  // of the query
  std::string time;   // 2023-05-08, 2023-05-01/2023-05-31, ../2020-12-31
};
struct SearchTraceTerm {
  std::string term;
  std::uint64_t memories = 0;
  double weight = 0;
  std::vector<std::string> corrected_to;
};
struct SearchTraceHit {
  std::string id;
  double value = 0;
};
struct SearchTrace {
  std::vector<SearchTraceTerm> terms;
  std::vector<std::string> speakers;
  std::vector<SearchTraceTime> times;
  std::vector<SearchTraceHit> keyword, semantic, temporal, graph, final;
  double attainable = 0;
  std::uint64_t postings = 0;
  std::vector<std::pair<std::string, std::int64_t>> timings_us;
};
struct SearchResult {
  std::vector<FoundMemory> results;  // best first
  bool abstained = false;
  double best_score = 0;  // also when nothing reached min_score
  std::vector<FoundChunk> chunks;
  std::vector<FoundSource> source_facts;
  std::vector<FoundEntity> entities;
  std::vector<ArmReport> arms;
  std::uint64_t tokens = 0;        // of the texts returned
  std::uint64_t cut_results = 0;   // left out by max_tokens
  std::vector<std::string> banks;  // read
  TimeMs as_of = 0;                // of the answer
  std::optional<SearchTrace> trace;
  std::vector<std::string> notes;
};

// ---- reflect

struct ReflectRequest {
  std::string query;
  std::string context;  // what the question is part of: searched as well, together with it
  std::vector<std::string> scope;  // as in SearchRequest
  std::string bank;
  std::vector<std::string> tags;
  TagMatch tags_match = TagMatch::any;
  Budget budget = Budget::mid;
  std::uint64_t max_tokens = 4096;  // of the texts of all themes
};
struct ReflectTheme {
  std::string label;                 // words of the texts, or a name; stored text, as they are
  std::vector<FoundMemory> results;  // best first
};
struct ReflectMoment {
  std::string id;
  TimeMs time = 0;            // when what it tells of began, else when it was said
  std::optional<TimeMs> end;  // of a span
  bool occurred = false;      // false: the time is that of saying it
};
/// Two memories that may disagree: a hint, not a verdict.
struct Contradiction {
  std::string newer, older;  // ids
  std::string rule;          // link, negation, opposite, date, version, number
};
struct ReflectResult {
  std::vector<ReflectTheme> themes;  // by their best result
  std::vector<ReflectMoment> timeline;
  std::vector<Contradiction> contradictions;
  std::vector<FoundMemory> superseded;  // invalidated memories that the question finds
  std::vector<std::string> gaps;        // what the evidence does not cover, a sentence each
  std::vector<std::string> ids;         // of themes, then of superseded
  std::uint64_t tokens = 0;             // of the texts of all themes
  std::uint64_t cut_results = 0;        // left out by max_tokens
  bool abstained = false;
  double best_score = 0;
  std::vector<ArmReport> arms;
  std::vector<std::string> banks;  // read
  TimeMs as_of = 0;
  std::vector<std::string> notes;
};
/// Leaves memories out, wherever a result names them: for answers with no room for all.
void leave_out(ReflectResult& result, const std::set<std::string>& ids);

// ---- edit, get, link

/// What an erasure takes away. It is complete when the bank's file has been rewritten (compact).
struct EraseReceipt {
  std::string id;  // of the record that the log names
  TimeMs time = 0;
  std::vector<std::string> destroyed, not_reached;
  bool pending = true;
};

enum class EditOp : std::uint8_t { update, forget, invalidate, restore };
struct EditRequest {
  EditOp op = EditOp::update;
  std::string id;
  std::optional<std::string> content;
  std::optional<double> importance;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::vector<std::pair<std::string, std::string>>> metadata;
  std::string replacement_id;  // invalidate
  std::optional<std::uint64_t> if_revision;
  std::string bank;  // must not contradict the id
  bool allow_secret = false;
  bool erase = false;  // forget: so that it cannot be recovered from the file
};
struct EditResult {
  std::string status;  // updated, deleted, invalidated, restored
  std::string id, bank;
  std::uint64_t revision = 0;
  std::vector<std::string> affected;  // ids of other memories that changed with it
  std::optional<EraseReceipt> receipt;
  std::vector<std::string> notes;
};

struct MemoryLinkInfo {
  std::string from, to, relation;  // ids or entity names
  std::optional<TimeMs> valid_from, valid_until;
};
struct MemoryRevision {
  std::uint64_t revision = 0;
  TimeMs updated = 0;
  std::string principal, source;
  std::uint64_t bytes = 0;
  bool valid = true;
};
struct GetMemoryRequest {
  std::string id, document_id;  // exactly one
  std::uint64_t offset = 0;
  std::uint64_t max_bytes = 32768;
  std::string bank;
};
/// A whole memory with its history, or a document with its memories.
struct MemoryDetail {
  std::string id, document_id, bank;
  std::string text;         // the part asked for
  std::uint64_t bytes = 0;  // of the whole text
  std::optional<std::uint64_t> next_offset;
  bool forgotten_parts = false;  // a document's text has [removed] where a memory was forgotten
  FoundMemory memory;            // without text and scores; for a document: tags alone
  std::uint64_t revision = 0;
  TimeMs created = 0, updated = 0;
  std::optional<TimeMs> invalidated_at, expires_at;
  std::string principal, tool, source_kind, source_label, session;
  std::vector<MemoryRevision> history;  // newest first
  std::vector<FoundSource> sources;     // of an observation
  std::vector<MemoryLinkInfo> links;    // newest first, at most 100
  std::uint64_t links_total = 0;
  struct Part {
    std::string id;
    bool removed = false;
  };
  std::vector<Part> parts;  // a document's memories in order, at most 1,000
  std::uint64_t parts_total = 0;
  std::vector<std::string> notes;
};

struct LinkRequest {
  std::string from, to, relation;  // ids, or names of entities
  std::optional<TimeMs> valid_from, valid_until;
  bool remove = false;
  std::string bank;
};
struct LinkResult {
  std::string status;  // linked, updated, removed
  MemoryLinkInfo link;
  std::string bank;
  std::vector<std::string> notes;
};

// ---- lists, statistics, removal in bulk

struct ListMemoriesRequest {
  std::string bank;
  std::vector<MemoryType> types;
  std::vector<std::string> tags;
  TagMatch tags_match = TagMatch::any_strict;
  bool include_invalid = false;
  std::size_t limit = 50;  // 0 = no limit (CLI)
  std::string cursor;      // from an earlier page; opaque
};
struct ListedMemory {
  std::string id, text, document_id, bank;  // text whole: the caller shortens
  MemoryType type = MemoryType::world;
  std::vector<std::string> tags;
  TimeMs mentioned_at = 0, updated = 0;
  double importance = 0.5;
  bool valid = true;
};
struct ListMemoriesResult {
  std::vector<ListedMemory> memories;  // newest first
  std::optional<std::string> cursor;
  std::string bank;
  std::vector<std::string> notes;
};
struct ListedDocument {
  std::string document_id, bank;
  std::uint64_t memories = 0;
  std::vector<std::string> tags;
  TimeMs created = 0, updated = 0;
};
struct ListDocumentsResult {
  std::vector<ListedDocument> documents;  // by name
  std::string bank;
  std::vector<std::string> notes;
};
struct ListedTag {
  std::string tag;
  std::uint64_t memories = 0;
};
struct ListTagsResult {
  std::vector<ListedTag> tags;  // most used first, then by name
  std::string bank;
  std::vector<std::string> notes;
};
struct MemoryBankStats {
  std::string bank, tag;
  std::uint64_t entries = 0, memories = 0, documents = 0, links = 0;
  std::uint64_t rows = 0, live_rows = 0, dead_rows = 0, segments = 0, merges_running = 0,
                tail_rows = 0, garbage_blocks = 0, tag_sets = 0, speakers = 0;
  std::map<std::string, std::uint64_t> by_type;
  std::uint64_t erase_pending = 0;
  std::vector<std::string> notes;
};
struct PurgeRequest {
  std::string bank;
  std::vector<std::string> tags;  // all_strict: every one of them
  std::optional<TimeMs> before;   // mentioned before
  std::vector<MemoryType> types;
  bool invalid_only = false;  // invalidated and expired ones
  std::string document_id;
  bool dry_run = true;
};
struct PurgeResult {
  std::uint64_t matched = 0, removed = 0;
  std::vector<std::string> ids;  // at most 1,000
  bool dry_run = true;
  std::string bank;
  std::vector<std::string> notes;
};
struct DeleteDocumentResult {
  bool found = false;
  std::uint64_t memories = 0;
  std::string bank;
  std::optional<EraseReceipt> receipt;
  std::vector<std::string> notes;
};
struct VisibleBank {
  std::string name, tag;
  bool counted = false;  // false: the policy hides something, and a total would tell how much
  std::uint64_t entries = 0, memories = 0, documents = 0;
  bool is_default = false;
};

}  // namespace strongroom::service
