// What the calls of a MemoryService share: the open vault, the policy, the place of a call, and the
// audit buffer. Internal to service/; everything here runs under the service's mutex.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "policy/policy.h"
#include "recall/analyzer.h"
#include "recall/entities.h"
#include "recall/index.h"
#include "service/memory_service.h"
#include "service/models.h"
#include "vault/entries.h"
#include "vault/vault.h"

namespace strongroom::service {

namespace tool {
inline constexpr std::string_view kRemember = "agent_remember", kRecall = "agent_recall",
                                  kForget = "agent_forget", kContext = "get_project_context",
                                  kRetain = "retain", kSearch = "recall", kReflect = "reflect",
                                  kEdit = "memory_edit", kGet = "memory_get", kLink = "memory_link",
                                  kListMemories = "list_memories",
                                  kListDocuments = "list_documents",
                                  kDeleteDocument = "delete_document", kListTags = "list_tags",
                                  kListBanks = "list_banks", kCreateBank = "create_bank",
                                  kBankStats = "bank_stats", kPurge = "purge_memories",
                                  kObserve = "observe", kReview = "review",
                                  kCandidates = "consolidation_candidates",
                                  kListEntities = "list_entities";
}

/// Banks of a call: where it writes, and where it reads, in order.
struct Banks {
  std::string write;
  std::vector<std::string> read;
  std::vector<std::string> notes;
  std::string chosen_by;
  std::string creator;      // identity for a bank that the first write makes
  bool may_create = false;  // the write bank may come into being by a write
};

inline constexpr std::size_t kDefaultRevisions = 20;

struct MemoryService::State {
  explicit State(ServiceOptions given);

  /// One call: under the mutex, on the open vault, with a record also when it fails.
  template <class Work>
  auto call(std::string_view tool, const Work& work) {
    const std::lock_guard lock(mutex);
    call_logged = false;
    call_bank.clear();
    index_uses_before = index_uses;
    vectors_problem.clear();
    if (std::exchange(reopen_before_call, false)) close_vault();
    try {
      ensure_open();
      return work();
    } catch (const Error& error) {
      log_failure(tool, error);
      // After a failed write the database may refuse to go on until it is opened again.
      if (error.code() == Code::uncertain || error.code() == Code::io) close_vault();
      throw;
    }
  }

  // ---- vault and policy
  /// Opens the vault when it is closed, and takes over a root that another process changed.
  void ensure_open();
  void close_vault();
  void open_vault();
  void load_settings();
  void load_policy();
  std::shared_ptr<vault::Bank> open(const std::string& bank) { return vault->open_bank(bank); }
  policy::Request request(std::string_view tool, std::string_view bank) const;

  // ---- place (place.cpp)
  Banks resolve(const std::string& explicit_bank);
  Banks find_project_banks();
  /// The bank of a write, made by it where that is allowed; `denied` or `not_found` otherwise.
  std::shared_ptr<vault::Bank> open_for_write(const Banks& banks, std::string_view tool);
  /// Throws denied when the project's bank was made by another project.
  void require_own_bank();
  std::vector<std::string> visible_banks();
  [[noreturn]] void throw_unknown_bank(const std::string& bank);

  // ---- audit (audit_buffer.cpp)
  vault::AuditEvent event(std::string_view tool, std::string_view rule) const;
  /// A read that is logged later, at most a second or 4,096 calls, equal ones as a count.
  void log_read(const std::shared_ptr<vault::Bank>& bank, std::string_view tool,
                std::string_view rule, vault::RecordId record, std::uint64_t bytes,
                bool found = true);
  /// Logged before the caller learns anything; repeats within a second are one record.
  void log_now(const std::shared_ptr<vault::Bank>& bank, vault::AuditEvent event,
               vault::Patience patience = vault::kWriterPatience);
  /// Logs a denial in the bank it touches, or the first that this process can open, and throws it.
  [[noreturn]] void deny(const std::string& bank, std::string_view tool,
                         const policy::Decision& decision);
  /// A call that failed leaves a record too; one that deny() logged has its own.
  void log_failure(std::string_view tool, const Error& error) noexcept;
  /// Throws busy when other writers let it wait longer than that; nothing is lost then.
  void flush(vault::Patience patience = vault::kWriterPatience);
  /// The same, but other writers are not waited for while the buffer has room; false when they
  /// were in the way.
  bool flush_in_passing();

  std::size_t read_group(const vault::Bank& bank, std::string_view tool, std::string_view rule,
                         bool found);

  // ---- memories
  /// This process's cache of a bank's index. Lives until the call ends at least.
  recall::Index& index(const std::shared_ptr<vault::Bank>& bank);
  /// Vectors for rows that have none yet: `fresh` just stored ones and some of those before them,
  /// by the model in the program and by the bank's own. Never throws: what is stored is stored,
  /// and vectors_problem says what is missing.
  void catch_up(const std::shared_ptr<vault::Bank>& bank, std::string_view tool,
                std::uint64_t fresh) noexcept;
  /// Finds what a text is about; its tables are built at the first use.
  recall::EntityFinder& entity_finder();
  /// The policy's decision for memories with these tags (none: an untagged one).
  policy::Decision decide(std::string_view tool, const std::string& bank,
                          const std::vector<std::string>& tags) const;
  vault::Trust trust() const {
    if (options.source == "import") return vault::Trust::imported;
    return options.source == "cli" ? vault::Trust::owner : vault::Trust::agent;
  }

  // ---- listings (listing.cpp)
  const std::vector<vault::EntryLine>& lines(const std::shared_ptr<vault::Bank>& bank);

  ServiceOptions options;
  std::mutex mutex;

  std::unique_ptr<vault::Vault> vault;
  policy::Policy policy = policy::Policy::deny_all("the vault is not open");
  vault::Id16 session{};
  std::shared_ptr<vault::SessionStore> sessions = std::make_shared<vault::SessionStore>();
  // Settings, taken over whenever root.mdb has changed.
  Scoping scoping = Scoping::per_project_tagged;
  std::size_t revisions = kDefaultRevisions;
  TimeMs last_call = 0;
  TimeMs files_checked = 0;
  std::uint64_t root_reads = 0;  // of the vault, when policy and settings were taken over
  std::string call_bank;         // the bank of the call under way, for its record
  bool call_logged = false;      // by deny()

  // Buffered reads: a group a bank, tool, rule and outcome, and in it a line a record. By bank id,
  // not by open bank: what is buffered outlives a vault that is closed and reopened.
  struct ReadGroup {
    vault::BankId bank{};
    std::string bank_name, rule;
    std::string_view tool;
    bool found = true;
    TimeMs first = 0;
  };
  struct BufferedRead {
    std::size_t group;
    vault::RecordId record;
    std::uint64_t count, bytes;
  };
  std::vector<ReadGroup> read_groups;
  std::vector<BufferedRead> reads;   // equal ones become one when they are written
  std::uint64_t buffered_calls = 0;  // since the last flush that succeeded
  TimeMs buffered_since = 0;
  std::map<std::string, TimeMs> logged_failures;  // what failed -> when it was last logged

  struct CachedList {
    bool valid = false;
    std::vector<vault::BankHead::RowSet> rows;  // as they were when the lines were made
    std::vector<vault::EntryLine> lines;
  };
  std::map<vault::BankId, CachedList> lists;
  /// What the memories of a bank are about, as this principal may see them.
  struct CachedEntities {
    std::vector<vault::BankHead::RowSet> rows;  // as they were when it was made
    std::uint64_t root_reads = 0;               // and the policy
    TimeMs until = 0;                           // when the first of them expires
    std::vector<ListedEntity> entities;         // most memories first, then by name
    bool cut = false;
  };
  std::map<vault::BankId, CachedEntities> entities;
  struct CachedIndex {
    std::unique_ptr<recall::Index> index;
    std::uint64_t used = 0;
  };
  std::map<vault::BankId, CachedIndex> indexes;
  std::uint64_t index_uses = 0, index_uses_before = 0;  // before the call under way
  recall::Analyzer analyzer;
  ModelRegistry models;  // a setting as well
  OpenModels open_models;
  std::string vectors_problem;      // of the call under way
  bool reopen_before_call = false;  // a write behind an answer failed
  std::optional<recall::EntityFinder> finder;

  std::optional<Project> project;
  std::optional<Banks> project_banks;  // until the project is looked up again or the vault changes
  std::string own_bank;                // bank and identity that require_own_bank() found right
  TimeMs project_found = 0;
};

inline constexpr std::size_t kAuditBufferCalls = 4096;
inline constexpr TimeMs kAuditBufferAge = 1000;

vault::SourceKind source_kind(std::string_view source);

}  // namespace strongroom::service
