// Documents: a name, and an ordered list of the memories that its text was cut into
// (docs/format.md, "document"). The text of a document is its parts' text and the gaps between
// them; it is stored once, in the memories.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vault/bank.h"

namespace strongroom::vault {

inline constexpr std::size_t kPartsPerPage = 256;

/// One part: a memory, by its first record id, and the bytes between its text and the next part's.
struct DocumentPart {
  RecordId memory = 0;
  std::string gap;
};

/// A document's head; owns what it holds.
struct Document {
  RecordId id = 0;     // of its head record now; 0 until it is stored
  RecordId first = 0;  // its number in the index: a record id that is never used for another thing
  std::string name;
  TimeMs created = 0, updated = 0;
  std::uint64_t revision = 1;  // counts replacements and appends
  std::uint64_t parts = 0;     // of the current text
  std::uint32_t last_row = 0;  // of the index: what the next appended row follows; 0 = none
  std::optional<std::int64_t> last_position;
  std::vector<std::string> tags;     // of the latest retain
  std::vector<DocumentPart> recent;  // behind the last page; 1 to 256 unless there are no parts
  std::vector<RecordId> pages;       // full pages, in order
};

std::optional<Document> find_document(BankRead& bank, std::string_view name);
/// Parts in order; false stops.
void for_each_part(BankRead& bank, const Document& document,
                   const std::function<bool(const DocumentPart&)>& visit);

/// A full page of parts.
struct DocumentPage {
  RecordId document = 0;  // Document::first
  std::vector<DocumentPart> parts;
};
/// What a record of kind document is. Throws corrupt. For verify.
std::variant<Document, DocumentPage> open_document_record(BankRead& bank, RecordId id,
                                                          SecretBytes& plain);

/// A new document with `first` set; not yet stored: save_document() does that, and counts it.
Document new_document(BankWrite& bank, std::string_view name, TimeMs now);
void append_part(BankWrite& bank, Document& document, DocumentPart part);
/// Sets the gap behind the last part (an append puts a line break there).
void set_last_gap(Document& document, std::string_view gap);
/// Drops all parts and their pages, last_row and last_position: a replacement.
void clear_parts(BankWrite& bank, Document& document);
/// Writes the head record; the old one is erased. Sets id and updated, and raises the revision of a
/// document that was stored before.
void save_document(BankWrite& bank, Document& document, TimeMs now);
/// Removes head, pages and name. The memories are the caller's to forget.
void erase_document(BankWrite& bank, const Document& document);

/// Every document, ascending by name bytes.
std::vector<Document> list_documents(BankRead& bank);

}  // namespace strongroom::vault
