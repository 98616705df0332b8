#include "vault/verify_records.h"

#include <algorithm>
#include <utility>

#include "vault/documents.h"
#include "vault/entries.h"
#include "vault/links.h"
#include "vault/memories.h"

namespace strongroom::vault {
namespace {

/// What lists say, against what is there: both are collected, then compared as wholes. So a member
/// that is missing, that nothing lists, or that is listed twice is found.
template <class Member>
class Membership {
 public:
  void there(Member member) { there_.push_back(std::move(member)); }
  void listed(Member member) { listed_.push_back(std::move(member)); }
  void check(std::string_view what) {
    std::sort(there_.begin(), there_.end());
    std::sort(listed_.begin(), listed_.end());
    if (there_ != listed_) throw_corrupt(what);
  }

 private:
  std::vector<Member> there_, listed_;
};

class RecordChecker {
 public:
  RecordChecker(BankRead& view, const std::function<void()>& row_done)
      : view_(view), bank_(view.bank()), row_done_(row_done) {}

  BankCounts run() {
    std::vector<RecordId> ids;
    view_.txn().scan(Table::records, {}, [&](std::string_view key, std::string_view) {
      ids.push_back(load_le<RecordId>(key));
      return true;
    });
    for (const RecordId id : ids) {
      if (id >= view_.head().next_record_id) throw_corrupt("a record is newer than its bank");
      check_record(id);
      row_done_();
    }
    check_name_rows();
    revisions_.check("the revisions of a memory are not those that it lists");
    pages_.check("the pages of a document are not those that it lists");
    link_pages_.check("the pages of an end of links are not those that it leads to");
    links_.check("the links of an end are not those that it lists");
    check_parts();
    check_counts();
    return counts_;
  }

 private:
  using Member = std::pair<RecordId, RecordId>;         // of which object, and what
  using Listing = std::pair<crypto::Hash16, RecordId>;  // of which end, and what

  void check_record(RecordId id) {
    switch (read_envelope(view_.row(id)).kind) {
      case Kind::entry: check_entry(id); break;
      case Kind::memory: check_memory(id); break;
      case Kind::memory_tombstone: check_memory_tombstone(id); break;
      case Kind::document: check_document(id); break;
      case Kind::link: check_link(id); break;
      case Kind::entry_tombstone: ++counts_.tombstones; [[fallthrough]];
      default: view_.open(id, plain_);
    }
  }

  // What must have a name: the name leads to it.
  void check_named(Kind kind, std::string_view name, RecordId id) {
    if (view_.find(kind, name) != id) throw_corrupt("a name does not lead to its record");
    ++named_;
  }

  void check_entry(RecordId id) {
    const Entry entry = open_entry(view_, id, plain_);
    const bool readable = entry.inline_value || entry.entry_class == EntryClass::normal ||
                          !bank_.keys().secret.empty();
    if (readable) {
      value_.clear();
      read_value(view_, entry, 0, entry.bytes, value_);
    }
    if (view_.find(Kind::entry, entry.name) != id) return;  // an older revision
    ++named_;
    ++counts_.entries;
    if (entry.entry_class == EntryClass::secret) ++counts_.secrets;
  }

  void check_memory(RecordId id) {
    const Memory memory = open_memory(view_, id, plain_);
    const auto newest = view_.find(Kind::memory, MemoryName(memory.first).view());
    if (newest.value_or(memory.first) != id) {
      revisions_.there({memory.first, id});
      return;
    }
    if (newest) ++named_;
    const std::vector<RecordId> older = memory.older_ids();
    for (const RecordId revision : older) revisions_.listed({memory.first, revision});
    if (memory.revision != older.size() + 1 ||
        memory.previous != (older.empty() ? 0 : older.front()) ||
        memory.first != (older.empty() ? id : older.back())) {
      throw_corrupt("a memory's revisions do not follow each other");
    }
    // Lists are decoded only when they are asked for.
    static_cast<void>(memory.tags());
    static_cast<void>(memory.entities());
    static_cast<void>(memory.metadata());
    memories_.push_back(memory.first);
    if (!memory.invalidated) ++counts_.memories;
  }

  void check_memory_tombstone(RecordId id) {
    const MemoryTombstone tombstone = open_memory_tombstone(view_, id, plain_);
    check_named(Kind::memory, MemoryName(tombstone.first).view(), id);
    memories_.push_back(tombstone.first);
    ++counts_.tombstones;
  }

  void add_parts(const std::vector<DocumentPart>& parts) {
    for (const DocumentPart& part : parts) parts_.push_back(part.memory);
  }

  void check_document(RecordId id) {
    const auto record = open_document_record(view_, id, plain_);
    if (const auto* const page = std::get_if<DocumentPage>(&record)) {
      pages_.there({page->document, id});
      add_parts(page->parts);
      return;
    }
    const auto& document = std::get<Document>(record);
    check_named(Kind::document, document.name, id);
    for (const RecordId page : document.pages) pages_.listed({document.first, page});
    add_parts(document.recent);
    ++counts_.documents;
  }

  void check_link(RecordId id) {
    const auto record = open_link_record(view_, id, plain_);
    if (const auto* const page = std::get_if<LinkPage>(&record)) {
      check_link_page(id, *page);
      return;
    }
    const auto& link = std::get<Link>(record);
    check_named(Kind::link, link_name(link.from, link.to, link.relation), id);
    links_.there({hash_of(link.from), id});
    if (!(link.to == link.from)) links_.there({hash_of(link.to), id});
    ++counts_.links;
  }

  void check_link_page(RecordId id, const LinkPage& page) {
    const crypto::Hash16 end = hash_of(page.end);
    link_pages_.there({end, id});
    // Its name lists the newest page, and each page the one before: all of them, once.
    if (view_.find(Kind::link, end_name(page.end)) == id) {
      link_pages_.listed({end, id});
      ++named_;
    }
    if (page.previous != 0) link_pages_.listed({end, page.previous});
    for (const RecordId link : page.links) links_.listed({end, link});
  }

  // Ends are compared by hash: they can be long.
  crypto::Hash16 hash_of(const LinkEnd& end) const {
    return bank_.name_hash(Kind::link, end_name(end));
  }

  // Every record that needs a name was found by it. So another number of names is one too many.
  void check_name_rows() {
    std::uint64_t names = 0;
    for_each_name(view_.txn(), [&](const NamePair& pair) {
      switch (read_envelope(view_.row(pair.record)).kind) {
        case Kind::entry:
        case Kind::memory:
        case Kind::memory_tombstone:
        case Kind::document:
        case Kind::link: ++names; break;
        default: break;
      }
    });
    if (names != named_) throw_corrupt("a name leads to a record of another name");
  }

  void check_parts() {
    std::sort(memories_.begin(), memories_.end());
    for (const RecordId memory : parts_) {
      if (!std::binary_search(memories_.begin(), memories_.end(), memory)) {
        throw_corrupt("a part of a document is missing");
      }
    }
  }

  void check_counts() {
    const BankCounts& stored = view_.head().counts;
    if (counts_.entries != stored.entries || counts_.secrets != stored.secrets ||
        counts_.tombstones != stored.tombstones || counts_.memories != stored.memories ||
        counts_.documents != stored.documents || counts_.links != stored.links) {
      throw_corrupt("a bank's counts are wrong");
    }
  }

  BankRead& view_;
  const Bank& bank_;
  const std::function<void()>& row_done_;
  SecretBytes plain_, value_;
  BankCounts counts_;
  std::uint64_t named_ = 0;
  std::vector<RecordId> memories_;  // first ids, of forgotten ones too
  std::vector<RecordId> parts_;     // of documents
  Membership<Member> revisions_, pages_;
  Membership<Listing> links_, link_pages_;
};

}  // namespace

BankCounts check_records(BankRead& view, const std::function<void()>& row_done) {
  return RecordChecker(view, row_done).run();
}

}  // namespace strongroom::vault
