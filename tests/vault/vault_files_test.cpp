#include "vault/vault_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "tamper.h"
#include "vault/guard.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

AuditEvent compact_event() {
  AuditEvent event;
  event.time = 3000;
  event.principal = "test";
  event.tool = "compact";
  return event;
}

std::uint64_t used(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

// Every row but head and log, which a compaction adds to.
std::vector<std::string> content(const std::string& file, bool root) {
  std::vector<std::string> rows;
  for (const Row& row : all_rows(file, root)) {
    if (row.table == Table::head || row.table == Table::log) continue;
    rows.push_back(std::to_string(static_cast<int>(row.table)) + row.key + row.value);
  }
  return rows;
}

std::uint64_t log_rows(const std::string& file, bool root) {
  std::uint64_t count = 0;
  for (const Row& row : all_rows(file, root)) count += row.table == Table::log ? 1 : 0;
  return count;
}

void check_clean(const TestVault& test) {
  auto vault = test.open();
  const VerifyReport report = verify_vault(*vault, VerifyDepth::full);
  for (const VerifyProblem& problem : report.problems) UNSCOPED_INFO(problem.text);
  REQUIRE(report.problems.empty());
}

}  // namespace

TEST_CASE("compaction keeps every row and drops free pages, at either parity", "[compact]") {
  for (const int transactions : {0, 1, 2, 3}) {
    const TestVault test;
    const std::string file = test.bank_file();
    {
      auto vault = test.open();
      for (int i = 0; i < 40; ++i) {
        put(*vault, "large " + std::to_string(i), std::string(60'000, 'x'));
      }
      for (int i = 0; i < 40; ++i) {
        if (i != 7) forget(*vault, "large " + std::to_string(i));
      }
      put(*vault, "s", "secret value", EntryClass::secret);
      for (int i = 0; i < transactions; ++i) put(*vault, "k", std::to_string(i));
    }
    const auto before = content(file, false);
    const std::uint64_t log_before = log_rows(file, false), bytes_before = used(file);
    {
      auto vault = test.open();
      REQUIRE(get(*vault, "s") == "secret value");
      const Compacted done = VaultFiles(*vault).compact(kGlobalBank, compact_event());
      REQUIRE(done.bytes_before == bytes_before);
      REQUIRE(done.bytes_after == used(file));
      REQUIRE(done.bytes_after < bytes_before / 4);
      REQUIRE(done.erased == 0);
      // The same vault goes on with the new file.
      REQUIRE(get(*vault, "large 7") == std::string(60'000, 'x'));
      put(*vault, "after", "v");
      REQUIRE(forget(*vault, "after"));
    }
    REQUIRE_FALSE(fs::exists(file + ".tmp"));
    REQUIRE_FALSE(fs::exists(file + ".tmp-lock"));
    const auto after = content(file, false);
    // The tombstone and the name of "after" came since.
    REQUIRE(after.size() == before.size() + 2);
    for (const std::string& row : before) {
      REQUIRE(std::find(after.begin(), after.end(), row) != after.end());
    }
    REQUIRE(log_rows(file, false) >= log_before + 2);  // a session and its event
    check_clean(test);
  }
}

TEST_CASE("root.mdb is compacted under an open vault", "[compact]") {
  const TestVault test;
  auto vault = test.open();
  put(*vault, "k", "v");
  AuditEvent event = compact_event();
  for (int i = 0; i < 30; ++i) vault->set_setting("scoping", std::string(4000, 'a'), event);
  const std::uint64_t before = used(vault->root_path());
  VaultFiles(*vault).compact({}, compact_event());
  REQUIRE(used(vault->root_path()) <= before);
  REQUIRE(vault->setting("scoping") == std::string(4000, 'a'));
  vault->set_setting("scoping", "global", event);
  REQUIRE(get(*vault, "k") == "v");
  vault->create_bank("made", {}, event);
  vault.reset();
  check_clean(test);
  REQUIRE(test.open()->setting("scoping") == "global");
  REQUIRE(test.open()->policy().text->view() == "policy text of the test");
}

TEST_CASE("a file that somebody has open is not compacted", "[compact]") {
  const TestVault test;
  const std::string file = test.bank_file();
  auto vault = test.open();
  put(*vault, "k", "v");
  const int fd = ::open(guard_path(file).c_str(), O_RDWR);
  REQUIRE(::flock(fd, LOCK_SH) == 0);
  const std::string inode_before = std::to_string(fs::hard_link_count(file)) + slurp(file);
  vault.reset();
  vault = test.open();
  REQUIRE(code_of([&] { VaultFiles(*vault).compact(kGlobalBank, compact_event()); }) == Code::busy);
  REQUIRE(get(*vault, "k") == "v");
  put(*vault, "k", "w");
  ::close(fd);
  VaultFiles(*vault).compact(kGlobalBank, compact_event());
  REQUIRE(get(*vault, "k") == "w");

  // The same for the vault's own file, which is open again afterwards.
  const int root = ::open(guard_path(vault->root_path()).c_str(), O_RDWR);
  REQUIRE(::flock(root, LOCK_SH) == 0);
  REQUIRE(code_of([&] { VaultFiles(*vault).compact({}, compact_event()); }) == Code::busy);
  REQUIRE(get(*vault, "k") == "w");
  ::close(root);
  VaultFiles(*vault).compact({}, compact_event());
  REQUIRE(get(*vault, "k") == "w");
}

TEST_CASE("a bank that this process still uses is busy", "[compact]") {
  const TestVault test;
  auto vault = test.open();
  put(*vault, "k", "v");
  const auto held = vault->open_bank(kGlobalBank);
  REQUIRE(code_of([&] { VaultFiles(*vault).compact(kGlobalBank, compact_event()); }) == Code::busy);
}

TEST_CASE("damage is never compacted away", "[compact]") {
  for (const Table table : {Table::records, Table::names, Table::chunks, Table::log}) {
    const TestVault test;
    const std::string file = test.bank_file();
    {
      auto vault = test.open();
      put(*vault, "a", "v");
      put(*vault, "b", std::string(70'000, 'x'));
      put(*vault, "c", "v");
    }
    behind_its_back(file, false, [&](WriteTxn& txn) {
      std::vector<std::string> keys;
      txn.scan(table, {}, [&](std::string_view key, std::string_view) {
        keys.emplace_back(key);
        return true;
      });
      REQUIRE(keys.size() > 1);
      REQUIRE(txn.erase(table, keys[1]));
    });
    const std::string before = slurp(file);
    auto vault = test.open();
    REQUIRE(code_of([&] { VaultFiles(*vault).compact(kGlobalBank, compact_event()); }) ==
            Code::corrupt);
    vault.reset();
    REQUIRE(slurp(file) == before);
    REQUIRE_FALSE(fs::exists(file + ".tmp"));
  }
}

TEST_CASE("a file that was rolled back is not compacted", "[compact]") {
  const TestVault test;
  const std::string file = test.bank_file();
  const std::string old = slurp(file);
  {
    auto vault = test.open();
    put(*vault, "k", "v");
  }
  spill(file, old);
  auto vault = test.open();
  REQUIRE(code_of([&] { VaultFiles(*vault).compact(kGlobalBank, compact_event()); }) ==
          Code::rollback);
}

TEST_CASE("what a killed compaction left is no obstacle", "[compact]") {
  const TestVault test;
  const std::string file = test.bank_file();
  spill(file + ".tmp", "half a file");
  spill(file + ".tmp-lock", "and its lock");
  auto vault = test.open();
  put(*vault, "k", "v");
  VaultFiles(*vault).compact(kGlobalBank, compact_event());
  REQUIRE(get(*vault, "k") == "v");
  REQUIRE_FALSE(fs::exists(file + ".tmp"));
  REQUIRE_FALSE(fs::exists(file + ".tmp-lock"));
  REQUIRE(code_of([&] { VaultFiles(*vault).compact("none", compact_event()); }) == Code::not_found);
}

TEST_CASE("pending erasures are complete only when their content was taken out", "[compact]") {
  const TestVault test;
  auto vault = test.open();
  put(*vault, "k", "v");
  {
    auto bank = vault->open_bank(kGlobalBank);
    BankWrite write = bank->write(vault->stamp());
    write.mutable_head().erase_pending = {3, 7};
    write.commit();
  }
  const auto pending = [&] { return vault->open_bank(kGlobalBank)->read().head().erase_pending; };
  REQUIRE(VaultFiles(*vault).compact(kGlobalBank, compact_event()).erased == 0);
  REQUIRE(pending() == std::vector<RecordId>{3, 7});
  const auto fails = [](Bank&) { throw Error(Code::no_space, "The disk is full."); };
  REQUIRE(code_of([&] { VaultFiles(*vault).compact(kGlobalBank, compact_event(), fails); }) ==
          Code::no_space);
  REQUIRE(pending() == std::vector<RecordId>{3, 7});
  int calls = 0;
  const auto erase = [&](Bank& bank) {
    ++calls;
    BankWrite write = bank.write(vault->stamp());
    SecretBytes plain;
    const auto found = find_entry(write, "k", plain);
    forget_entry(write, *found->entry, "test", 2000);
    write.commit();
  };
  REQUIRE(VaultFiles(*vault).compact(kGlobalBank, compact_event(), erase).erased == 2);
  REQUIRE(pending().empty());
  REQUIRE_FALSE(get(*vault, "k"));
  REQUIRE(VaultFiles(*vault).compact(kGlobalBank, compact_event(), erase).erased == 0);
  REQUIRE(calls == 1);
  vault.reset();
  check_clean(test);
}

TEST_CASE("expired entries are dropped, others stay", "[compact]") {
  const TestVault test;
  auto vault = test.open();
  {
    auto bank = vault->open_bank(kGlobalBank);
    for (int i = 0; i < 600; ++i) {
      BankWrite write = bank->write(vault->stamp());
      const std::string name = "e" + std::to_string(i);
      EntryDraft one = draft(name, "v");
      if (i % 2 == 0) one.expires = 2000 + i % 4;
      put_entry(write, std::nullopt, one, 20, 1000);
      write.commit();
    }
    REQUIRE(VaultFiles(*vault).drop_expired(*bank, 2000, compact_event()) == 150);
    REQUIRE(VaultFiles(*vault).drop_expired(*bank, 2000, compact_event()) == 0);
    REQUIRE(VaultFiles(*vault).drop_expired(*bank, 2002, compact_event()) == 150);
  }
  REQUIRE(get(*vault, "e1") == "v");
  REQUIRE_FALSE(get(*vault, "e0"));
  vault.reset();
  check_clean(test);
}

TEST_CASE("a table of a newer version is not lost", "[compact]") {
  const TestVault test;
  const std::string file = test.bank_file();
  {
    // The tables of bank 0 stand for tables that a bank does not have today.
    EngineOptions options;
    options.create = true;
    options.root_tables = true;
    open_lmdb(test.path() + "/other.mdb", options);
  }
  EngineOptions options;
  REQUIRE(code_of([&] { open_lmdb(test.path() + "/other.mdb", options); }) == Code::unsupported);
  REQUIRE(fs::exists(file));
}
