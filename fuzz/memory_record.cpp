// The bodies of memories, forgotten memories, documents and links, sealed under a fixed key so that
// they open. The first byte chooses the kind.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "crypto/labels.h"
#include "fuzz/fuzz.h"
#include "vault/bank.h"
#include "vault/documents.h"
#include "vault/links.h"
#include "vault/memories.h"

using namespace strongroom;
using vault::Kind;

namespace {

constexpr vault::RecordId kRecord = 1000;
constexpr std::array<Kind, 4> kKinds = {Kind::memory, Kind::memory_tombstone, Kind::document,
                                        Kind::link};

// One record, and nothing else.
class OneRow final : public vault::ReadTxn {
 public:
  explicit OneRow(std::string row) : row_(std::move(row)) {}
  std::optional<std::string_view> get(vault::Table table, std::string_view key) override {
    const bool here = table == vault::Table::records && key == vault::IntegerKey(kRecord).view();
    return here ? std::optional<std::string_view>(row_) : std::nullopt;
  }
  void scan(vault::Table, std::string_view, const Visitor& visit) override {
    visit(vault::IntegerKey(kRecord).view(), row_);
  }
  std::optional<std::uint64_t> last_integer_key(vault::Table) override { return kRecord; }
  std::uint64_t rows(vault::Table) override { return 1; }

 private:
  std::string row_;
};

vault::Bank make_bank() {
  const vault::VaultId vault{'f', 'u', 'z', 'z'};
  const vault::BankId bank{'b', 'a', 'n', 'k'};
  const auto key = crypto::SecretKey::from_bytes(std::string(32, 'k'));
  return {nullptr, vault, bank, "fuzz", vault::BankKeys::make(vault, bank, 1, key, {}),
          nullptr, {}};
}

void read_memory(vault::BankRead& bank) {
  SecretBytes plain;
  const vault::Memory memory = vault::open_memory(bank, kRecord, plain);
  fuzz::require(memory.id == kRecord && memory.first >= 1 && memory.first <= kRecord,
                "a revision knows its memory");
  fuzz::require(memory.importance >= 0 && memory.importance <= 1, "importance is in its range");
  for (const std::string_view part :
       {memory.text, memory.context, memory.speaker, memory.source_label, memory.document,
        memory.principal, memory.tool, memory.older, memory.tags_field}) {
    fuzz::require(part.empty() || fuzz::inside(part, plain.view()), "views lead into the buffer");
  }
  fuzz::accepts({Code::corrupt}, [&] { (void)memory.tags(); });
  fuzz::accepts({Code::corrupt}, [&] { (void)memory.entities(); });
  fuzz::accepts({Code::corrupt}, [&] { (void)memory.metadata(); });
  fuzz::accepts({Code::corrupt}, [&] {
    fuzz::require(memory.older_ids().size() * 8 == memory.older.size(), "older ones are all read");
  });
  fuzz::accepts({Code::corrupt}, [&] { (void)vault::draft_of(memory); });
  fuzz::require(!memory.current(INT64_MAX) || !memory.expires, "what expires ends");

  int seen = 0;
  vault::for_each_memory(bank, 1, [&](const vault::Memory& found) {
    fuzz::require(found.id == kRecord, "there is one memory");
    return ++seen < 2;
  });
  fuzz::require(seen <= 1, "there is at most one memory");
}

void read_document(vault::BankRead& bank) {
  SecretBytes plain;
  const auto record = vault::open_document_record(bank, kRecord, plain);
  if (const auto* const page = std::get_if<vault::DocumentPage>(&record)) {
    fuzz::require(page->document != 0 && page->parts.size() == vault::kPartsPerPage,
                  "a page is full");
    return;
  }
  const auto& document = std::get<vault::Document>(record);
  fuzz::require(document.recent.size() <= vault::kPartsPerPage, "a page has its size");
  fuzz::require(
      document.parts == document.pages.size() * vault::kPartsPerPage + document.recent.size(),
      "parts are counted");
}

void read_link(vault::BankRead& bank) {
  SecretBytes plain;
  const auto record = vault::open_link_record(bank, kRecord, plain);
  if (const auto* const page = std::get_if<vault::LinkPage>(&record)) {
    fuzz::require(!page->links.empty() && page->links.size() <= vault::kLinksPerPage,
                  "a page has links");
    return;
  }
  const auto& link = std::get<vault::Link>(record);
  for (const vault::LinkEnd& end : {link.from, link.to}) {
    fuzz::require(end.memory == 0 || end.entity.empty(), "an end is a memory or an entity");
  }
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const std::size_t which = static_cast<unsigned char>(input.front()) % kKinds.size();
  input.remove_prefix(1);
  static const vault::Bank bank = make_bank();
  std::string row = vault::seal_row(bank.keys().records, crypto::labels::kAadRecord,
                                    bank.place(kKinds[which], bank.keys().version, kRecord), input);
  vault::BankRead view(bank, std::make_unique<OneRow>(std::move(row)));
  fuzz::accepts({Code::corrupt, Code::unsupported}, [&] {
    switch (which) {
      case 0: read_memory(view); break;
      case 1: {
        SecretBytes plain;
        fuzz::require(vault::open_memory_tombstone(view, kRecord, plain).first != 0,
                      "a forgotten memory had an id");
        break;
      }
      case 2: read_document(view); break;
      default: read_link(view);
    }
  });
}
