#include "vault/entries.h"

#include <algorithm>

#include "base/error.h"
#include "crypto/aead.h"
#include "crypto/process.h"

namespace strongroom::vault {

std::string_view source_name(SourceKind source) noexcept {
  switch (source) {
    case SourceKind::unknown: return "unknown";
    case SourceKind::cli: return "cli";
    case SourceKind::mcp: return "mcp";
    case SourceKind::library: return "library";
    case SourceKind::import: return "import";
  }
  return "unknown";
}

std::string chunk_key(const Id16& content, std::uint32_t index) {
  std::string key(view(content));
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(index >> shift));
  return key;
}

std::vector<std::string> Entry::tags() const {
  if (tags_field.empty()) return {};
  std::string field;  // a BodyReader reads lists: give it a body of one field
  append_varint(field, 16);
  append_varint(field, tags_field.size());
  field.append(tags_field);
  BodyReader reader(field);
  reader.next();
  return reader.list();
}

std::vector<RecordId> Entry::older_ids() const {
  std::vector<RecordId> ids;
  for (std::size_t at = 0; at + 8 <= older.size(); at += 8) {
    ids.push_back(load_le<std::uint64_t>(older, at));
  }
  return ids;
}

namespace {

std::uint32_t chunk_count(std::uint64_t bytes) {
  return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + kChunkBytes - 1) / kChunkBytes);
}

// A chunk is bound to its record, its content, its place in it and to being the last one.
std::string chunk_aad(const Bank& bank, RecordId record, const Id16& content, std::uint32_t index,
                      bool last) {
  const auto base =
      row_aad(crypto::labels::kAadChunk, bank.place(Kind::entry, bank.keys().version, record));
  std::string aad(base.data(), base.size());
  aad.append(view(content));
  append_le(aad, index);
  aad.push_back(last ? 1 : 0);
  return aad;
}

crypto::SecretKey chunk_sealer(const Bank& bank, EntryClass entry_class, const Id16& content) {
  const bool secret = entry_class == EntryClass::secret;
  const crypto::SecretKey& key = secret ? bank.keys().secret : bank.keys().chunks;
  if (key.empty()) {
    throw Error(Code::locked, "This process does not hold the key for values of class secret.");
  }
  return crypto::derive(key, crypto::labels::kChunk, view(content));
}

Entry decode_entry(RecordId id, std::string_view bytes) {
  Entry entry;
  entry.id = id;
  unsigned required = 0;
  for (BodyReader body(bytes); body.next();) {
    required += body.id() % 2;
    switch (body.id()) {
      case 1: entry.name = body.bytes(); break;
      case 2: entry.revision = body.u64(); break;
      case 3: entry.previous = body.u64(); break;
      case 4: entry.created = body.i64(); break;
      case 6: entry.updated = body.i64(); break;
      case 8: entry.expires = body.i64(); break;
      case 10: entry.entry_class = static_cast<EntryClass>(body.u8() & 1); break;
      case 12: entry.form = static_cast<ValueForm>(body.u8() & 1); break;
      case 13:
        entry.inline_value = body.bytes();
        entry.bytes = body.bytes().size();
        break;
      case 14: entry.older = body.bytes(); break;
      case 15:
        entry.content_id = id_from(body.exactly(56).substr(0, 16));
        entry.bytes = load_le<std::uint64_t>(body.bytes(), 16);
        entry.content_hash = body.bytes().substr(24);
        break;
      case 16: entry.tags_field = body.bytes(); break;
      case 18: entry.principal = body.bytes(); break;
      case 20: entry.tool = body.bytes(); break;
      case 22: entry.source = static_cast<SourceKind>(body.u8()); break;
      case 24: entry.session = body.id16(); break;
      case 26: entry.trust = static_cast<Trust>(body.u8()); break;
      default: body.unknown();
    }
  }
  // Name, predecessor, and either form of the value.
  if (required != 3) throw_corrupt("an entry lacks a field");
  return entry;
}

}  // namespace

Entry open_entry(BankRead& bank, RecordId id, SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  if (record.kind != Kind::entry) throw_corrupt("a record is not an entry");
  return decode_entry(id, record.body);
}

std::optional<NamedEntry> find_entry(BankRead& bank, std::string_view name, SecretBytes& plain) {
  const auto id = bank.find(Kind::entry, name);
  if (!id) return std::nullopt;
  const BankRead::Record record = bank.open(*id, plain);
  NamedEntry found;
  if (record.kind == Kind::entry) {
    found.entry = decode_entry(*id, record.body);
    if (found.entry->name != name) throw_corrupt("a name leads to another entry");
    return found;
  }
  if (record.kind != Kind::entry_tombstone) throw_corrupt("a name leads to another kind of record");
  Tombstone tombstone;
  bool matches = false;
  for (BodyReader body(record.body); body.next();) {
    switch (body.id()) {
      case 1:
        matches = body.bytes() == crypto::view(bank.bank().name_hash(Kind::entry, name));
        break;
      case 2: tombstone.last_revision = body.u64(); break;
      case 4: tombstone.time = body.i64(); break;
      case 10: tombstone.entry_class = static_cast<EntryClass>(body.u8() & 1); break;
      case 18: break;
      default: body.unknown();
    }
  }
  if (!matches) throw_corrupt("a name leads to another entry");
  found.tombstone = tombstone;
  return found;
}

void read_value(BankRead& bank, const Entry& entry, std::uint64_t offset, std::uint64_t size,
                SecretBytes& out) {
  if (offset >= entry.bytes) return;
  size = std::min(size, entry.bytes - offset);
  if (entry.inline_value) {
    out.append(entry.inline_value->substr(static_cast<std::size_t>(offset),
                                          static_cast<std::size_t>(size)));
    return;
  }
  const crypto::SecretKey key = chunk_sealer(bank.bank(), entry.entry_class, entry.content_id);
  const std::uint32_t count = chunk_count(entry.bytes);
  const auto first = static_cast<std::uint32_t>(offset / kChunkBytes);
  const auto last = static_cast<std::uint32_t>((offset + size - 1) / kChunkBytes);
  const std::size_t start = out.size();
  out.reserve(start + static_cast<std::size_t>(size));
  SecretBytes plain;
  for (std::uint32_t index = first; index <= last; ++index) {
    const auto row = bank.txn().get(Table::chunks, chunk_key(entry.content_id, index));
    if (!row) throw_corrupt("a part of a value is missing");
    read_envelope(*row);
    if (!crypto::open(key,
                      chunk_aad(bank.bank(), entry.id, entry.content_id, index, index + 1 == count),
                      row->substr(7), plain)) {
      throw_corrupt("a part of a value is not authentic");
    }
    const std::uint64_t begin = std::uint64_t{index} * kChunkBytes;
    const std::uint64_t length = std::min<std::uint64_t>(kChunkBytes, entry.bytes - begin);
    if (plain.size() < length) throw_corrupt("a part of a value is too short");
    const std::uint64_t from = std::max(begin, offset),
                        to = std::min(begin + length, offset + size);
    out.append(plain.view().substr(static_cast<std::size_t>(from - begin),
                                   static_cast<std::size_t>(to - from)));
  }
  if (size == entry.bytes &&
      !crypto::equal(
          crypto::view(crypto::hash32(crypto::labels::kContentHash, {out.view().substr(start)})),
          entry.content_hash)) {
    throw_corrupt("a value does not match its hash");
  }
}

namespace {

void write_chunks(BankWrite& bank, RecordId record, EntryClass entry_class, const Id16& content,
                  std::string_view value) {
  const crypto::SecretKey key = chunk_sealer(bank.bank(), entry_class, content);
  const std::uint32_t count = chunk_count(value.size());
  for (std::uint32_t index = 0; index < count; ++index) {
    const bool last = index + 1 == count;
    std::string_view part = value.substr(std::size_t{index} * kChunkBytes, kChunkBytes);
    SecretBytes padded;
    if (last) {
      const std::size_t size =
          std::min(kChunkBytes, crypto::padme(std::max(kRecordFloor, part.size())));
      padded.reserve(size);
      padded.append(part);
      padded.resize(size);
      part = padded.view();
    }
    bank.put_row(Table::chunks, chunk_key(content, index),
                 seal_raw(key, Kind::entry, bank.bank().keys().version,
                          chunk_aad(bank.bank(), record, content, index, last), part),
                 true);
  }
}

// A revision and the chunks of its value.
void erase_revision(BankWrite& bank, RecordId id) {
  SecretBytes plain;
  const Entry entry = open_entry(bank, id, plain);
  if (!entry.inline_value) {
    for (std::uint32_t index = 0; index < chunk_count(entry.bytes); ++index) {
      bank.erase_row(Table::chunks, chunk_key(entry.content_id, index), true);
    }
  }
  bank.erase(id);
}

// The ids of kept older revisions after a new one, and the erasure of what is beyond `keep`.
std::string trim_history(BankWrite& bank, const Entry& current, std::size_t keep) {
  std::vector<RecordId> older{current.id};
  for (const RecordId id : current.older_ids()) older.push_back(id);
  while (older.size() + 1 > std::max<std::size_t>(keep, 1)) {
    erase_revision(bank, older.back());
    older.pop_back();
  }
  std::string ids;
  for (const RecordId id : older) append_le(ids, id);
  return ids;
}

std::string content_field(const Id16& content, std::string_view value) {
  std::string field(view(content));
  append_le(field, static_cast<std::uint64_t>(value.size()));
  field.append(crypto::view(crypto::hash32(crypto::labels::kContentHash, {value})));
  return field;
}

void count_class(BankCounts& counts, EntryClass entry_class, bool add) {
  const std::uint64_t one = add ? 1 : ~std::uint64_t{0};
  counts.entries += one;
  if (entry_class == EntryClass::secret) counts.secrets += one;
}

}  // namespace

PutResult put_entry(BankWrite& bank, const std::optional<NamedEntry>& current,
                    const EntryDraft& draft, std::size_t keep, TimeMs now) {
  PutResult result;
  result.revision = 1;
  RecordId previous = 0;
  TimeMs created = now;
  std::string older;
  if (current && current->entry) {
    const Entry& entry = *current->entry;
    result.revision = entry.revision + 1;
    count_class(bank.mutable_head().counts, entry.entry_class, false);
    if (entry.expired(now)) {
      // Expired is absent: nothing of it stays, its number goes on.
      for (const RecordId id : entry.older_ids()) erase_revision(bank, id);
      erase_revision(bank, entry.id);
    } else {
      previous = entry.id;
      created = entry.created;
      older = trim_history(bank, entry, keep);
      if (older.empty()) previous = 0;
    }
  } else if (current && current->tombstone) {
    result.revision = current->tombstone->last_revision + 1;
    bank.erase(*bank.find(Kind::entry, draft.name));
    --bank.mutable_head().counts.tombstones;
  }

  const bool chunked = draft.entry_class == EntryClass::secret || draft.value.size() > kInlineLimit;
  const Id16 content = chunked ? random_id() : Id16{};
  BodyWriter body;
  body.field(1, draft.name);
  body.u64(2, result.revision);
  body.u64(3, previous);
  body.i64(4, created);
  body.i64(6, now);
  if (draft.expires) body.i64(8, *draft.expires);
  body.u8(10, static_cast<std::uint8_t>(draft.entry_class));
  body.u8(12, static_cast<std::uint8_t>(draft.form));
  if (!chunked) body.field(13, draft.value);
  if (!older.empty()) body.field(14, older);
  if (chunked) body.field(15, content_field(content, draft.value));
  if (!draft.tags.empty()) body.list(16, draft.tags);
  body.field(18, draft.principal);
  body.field(20, draft.tool);
  body.u8(22, static_cast<std::uint8_t>(draft.source));
  body.field(24, view(draft.session));
  body.u8(26, static_cast<std::uint8_t>(draft.trust));
  if (chunked) write_chunks(bank, bank.next_id(), draft.entry_class, content, draft.value);
  result.id = bank.append(Kind::entry, body.body().view());
  bank.bind(Kind::entry, draft.name, result.id);
  count_class(bank.mutable_head().counts, draft.entry_class, true);
  return result;
}

RecordId forget_entry(BankWrite& bank, const Entry& current, std::string_view principal,
                      TimeMs now) {
  const std::string name(current.name);
  const std::uint64_t revision = current.revision;
  const EntryClass entry_class = current.entry_class;
  for (const RecordId id : current.older_ids()) erase_revision(bank, id);
  erase_revision(bank, current.id);
  BodyWriter body;
  body.field(1, crypto::view(bank.bank().name_hash(Kind::entry, name)));
  body.u64(2, revision);
  body.i64(4, now);
  if (entry_class == EntryClass::secret) body.u8(10, static_cast<std::uint8_t>(entry_class));
  body.field(18, principal);
  const RecordId id = bank.append(Kind::entry_tombstone, body.body().view());
  bank.bind(Kind::entry, name, id);
  count_class(bank.mutable_head().counts, entry_class, false);
  ++bank.mutable_head().counts.tombstones;
  return id;
}

}  // namespace strongroom::vault
