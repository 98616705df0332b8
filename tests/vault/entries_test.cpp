#include <map>
#include <random>

#include "vault/operations.h"
#include "vault_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

TEST_CASE("values of every size around the limits come back", "[entries]") {
  const TestVault test(false);
  auto vault = test.open();
  std::mt19937 random(7);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{251}, std::size_t{252}, std::size_t{253},
        kInlineLimit - 1, kInlineLimit, kInlineLimit + 1, kChunkBytes - 1, kChunkBytes,
        kChunkBytes + 1, 3 * kChunkBytes, std::size_t{1} << 20}) {
    std::string value(size, '\0');
    for (char& c : value) c = static_cast<char>(random() % 128);
    for (const EntryClass entry_class : {EntryClass::normal, EntryClass::secret}) {
      put(*vault, "k", value, entry_class);
      INFO(size);
      REQUIRE(get(*vault, "k") == value);
    }
  }
  REQUIRE(verify_vault(*vault, VerifyDepth::full).problems.empty());
}

TEST_CASE("a part of a large value opens only its chunks", "[entries]") {
  const TestVault test(false);
  auto vault = test.open();
  std::string value(300'000, ' ');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>('a' + i % 26);
  put(*vault, "k", value);
  auto bank = vault->open_bank(kGlobalBank);
  BankRead view = bank->read();
  SecretBytes plain;
  const auto found = find_entry(view, "k", plain);
  for (const auto& [offset, size] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 10}, {65'470, 10}, {65'473, 1}, {131'000, 100'000}, {299'999, 5}, {300'000, 5}}) {
    SecretBytes out;
    read_value(view, *found->entry, offset, size, out);
    REQUIRE(out.view() == value.substr(offset, size));
  }
}

TEST_CASE("the newest revisions are kept, older ones leave no row", "[entries]") {
  const TestVault test(false);
  auto vault = test.open();
  for (int i = 1; i <= 30; ++i) {
    REQUIRE(put(*vault, "k", std::to_string(i), EntryClass::secret, 5) ==
            static_cast<std::uint64_t>(i));
  }
  auto bank = vault->open_bank(kGlobalBank);
  BankRead view = bank->read();
  SecretBytes plain;
  const auto found = find_entry(view, "k", plain);
  const auto older = found->entry->older_ids();
  REQUIRE(older.size() == 4);
  for (std::size_t i = 0; i < older.size(); ++i) {
    SecretBytes buffer;
    REQUIRE(open_entry(view, older[i], buffer).revision == 29 - i);
  }
  REQUIRE(view.txn().rows(Table::records) == 5);
  REQUIRE(view.txn().rows(Table::chunks) == 5);
  REQUIRE(verify_vault(*vault, VerifyDepth::full).problems.empty());
}

TEST_CASE("ids are never used again", "[entries]") {
  const TestVault test(false);
  auto vault = test.open();
  put(*vault, "a", "1");
  forget(*vault, "a");
  RecordId before = 0;
  {
    auto bank = vault->open_bank(kGlobalBank);
    before = bank->read().head().next_record_id;
  }
  put(*vault, "b", "1");
  auto bank = vault->open_bank(kGlobalBank);
  BankRead view = bank->read();
  SecretBytes plain;
  REQUIRE(find_entry(view, "b", plain)->entry->id == before);
}

TEST_CASE("an expired entry's next write starts afresh and keeps counting", "[entries]") {
  const TestVault test(false);
  auto vault = test.open();
  auto bank = vault->open_bank(kGlobalBank);
  const auto write = [&](std::optional<TimeMs> expires, TimeMs now) {
    BankWrite txn = bank->write(vault->stamp());
    SecretBytes plain;
    const auto current = find_entry(txn, "k", plain);
    EntryDraft d = draft("k", "v");
    d.expires = expires;
    const auto result = put_entry(txn, current, d, 20, now);
    txn.commit();
    return result.revision;
  };
  REQUIRE(write(100, 50) == 1);
  REQUIRE(write(100, 60) == 2);
  REQUIRE(write({}, 100) == 3);
  BankRead view = bank->read();
  SecretBytes plain;
  const auto found = find_entry(view, "k", plain);
  REQUIRE(found->entry->older_ids().empty());
  REQUIRE(found->entry->created == 100);
  REQUIRE(view.txn().rows(Table::records) == 1);
}

TEST_CASE("operations answer again, and run out after thirty days", "[entries]") {
  const TestVault test(false);
  auto vault = test.open();
  auto bank = vault->open_bank(kGlobalBank);
  const auto payload = operation_payload(*bank, "payload");
  const TimeMs day = 24 * 3600 * 1000;
  for (int i = 0; i < 50; ++i) {
    BankWrite write = bank->write(vault->stamp());
    put_operation(write, "p", "op" + std::to_string(i), {payload, i * day, "reply"});
    sweep_operations(write, i * day);
    write.commit();
  }
  BankRead view = bank->read();
  REQUIRE(find_operation(view, "p", "op49", 49 * day)->reply == "reply");
  REQUIRE_FALSE(find_operation(view, "q", "op49", 49 * day));
  REQUIRE_FALSE(find_operation(view, "p", "op1", 49 * day));
  REQUIRE(view.txn().rows(Table::records) == 30);  // the sweep removed the rest
  REQUIRE(verify_vault(*vault, VerifyDepth::full).problems.empty());
}

TEST_CASE("random puts and forgets agree with a map", "[entries][property]") {
  const TestVault test(false);
  auto vault = test.open();
  std::map<std::string, std::string> model;
  std::mt19937 random(11);
  for (int i = 0; i < 600; ++i) {
    const std::string name = "key" + std::to_string(random() % 40);
    if (random() % 4 == 0) {
      REQUIRE(forget(*vault, name) == (model.erase(name) == 1));
    } else {
      const std::string value(random() % 70'000, static_cast<char>('a' + random() % 26));
      put(*vault, name, value, random() % 5 == 0 ? EntryClass::secret : EntryClass::normal, 3);
      model[name] = value;
    }
  }
  vault = nullptr;
  vault = test.open();
  auto bank = vault->open_bank(kGlobalBank);
  BankRead view = bank->read();
  const auto lines = list_entries(view);
  REQUIRE(lines.size() == model.size());
  auto expected = model.begin();
  for (const EntryLine& line : lines) {
    REQUIRE(line.name == expected->first);
    REQUIRE(line.bytes == expected->second.size());
    REQUIRE(get(*vault, line.name) == expected->second);
    ++expected;
  }
  REQUIRE(verify_vault(*vault, VerifyDepth::full).problems.empty());
}
