#include <limits>
#include <random>

#include "memory_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

void require_equal(const MemoryDraft& a, const MemoryDraft& b) {
  REQUIRE(a.text == b.text);
  REQUIRE(a.type == b.type);
  REQUIRE(a.importance == b.importance);
  REQUIRE(a.mentioned == b.mentioned);
  REQUIRE(a.occurred_start == b.occurred_start);
  REQUIRE(a.occurred_end == b.occurred_end);
  REQUIRE(a.expires == b.expires);
  REQUIRE(a.invalidated == b.invalidated);
  REQUIRE(a.restored == b.restored);
  REQUIRE(a.superseded_by == b.superseded_by);
  REQUIRE(a.context == b.context);
  REQUIRE(a.speaker == b.speaker);
  REQUIRE(a.source_label == b.source_label);
  REQUIRE(a.position == b.position);
  REQUIRE(a.document == b.document);
  REQUIRE(a.document_first == b.document_first);
  REQUIRE(a.chunk_index == b.chunk_index);
  REQUIRE(a.row == b.row);
  REQUIRE(a.rows == b.rows);
  REQUIRE(a.tags == b.tags);
  REQUIRE(a.entities == b.entities);
  REQUIRE(a.metadata == b.metadata);
  REQUIRE(a.principal == b.principal);
  REQUIRE(a.tool == b.tool);
  REQUIRE(a.source == b.source);
  REQUIRE(a.session == b.session);
  REQUIRE(a.trust == b.trust);
}

RecordId add(Vault& vault, const MemoryDraft& draft, TimeMs now = 1000) {
  RecordId id = 0;
  in_global(vault, [&](BankWrite& write) { id = add_memory(write, draft, now); });
  return id;
}

RecordId revise(Vault& vault, RecordId first, const MemoryDraft& draft, TimeMs now = 2000) {
  RecordId id = 0;
  in_global(vault, [&](BankWrite& write) {
    SecretBytes plain;
    id = revise_memory(write, *find_memory(write, first, plain)->memory, draft, now);
  });
  return id;
}

BankCounts counts(Vault& vault) {
  return vault.open_bank(kGlobalBank)->read().head().counts;
}

}  // namespace

TEST_CASE("a memory comes back with every field", "[memories]") {
  const TestVault test(false);
  RecordId id = 0;
  { id = add(*test.open(), full_memory()); }
  auto vault = test.open();
  BankRead view = vault->open_bank(kGlobalBank)->read();
  SecretBytes plain;
  const auto found = find_memory(view, id, plain);
  REQUIRE((found && found->memory && !found->tombstone));
  const Memory& memory = *found->memory;
  require_equal(draft_of(memory), full_memory());
  REQUIRE(memory.id == id);
  REQUIRE(memory.first == id);
  REQUIRE(memory.revision == 1);
  REQUIRE(memory.previous == 0);
  REQUIRE(memory.older_ids().empty());
  REQUIRE(memory.created == 1000);
  REQUIRE(memory.updated == 1000);
  REQUIRE_FALSE(memory.current(999));  // it is invalidated
  REQUIRE(memory.expired(5'000'000));
  require_sound(*vault);
}

TEST_CASE("a memory of defaults fits the smallest row and comes back", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  const RecordId id = add(*vault, small_memory("few words"));
  BankRead view = vault->open_bank(kGlobalBank)->read();
  REQUIRE(view.row(id).size() == kEnvelopeHeader + kRecordFloor + kEnvelopeTag);
  SecretBytes plain;
  require_equal(draft_of(open_memory(view, id, plain)), small_memory("few words"));
  REQUIRE(open_memory(view, id, plain).current(0));
  REQUIRE(view.txn().rows(Table::names) == 0);  // a memory that was never revised needs no name
}

TEST_CASE("texts of every size come back", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  for (const std::size_t size : {0u, 1u, 127u, 128u, 200u, 8'000u, 16'383u, 16'384u}) {
    const std::string text(size, 't');
    const RecordId id = add(*vault, small_memory(text));
    BankRead view = vault->open_bank(kGlobalBank)->read();
    SecretBytes plain;
    REQUIRE(find_memory(view, id, plain)->memory->text == text);
  }
  require_sound(*vault);
}

TEST_CASE("a revision replaces the memory and keeps the ones before", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  const RecordId first = add(*vault, full_memory());
  std::vector<RecordId> ids{first};
  for (int i = 2; i <= 5; ++i) {
    const std::string text = "revision " + std::to_string(i);
    ids.push_back(revise(*vault, first, small_memory(text), 1000 * i));
  }
  BankRead view = vault->open_bank(kGlobalBank)->read();
  SecretBytes plain;
  const auto found = find_memory(view, first, plain);
  REQUIRE(found->memory->text == "revision 5");
  REQUIRE(found->memory->id == ids.back());
  REQUIRE(found->memory->first == first);
  REQUIRE(found->memory->revision == 5);
  REQUIRE(found->memory->previous == ids[3]);
  REQUIRE(found->memory->created == 1000);
  REQUIRE(found->memory->updated == 5000);
  REQUIRE(found->memory->older_ids() == std::vector<RecordId>{ids[3], ids[2], ids[1], ids[0]});
  SecretBytes other;
  REQUIRE(open_memory(view, ids[1], other).text == "revision 2");
  require_equal(draft_of(open_memory(view, first, other)), full_memory());
  for (std::size_t i = 1; i < ids.size(); ++i) REQUIRE_FALSE(find_memory(view, ids[i], other));
  require_sound(*vault);
}

TEST_CASE("a revision can take its text from the one before", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  const RecordId first = add(*vault, full_memory());
  in_global(*vault, [&](BankWrite& write) {
    SecretBytes plain;
    const Memory current = *find_memory(write, first, plain)->memory;
    MemoryDraft draft = draft_of(current);
    draft.invalidated.reset();
    draft.restored = 7000;
    revise_memory(write, current, draft, 7000);
  });
  MemoryDraft expected = full_memory();
  expected.invalidated.reset();
  expected.restored = 7000;
  BankRead view = vault->open_bank(kGlobalBank)->read();
  SecretBytes plain;
  require_equal(draft_of(*find_memory(view, first, plain)->memory), expected);
}

TEST_CASE("a forgotten memory leaves a tombstone and no revision", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  const RecordId kept = add(*vault, small_memory("kept")), first = add(*vault, full_memory());
  const RecordId second = revise(*vault, first, small_memory("second"));
  in_global(*vault, [&](BankWrite& write) {
    SecretBytes plain;
    forget_memory(write, *find_memory(write, first, plain)->memory, "someone", 9000);
  });
  BankRead view = vault->open_bank(kGlobalBank)->read();
  SecretBytes plain;
  const auto found = find_memory(view, first, plain);
  REQUIRE((found && !found->memory && found->tombstone));
  REQUIRE(found->tombstone->first == first);
  REQUIRE(found->tombstone->last_revision == 2);
  REQUIRE(found->tombstone->time == 9000);
  REQUIRE_FALSE(find_memory(view, second, plain));
  REQUIRE(view.txn().rows(Table::records) == 2);  // the other memory and the tombstone
  REQUIRE(find_memory(view, kept, plain)->memory->text == "kept");
  REQUIRE(counts(*vault).memories == 1);
  REQUIRE(counts(*vault).tombstones == 1);
  require_sound(*vault);
}

TEST_CASE("counts follow the valid memories", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  MemoryDraft invalid = small_memory("x");
  invalid.invalidated = 5;
  const RecordId a = add(*vault, small_memory("a"));
  REQUIRE(counts(*vault).memories == 1);
  const RecordId b = add(*vault, invalid);
  REQUIRE(counts(*vault).memories == 1);
  revise(*vault, a, invalid);
  REQUIRE(counts(*vault).memories == 0);
  revise(*vault, a, invalid);
  REQUIRE(counts(*vault).memories == 0);
  revise(*vault, b, small_memory("b"));
  revise(*vault, b, small_memory("b"));
  REQUIRE(counts(*vault).memories == 1);
  for (const RecordId first : {a, b}) {
    in_global(*vault, [&](BankWrite& write) {
      SecretBytes plain;
      forget_memory(write, *find_memory(write, first, plain)->memory, "test", 1);
    });
  }
  REQUIRE(counts(*vault).memories == 0);
  require_sound(*vault);
}

TEST_CASE("every memory is visited once, in order, without tombstones", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  std::vector<RecordId> firsts;
  in_global(*vault, [&](BankWrite& write) {
    SecretBytes plain;
    for (int i = 0; i < 700; ++i) {
      firsts.push_back(add_memory(write, small_memory(std::to_string(i)), i));
    }
    for (std::size_t i = 0; i < firsts.size(); i += 3) {
      const Memory current = *find_memory(write, firsts[i], plain)->memory;
      revise_memory(write, current, small_memory("revised"), 1);
    }
    for (std::size_t i = 1; i < firsts.size(); i += 3) {
      forget_memory(write, *find_memory(write, firsts[i], plain)->memory, "test", 1);
    }
  });
  std::vector<RecordId> expected, seen;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (i % 3 != 1) expected.push_back(firsts[i]);
  }
  BankRead view = vault->open_bank(kGlobalBank)->read();
  for_each_memory(view, 0, [&](const Memory& memory) {
    REQUIRE((memory.text == "revised") == ((memory.first - firsts[0]) % 3 == 0));
    seen.push_back(memory.first);
    return true;
  });
  REQUIRE(seen == expected);
  seen.clear();
  for_each_memory(view, expected[100], [&](const Memory& memory) {
    seen.push_back(memory.first);
    return seen.size() < 3;
  });
  REQUIRE(seen == std::vector<RecordId>{expected[100], expected[101], expected[102]});
}

TEST_CASE("a visitor of memories may change them", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  for (int i = 0; i < 5; ++i) add(*vault, small_memory("old"));
  in_global(*vault, [&](BankWrite& write) {
    int seen = 0;
    for_each_memory(write, 0, [&](const Memory& memory) {
      ++seen;
      revise_memory(write, memory, small_memory("new"), 1);
      return true;
    });
    REQUIRE(seen == 5);
  });
  require_sound(*vault);
}

TEST_CASE("public ids are read as they are written", "[memories]") {
  std::mt19937_64 random(3);
  std::vector<RecordId> ids{1, 35, 36, 37, std::numeric_limits<RecordId>::max()};
  for (int i = 0; i < 2000; ++i) ids.push_back((random() >> (random() % 64)) | 1);
  for (const RecordId first : ids) {
    const std::string tag = make_bank_tag();
    const std::string id = memory_id(tag, first);
    INFO(id);
    const auto parsed = parse_memory_id(id);
    REQUIRE(parsed);
    REQUIRE(parsed->tag == tag);
    REQUIRE(parsed->first == first);
    // No other text means the same.
    for (std::size_t at = 0; at < id.size(); ++at) {
      std::string other = id;
      other[at] = static_cast<char>(random() % 256);
      const auto reread = parse_memory_id(other);
      REQUIRE((!reread || memory_id(reread->tag, reread->first) == other));
    }
  }
  REQUIRE(memory_id("k7q2m", 51) == "k7q2m-1f");
  for (const char* bad :
       {"", "k7q2m", "k7q2m-", "k7q2m-0", "k7q2m-01", "k7q2m-1F", "K7q2m-1f", "k7q2-1f",
        "k7q2mm-1f", "k7q2m-1 ", " k7q2m-1", "k7q2m-1_", "k7q2m--1", "k7q2m-+1", "k7q2m_1f",
        "\xC3\xA9q2m-1", "k7q2m-3w5e11264sgsg", "k7q2m-zzzzzzzzzzzzzzzz"}) {
    INFO(bad);
    REQUIRE_FALSE(parse_memory_id(bad));
  }
  REQUIRE(parse_memory_id("k7q2m-3w5e11264sgsf")->first == std::numeric_limits<RecordId>::max());
}

TEST_CASE("other records are no memories", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  put(*vault, "entry", "value");
  BankRead view = vault->open_bank(kGlobalBank)->read();
  SecretBytes plain;
  const RecordId entry = *view.find(Kind::entry, "entry");
  REQUIRE_FALSE(find_memory(view, entry, plain));
  REQUIRE_FALSE(find_memory(view, 0, plain));
  REQUIRE_FALSE(find_memory(view, 12'345, plain));
  REQUIRE(code_of([&] { open_memory(view, entry, plain); }) == Code::corrupt);
  REQUIRE(code_of([&] { open_memory(view, 12'345, plain); }) == Code::corrupt);
}

TEST_CASE("a memory's name that leads elsewhere is corrupt", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  put(*vault, "entry", "value");
  const RecordId a = add(*vault, small_memory("a")), b = add(*vault, small_memory("b"));
  in_global(*vault, [&](BankWrite& write) {
    SecretBytes plain;
    write.bind(Kind::memory, MemoryName(a).view(), b);
    REQUIRE(code_of([&] { find_memory(write, a, plain); }) == Code::corrupt);
    write.bind(Kind::memory, MemoryName(a).view(), *write.find(Kind::entry, "entry"));
    REQUIRE(code_of([&] { find_memory(write, a, plain); }) == Code::corrupt);
    write.unbind(Kind::memory, MemoryName(a).view());
    REQUIRE(find_memory(write, a, plain)->memory->text == "a");
  });
}

TEST_CASE("a memory of a newer version is refused when it must be", "[memories]") {
  const TestVault test(false);
  auto vault = test.open();
  in_global(*vault, [&](BankWrite& write) {
    const auto store = [&](std::uint32_t extra) {
      BodyWriter body;
      body.field(1, "text");
      body.u64(2, 1);
      body.u64(3, 0);
      body.u64(5, write.next_id());
      if (extra != 0) body.field(extra, "?");
      return write.append(Kind::memory, body.body().view());
    };
    SecretBytes plain;
    REQUIRE(open_memory(write, store(0), plain).text == "text");
    REQUIRE(open_memory(write, store(1000), plain).text == "text");
    const RecordId newer = store(1001);
    REQUIRE(code_of([&] { open_memory(write, newer, plain); }) == Code::unsupported);
    BodyWriter empty;
    empty.u64(2, 1);
    const RecordId cut = write.append(Kind::memory, empty.body().view());
    REQUIRE(code_of([&] { open_memory(write, cut, plain); }) == Code::corrupt);
  });
}
