// A real vault in a temporary directory, with its own anchor.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "crypto/process.h"
#include "vault/entries.h"
#include "vault/vault.h"
#include "vault/verify.h"

namespace strongroom::vault {

namespace fs = std::filesystem;

class TempDir {
 public:
  TempDir() {
    std::string pattern = (fs::temp_directory_path() / "strongroom-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void spill(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The code of the error that `work` throws; fails the test when it throws none.
template <class Work>
Code code_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    INFO(error.text());
    return error.code();
  }
  FAIL("no error was thrown");
  return Code::internal;
}

struct TestVault {
  explicit TestVault(bool anchor = true) : no_anchor(!anchor) {
    ::setenv("XDG_STATE_HOME", (dir / "state").c_str(), 1);
    CreateOptions create;
    create.path = path();
    create.owner = owner_secrets();
    create.admin = owner_secrets();
    create.policy_text = "policy text of the test";
    create.principal = "test";
    create.no_anchor = no_anchor;
    create_vault(create);
  }
  std::string path() const { return dir / "v"; }
  crypto::SlotSecrets owner_secrets() const {
    crypto::SlotSecrets secrets;
    secrets.key_file = key.clone();
    return secrets;
  }
  std::unique_ptr<Vault> open(bool read_only = false) const {
    VaultOptions options;
    options.path = path();
    options.read_only = read_only;
    options.no_anchor = no_anchor;
    options.session = random_id();
    Unlocker unlocker;
    unlocker.secrets = owner_secrets();
    return Vault::open(options, unlocker);
  }
  /// The file of bank `global`.
  std::string bank_file() const {
    auto vault = open();
    return vault->bank_path(vault->find_bank(kGlobalBank)->id);
  }

  TempDir dir;
  crypto::SecretKey key = crypto::SecretKey::random();
  bool no_anchor;
};

inline EntryDraft draft(std::string_view name, std::string_view value,
                        EntryClass entry_class = EntryClass::normal) {
  EntryDraft d;
  d.name = name;
  d.value = value;
  d.entry_class = entry_class;
  d.principal = "test";
  d.tool = "test";
  return d;
}

/// Stores one value in bank `global` and returns its revision.
inline std::uint64_t put(Vault& vault, std::string_view name, std::string_view value,
                         EntryClass entry_class = EntryClass::normal, std::size_t keep = 20) {
  auto bank = vault.open_bank(kGlobalBank);
  BankWrite write = bank->write(vault.stamp());
  SecretBytes plain;
  const auto current = find_entry(write, name, plain);
  const PutResult result = put_entry(write, current, draft(name, value, entry_class), keep, 1000);
  AuditEvent event;
  event.time = 1000;
  event.principal = "test";
  event.tool = "put";
  write.log(event);
  write.commit();
  return result.revision;
}

inline std::optional<std::string> get(Vault& vault, std::string_view name) {
  auto bank = vault.open_bank(kGlobalBank);
  BankRead view = bank->read();
  SecretBytes plain, value;
  const auto found = find_entry(view, name, plain);
  if (!found || !found->entry) return std::nullopt;
  read_value(view, *found->entry, 0, found->entry->bytes, value);
  return std::string(value.view());
}

inline bool forget(Vault& vault, std::string_view name) {
  auto bank = vault.open_bank(kGlobalBank);
  BankWrite write = bank->write(vault.stamp());
  SecretBytes plain;
  const auto current = find_entry(write, name, plain);
  if (!current || !current->entry) return false;
  forget_entry(write, *current->entry, "test", 2000);
  write.commit();
  return true;
}

}  // namespace strongroom::vault
