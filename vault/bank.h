// One bank: a file, its keys, and transactions that keep head, set hash and log in step with rows.
//
// Reading a name costs one name hash, two tree walks and one AEAD. Everything that changes rows
// goes through BankWrite, whose commit() is the only way to the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/hash.h"
#include "crypto/secret_key.h"
#include "vault/anchor.h"
#include "vault/audit_log.h"
#include "vault/bank_head.h"
#include "vault/engine.h"
#include "vault/format.h"

namespace strongroom::vault {

/// What a bank needs, all derived from one version of its key.
struct BankKeys {
  std::uint32_t version = 1;
  crypto::SecretKey names, records, chunks, index, set, head, log;
  crypto::SecretKey secret;  // class secret; random, not derived; empty when not granted

  static BankKeys make(const VaultId& vault, const BankId& bank, std::uint32_t version,
                       const crypto::SecretKey& bank_key, crypto::SecretKey secret);
};

/// What a writer stamps on a change, from the open vault.
struct WriteStamp {
  Id16 replica{};
  RootSeen root;
  std::string audit_public_key;
};

class Bank;

/// Key and place of a row of the index: its kind, its segment or column, its number there.
class IndexKey {
 public:
  IndexKey(Kind kind, std::uint32_t segment, std::uint32_t number);
  /// A key as it is stored. Throws corrupt.
  explicit IndexKey(std::string_view stored);
  std::string_view view() const { return {bytes_, sizeof bytes_}; }
  std::uint64_t place() const { return place_; }
  Kind kind() const { return static_cast<Kind>(bytes_[0]); }
  std::uint32_t number() const { return static_cast<std::uint32_t>(place_); }

 private:
  char bytes_[9];  // big-endian, so that blocks lie in order
  std::uint64_t place_ = 0;
};

/// A consistent view of a bank. Views that it returns live as long as it does.
class BankRead {
 public:
  BankRead(const Bank& bank, std::unique_ptr<ReadTxn> txn);

  /// Opens the head; cached within this view. Throws corrupt when it is missing or not authentic.
  const BankHead& head();
  const Id16& head_tag() {
    head();
    return head_tag_;
  }

  /// The newest record of that kind and name, by keyed hash; the caller compares the name in the
  /// body.
  std::optional<RecordId> find(Kind kind, std::string_view name);
  /// The sealed row. Throws corrupt when it is not there.
  std::string_view row(RecordId id);
  /// Opens a record into `plain`. Throws corrupt.
  struct Record {
    Kind kind;
    std::string_view body;
  };
  Record open(RecordId id, SecretBytes& plain);

  /// A sealed row of the index, when there is one.
  std::optional<std::string_view> index_row(std::string_view key) {
    return reader().get(Table::index, key);
  }
  /// Opens such a row straight into memory of the caller. Throws corrupt unless it is authentic for
  /// this kind and place and holds exactly `size` bytes.
  void open_index(Kind kind, std::string_view sealed, std::uint64_t place, char* out,
                  std::size_t size);

  ReadTxn& txn() { return reader(); }
  const Bank& bank() const { return bank_; }

 protected:
  struct NoTxn {};
  BankRead(const Bank& bank, NoTxn) : bank_(bank) {}
  void load_head(ReadTxn& txn);
  virtual ReadTxn& reader() { return *txn_; }
  const Bank& bank_;
  BankHead head_;
  Id16 head_tag_{};
  bool has_head_ = false;

 public:
  virtual ~BankRead() = default;

 private:
  std::unique_ptr<ReadTxn> txn_;
};

class BankWrite final : public BankRead {
 public:
  BankWrite(Bank& bank, std::unique_ptr<WriteTxn> txn, WriteStamp stamp);

  /// Seals and appends a record; returns its id.
  RecordId append(Kind kind, std::string_view body);
  /// The id that the next append() gets: for a body that must bind it (chunks).
  RecordId next_id() const { return head_.next_record_id; }
  void erase(RecordId id);
  /// Seals a record anew under its id: for records that others point at. Throws corrupt when there
  /// is none.
  void replace(Kind kind, RecordId id, std::string_view body);
  /// Takes an id that no record will ever have: for numbers that must be known before the record.
  RecordId reserve_id() { return head_.next_record_id++; }
  /// Points a name at a record, replacing what it pointed at.
  void bind(Kind kind, std::string_view name, RecordId id);
  void unbind(Kind kind, std::string_view name);

  /// Rows outside names and records (chunks, recipients, root). `sealed` says how the row counts in
  /// the set.
  void put_row(Table table, std::string_view key, std::string_view value, bool sealed);
  void erase_row(Table table, std::string_view key, bool sealed);

  /// Seals `plain` as it is, without length or padding, and stores it in the index. `fresh` says
  /// that the key is new, which saves looking for an old row: a key that is not breaks the bank's
  /// set hash.
  void put_index(Kind kind, std::string_view key, std::uint64_t place, std::string_view plain,
                 bool fresh = false);
  /// Throws corrupt when the row is not there.
  void erase_index(std::string_view key) { erase_row(Table::index, key, true); }

  void log(AuditEvent event) { events_.push_back(std::move(event)); }
  BankHead& mutable_head() { return head_; }
  void set_stamp_root(const RootSeen& root) { stamp_.root = root; }

  /// Log records, head, transaction, anchor: durable when it returns.
  void commit();

 private:
  ReadTxn& reader() override { return *write_; }
  void count(std::uint32_t key_version, Table table, std::string_view key, std::string_view value,
             bool sealed, bool add);
  Bank& mutable_bank_;
  std::unique_ptr<WriteTxn> write_;
  WriteStamp stamp_;
  std::vector<AuditEvent> events_;
  std::string index_row_;  // sealed; kept for its memory
};

class Bank {
 public:
  Bank(std::shared_ptr<Engine> engine, const VaultId& vault, const BankId& id, std::string name,
       BankKeys keys, std::shared_ptr<Anchor> anchor, const Id16& session);

  BankRead read() const { return BankRead(*this, engine_->begin_read()); }
  /// Throws busy when the writers before do not finish in time.
  BankWrite write(const WriteStamp& stamp, Patience patience = kWriterPatience) {
    return BankWrite(*this, engine_->begin_write(patience), stamp);
  }

  /// Compares the head with the anchor, in the order that makes no false alarm. Throws rollback,
  /// fork.
  void check_anchor();

  const VaultId& vault_id() const noexcept { return vault_; }
  const BankId& id() const noexcept { return id_; }
  const std::string& name() const noexcept { return name_; }
  /// Five letters, unique in the vault: public ids begin with it. Empty for bank 0.
  const std::string& tag() const noexcept { return tag_; }
  void set_tag(std::string tag) { tag_ = std::move(tag); }
  const BankKeys& keys() const noexcept { return keys_; }
  Engine& engine() const noexcept { return *engine_; }
  Anchor& anchor() const noexcept { return *anchor_; }
  AuditSession& session() noexcept { return *session_; }
  std::shared_ptr<AuditSession> share_session() const { return session_; }
  /// Continues a session after the bank was closed and opened again.
  void adopt_session(std::shared_ptr<AuditSession> session) { session_ = std::move(session); }

  RowPlace place(Kind kind, std::uint32_t key_version, RecordId id) const {
    return {&vault_, &id_, kind, key_version, id};
  }
  crypto::Hash16 name_hash(Kind kind, std::string_view name) const;
  /// The element of the set hash for a row, added or removed.
  void count_row(BankHead& head, std::uint32_t key_version, Table table, std::string_view key,
                 std::string_view value, bool sealed, bool add) const;

 private:
  std::shared_ptr<Engine> engine_;
  VaultId vault_;
  BankId id_;
  std::string name_, tag_;
  BankKeys keys_;
  std::shared_ptr<Anchor> anchor_;
  std::shared_ptr<AuditSession> session_;
};

/// A `names` row: pairs of hash tail, key version and record id, ascending by tail.
struct NamePair {
  std::array<char, 8> tail{};
  std::uint32_t key_version = 0;
  RecordId record = 0;
};
inline constexpr std::size_t kNamePairBytes = 20;
std::vector<NamePair> decode_names(std::string_view row);
/// Every name pair of a bank, in key order.
void for_each_name(ReadTxn& txn, const std::function<void(const NamePair&)>& visit);

}  // namespace strongroom::vault
