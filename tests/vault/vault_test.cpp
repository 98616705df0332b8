#include <algorithm>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include "tamper.h"
#include "vault_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

void fill(const TestVault& test) {
  auto vault = test.open();
  put(*vault, "alpha", "one");
  put(*vault, "alpha", "two");
  put(*vault, "beta", std::string(100'000, 'b'));
  put(*vault, "gamma", "secret value", EntryClass::secret);
  put(*vault, "delta", "gone");
  forget(*vault, "delta");
}

}  // namespace

TEST_CASE("a vault keeps values over closing", "[vault]") {
  const TestVault test;
  fill(test);
  auto vault = test.open();
  REQUIRE(get(*vault, "alpha") == "two");
  REQUIRE(get(*vault, "beta") == std::string(100'000, 'b'));
  REQUIRE(get(*vault, "gamma") == "secret value");
  REQUIRE_FALSE(get(*vault, "delta"));
  REQUIRE(put(*vault, "delta", "again") == 2);  // numbers go on after a forget
  const VerifyReport report = verify_vault(*vault, VerifyDepth::full);
  for (const VerifyProblem& problem : report.problems) UNSCOPED_INFO(problem.where + problem.text);
  REQUIRE(report.problems.empty());
  REQUIRE(report.banks == 2);
  REQUIRE(vault->policy().text->view() == "policy text of the test");
}

TEST_CASE("a wrong key is wrong_key and changes no byte", "[vault]") {
  TestVault test;
  fill(test);
  const std::string bank = test.bank_file();
  const std::string before =
      slurp(bank) + slurp(test.path() + "/root.mdb") + slurp(test.path() + "/header");
  const crypto::SecretKey right = std::exchange(test.key, crypto::SecretKey::random());
  REQUIRE(code_of([&] { test.open(); }) == Code::wrong_key);
  REQUIRE(slurp(bank) + slurp(test.path() + "/root.mdb") + slurp(test.path() + "/header") ==
          before);
  test.key = right.clone();
  REQUIRE(get(*test.open(), "alpha") == "two");
}

TEST_CASE("missing parts are never an empty vault", "[vault]") {
  const TestVault test;
  fill(test);
  const std::string bank = test.bank_file();
  SECTION("bank file") {
    fs::remove(bank);
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
    REQUIRE_FALSE(fs::exists(bank));
    REQUIRE(verify_finds(test));
  }
  SECTION("root") {
    fs::remove(test.path() + "/root.mdb");
    REQUIRE(code_of([&] { test.open(); }) == Code::corrupt);
    REQUIRE_FALSE(fs::exists(test.path() + "/root.mdb"));
  }
  SECTION("header") {
    fs::remove(test.path() + "/header");
    REQUIRE(code_of([&] { test.open(); }) == Code::corrupt);
  }
  SECTION("everything") {
    fs::remove_all(test.path());
    REQUIRE(code_of([&] { test.open(); }) == Code::no_vault);
  }
  SECTION("an emptied bank file") {
    spill(bank, "");
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
  }
  SECTION("a bank file that is not a database") {
    spill(bank, std::string(20'000, 'x'));
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
  }
  SECTION("a truncated bank file, at every page") {
    const std::string whole = slurp(bank);
    std::uint64_t pages = 0;
    for (int meta = 0; meta < 2; ++meta) {
      pages = std::max(
          pages,
          load_le<std::uint64_t>(whole, static_cast<std::size_t>(meta) * 4096 + 16 + 24 + 96) + 1);
    }
    for (std::size_t size = 0; size < pages * 4096; size += 4096) {
      spill(bank, whole.substr(0, size));
      INFO(size);
      REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
    }
    spill(bank, whole);
    REQUIRE(get(*test.open(), "alpha") == "two");
  }
}

TEST_CASE("one flipped byte in any row is found", "[vault][tamper]") {
  const TestVault test(false);
  fill(test);
  const std::string bank = test.bank_file(), root = test.path() + "/root.mdb";
  std::mt19937 random(1);
  for (const bool is_root : {false, true}) {
    const std::string& file = is_root ? root : bank;
    const std::string pristine = slurp(file);
    for (const Row& row : all_rows(file, is_root)) {
      // A few bytes of each row; the format test flips every bit of a row.
      for (int i = 0; i < 4; ++i) {
        const std::size_t at = random() % row.value.size();
        behind_its_back(file, is_root, [&](WriteTxn& txn) {
          std::string value = row.value;
          value[at] = static_cast<char>(value[at] ^ (1 << random() % 8));
          txn.put(row.table, row.key, value);
        });
        INFO("table " << static_cast<int>(row.table) << " byte " << at);
        REQUIRE(verify_finds(test));
        spill(file, pristine);
      }
    }
    REQUIRE_FALSE(verify_finds(test));
  }
}

TEST_CASE("a removed, added, swapped or replayed row is found by verify", "[vault][tamper]") {
  const TestVault test(false);
  fill(test);
  const std::string bank = test.bank_file(), root = test.path() + "/root.mdb";
  for (const bool is_root : {false, true}) {
    const std::string& file = is_root ? root : bank;
    const std::string pristine = slurp(file);
    const std::vector<Row> rows = all_rows(file, is_root);
    for (const Row& row : rows) {
      behind_its_back(file, is_root, [&](WriteTxn& txn) { txn.erase(row.table, row.key); });
      INFO("removed from table " << static_cast<int>(row.table));
      REQUIRE(verify_finds(test));
      spill(file, pristine);
    }
    for (const Row& a : rows) {
      for (const Row& b : rows) {
        if (a.table != b.table || a.key == b.key || a.value == b.value) continue;
        behind_its_back(file, is_root, [&](WriteTxn& txn) { txn.put(a.table, a.key, b.value); });
        INFO("copied within table " << static_cast<int>(a.table));
        REQUIRE(verify_finds(test));
        spill(file, pristine);
      }
    }
    behind_its_back(file, is_root, [&](WriteTxn& txn) {
      const Row& record = *std::find_if(rows.begin(), rows.end(),
                                        [](const Row& row) { return row.table == Table::records; });
      txn.put(Table::records, key_of(999'999), record.value);
    });
    REQUIRE(verify_finds(test));
    spill(file, pristine);
  }
}

TEST_CASE("an old revision put back is found by verify", "[vault][tamper]") {
  const TestVault test(false);
  { put(*test.open(), "alpha", "one"); }
  const std::string bank = test.bank_file();
  const std::vector<Row> before = all_rows(bank, false);
  { put(*test.open(), "alpha", "two"); }
  SECTION("the names row, so that a get shows the older value") {
    behind_its_back(bank, false, [&](WriteTxn& txn) {
      for (const Row& row : before) {
        if (row.table == Table::names) txn.put(row.table, row.key, row.value);
      }
    });
    REQUIRE(get(*test.open(), "alpha") == "one");  // as the threat model says
    REQUIRE(verify_finds(test));
  }
  SECTION("the head") {
    behind_its_back(bank, false, [&](WriteTxn& txn) {
      for (const Row& row : before) {
        if (row.table == Table::head) txn.put(row.table, row.key, row.value);
      }
    });
    REQUIRE(verify_finds(test));
  }
  SECTION("a removed head refuses writes too") {
    behind_its_back(bank, false, [&](WriteTxn& txn) { txn.erase(Table::head, key_of(0)); });
    REQUIRE(code_of([&] { put(*test.open(), "alpha", "three"); }) == Code::corrupt);
  }
}

TEST_CASE("rolled-back and diverged files are told apart", "[vault][anchor]") {
  const TestVault test;
  { put(*test.open(), "k", "0"); }
  const std::string bank = test.bank_file();
  std::vector<std::string> generations;
  for (int i = 0; i < 8; ++i) {
    generations.push_back(slurp(bank));
    put(*test.open(), "k", std::to_string(i));
  }
  const std::string newest = slurp(bank);
  SECTION("every older generation is a rollback, read-only still opens") {
    for (const std::string& older : generations) {
      spill(bank, older);
      REQUIRE(code_of([&] { get(*test.open(), "k"); }) == Code::rollback);
      REQUIRE(get(*test.open(true), "k").has_value());
    }
    spill(bank, newest);
    REQUIRE(get(*test.open(), "k") == "7");
  }
  SECTION("a copy that another machine continued is a fork, also with more generations") {
    const std::string copy = generations[4];
    const std::string state = test.dir / "state";
    fs::rename(state, test.dir / "this-machine");
    spill(bank, copy);
    {
      auto other_machine = test.open();
      for (int i = 0; i < 20; ++i) put(*other_machine, "k", "elsewhere");
    }
    fs::remove_all(state);
    fs::rename(test.dir / "this-machine", state);
    REQUIRE(code_of([&] { get(*test.open(), "k"); }) == Code::fork);
  }
  SECTION("a lost anchor is reported and draws a new replica") {
    fs::remove_all(test.dir / "state");
    auto vault = test.open();
    REQUIRE(get(*vault, "k") == "7");
    REQUIRE(vault->anchor().state() == AnchorState::fresh);
  }
  SECTION("a damaged anchor counts as none") {
    for (const auto& file : fs::directory_iterator(test.dir / "state/strongroom/anchors")) {
      if (file.path().extension() != ".lock") spill(file.path().string(), "damaged");
    }
    REQUIRE(test.open()->anchor().state() == AnchorState::fresh);
  }
}

TEST_CASE("the second process sees the first one's writes", "[vault]") {
  const TestVault test;
  auto vault = test.open();
  put(*vault, "k", "parent");
  const pid_t child = ::fork();
  if (child == 0) {
    // The inherited environment must refuse to be used after a fork.
    int result = 0;
    try {
      put(*vault, "k", "through the parent's handle");
      result = 1;
    } catch (const Error& error) {
      result = error.code() == Code::internal ? 0 : 2;
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(get(*vault, "k") == "parent");
}

TEST_CASE("one environment a file and process", "[vault]") {
  const TestVault test;
  auto first = test.open();
  auto second = test.open();
  put(*first, "k", "one");
  REQUIRE(get(*second, "k") == "one");
  second.reset();  // must not drop the first one's locks
  put(*first, "k", "two");
  REQUIRE(get(*test.open(), "k") == "two");
}

TEST_CASE("links and foreign modes are refused", "[vault][files]") {
  const TestVault test;
  fill(test);
  const std::string bank = test.bank_file();
  SECTION("a second hard link") {
    fs::create_hard_link(bank, test.dir / "other-name");
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
  }
  SECTION("a symlink in the place of a bank") {
    fs::rename(bank, test.dir / "moved");
    fs::create_symlink(test.dir / "moved", bank);
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
  }
  SECTION("a symlink in the place of a lock file, which LMDB would write through") {
    spill(test.dir / "victim", "mine");
    fs::remove(bank + "-lock");
    fs::create_symlink(test.dir / "victim", bank + "-lock");
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
    REQUIRE(slurp(test.dir / "victim") == "mine");
  }
  SECTION("a symlink in the place of the vault") {
    fs::rename(test.path(), test.dir / "real");
    fs::create_symlink(test.dir / "real", test.path());
    REQUIRE(code_of([&] { test.open(); }) == Code::invalid);
  }
  SECTION("a world-readable bank") {
    fs::permissions(bank, fs::perms::owner_all | fs::perms::others_read);
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
  }
  SECTION("exchanged bank files") {
    auto vault = test.open();
    AuditEvent event;
    event.principal = "test";
    event.tool = "bank create";
    vault->create_bank("second", "", event);
    const std::string other = vault->bank_path(vault->find_bank("second")->id);
    vault.reset();
    const std::string a = slurp(bank), b = slurp(other);
    spill(bank, b);
    spill(other, a);
    REQUIRE(code_of([&] { get(*test.open(), "alpha"); }) == Code::corrupt);
  }
}

TEST_CASE("making a vault never touches what is there", "[vault]") {
  const TestVault test;
  CreateOptions create;
  create.path = test.path();
  create.owner = test.owner_secrets();
  create.admin = test.owner_secrets();
  REQUIRE(code_of([&] { create_vault(create); }) == Code::conflict);
  create.path = test.dir / "foreign";
  fs::create_directory(create.path);
  spill(create.path + "/file", "mine");
  REQUIRE(code_of([&] { create_vault(create); }) == Code::invalid);
  REQUIRE(slurp(create.path + "/file") == "mine");
  create.path = test.dir / "a-file";
  spill(create.path, "mine");
  REQUIRE(code_of([&] { create_vault(create); }) == Code::invalid);
  create.path = test.dir / "empty";
  fs::create_directory(create.path);
  fs::permissions(create.path, fs::perms::owner_all);
  create_vault(create);
  REQUIRE(fs::exists(create.path + "/header"));
}

TEST_CASE("a bank is found by its tag and knows it", "[vault]") {
  const TestVault test(false);
  auto vault = test.open();
  AuditEvent event;
  event.principal = "test";
  event.tool = "bank create";
  const auto second = vault->create_bank("second", "", event);
  const std::string tag = vault->find_bank("second")->tag;
  REQUIRE(tag.size() == 5);
  REQUIRE(second->tag() == tag);
  REQUIRE(vault->find_bank_by_tag(tag)->name == "second");
  REQUIRE(vault->find_bank_by_tag(tag)->id == second->id());
  REQUIRE(vault->find_bank_by_tag(vault->open_bank(kGlobalBank)->tag())->name == kGlobalBank);
  REQUIRE(vault->bank0().tag().empty());
  REQUIRE_FALSE(vault->find_bank_by_tag("-----"));
  REQUIRE_FALSE(vault->find_bank_by_tag(""));
  REQUIRE_FALSE(vault->find_bank_by_tag("second"));
}

TEST_CASE("slots can be added and removed, the last one not", "[vault][slots]") {
  TestVault test;
  auto vault = test.open();
  Unlocker admin_unlocker;
  admin_unlocker.secrets = test.owner_secrets();
  const crypto::SecretKey admin = vault->unlock_admin(admin_unlocker);
  crypto::SlotSecrets second;
  second.key_file = crypto::SecretKey::random();
  AuditEvent event;
  event.time = 5;
  event.principal = "test";
  event.tool = "slot add";
  const Id16 first = vault->opened_with().id;
  REQUIRE(code_of([&] { vault->remove_slot(admin, first, event); }) == Code::invalid);
  vault->add_slot(admin, crypto::SlotRole::owner, crypto::SlotMethod::key_file, second, {}, event);
  REQUIRE(vault->slots().size() == 3);
  vault.reset();
  const crypto::SecretKey old_key = std::exchange(test.key, second.key_file->clone());
  vault = test.open();
  vault->remove_slot(admin, first, event);
  REQUIRE(verify_vault(*vault, VerifyDepth::full).problems.empty());
  vault.reset();
  test.key = old_key.clone();
  REQUIRE(code_of([&] { test.open(); }) == Code::wrong_key);
}

TEST_CASE("a policy that was not signed denies, and says so", "[vault][policy]") {
  const TestVault test;
  const std::string root = test.path() + "/root.mdb";
  const std::vector<Row> old_rows = all_rows(root, true);
  Unlocker admin_unlocker;
  admin_unlocker.secrets = test.owner_secrets();
  {
    auto vault = test.open();
    const crypto::SecretKey admin = vault->unlock_admin(admin_unlocker);
    AuditEvent event;
    event.principal = "test";
    event.tool = "policy seal";
    vault->seal_policy(admin, "second policy", 2, event);
    REQUIRE(vault->policy().text->view() == "second policy");
  }
  const auto put_back = [&](std::uint64_t key) {
    behind_its_back(root, true, [&](WriteTxn& txn) {
      for (const Row& row : old_rows) {
        if (row.table == Table::root && row.key == key_of(key))
          txn.put(row.table, row.key, row.value);
      }
    });
  };
  SECTION("the older policy row") {
    put_back(kPolicyKey);
    REQUIRE_FALSE(test.open()->policy().text);
  }
  SECTION("the older policy with its older root") {
    put_back(kPolicyKey);
    put_back(kRootKey);
    REQUIRE_FALSE(test.open()->policy().text);
  }
  SECTION("no policy") {
    behind_its_back(root, true, [&](WriteTxn& txn) { txn.erase(Table::root, key_of(kPolicyKey)); });
    REQUIRE_FALSE(test.open()->policy().text);
  }
}

TEST_CASE("a running process takes over a new policy", "[vault][policy]") {
  const TestVault test;
  auto running = test.open();
  REQUIRE_FALSE(running->refresh());
  {
    auto vault = test.open();
    Unlocker admin_unlocker;
    admin_unlocker.secrets = test.owner_secrets();
    const crypto::SecretKey admin = vault->unlock_admin(admin_unlocker);
    AuditEvent event;
    event.principal = "test";
    event.tool = "policy seal";
    vault->seal_policy(admin, "newer", 2, event);
  }
  REQUIRE(running->refresh());
  REQUIRE(running->policy().text->view() == "newer");
}
