// An open vault: header, signed root, bank 0 with the bank list, and the banks.
//
// Not thread-safe; service/ serialises calls. Opening reads and checks everything that decides what
// may be trusted: a wrong key, damage or a missing file is an error, never an empty vault.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/key_slot.h"
#include "vault/anchor.h"
#include "vault/bank.h"
#include "vault/header.h"
#include "vault/root.h"

namespace strongroom::vault {

inline constexpr std::size_t kMaxOpenBanks = 64;
inline constexpr std::string_view kGlobalBank = "global";

/// Audit sessions outlive a closed vault, so that a reopened one continues them.
using SessionStore = std::map<BankId, std::shared_ptr<AuditSession>>;

struct VaultOptions {
  std::string path;
  bool read_only = false;
  bool no_anchor = false;
  bool allow_fuse = false;
  bool as_backup = false;                  // a backup is opened, and only so: read-only, no anchor
  Id16 session{};                          // of this process
  std::shared_ptr<SessionStore> sessions;  // may be null
};

/// The secrets at hand, and a way to ask for more; asked only when nothing at hand fits.
struct Unlocker {
  crypto::SlotSecrets secrets;
  std::function<std::optional<SecretBytes>()> ask_passphrase;
  std::function<std::optional<SecretBytes>()> ask_code;
};

struct BankInfo {
  BankId id{};
  std::string name;
  std::string tag;  // five letters, unique in the vault
  TimeMs created = 0;
  std::string creator;  // identity of the project that made it; empty for a bank made by name
  std::uint32_t key_version = 1;
  std::string unknown;  // optional fields of a newer version, carried on
};

/// Throws no_vault or invalid unless `path` is a directory that may hold a vault; reads no secret.
void check_vault_path(const std::string& path);

struct SlotInfo {
  Id16 id{};
  crypto::SlotRole role;
  crypto::SlotMethod method;
};

/// What `init` makes. Throws invalid when `path` holds something else, no_space, io.
struct CreateOptions {
  std::string path;
  crypto::SlotMethod owner_method = crypto::SlotMethod::key_file;
  crypto::SlotSecrets owner;
  crypto::SlotMethod admin_method = crypto::SlotMethod::key_file;
  crypto::SlotSecrets admin;
  crypto::PassphraseCost cost;
  std::string policy_text;
  std::string principal;
  bool no_anchor = false;
  bool allow_fuse = false;
};
void create_vault(const CreateOptions& options);
/// The check of the target alone: conflict when a vault is there, invalid for anything else that
/// is.
void check_new_vault(const std::string& path);

class Vault {
 public:
  /// Throws no_vault, wrong_key (none of the secrets opens a slot), locked (there is no secret),
  /// corrupt, rollback, fork, busy, unsupported.
  static std::unique_ptr<Vault> open(const VaultOptions& options, Unlocker& unlocker);

  const Header& header() const noexcept { return header_; }
  const RootRecord& root() const noexcept { return root_; }
  const VaultOptions& options() const noexcept { return options_; }
  Anchor& anchor() noexcept { return *anchor_; }
  Bank& bank0() noexcept { return *bank0_; }
  const SlotInfo& opened_with() const noexcept { return opened_with_; }

  /// Re-reads root and policy when another process has changed root.mdb. True when it did.
  bool refresh();

  /// How often root and policy were read: who keeps something made from them compares it, because
  /// other operations than refresh() read them anew as well.
  std::uint64_t root_reads() const noexcept { return root_reads_; }

  /// False when root.mdb or an open bank's file was deleted or replaced behind the vault's back.
  bool files_in_place() const;

  /// The sealed policy's text, or why there is none that may be trusted.
  struct PolicyState {
    std::optional<SecretBytes> text;
    std::string reason;  // "the policy's signature ...", when there is no text
  };
  const PolicyState& policy() const noexcept { return policy_; }

  std::vector<BankInfo> list_banks();
  std::optional<BankInfo> find_bank(std::string_view name);
  std::optional<BankInfo> find_bank_by_tag(std::string_view tag);
  /// nullptr when no such bank is listed. A listed bank whose file is missing or does not open is
  /// corrupt. Throws rollback and fork (unless read-only), denied when its head saw a newer root.
  std::shared_ptr<Bank> open_bank(std::string_view name);
  /// Makes a bank; one that another process made meanwhile is opened instead.
  std::shared_ptr<Bank> create_bank(std::string_view name, std::string_view creator,
                                    AuditEvent event);
  /// The names of banks whose lineage was refused but opened because of read_only.
  const std::vector<std::string>& lineage_notes() const noexcept { return lineage_notes_; }

  /// Settings of the vault (bank 0).
  std::optional<std::string> setting(std::string_view name);
  void set_setting(std::string_view name, std::string_view value, AuditEvent event);
  /// Makes a new value from the one that is there (empty: none), with nobody else in between.
  void change_setting(std::string_view name,
                      const std::function<std::string(std::string_view)>& change, AuditEvent event);
  /// Changes the creator of a bank: `bank trust`.
  void set_bank_creator(std::string_view name, std::string_view creator, AuditEvent event);

  /// What a writer stamps.
  WriteStamp stamp();
  /// The owner's key to all logs.
  crypto::SecretKey audit_secret();

  // ---- what asks for the admin secret

  /// The admin key, opened from one of the admin slots. Throws wrong_key, locked.
  crypto::SecretKey unlock_admin(Unlocker& unlocker);
  /// True when `secrets` of the owner also open an admin slot.
  bool admin_opens_with(const crypto::SlotSecrets& secrets);
  void seal_policy(const crypto::SecretKey& admin, std::string_view text, std::uint64_t version,
                   AuditEvent event);
  std::vector<SlotInfo> slots();
  Id16 add_slot(const crypto::SecretKey& admin, crypto::SlotRole role, crypto::SlotMethod method,
                const crypto::SlotSecrets& secrets, const crypto::PassphraseCost& cost,
                AuditEvent event);
  /// Throws not_found; invalid for the last owner or admin slot.
  void remove_slot(const crypto::SecretKey& admin, const Id16& id, AuditEvent event);

  /// Frees the megabyte that lies ready for deleting on a full disk. False when it is gone already.
  bool give_up_reserve();
  /// Makes it again where there is room; silent when there is not.
  void restore_reserve() noexcept;

  std::string bank_path(const BankId& id) const;
  std::string root_path() const;
  const std::string& header_bytes() const noexcept { return header_bytes_; }

 private:
  friend class VaultFiles;
  explicit Vault(VaultOptions options);
  void read_header();
  void check_backup();
  void unlock(Unlocker& unlocker);
  void make_bank0(BankKeys keys);
  void load_root();
  void load_policy(BankRead& view);
  std::optional<crypto::SecretKey> try_slots(ReadTxn& txn, crypto::SlotRole role,
                                             const crypto::SlotSecrets& secrets, SlotInfo& opened,
                                             bool& any_method_tried);
  std::shared_ptr<Bank> open_listed(const BankInfo& info, BankKeys keys);
  void adopt_session(Bank& bank);
  /// Closes the file of bank 0, or of a bank that nobody else holds; and opens that of bank 0
  /// again.
  void detach_root();
  void attach_root(BankKeys keys);
  void close_bank(std::string_view name);
  /// One root change: reads the row in the write transaction, applies, re-signs.
  void change_root(const crypto::SecretKey& admin, AuditEvent event,
                   const std::function<void(BankWrite&, RootRecord&)>& change);
  SecretBytes stored_secret(BankRead& view, std::string_view name);

  VaultOptions options_;
  Header header_;
  std::string header_bytes_;
  RootRecord root_;
  crypto::SecretKey vmk_;
  RootSeen root_seen_;
  PolicyState policy_;
  SlotInfo opened_with_{};
  std::shared_ptr<Anchor> anchor_;
  std::shared_ptr<Engine> root_engine_;
  std::shared_ptr<Bank> bank0_;
  std::uint64_t root_transaction_ = 0;
  std::uint64_t root_reads_ = 0;
  std::vector<std::string> lineage_notes_;
  struct OpenBank {
    std::shared_ptr<Bank> bank;
    std::uint64_t used = 0;
  };
  std::map<std::string, OpenBank, std::less<>> open_;
  std::uint64_t clock_ = 0;
};

/// Names of settings that the vault keeps for itself.
namespace reserved {
inline constexpr std::string_view kBoxSecret = "!box", kAuditSecret = "!audit",
                                  kPolicySecret = "!policy";
}

/// The signed root lists each recipient; a row without a listing, or the reverse, is corrupt.
void check_recipients(ReadTxn& txn, const RootRecord& root);

/// A bank-list row: the info and the bank's keys.
struct BankRow {
  BankInfo info;
  crypto::SecretKey key, secret;
};
SecretBytes encode_bank_row(const BankInfo& info, const crypto::SecretKey& key,
                            const crypto::SecretKey& secret);
BankRow decode_bank_row(std::string_view body);
/// Writes a setting record of bank 0.
void put_setting(BankWrite& bank0, std::string_view name, std::string_view value);
std::optional<SecretBytes> get_setting(BankRead& bank0, std::string_view name);
/// A new bank file with its first head; synced.
std::shared_ptr<Engine> make_bank_file(const std::string& path, bool allow_fuse);
std::string make_bank_tag();
/// The second name of a bank's row, by its tag.
std::string bank_tag_name(std::string_view tag);
/// Seals a policy text as the row of the table root.
std::string seal_policy_row(const VaultId& vault, const crypto::SecretKey& policy_key,
                            std::uint64_t version, std::string_view text);

}  // namespace strongroom::vault
