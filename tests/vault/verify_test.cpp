#include <algorithm>
#include <array>
#include <random>

#include "memory_fixture.h"
#include "tamper.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

/// Ids of what fill_memories() made.
struct Filled {
  RecordId plain = 0, revised = 0, forgotten = 0, link = 0;
  Document document;
};

Filled fill_memories(const TestVault& test) {
  Filled filled;
  auto vault = test.open();
  in_global(*vault, [&](BankWrite& write) {
    SecretBytes plain;
    filled.plain = add_memory(write, small_memory("plain"), 1);
    filled.revised = add_memory(write, full_memory(), 1);
    filled.forgotten = add_memory(write, small_memory("forgotten"), 1);
    for (int i = 0; i < 2; ++i) {
      const Memory current = *find_memory(write, filled.revised, plain)->memory;
      revise_memory(write, current, small_memory("newer"), 2);
    }
    forget_memory(write, *find_memory(write, filled.forgotten, plain)->memory, "test", 3);
    filled.document = new_document(write, "notes", 1);
    for (std::size_t i = 0; i <= kPartsPerPage; ++i) {
      append_part(write, filled.document, {i == 0 ? filled.forgotten : filled.plain, ""});
    }
    save_document(write, filled.document, 1);
    for (std::size_t i = 0; i <= kLinksPerPage; ++i) {
      Link link = link_of(end_of("hub"), end_of(filled.plain), std::to_string(i));
      put_link(write, link, 1);
      filled.link = link.id;
    }
    const IndexKey key(Kind::index_tail, 0, 0);
    write.put_index(key.kind(), key.view(), key.place(), "a block");
  });
  require_sound(*vault);
  return filled;
}

// One row of each kind of record, and every row of the other tables.
std::vector<Row> rows_of_each_kind(const std::string& file) {
  std::vector<Row> picked;
  std::array<int, 64> of_kind{};
  int names = 0;
  for (Row& row : all_rows(file, false)) {
    if (row.table == Table::records &&
        ++of_kind.at(static_cast<std::size_t>(read_envelope(row.value).kind)) > 4) {
      continue;
    }
    if (row.table == Table::names && ++names > 12) continue;
    picked.push_back(std::move(row));
  }
  return picked;
}

}  // namespace

TEST_CASE("a removed row of a memory, page, link, name or the index is found", "[vault][tamper]") {
  const TestVault test(false);
  const Filled filled = fill_memories(test);
  const std::string bank = test.bank_file(), pristine = slurp(bank);
  for (const Row& row : rows_of_each_kind(bank)) {
    behind_its_back(bank, false, [&](WriteTxn& txn) { txn.erase(row.table, row.key); });
    INFO("removed from table " << static_cast<int>(row.table));
    REQUIRE(verify_finds(test));
    spill(bank, pristine);
  }
  for (const RecordId page : {filled.document.pages.at(0), filled.document.id, filled.link}) {
    behind_its_back(bank, false, [&](WriteTxn& txn) { txn.erase(Table::records, key_of(page)); });
    REQUIRE(verify_finds(test));
    spill(bank, pristine);
  }
  REQUIRE_FALSE(verify_finds(test));
}

TEST_CASE("a flipped byte in a memory, page, link or index row is found", "[vault][tamper]") {
  const TestVault test(false);
  fill_memories(test);
  const std::string bank = test.bank_file(), pristine = slurp(bank);
  std::mt19937 random(5);
  for (const Row& row : rows_of_each_kind(bank)) {
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = random() % row.value.size();
      behind_its_back(bank, false, [&](WriteTxn& txn) {
        std::string value = row.value;
        value[at] = static_cast<char>(value[at] ^ (1 << random() % 8));
        txn.put(row.table, row.key, value);
      });
      INFO("table " << static_cast<int>(row.table) << " byte " << at);
      REQUIRE(verify_finds(test));
      spill(bank, pristine);
    }
  }
}

TEST_CASE("an older link page or index block put back is found", "[vault][tamper]") {
  const TestVault test(false);
  const IndexKey key(Kind::index_tail, 0, 0);
  const auto change = [&](const char* relation, std::string_view block) {
    auto vault = test.open();
    in_global(*vault, [&](BankWrite& write) {
      Link link = link_of(end_of("a"), end_of("b"), relation);
      put_link(write, link, 1);
      write.put_index(key.kind(), key.view(), key.place(), block);
    });
  };
  change("one", "old block");
  const std::string bank = test.bank_file();
  const std::vector<Row> before = all_rows(bank, false);
  change("two", "new block");
  const std::string pristine = slurp(bank);
  int put_back = 0;
  for (const Row& row : before) {
    const bool page = row.table == Table::records || row.table == Table::index;
    if (!page) continue;
    bool changed = false;
    behind_its_back(bank, false, [&](WriteTxn& txn) {
      changed = txn.get(row.table, row.key) != std::string_view(row.value);
      txn.put(row.table, row.key, row.value);
    });
    put_back += changed ? 1 : 0;
    REQUIRE(verify_finds(test) == changed);
    spill(bank, pristine);
  }
  REQUIRE(put_back == 3);  // two pages of links, one block
}

TEST_CASE("verify finds lists that do not fit, also when the sums do", "[vault][tamper]") {
  const TestVault test(false);
  const Filled filled = fill_memories(test);
  // Each goes through a writer, which keeps the set hash: what is left wrong is the content.
  const std::vector<std::pair<const char*, std::function<void(BankWrite&)>>> mistakes = {
      {"a memory's name is gone",
       [&](BankWrite& w) { w.unbind(Kind::memory, MemoryName(filled.revised).view()); }},
      {"a memory's name leads to an older revision",
       [&](BankWrite& w) {
         w.bind(Kind::memory, MemoryName(filled.revised).view(), filled.revised);
       }},
      {"a tombstone's name is gone",
       [&](BankWrite& w) { w.unbind(Kind::memory, MemoryName(filled.forgotten).view()); }},
      {"an older revision is gone", [&](BankWrite& w) { w.erase(filled.revised); }},
      {"a memory that is a part is gone",
       [&](BankWrite& w) {
         w.erase(filled.plain);
         --w.mutable_head().counts.memories;
       }},
      {"memories are miscounted", [](BankWrite& w) { ++w.mutable_head().counts.memories; }},
      {"documents are miscounted", [](BankWrite& w) { ++w.mutable_head().counts.documents; }},
      {"links are miscounted", [](BankWrite& w) { ++w.mutable_head().counts.links; }},
      {"tombstones are miscounted", [](BankWrite& w) { ++w.mutable_head().counts.tombstones; }},
      {"a document's page is gone", [&](BankWrite& w) { w.erase(filled.document.pages[0]); }},
      {"a document's name is gone", [](BankWrite& w) { w.unbind(Kind::document, "notes"); }},
      {"a page that no document lists",
       [&](BankWrite& w) {
         Document document = filled.document;
         document.pages.clear();
         document.parts = document.recent.size();
         save_document(w, document, 1);
       }},
      {"a link is gone",
       [&](BankWrite& w) {
         w.erase(filled.link);
         w.unbind(Kind::link,
                  link_name(end_of("hub"), end_of(filled.plain), std::to_string(kLinksPerPage)));
         --w.mutable_head().counts.links;
       }},
      {"a link's name is gone",
       [&](BankWrite& w) {
         w.unbind(Kind::link, link_name(end_of("hub"), end_of(filled.plain), "0"));
       }},
      {"an end's name is gone",
       [](BankWrite& w) { w.unbind(Kind::link, end_name(end_of("hub"))); }},
      {"an end's name leads to its older page",
       [](BankWrite& w) {
         SecretBytes plain;
         const auto newest = open_link_record(w, *w.find(Kind::link, "e:hub"), plain);
         w.bind(Kind::link, "e:hub", std::get<LinkPage>(newest).previous);
       }},
      {"a name too many", [&](BankWrite& w) { w.bind(Kind::memory, "another", filled.plain); }},
      {"a name that leads nowhere", [](BankWrite& w) { w.bind(Kind::memory, "another", 99'999); }},
      {"an index block under another key",
       [](BankWrite& w) { w.put_index(Kind::index_live, "a key", 0, "block"); }},
      {"an index block of another place",
       [](BankWrite& w) {
         w.put_index(Kind::index_live, IndexKey(Kind::index_live, 1, 1).view(), 0, "block");
       }},
  };
  const std::string bank = test.bank_file(), pristine = slurp(bank);
  for (const auto& [what, mistake] : mistakes) {
    INFO(what);
    {
      auto vault = test.open();
      in_global(*vault, mistake);
    }
    REQUIRE(verify_finds(test));
    spill(bank, pristine);
  }
  REQUIRE_FALSE(verify_finds(test));
}

TEST_CASE("verify asks for the index of each bank once, at full depth", "[vault]") {
  const TestVault test(false);
  auto vault = test.open();
  AuditEvent event;
  event.principal = "test";
  event.tool = "bank create";
  vault->create_bank("second", "", event);
  std::vector<std::string> asked;
  const IndexCheck check = [&](BankRead& view, const BankInfo& info) {
    REQUIRE(view.bank().id() == info.id);
    asked.push_back(info.name);
    if (info.name == "second") throw_corrupt("an index is wrong");
  };
  REQUIRE(verify_vault(*vault, VerifyDepth::fast, {}, check).problems.empty());
  REQUIRE(asked.empty());
  const VerifyReport report = verify_vault(*vault, VerifyDepth::full, {}, check);
  std::sort(asked.begin(), asked.end());
  REQUIRE(asked == std::vector<std::string>{std::string(kGlobalBank), "second"});
  REQUIRE(report.problems.size() == 1);
  REQUIRE(report.problems[0].where == "bank second");
  REQUIRE(report.problems[0].code == Code::corrupt);
}

TEST_CASE("verify reports how much there is", "[vault]") {
  const TestVault test(false);
  fill_memories(test);
  const VerifyReport report = verify_vault(*test.open(), VerifyDepth::full);
  REQUIRE(report.memories == 2);
  REQUIRE(report.documents == 1);
  REQUIRE(report.links == kLinksPerPage + 1);
  REQUIRE(report.index_rows == 1);
}

TEST_CASE("nothing of a memory, document, link or index is readable in the files", "[vault]") {
  const TestVault test;
  const std::vector<std::string> planted = {
      "PLANT-text",   "PLANT-tag",   "PLANT-document", "PLANT-entity", "PLANT-context",
      "PLANT-person", "PLANT-label", "PLANT-key",      "PLANT-value",  "PLANT-relation",
      "PLANT-gap",    "PLANT-block", "PLANT-end",      "PLANT-who",    "PLANT-tool"};
  {
    auto vault = test.open();
    in_global(*vault, [&](BankWrite& write) {
      MemoryDraft draft = small_memory(planted[0]);
      draft.tags = {planted[1]};
      draft.document = planted[2];
      draft.entities = {planted[3]};
      draft.context = planted[4];
      draft.speaker = planted[5];
      draft.source_label = planted[6];
      draft.metadata = {{planted[7], planted[8]}};
      draft.principal = planted[13];
      draft.tool = planted[14];
      const RecordId memory = add_memory(write, draft, 1);
      SecretBytes plain;
      revise_memory(write, *find_memory(write, memory, plain)->memory, draft, 2);
      Document document = new_document(write, planted[2], 1);
      for (std::size_t i = 0; i <= kPartsPerPage; ++i) {
        append_part(write, document, {memory, planted[10]});
      }
      document.tags = {planted[1]};
      save_document(write, document, 1);
      Link link = link_of(end_of(memory), end_of(planted[12]), planted[9]);
      put_link(write, link, 1);
      const IndexKey key(Kind::index_names, 0, 0);
      write.put_index(key.kind(), key.view(), key.place(), planted[11] + std::string(4000, '\0'));
    });
  }
  for (const auto& file : fs::recursive_directory_iterator(test.dir.path())) {
    if (!file.is_regular_file()) continue;
    const std::string bytes = slurp(file.path().string());
    for (const std::string& plant : planted) {
      INFO(plant << " in " << file.path().filename());
      REQUIRE(bytes.find(plant) == std::string::npos);
    }
  }
}
