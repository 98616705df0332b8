// A vault as `strongroom init` makes it, in a home of its own, and the service as callers use it.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../vault/vault_fixture.h"
#include "service/memory_service.h"
#include "service/vault_admin.h"

namespace strongroom::service {

namespace fs = std::filesystem;
using vault::code_of;
using vault::slurp;
using vault::spill;
using vault::TempDir;

/// What a caller is told: code and whole text of the error that `work` throws.
struct Failure {
  Code code;
  std::string text;
};
template <class Work>
Failure failure_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.code(), error.text()};
  }
  FAIL("no error was thrown");
  return {Code::internal, {}};
}

/// A credential by the scanner's rules that is nobody's.
inline std::string credential() {
  return std::string("AKIA") + "Q3EGZZ4RTM7NK2XW";
}

class TestHome {
 public:
  explicit TestHome(bool separate_admin = false) {
    for (const char* name : {"STRONGROOM_BANK", "STRONGROOM_VAULT", "STRONGROOM_KEYFILE"}) {
      ::unsetenv(name);
    }
    ::setenv("XDG_STATE_HOME", (dir / "state").c_str(), 1);
    fs::create_directories(work());
    InitOptions init;
    init.vault_path = vault_path();
    init.owner.keyfile = keyfile();
    if (separate_admin) {
      init.admin.emplace();
      init.admin->keyfile = admin_keyfile();
    }
    init_vault(init);
  }

  std::string vault_path() const { return dir / "memory.vault"; }
  std::string keyfile() const { return dir / "owner.key"; }
  std::string admin_keyfile() const { return dir / "admin.key"; }
  /// A folder without a project.
  std::string work() const { return dir / "work"; }
  /// A folder whose .strongroom.json holds `text`.
  std::string project(const std::string& name, const std::string& text) const {
    const std::string folder = dir / name;
    fs::create_directories(folder);
    spill(folder + "/.strongroom.json", text);
    return folder;
  }

  ServiceOptions options(const std::string& principal = "local:mcp") const {
    ServiceOptions options;
    options.vault_path = vault_path();
    options.key.keyfile = keyfile();
    options.principal = principal;
    options.source = principal == "local:cli" ? "cli" : "mcp";
    options.project_folder = work();
    return options;
  }
  std::unique_ptr<MemoryService> open(const ServiceOptions& options) const {
    return std::make_unique<MemoryService>(options);
  }
  std::unique_ptr<MemoryService> mcp() const { return open(options("local:mcp")); }
  std::unique_ptr<MemoryService> cli() const { return open(options("local:cli")); }
  std::unique_ptr<MemoryService> in_bank(const std::string& bank,
                                         const std::string& principal = "local:mcp") const {
    ServiceOptions given = options(principal);
    given.bank_override = bank;
    return open(given);
  }
  std::unique_ptr<MemoryService> in_folder(const std::string& folder) const {
    ServiceOptions given = options();
    given.project_folder = folder;
    return open(given);
  }

  AdminOptions admin_options() const {
    AdminOptions given;
    given.vault_path = vault_path();
    given.owner.keyfile = keyfile();
    if (fs::exists(admin_keyfile())) given.admin.keyfile = admin_keyfile();
    return given;
  }
  std::unique_ptr<VaultAdmin> admin() const {
    return std::make_unique<VaultAdmin>(admin_options());
  }

  /// Seals the default rules and more.
  void seal(int version, const std::string& rules) const {
    std::string all = R"({"id": "default", "effect": "permit", "principal": "local:*",
    "class": "normal"},
  {"id": "writes", "effect": "permit", "principal": "local:*", "class": "secret",
    "tool": ["agent_remember", "agent_forget"]},
  {"id": "owner", "effect": "permit", "principal": "local:cli"})";
    if (!rules.empty()) all += ",\n  " + rules;
    admin()->seal_policy("{\"version\": " + std::to_string(version) + ", \"rules\": [\n  " + all +
                         "\n]}");
  }

  std::vector<AuditLine> log(const AuditFilter& filter = {}) const {
    std::vector<AuditLine> lines;
    admin()->audit_log(filter, [&](const AuditLine& line) { lines.push_back(line); });
    return lines;
  }
  /// Records of one tool in one bank; "" is the vault's own log.
  std::vector<AuditLine> log_of(const std::string& tool, const std::string& bank = "global") const {
    std::vector<AuditLine> lines;
    for (AuditLine& line : log()) {
      if (line.tool == tool && line.bank == bank) lines.push_back(std::move(line));
    }
    return lines;
  }
  /// Nothing is wrong with any row, head, chain or anchor.
  void check_whole() const {
    const VerifyOutcome outcome = admin()->verify(false);
    for (const VerifyLine& line : outcome.problems) FAIL_CHECK(line.where << ": " << line.text);
    for (const VaultAdmin::ChainLine& chain : admin()->audit_verify()) {
      INFO(chain.bank << ": " << chain.problem);
      CHECK(chain.problem.empty());
    }
  }

  /// Bytes of every file below the home, by path.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir.path())) {
      if (entry.is_regular_file()) all[entry.path().string()] = slurp(entry.path().string());
    }
    return all;
  }
  /// Does any file hold these bytes?
  bool holds(const std::string& needle) const {
    for (const auto& [path, bytes] : files()) {
      if (bytes.find(needle) != std::string::npos) return true;
    }
    return false;
  }

  TempDir dir;
};

inline RememberResult remember(MemoryService& service, std::string_view key, std::string_view value,
                               const std::string& bank = {}) {
  RememberRequest request;
  request.key = key;
  request.value = value;
  request.bank = bank;
  return service.remember(request);
}
inline RememberResult remember_secret(MemoryService& service, std::string_view key,
                                      std::string_view value) {
  RememberRequest request;
  request.key = key;
  request.value = value;
  request.entry_class = EntryClass::secret;
  return service.remember(request);
}
inline std::optional<RecalledValue> hit(MemoryService& service, std::string_view key,
                                        const std::string& bank = {}) {
  RecallRequest request;
  request.key = key;
  request.bank = bank;
  return service.recall(request);
}
/// The value, or "(none)".
inline std::string recall(MemoryService& service, std::string_view key,
                          const std::string& bank = {}) {
  const auto found = hit(service, key, bank);
  return found ? std::string(found->value.view()) : "(none)";
}
inline bool forget(MemoryService& service, std::string_view key, const std::string& bank = {}) {
  ForgetRequest request;
  request.key = key;
  request.bank = bank;
  return service.forget(request).found;
}
inline std::vector<std::string> names(const ListResult& list) {
  std::vector<std::string> keys;
  for (const ListedEntry& entry : list.entries) keys.push_back(entry.key);
  return keys;
}
inline std::vector<std::string> list(MemoryService& service, std::string_view prefix = {},
                                     const std::string& bank = {}) {
  ListRequest request;
  request.prefix = prefix;
  request.bank = bank;
  return names(service.list(request));
}

/// No byte can be written to a file while it lives.
class NoWrites {
 public:
  NoWrites() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoWrites() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_);
  }
  NoWrites(const NoWrites&) = delete;
  NoWrites& operator=(const NoWrites&) = delete;

 private:
  rlimit before_{};
  void (*old_)(int) = nullptr;
};

}  // namespace strongroom::service
