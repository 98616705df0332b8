#include "memory_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

std::string gap_of(std::size_t part) {
  return std::string(part % 5, '\n');
}

std::vector<DocumentPart> parts_of(BankRead& bank, const Document& document) {
  std::vector<DocumentPart> parts;
  for_each_part(bank, document, [&](const DocumentPart& part) {
    parts.push_back(part);
    return true;
  });
  return parts;
}

// Adds memories as parts, numbered from `from` on.
void add_parts(BankWrite& write, Document& document, std::size_t from, std::size_t count) {
  for (std::size_t i = from; i < from + count; ++i) {
    append_part(write, document,
                {add_memory(write, small_memory(std::to_string(i)), 1), gap_of(i)});
  }
}

}  // namespace

TEST_CASE("a document comes back with every field", "[documents]") {
  const TestVault test(false);
  RecordId first = 0;
  {
    auto vault = test.open();
    in_global(*vault, [&](BankWrite& write) {
      REQUIRE_FALSE(find_document(write, "notes"));
      Document document = new_document(write, "notes", 1000);
      REQUIRE(document.id == 0);
      add_parts(write, document, 0, 3);
      set_last_gap(document, "---");
      document.tags = {"a", "b"};
      document.last_row = 17;
      document.last_position = -4;
      save_document(write, document, 2000);
      first = document.first;
    });
  }
  auto vault = test.open();
  BankRead view = vault->open_bank(kGlobalBank)->read();
  const auto document = find_document(view, "notes");
  REQUIRE(document);
  REQUIRE(document->id != 0);
  REQUIRE(document->first == first);
  REQUIRE(document->name == "notes");
  REQUIRE(document->created == 1000);
  REQUIRE(document->updated == 2000);
  REQUIRE(document->revision == 1);
  REQUIRE(document->parts == 3);
  REQUIRE(document->last_row == 17);
  REQUIRE(document->last_position == -4);
  REQUIRE(document->tags == std::vector<std::string>{"a", "b"});
  const auto parts = parts_of(view, *document);
  REQUIRE(parts.size() == 3);
  REQUIRE(parts[1].gap == gap_of(1));
  REQUIRE(parts[2].gap == "---");
  REQUIRE(view.head().counts.documents == 1);
  // The number is nobody's record id.
  REQUIRE_FALSE(view.txn().get(Table::records, IntegerKey(first).view()));
  require_sound(*vault);
}

TEST_CASE("a document of 2,000 parts is read, appended to and replaced", "[documents]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    Document document = new_document(write, "long", 1);
    add_parts(write, document, 0, 2000);
    save_document(write, document, 1);
    Document neighbour = new_document(write, "neighbour", 1);
    add_parts(write, neighbour, 0, 300);
    save_document(write, neighbour, 1);
  });
  const auto check = [&](std::size_t count, std::uint64_t revision) {
    BankRead view = vault->open_bank(kGlobalBank)->read();
    const auto document = find_document(view, "long");
    REQUIRE(document->parts == count);
    REQUIRE(document->revision == revision);
    REQUIRE(document->pages.size() == (count - 1) / kPartsPerPage);
    const auto parts = parts_of(view, *document);
    REQUIRE(parts.size() == count);
    SecretBytes plain;
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(parts[i].gap == gap_of(i));
      REQUIRE(open_memory(view, parts[i].memory, plain).text == std::to_string(i));
    }
    require_sound(*vault);
  };
  check(2000, 1);
  // Appends that end before, on and behind the end of a page.
  std::uint64_t revision = 1;
  std::size_t count = 2000;
  for (const std::size_t more : {47u, 1u, 1u, 255u, 256u}) {
    in_global(*vault, [&](BankWrite& write) {
      Document document = *find_document(write, "long");
      set_last_gap(document, gap_of(count - 1));
      add_parts(write, document, count, more);
      save_document(write, document, 2);
    });
    check(count += more, ++revision);
  }
  in_global(*vault, [](BankWrite& write) {
    Document document = *find_document(write, "long");
    document.last_row = 5;
    document.last_position = 6;
    clear_parts(write, document);
    REQUIRE(document.last_row == 0);
    REQUIRE_FALSE(document.last_position);
    add_parts(write, document, 0, 10);
    save_document(write, document, 3);
  });
  check(10, ++revision);
  BankRead view = vault->open_bank(kGlobalBank)->read();
  REQUIRE(parts_of(view, *find_document(view, "neighbour")).size() == 300);
}

TEST_CASE("the gap behind the last part of a full page can change", "[documents]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    Document document = new_document(write, "d", 1);
    add_parts(write, document, 0, kPartsPerPage);
    save_document(write, document, 1);
  });
  in_global(*vault, [](BankWrite& write) {
    Document document = *find_document(write, "d");
    set_last_gap(document, "changed");
    add_parts(write, document, kPartsPerPage, 1);
    save_document(write, document, 1);
  });
  BankRead view = vault->open_bank(kGlobalBank)->read();
  const auto document = find_document(view, "d");
  REQUIRE(document->pages.size() == 1);
  REQUIRE(parts_of(view, *document)[kPartsPerPage - 1].gap == "changed");
  std::size_t seen = 0;
  for_each_part(view, *document, [&](const DocumentPart&) { return ++seen < 4; });
  REQUIRE(seen == 4);
}

TEST_CASE("an erased document leaves no row", "[documents]") {
  const TestVault test(false);
  auto vault = test.open();
  RecordId memory = 0;
  in_global(*vault, [&](BankWrite& write) {
    memory = add_memory(write, small_memory("part"), 1);
    Document document = new_document(write, "d", 1);
    for (int i = 0; i < 600; ++i) append_part(write, document, {memory, ""});
    save_document(write, document, 1);
  });
  in_global(*vault, [](BankWrite& write) { erase_document(write, *find_document(write, "d")); });
  BankRead view = vault->open_bank(kGlobalBank)->read();
  REQUIRE_FALSE(find_document(view, "d"));
  REQUIRE(view.head().counts.documents == 0);
  REQUIRE(view.txn().rows(Table::records) == 1);  // the memory
  REQUIRE(view.txn().rows(Table::names) == 0);
  require_sound(*vault);
}

TEST_CASE("documents are listed by name and are apart from entries", "[documents]") {
  const TestVault test(false);
  auto vault = test.open();
  put(*vault, "b", "an entry of the same name");
  in_global(*vault, [](BankWrite& write) {
    for (const char* name : {"b", "\xC3\xA4", "a", ""}) {
      Document document = new_document(write, name, 1);
      save_document(write, document, 1);
    }
  });
  BankRead view = vault->open_bank(kGlobalBank)->read();
  std::vector<std::string> names;
  for (const Document& document : list_documents(view)) names.push_back(document.name);
  REQUIRE(names == std::vector<std::string>{"", "a", "b", "\xC3\xA4"});
  REQUIRE(get(*vault, "b") == "an entry of the same name");
  require_sound(*vault);
}

TEST_CASE("another document's page and another record are refused", "[documents]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [](BankWrite& write) {
    const RecordId memory = add_memory(write, small_memory("part"), 1);
    Document a = new_document(write, "a", 1), b = new_document(write, "b", 1);
    for (Document* document : {&a, &b}) {
      for (std::size_t i = 0; i <= kPartsPerPage; ++i) append_part(write, *document, {memory, ""});
      save_document(write, *document, 1);
    }
    const auto all = [](const DocumentPart&) { return true; };
    for (const RecordId wrong : {b.pages[0], b.id, memory, RecordId{99'999}}) {
      Document mixed = a;
      mixed.pages = {wrong};
      REQUIRE(code_of([&] { for_each_part(write, mixed, all); }) == Code::corrupt);
    }
    for (const RecordId wrong : {b.id, b.pages[0], memory}) {
      write.bind(Kind::document, "a", wrong);
      REQUIRE(code_of([&] { find_document(write, "a"); }) == Code::corrupt);
    }
    write.bind(Kind::document, "a", a.id);
  });
  require_sound(*vault);
}
