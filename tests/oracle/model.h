// What a bank's memories must be, kept as plain lists in the parent's memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brute_force.h"
#include "recall/builtin_model.h"
#include "service/memories.h"

namespace strongroom::oracle {

inline constexpr std::size_t kNobody = ~std::size_t{0};

struct Memory {
  std::string id, text;
  std::vector<std::string> tags, entities;
  std::string context, speaker, document_id;
  service::MemoryType type = service::MemoryType::world;
  double importance = 0.5;
  TimeMs mentioned = 0;
  std::optional<TimeMs> occurred_start, occurred_end, expires;
  bool occurred_found = false;  // by what the text says
  std::optional<std::int64_t> position;
  std::uint32_t document = 0;  // its number
  bool gone = false, invalid = false, was_restored = false;
  bool brief = false;  // expires during the test: not edited, not repeated
  std::size_t superseded_by = kNobody;
  std::uint32_t row = 0, rows = 0;       // of the text that holds
  std::vector<std::uint32_t> every_row;  // of all revisions
  std::string normalized;

  bool current(TimeMs now) const { return !gone && !invalid && !(expires && *expires <= now); }
};

/// What a row leads to: a memory as one revision has it.
struct Shown {
  std::size_t memory = 0;
  std::shared_ptr<const std::string> text;
  std::vector<std::string> tags;
  double importance = 0;
  std::optional<TimeMs> occurred_start, occurred_end;
  std::string document_id;
  std::uint32_t passage = 0, passages = 0;
  std::size_t start = 0, end = 0;  // of the passage
};

struct Document {
  std::uint32_t number = 0, last_row = 0;
  struct Part {
    std::size_t memory;
    std::string gap;
  };
  std::vector<Part> parts;
  std::optional<std::int64_t> last_position;
};

class Model {
 public:
  Rows rows;
  std::vector<Shown> shown{1};  // by row
  std::vector<Memory> memories;
  std::map<std::string, std::size_t> by_id;
  std::map<std::string, Document> documents;

  /// Of an item that needs no document, or nullopt when it is new.
  std::optional<std::size_t> find_original(const std::string& text, TimeMs now) const;
  /// A turn of the document that says this at this position.
  std::optional<std::size_t> find_turn(const Document& document, const service::RetainItem& item,
                                       std::string_view text, TimeMs now) const;
  /// The document says just this, and all of it holds.
  bool says(const Document& document, const std::vector<service::RetainItem>& items,
            TimeMs now) const;

  std::size_t add(const service::RetainItem& item, std::string_view text, TimeMs now,
                  Document* document);
  void append(Document& document, const service::RetainItem& item, bool whole, TimeMs now,
              std::vector<std::size_t>& added);
  /// Empties the document: its current memories become invalid.
  void clear(Document& document, TimeMs now);

  void rewrite(std::size_t memory, const std::string& text, TimeMs now);
  void invalidate(std::size_t memory, std::size_t by, TimeMs now);
  void restore(std::size_t memory, TimeMs now);
  void forget(std::size_t memory, const std::vector<std::size_t>& affected);
  /// A new revision with the same text.
  void revise(std::size_t memory);

  std::uint64_t live_rows() const;
  std::uint64_t valid_memories() const;

  recall::Analyzer analyzer;
  const std::unique_ptr<recall::Embedder> embedder = recall::make_builtin_embedder();

 private:
  Row row_of(const Memory& memory, std::uint64_t record, TimeMs now) const;
  std::uint32_t add_rows(std::size_t memory, TimeMs now, std::uint32_t previous,
                         std::uint32_t old_first, std::uint32_t old_count);
  std::uint64_t next_record_ = 1;
  std::uint32_t next_document_ = 1;
};

}  // namespace strongroom::oracle
