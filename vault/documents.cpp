#include "vault/documents.h"

#include <algorithm>

#include "base/error.h"

namespace strongroom::vault {
namespace {

// The required fields of a head, as bits.
constexpr unsigned kName = 1, kFirst = 2, kRecent = 4;

void write_parts(BodyWriter& body, std::uint32_t id, const std::vector<DocumentPart>& parts) {
  std::size_t size = 0;
  for (const DocumentPart& part : parts) {
    size += varint_size(part.memory) + varint_size(part.gap.size()) + part.gap.size();
  }
  body.begin(id, size);
  for (const DocumentPart& part : parts) {
    body.varint(part.memory);
    body.varint(part.gap.size());
    body.raw(part.gap);
  }
}

std::vector<DocumentPart> decode_parts(std::string_view in) {
  std::vector<DocumentPart> parts;
  while (!in.empty()) {
    DocumentPart part;
    part.memory = take_varint(in);
    const std::uint64_t length = take_varint(in);
    if (length > in.size()) throw_corrupt("a part of a document is cut off");
    part.gap = in.substr(0, static_cast<std::size_t>(length));
    in.remove_prefix(static_cast<std::size_t>(length));
    parts.push_back(std::move(part));
  }
  if (parts.size() > kPartsPerPage) throw_corrupt("a document has too many parts on a page");
  return parts;
}

std::vector<RecordId> decode_pages(const BodyReader& body) {
  if (body.bytes().size() % sizeof(RecordId) != 0) throw_corrupt("a document's pages are cut off");
  std::vector<RecordId> pages;
  pages.reserve(body.bytes().size() / sizeof(RecordId));
  for (std::size_t at = 0; at < body.bytes().size(); at += sizeof(RecordId)) {
    pages.push_back(load_le<RecordId>(body.bytes(), at));
  }
  return pages;
}

Document decode_head(RecordId id, std::string_view bytes) {
  Document document;
  document.id = id;
  unsigned required = 0;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 1:
        document.name = body.bytes();
        required |= kName;
        break;
      case 2: document.revision = body.u64(); break;
      case 4: document.created = body.i64(); break;
      case 5:
        document.first = body.u64();
        required |= kFirst;
        break;
      case 6: document.updated = body.i64(); break;
      case 9:
        document.recent = decode_parts(body.bytes());
        required |= kRecent;
        break;
      case 10: document.parts = body.u64(); break;
      case 11: document.pages = decode_pages(body); break;
      case 16: document.tags = body.list(); break;
      case 32: document.last_row = body.u32(); break;
      case 34: document.last_position = body.i64(); break;
      default: body.unknown();
    }
  }
  if (required != (kName | kFirst | kRecent)) throw_corrupt("a document lacks a field");
  if (document.parts != document.pages.size() * kPartsPerPage + document.recent.size()) {
    throw_corrupt("a document has another number of parts than it says");
  }
  return document;
}

DocumentPage decode_page(std::string_view bytes) {
  DocumentPage page;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 13: page.document = body.u64(); break;
      case 15: page.parts = decode_parts(body.bytes()); break;
      default: body.unknown();
    }
  }
  if (page.document == 0 || page.parts.size() != kPartsPerPage) {
    throw_corrupt("a page of a document lacks a field");
  }
  return page;
}

// Heads begin with their name.
bool is_head(std::string_view body) {
  BodyReader reader(body);
  return reader.next() && reader.id() == 1;
}

Document open_head(BankRead& bank, RecordId id, SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  if (record.kind != Kind::document || !is_head(record.body)) {
    throw_corrupt("a document's name leads to another record");
  }
  return decode_head(id, record.body);
}

SecretBytes encode_head(const Document& document) {
  BodyWriter body;
  body.field(1, document.name);
  body.u64(2, document.revision);
  body.i64(4, document.created);
  body.u64(5, document.first);
  body.i64(6, document.updated);
  write_parts(body, 9, document.recent);
  body.u64(10, document.parts);
  if (!document.pages.empty()) {
    body.begin(11, document.pages.size() * sizeof(RecordId));
    for (const RecordId page : document.pages) body.raw(IntegerKey(page).view());
  }
  if (!document.tags.empty()) body.list(16, document.tags);
  if (document.last_row != 0) body.u32(32, document.last_row);
  if (document.last_position) body.i64(34, *document.last_position);
  return body.take();
}

}  // namespace

std::variant<Document, DocumentPage> open_document_record(BankRead& bank, RecordId id,
                                                          SecretBytes& plain) {
  const BankRead::Record record = bank.open(id, plain);
  if (record.kind != Kind::document) throw_corrupt("a record is not of a document");
  if (is_head(record.body)) return decode_head(id, record.body);
  return decode_page(record.body);
}

std::optional<Document> find_document(BankRead& bank, std::string_view name) {
  const auto id = bank.find(Kind::document, name);
  if (!id) return std::nullopt;
  SecretBytes plain;
  Document document = open_head(bank, *id, plain);
  if (document.name != name) throw_corrupt("a document's name leads to another document");
  return document;
}

void for_each_part(BankRead& bank, const Document& document,
                   const std::function<bool(const DocumentPart&)>& visit) {
  SecretBytes plain;
  for (const RecordId id : document.pages) {
    const auto record = open_document_record(bank, id, plain);
    const auto* const page = std::get_if<DocumentPage>(&record);
    if (page == nullptr || page->document != document.first) {
      throw_corrupt("a document lists another one's page");
    }
    if (!std::all_of(page->parts.begin(), page->parts.end(), visit)) return;
  }
  static_cast<void>(std::all_of(document.recent.begin(), document.recent.end(), visit));
}

Document new_document(BankWrite& bank, std::string_view name, TimeMs now) {
  Document document;
  document.first = bank.reserve_id();
  document.name = name;
  document.created = document.updated = now;
  return document;
}

void append_part(BankWrite& bank, Document& document, DocumentPart part) {
  // A full list becomes a page only now: the last part stays where set_last_gap() reaches it.
  if (document.recent.size() == kPartsPerPage) {
    BodyWriter body;
    body.u64(13, document.first);
    write_parts(body, 15, document.recent);
    document.pages.push_back(bank.append(Kind::document, body.body().view()));
    document.recent.clear();
  }
  document.recent.push_back(std::move(part));
  ++document.parts;
}

void set_last_gap(Document& document, std::string_view gap) {
  if (!document.recent.empty()) document.recent.back().gap = gap;
}

void clear_parts(BankWrite& bank, Document& document) {
  for (const RecordId page : document.pages) bank.erase(page);
  document.pages.clear();
  document.recent.clear();
  document.parts = 0;
  document.last_row = 0;
  document.last_position.reset();
}

void save_document(BankWrite& bank, Document& document, TimeMs now) {
  if (document.id != 0) {
    bank.erase(document.id);
    ++document.revision;
  } else {
    ++bank.mutable_head().counts.documents;
  }
  document.updated = now;
  document.id = bank.append(Kind::document, encode_head(document).view());
  bank.bind(Kind::document, document.name, document.id);
}

void erase_document(BankWrite& bank, const Document& document) {
  for (const RecordId page : document.pages) bank.erase(page);
  bank.erase(document.id);
  bank.unbind(Kind::document, document.name);
  --bank.mutable_head().counts.documents;
}

std::vector<Document> list_documents(BankRead& bank) {
  std::vector<RecordId> ids;
  for_each_name(bank.txn(), [&](const NamePair& pair) { ids.push_back(pair.record); });
  std::sort(ids.begin(), ids.end());
  std::vector<Document> documents;
  SecretBytes plain;
  for (const RecordId id : ids) {
    if (read_envelope(bank.row(id)).kind != Kind::document) continue;
    documents.push_back(open_head(bank, id, plain));
  }
  std::sort(documents.begin(), documents.end(),
            [](const Document& a, const Document& b) { return a.name < b.name; });
  return documents;
}

}  // namespace strongroom::vault
