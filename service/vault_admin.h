// The owner's operations on a vault: making it, its health, banks, policy, slots and log. They need
// the owner's secret, some the admin's as well, and are logged in the vault's own log. Not
// thread-safe. Failures are Errors as of MemoryService, without denied by a rule: the policy does
// not decide what the owner does. With `read_only` what would change something throws denied.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "service/key_source.h"

namespace strongroom::service {

enum class SlotKind { passphrase, keyfile, both, code };

/// A secret to make a slot from. `code` holds the recovery code to show, once made.
struct NewSecret {
  SlotKind kind = SlotKind::keyfile;
  std::string keyfile;  // made with mode 0600 when it does not exist
  std::optional<SecretBytes> passphrase;
  std::optional<SecretBytes> code;  // out: the code that was made
};

struct InitOptions {
  std::string vault_path;
  NewSecret owner;
  std::optional<NewSecret> admin;  // absent: the owner's secret
  bool no_anchor = false;
};
/// Throws conflict where there is something already. Fills `code` members. Key files that it makes
/// are left behind only when the vault was made.
void init_vault(InitOptions& options);

struct AdminOptions {
  std::string vault_path;
  KeySource owner;
  KeySource admin;
  std::string principal = "local:cli";
  bool read_only = false;
  bool no_anchor = false;
  bool as_backup = false;  // the vault is a backup, which is opened read-only
};

struct BankStatus {
  std::string name, tag;
  TimeMs created = 0;
  std::uint64_t entries = 0, secrets = 0, memories = 0, documents = 0, generation = 0,
                file_bytes = 0, erase_pending = 0;
};

struct VaultStatus {
  std::string state;        // "open", "locked", "no_vault"
  std::string hint;         // when not open
  std::string vault_id;     // when known
  std::string anchor;       // "ok", "new", "off", "unavailable"
  bool keys_locked = true;  // false: keys may be swapped out
  bool admin_is_owner = false;
  std::string opened_with;  // slot method
  std::uint64_t policy_version = 0, policy_rules = 0;
  std::string policy_problem;  // why everything is denied, or empty
  std::uint64_t banks = 0, entries = 0, secrets = 0, memories = 0, documents = 0, erase_pending = 0;
  std::string scoping;
  std::vector<std::string> notes;
};

struct VerifyLine {
  Code code;
  std::string where, text;
};
struct VerifyOutcome {
  std::uint64_t banks = 0, records = 0, names = 0, chunks = 0, log_records = 0;
  std::uint64_t memories = 0, documents = 0, links = 0, index_rows = 0;
  std::vector<VerifyLine> problems;
};

/// What became of one file; the vault's own has an empty name.
struct CompactLine {
  std::string bank;
  std::uint64_t bytes_before = 0, bytes_after = 0;  // on disk
  std::uint64_t expired = 0;                        // entries that had expired and are gone
  std::uint64_t erased = 0;                         // pending erasures that are now complete
  std::uint64_t erase_pending = 0;                  // that are not
  std::optional<Code> failed;                       // then nothing was changed
  std::string problem;
};

struct BackupOutcome {
  std::uint64_t banks = 0, rows = 0;
};

struct RestoreOutcome {
  std::uint64_t banks = 0;
  bool replaced = false;  // there was a vault before
  std::vector<std::string> notes;
};

/// A bank, or with an empty name the vault's own file, against what this machine has seen of it.
struct AnchorLine {
  std::string bank;
  std::uint64_t generation = 0, seen = 0;
  std::string state;  // "ok", "rollback", "fork", "not seen"
  std::string problem;
};
struct AnchorReport {
  std::string state;    // "ok", "new", "off", "unavailable"
  std::string replica;  // this machine's id in the vault; empty without an anchor
  std::uint64_t root_version = 0, root_seen = 0;
  std::vector<AnchorLine> lines;
};

/// What is wrong, or worth knowing, and the command for it.
struct DoctorLine {
  enum class Kind { ok, note, problem, fixed };
  Kind kind = Kind::ok;
  std::string text, command;
};

struct AuditLine {
  std::uint64_t sequence = 0;
  TimeMs time = 0;
  std::string principal, tool, bank, rule, error, session;
  bool permitted = true;
  std::uint64_t count = 1, bytes = 0, record = 0;
};
struct AuditFilter {
  std::string bank;  // empty: every bank and the vault log
  std::optional<TimeMs> since;
  std::string principal;
  std::string tool;
  bool denied_only = false;
};

struct SlotLine {
  std::string id, role, method;
};

struct PolicyQuestion {
  std::string principal, tool, bank, source, value_class;
  std::optional<std::string> key;
  std::vector<std::string> tags;
};
struct PolicyTraceLine {
  std::string rule, effect, why;
  bool matched = false;
};
struct PolicyAnswer {
  bool permitted = false;
  std::string rule, text;
  std::vector<PolicyTraceLine> trace;
};
struct PolicyTestLine {
  bool passed = false;
  std::string expect, got, rule;
};

/// Where a model is to be had: a folder of this machine, or the URL of an endpoint.
struct ModelSource {
  std::string folder, url;
  std::optional<std::string> weights, pooling, query_prefix, passage_prefix;
  std::optional<std::uint64_t> max_tokens, heads;
  /// "LOW,HIGH": cosines that are no evidence and full evidence; absent: they are measured.
  std::optional<std::string> curve;
  // Of an endpoint.
  std::string shape = "ollama", name;  // "openai"; the model as the server calls it
  bool allow_remote = false;
  std::string token_file;
};
struct ModelLine {
  std::string id, kind;  // "built-in", "folder", "reranker", "http"
  std::string where;     // folder or URL
  std::uint64_t dimensions = 0;
  std::vector<std::string> banks;  // that use it
};
/// The vectors of one model in a bank.
struct BankVectors {
  std::string bank, model;
  bool used = false;  // recall asks for them
  std::uint64_t passages = 0, behind = 0;
};

class VaultAdmin {
 public:
  struct State;  // internal to service/

  explicit VaultAdmin(AdminOptions options);
  ~VaultAdmin();

  /// Works on a locked or missing vault, which it reports.
  VaultStatus status();
  VerifyOutcome verify(bool fast, const std::function<void(std::uint64_t rows)>& progress = {});

  /// Rewrites the file of a bank, or with an empty name of every bank and the vault's own. One that
  /// cannot be rewritten, because another process has it open for instance, is a line that says so;
  /// the others go on. Throws not_found for a bank that is not there.
  std::vector<CompactLine> compact(const std::string& bank,
                                   const std::function<void(const CompactLine&)>& visit = {});

  /// Copies the vault into a new folder while others use it, and checks every row of the copy. Each
  /// bank is copied as of one moment, not all as of the same. Throws conflict when something is
  /// there, corrupt when the vault is damaged.
  BackupOutcome backup(const std::string& path,
                       const std::function<void(std::uint64_t rows)>& progress = {});
  /// Puts a backup in the vault's place: there may be none, or one of the same id that nobody has
  /// open. The secrets are those of the backup; an older root record needs the admin's too. Throws
  /// invalid (no backup), conflict (a backup of another vault), busy, corrupt.
  RestoreOutcome restore(const std::string& path,
                         const std::function<void(std::uint64_t rows)>& progress = {});

  /// The vault against this machine's anchor; opens a vault that was rolled back.
  AnchorReport anchor();
  /// Takes the files as the truth, whatever this machine has seen.
  AnchorReport accept_anchor();

  /// Looks at everything about the vault that can be wrong; changes nothing unless `fix`, which
  /// removes what interrupted commands left behind.
  std::vector<DoctorLine> doctor(bool fix);

  std::vector<BankStatus> banks();
  void create_bank(const std::string& name);  // conflict: there is one
  /// Trusts the project in `folder` to use the bank that its .strongroom.json names.
  void trust_bank(const std::string& name, const std::string& folder, bool explicit_folder);

  /// Known settings: "scoping", "revisions". The value is the one in force, also where none was set.
  std::optional<std::string> setting(const std::string& name);
  void set_setting(const std::string& name, const std::string& value);
  static std::vector<std::string> setting_names();

  // ---- models (model_admin.cpp)
  std::vector<ModelLine> models();
  std::vector<BankVectors> bank_vectors();
  /// Looks at it, tries it, and keeps what it is. Adding one again is no error.
  ModelLine add_model(const ModelSource& source);
  /// Makes a bank use a model for its vectors, or to rank; an id of "none" ends that: `reranker`
  /// says of which.
  ModelLine use_model(const std::string& bank, const std::string& id, bool reranker);
  /// Vectors for all passages of a bank that its model has not seen; what was made stays when it is
  /// stopped. Returns how many it made.
  std::uint64_t fill_model(const std::string& bank,
                           const std::function<void(std::uint64_t, std::uint64_t)>& progress);
  /// Forgets a model and erases its vectors. Throws conflict while a bank uses it.
  void remove_model(const std::string& id);

  std::string policy_text();  // as it is sealed
  /// Signs and seals; the text's version must be above the sealed one's.
  void seal_policy(std::string_view text);
  /// Findings about a text; throws invalid when it cannot be read.
  static std::vector<std::string> check_policy(std::string_view text);
  /// How the sealed policy would decide, rule by rule; the call itself is not made.
  PolicyAnswer explain_policy(const PolicyQuestion& question);
  /// A case as docs/policy.md has them, one JSON object. Throws invalid when it is none.
  PolicyTestLine test_policy_line(std::string_view line);
  static std::vector<std::string> policy_templates();
  static std::string policy_template(const std::string& name);

  /// In time order; the chain of each log is checked while it is read.
  void audit_log(const AuditFilter& filter, const std::function<void(const AuditLine&)>& visit);
  /// Hands out every event of a bank's log, or with an empty name of all logs, log by log, and takes
  /// them out of the vault: a checkpoint signed by the admin stands for them. `keep` is called before
  /// the events handed out so far go: they must be safe by then. How many rows went.
  std::uint64_t prune_audit(const std::string& bank,
                            const std::function<void(const AuditLine&)>& visit,
                            const std::function<void()>& keep);
  struct ChainLine {
    std::string bank;
    std::uint64_t records = 0, pruned = 0;
    std::string problem;
  };
  /// The vault's own log, whose bank is empty, then each bank's.
  std::vector<ChainLine> audit_verify();

  std::vector<SlotLine> slots();
  /// Both need the admin's secret. Returns the id. Fills `code`, as init_vault does.
  std::string add_slot(NewSecret& secret, bool admin_role);
  /// Throws invalid for the last slot of a role and for the one in use, not_found.
  void remove_slot(const std::string& id);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace strongroom::service
