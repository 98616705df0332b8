#include <catch2/catch.hpp>

#include "crypto/sign.h"
#include "tamper.h"
#include "vault/log_checkpoint.h"
#include "vault/vault_files.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

crypto::SecretKey admin_of(const TestVault& test, Vault& vault) {
  Unlocker unlocker;
  unlocker.secrets = test.owner_secrets();
  return vault.unlock_admin(unlocker);
}

void prune(const TestVault& test, Vault& vault) {
  const crypto::SecretKey admin = admin_of(test, vault);
  BankWrite write = vault.open_bank(kGlobalBank)->write(vault.stamp());
  prune_log(write, admin, 5000);
  AuditEvent event;
  event.time = 5000;
  event.principal = "test";
  event.tool = "audit export";
  write.log(event);
  write.commit();
}

std::vector<std::string> tools(Vault& vault) {
  std::vector<std::string> names;
  const auto bank = vault.open_bank(kGlobalBank);
  BankRead view = bank->read();
  const crypto::SecretKey audit = vault.audit_secret();
  read_log(view.txn(), view.head(), bank->vault_id(), bank->id(), bank->keys().log, &audit,
           [&](const LoggedEvent& logged) { names.push_back(logged.event.tool); });
  return names;
}

std::uint64_t start(Vault& vault) {
  const auto bank = vault.open_bank(kGlobalBank);
  BankRead view = bank->read();
  return check_log_start(view, crypto::view(vault.root().admin_public_key));
}

}  // namespace

TEST_CASE("a pruned log goes on, and its session with it", "[prune]") {
  const TestVault test;
  const std::string file = test.bank_file();
  auto vault = test.open();
  for (int i = 0; i < 3; ++i) put(*vault, "k", std::to_string(i));
  REQUIRE(start(*vault) == 0);
  REQUIRE(tools(*vault).size() == 3);
  prune(test, *vault);
  REQUIRE(start(*vault) == 4);  // a session and three events
  REQUIRE(tools(*vault) == std::vector<std::string>{"audit export"});
  put(*vault, "k", "after");  // of the session that was announced before
  REQUIRE(tools(*vault) == std::vector<std::string>{"audit export", "put"});
  prune(test, *vault);
  REQUIRE(start(*vault) == 7);  // session, export and put more
  AuditEvent compact;
  compact.time = 6000;
  compact.principal = "test";
  compact.tool = "compact";
  VaultFiles(*vault).compact(kGlobalBank, compact);
  REQUIRE(tools(*vault) == std::vector<std::string>{"audit export", "compact"});
  vault.reset();
  REQUIRE(verify_vault(*test.open(), VerifyDepth::full).problems.empty());
  REQUIRE(all_rows(file, false).size() > 0);
}

TEST_CASE("a checkpoint is believed only where the admin put it", "[prune]") {
  const TestVault test;
  const std::string file = test.bank_file();
  std::uint64_t at = 0;
  {
    auto vault = test.open();
    put(*vault, "k", "v");
    prune(test, *vault);
  }
  std::string row;
  for (const Row& one : all_rows(file, false)) {
    if (one.table != Table::log || row.size() != 0) continue;
    row = one.value;
    at = load_le<std::uint64_t>(one.key);
  }
  REQUIRE(row.size() == 136);
  const std::string whole = slurp(file);
  const auto changed = [&](const auto& change) {
    spill(file, whole);
    behind_its_back(file, false, change);
    return verify_finds(test);
  };
  REQUIRE_FALSE(changed([](WriteTxn&) {}));
  for (std::size_t byte = 0; byte < row.size(); byte += 7) {
    CAPTURE(byte);
    REQUIRE(changed([&](WriteTxn& txn) {
      std::string other = row;
      other[byte] = static_cast<char>(other[byte] ^ 1);
      txn.put(Table::log, key_of(at), other);
    }));
  }
  // Gone, somewhere else, or twice.
  REQUIRE(changed([&](WriteTxn& txn) { txn.erase(Table::log, key_of(at)); }));
  REQUIRE(changed([&](WriteTxn& txn) {
    txn.erase(Table::log, key_of(at));
    txn.put(Table::log, key_of(at - 1), row);
  }));
  REQUIRE(changed([&](WriteTxn& txn) { txn.put(Table::log, key_of(at - 1), row); }));
}

TEST_CASE("a checkpoint of another key is refused", "[prune]") {
  const TestVault test;
  auto vault = test.open();
  put(*vault, "k", "v");
  const crypto::SignKeyPair other = crypto::make_sign_key();
  {
    BankWrite write = vault->open_bank(kGlobalBank)->write(vault->stamp());
    prune_log(write, other.seed, 5000);
    write.commit();
  }
  REQUIRE(code_of([&] { start(*vault); }) == Code::corrupt);
  vault.reset();
  REQUIRE(verify_finds(test));
}
