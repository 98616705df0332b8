#include "vault/memories.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/error.h"

namespace strongroom::vault {
namespace {

constexpr std::size_t kTagSize = 5;

bool digit36(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

// The required fields of a body, as bits.
constexpr unsigned kText = 1, kPrevious = 2, kFirst = 4;

double importance_of(const BodyReader& body) {
  const auto value = std::bit_cast<double>(body.u64());
  if (!(value >= 0 && value <= 1)) throw_corrupt("a memory's importance is out of range");
  return value;
}

MemoryType type_of(const BodyReader& body) {
  const std::uint8_t value = body.u8();
  if (value > static_cast<std::uint8_t>(MemoryType::observation)) {
    throw_corrupt("a memory has an unknown type");
  }
  return static_cast<MemoryType>(value);
}

// What is said about a memory beyond its text: fields 32 and above.
void decode_detail(const BodyReader& body, Memory& memory) {
  switch (body.id()) {
    case 32: memory.mentioned = body.i64(); break;
    case 34: memory.occurred_start = body.i64(); break;
    case 36: memory.occurred_end = body.i64(); break;
    case 37: memory.invalidated = body.i64(); break;
    case 38: memory.restored = body.i64(); break;
    case 40: memory.superseded_by = body.u64(); break;
    case 42: memory.context = body.bytes(); break;
    case 44: memory.speaker = body.bytes(); break;
    case 46: memory.source_label = body.bytes(); break;
    case 48: memory.position = body.i64(); break;
    case 50: memory.document = body.bytes(); break;
    case 52: memory.document_first = body.u64(); break;
    case 54: memory.chunk_index = body.u32(); break;
    case 56:
      memory.row = load_le<std::uint32_t>(body.exactly(8));
      memory.rows = load_le<std::uint32_t>(body.bytes(), 4);
      break;
    case 58: memory.entities_field = body.bytes(); break;
    case 60: memory.metadata_field = body.bytes(); break;
    case 62: memory.occurred_found = body.u8() != 0; break;
    case 64: memory.sources = body.bytes(); break;
    case 66: memory.refines = body.u64(); break;
    default: body.unknown();
  }
}

Memory decode_memory(RecordId id, std::string_view bytes) {
  Memory memory;
  memory.id = id;
  unsigned required = 0;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 1:
        memory.text = body.bytes();
        required |= kText;
        break;
      case 2: memory.revision = body.u64(); break;
      case 3:
        memory.previous = body.u64();
        required |= kPrevious;
        break;
      case 4: memory.created = body.i64(); break;
      case 5:
        memory.first = body.u64();
        required |= kFirst;
        break;
      case 6: memory.updated = body.i64(); break;
      case 8: memory.expires = body.i64(); break;
      case 10: memory.type = type_of(body); break;
      case 12: memory.importance = importance_of(body); break;
      case 14: memory.older = body.bytes(); break;
      case 16: memory.tags_field = body.bytes(); break;
      case 18: memory.principal = body.bytes(); break;
      case 20: memory.tool = body.bytes(); break;
      case 22: memory.source = static_cast<SourceKind>(body.u8()); break;
      case 24: memory.session = body.id16(); break;
      case 26:  // a level that this version does not know is the lowest
        memory.trust = static_cast<Trust>(std::min<std::uint8_t>(body.u8(), 3));
        break;
      default: decode_detail(body, memory);
    }
  }
  if (required != (kText | kPrevious | kFirst)) throw_corrupt("a memory lacks a field");
  if (memory.first == 0 || memory.first > id) throw_corrupt("a memory has a wrong first record");
  return memory;
}

// Where a revision stands in its memory: what the draft does not say.
struct Place {
  RecordId first = 0, previous = 0;
  std::uint64_t revision = 1;
  TimeMs created = 0;
  std::string_view older;  // of the revision before
};

void write_origin(BodyWriter& body, const MemoryDraft& draft) {
  if (!draft.principal.empty()) body.field(18, draft.principal);
  if (!draft.tool.empty()) body.field(20, draft.tool);
  if (draft.source != SourceKind::unknown) body.u8(22, static_cast<std::uint8_t>(draft.source));
  if (draft.session != Id16{}) body.field(24, view(draft.session));
  if (draft.trust != Trust::agent) body.u8(26, static_cast<std::uint8_t>(draft.trust));
}

void write_detail(BodyWriter& body, const MemoryDraft& draft) {
  if (draft.mentioned != 0) body.i64(32, draft.mentioned);
  if (draft.occurred_start) body.i64(34, *draft.occurred_start);
  if (draft.occurred_end) body.i64(36, *draft.occurred_end);
  if (draft.invalidated) body.i64(37, *draft.invalidated);
  if (draft.restored) body.i64(38, *draft.restored);
  if (draft.superseded_by != 0) body.u64(40, draft.superseded_by);
  if (!draft.context.empty()) body.field(42, draft.context);
  if (!draft.speaker.empty()) body.field(44, draft.speaker);
  if (!draft.source_label.empty()) body.field(46, draft.source_label);
  if (draft.position) body.i64(48, *draft.position);
  if (!draft.document.empty()) body.field(50, draft.document);
  if (draft.document_first != 0) body.u64(52, draft.document_first);
  if (draft.chunk_index != 0) body.u32(54, draft.chunk_index);
  if (draft.row != 0 || draft.rows != 0) {
    body.u64(56, std::uint64_t{draft.rows} << 32 | draft.row);
  }
  if (!draft.entities.empty()) body.list(58, draft.entities);
  if (!draft.metadata.empty()) body.pairs(60, draft.metadata);
  if (draft.occurred_found) body.u8(62, 1);
  if (!draft.sources.empty()) {
    body.begin(64, sizeof(RecordId) * draft.sources.size());
    for (const RecordId source : draft.sources) body.raw(IntegerKey(source).view());
  }
  if (draft.refines != 0) body.u64(66, draft.refines);
}

RecordId append_memory(BankWrite& bank, const Place& place, const MemoryDraft& draft, TimeMs now) {
  BodyWriter body;
  body.reserve(draft.text.size() + place.older.size() + 320);
  body.field(1, draft.text);
  body.u64(2, place.revision);
  body.u64(3, place.previous);
  body.i64(4, place.created);
  body.u64(5, place.first);
  body.i64(6, now);
  if (draft.expires) body.i64(8, *draft.expires);
  if (draft.type != MemoryType::world) body.u8(10, static_cast<std::uint8_t>(draft.type));
  if (draft.importance != 0.5) body.u64(12, std::bit_cast<std::uint64_t>(draft.importance));
  if (place.previous != 0) {
    body.begin(14, sizeof(RecordId) + place.older.size());
    body.raw(IntegerKey(place.previous).view());
    body.raw(place.older);
  }
  if (!draft.tags.empty()) body.list(16, draft.tags);
  write_origin(body, draft);
  write_detail(body, draft);
  return bank.append(Kind::memory, body.body().view());
}

MemoryTombstone decode_tombstone(std::string_view bytes) {
  MemoryTombstone tombstone;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 2: tombstone.last_revision = body.u64(); break;
      case 4: tombstone.time = body.i64(); break;
      case 5: tombstone.first = body.u64(); break;
      case 18: break;
      default: body.unknown();
    }
  }
  if (tombstone.first == 0) throw_corrupt("a forgotten memory lacks a field");
  return tombstone;
}

// The memory that a name leads to.
NamedMemory open_named(BankRead& bank, RecordId id, RecordId first, SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  NamedMemory found;
  if (record.kind == Kind::memory) {
    found.memory = decode_memory(id, record.body);
    if (found.memory->first != first) throw_corrupt("a memory's id leads to another memory");
    return found;
  }
  if (record.kind != Kind::memory_tombstone) {
    throw_corrupt("a memory's id leads to another kind of record");
  }
  found.tombstone = decode_tombstone(record.body);
  if (found.tombstone->first != first) throw_corrupt("a memory's id leads to another memory");
  return found;
}

std::vector<RecordId> record_ids(std::string_view field) {
  if (field.size() % sizeof(RecordId) != 0) throw_corrupt("a memory's list of records is cut off");
  std::vector<RecordId> ids;
  ids.reserve(field.size() / sizeof(RecordId));
  for (std::size_t at = 0; at < field.size(); at += sizeof(RecordId)) {
    ids.push_back(load_le<RecordId>(field, at));
  }
  return ids;
}

// Ids of up to `most` records of kind memory, from `from` on.
std::vector<RecordId> memory_records(BankRead& bank, RecordId from, std::size_t most) {
  std::vector<RecordId> ids;
  ids.reserve(most);
  bank.txn().scan(Table::records, IntegerKey(from).view(),
                  [&](std::string_view key, std::string_view row) {
                    if (read_envelope(row).kind == Kind::memory) {
                      ids.push_back(load_le<std::uint64_t>(key));
                    }
                    return ids.size() < most;
                  });
  return ids;
}

}  // namespace

std::string memory_id(std::string_view bank_tag, RecordId first) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, first, 36).ptr;
  std::string id;
  id.reserve(bank_tag.size() + 1 + static_cast<std::size_t>(end - digits));
  id.append(bank_tag).append(1, '-').append(digits, end);
  return id;
}

std::optional<MemoryId> parse_memory_id(std::string_view id) {
  if (id.size() < kTagSize + 2 || id[kTagSize] != '-') return std::nullopt;
  const std::string_view tag = id.substr(0, kTagSize), digits = id.substr(kTagSize + 1);
  if (!std::all_of(tag.begin(), tag.end(), digit36) || digits[0] == '0' ||
      !std::all_of(digits.begin(), digits.end(), digit36)) {
    return std::nullopt;
  }
  MemoryId parsed;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), parsed.first, 36);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  parsed.tag = tag;
  return parsed;
}

MemoryName::MemoryName(RecordId first)
    : size_(static_cast<std::size_t>(std::to_chars(text_, text_ + sizeof text_, first).ptr -
                                     text_)) {}

std::vector<std::string> Memory::tags() const {
  return tags_field.empty() ? std::vector<std::string>() : decode_list(tags_field);
}

std::vector<std::string> Memory::entities() const {
  return entities_field.empty() ? std::vector<std::string>() : decode_list(entities_field);
}

std::vector<std::pair<std::string, std::string>> Memory::metadata() const {
  if (metadata_field.empty()) return {};
  std::vector<std::string> items = decode_list(metadata_field);
  if (items.size() % 2 != 0) throw_corrupt("a memory's metadata is not in pairs");
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(items.size() / 2);
  for (std::size_t i = 0; i < items.size(); i += 2) {
    pairs.emplace_back(std::move(items[i]), std::move(items[i + 1]));
  }
  return pairs;
}

std::vector<RecordId> Memory::older_ids() const {
  return record_ids(older);
}

std::vector<RecordId> Memory::source_ids() const {
  return record_ids(sources);
}

std::optional<NamedMemory> find_memory(BankRead& bank, RecordId first, SecretBytes& plain) {
  if (const auto id = bank.find(Kind::memory, MemoryName(first).view())) {
    return open_named(bank, *id, first, plain);
  }
  // Without a name there is one revision, or `first` is something else.
  const auto row = bank.txn().get(Table::records, IntegerKey(first).view());
  if (!row || read_envelope(*row).kind != Kind::memory) return std::nullopt;
  const Memory memory = open_memory(bank, first, plain);
  if (memory.first != first) return std::nullopt;
  return NamedMemory{memory, std::nullopt};
}

Memory open_memory(BankRead& bank, RecordId id, SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  if (record.kind != Kind::memory) throw_corrupt("a record is not a memory");
  return decode_memory(id, record.body);
}

MemoryTombstone open_memory_tombstone(BankRead& bank, RecordId id, SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  if (record.kind != Kind::memory_tombstone) throw_corrupt("a record is not a forgotten memory");
  return decode_tombstone(record.body);
}

MemoryDraft draft_of(const Memory& memory) {
  MemoryDraft draft;
  draft.text = memory.text;
  draft.type = memory.type;
  draft.importance = memory.importance;
  draft.mentioned = memory.mentioned;
  draft.occurred_start = memory.occurred_start;
  draft.occurred_end = memory.occurred_end;
  draft.occurred_found = memory.occurred_found;
  draft.expires = memory.expires;
  draft.invalidated = memory.invalidated;
  draft.restored = memory.restored;
  draft.superseded_by = memory.superseded_by;
  draft.context = memory.context;
  draft.speaker = memory.speaker;
  draft.source_label = memory.source_label;
  draft.position = memory.position;
  draft.document = memory.document;
  draft.document_first = memory.document_first;
  draft.chunk_index = memory.chunk_index;
  draft.row = memory.row;
  draft.rows = memory.rows;
  draft.refines = memory.refines;
  draft.sources = memory.source_ids();
  draft.tags = memory.tags();
  draft.entities = memory.entities();
  draft.metadata = memory.metadata();
  draft.principal = memory.principal;
  draft.tool = memory.tool;
  draft.source = memory.source;
  draft.session = memory.session;
  draft.trust = memory.trust;
  return draft;
}

RecordId add_memory(BankWrite& bank, const MemoryDraft& draft, TimeMs now) {
  Place place;
  place.first = bank.next_id();
  place.created = now;
  const RecordId id = append_memory(bank, place, draft, now);
  if (!draft.invalidated) ++bank.mutable_head().counts.memories;
  return id;
}

RecordId revise_memory(BankWrite& bank, const Memory& current, const MemoryDraft& draft,
                       TimeMs now) {
  Place place;
  place.first = current.first;
  place.previous = current.id;
  place.revision = current.revision + 1;
  place.created = current.created;
  place.older = current.older;
  const RecordId id = append_memory(bank, place, draft, now);
  bank.bind(Kind::memory, MemoryName(current.first).view(), id);
  BankCounts& counts = bank.mutable_head().counts;
  if (current.invalidated && !draft.invalidated) ++counts.memories;
  if (!current.invalidated && draft.invalidated) --counts.memories;
  return id;
}

RecordId forget_memory(BankWrite& bank, const Memory& current, std::string_view principal,
                       TimeMs now) {
  for (const RecordId id : current.older_ids()) bank.erase(id);
  bank.erase(current.id);
  BodyWriter body;
  body.u64(2, current.revision);
  body.i64(4, now);
  body.u64(5, current.first);
  body.field(18, principal);
  const RecordId id = bank.append(Kind::memory_tombstone, body.body().view());
  bank.bind(Kind::memory, MemoryName(current.first).view(), id);
  BankCounts& counts = bank.mutable_head().counts;
  if (!current.invalidated) --counts.memories;
  ++counts.tombstones;
  return id;
}

void for_each_memory(BankRead& bank, RecordId from,
                     const std::function<bool(const Memory&)>& visit) {
  // A batch at a time, so that `visit` may write to the bank.
  constexpr std::size_t kBatch = 256;
  SecretBytes plain;
  for (;;) {
    const std::vector<RecordId> ids = memory_records(bank, from, kBatch);
    for (const RecordId id : ids) {
      // A later revision has no name of its own, and is not the first: find_memory passes it over.
      const auto found = find_memory(bank, id, plain);
      if (found && found->memory && !visit(*found->memory)) return;
    }
    if (ids.size() < kBatch) return;
    from = ids.back() + 1;
  }
}

}  // namespace strongroom::vault
