#include "vault/vault.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "crypto/process.h"
#include "crypto/recovery_code.h"
#include "vault/backup_mark.h"
#include "vault/file_check.h"
#include "vault/lmdb_engine.h"
#include "vault/recipient.h"

namespace strongroom::vault {
namespace {

constexpr BankId kBankZero{};
constexpr off_t kReserveBytes = 1 << 20;

std::string root_key_view(std::uint64_t key) {
  return std::string(IntegerKey(key).view());
}

bool file_exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

}  // namespace

// ---- rows of bank 0

SecretBytes encode_bank_row(const BankInfo& info, const crypto::SecretKey& key,
                            const crypto::SecretKey& secret) {
  BodyWriter body;
  body.field(1, view(info.id));
  body.field(3, info.name);
  SecretBytes keys;
  std::string count;
  append_varint(count, 1);
  append_le(count, info.key_version);
  keys.append(count);
  keys.append(key.view());
  keys.append(secret.view());
  body.field(5, keys.view());
  body.field(7, info.tag);
  body.i64(8, info.created);
  body.field(10, info.creator);
  body.unknown(info.unknown);
  return body.take();
}

BankRow decode_bank_row(std::string_view bytes) {
  BankRow row;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 1: row.info.id = body.id16(); break;
      case 3: row.info.name = body.bytes(); break;
      case 5: {
        std::string_view in = body.bytes();
        if (take_varint(in) != 1 || in.size() != 68) {
          throw Error(Code::unsupported, "A bank is being rotated by a newer version.");
        }
        row.info.key_version = load_le<std::uint32_t>(in);
        row.key = crypto::SecretKey::from_bytes(in.substr(4, 32));
        row.secret = crypto::SecretKey::from_bytes(in.substr(36, 32));
        break;
      }
      case 7: row.info.tag = body.bytes(); break;
      case 8: row.info.created = body.i64(); break;
      case 10: row.info.creator = body.bytes(); break;
      default: body.unknown(&row.info.unknown);
    }
  }
  if (row.key.empty() || row.info.name.empty()) throw_corrupt("a bank's list row lacks a field");
  return row;
}

void put_setting(BankWrite& bank0, std::string_view name, std::string_view value) {
  BodyWriter body;
  body.field(1, name);
  body.field(3, value);
  if (const auto old = bank0.find(Kind::setting, name)) bank0.erase(*old);
  bank0.bind(Kind::setting, name, bank0.append(Kind::setting, body.body().view()));
}

std::optional<SecretBytes> get_setting(BankRead& bank0, std::string_view name) {
  const auto id = bank0.find(Kind::setting, name);
  if (!id) return std::nullopt;
  SecretBytes plain;
  const BankRead::Record record = bank0.open(*id, plain);
  if (record.kind != Kind::setting) throw_corrupt("a setting leads to another record");
  SecretBytes value;
  bool matches = false;
  for (BodyReader body(record.body); body.next();) {
    switch (body.id()) {
      case 1: matches = body.bytes() == name; break;
      case 3: value.append(body.bytes()); break;
      default: body.unknown();
    }
  }
  if (!matches) throw_corrupt("a setting leads to another record");
  return value;
}

std::string seal_policy_row(const VaultId& vault, const crypto::SecretKey& policy_key,
                            std::uint64_t version, std::string_view text) {
  BodyWriter body;
  body.u64(1, version);
  body.field(3, text);
  return seal_row(policy_key, crypto::labels::kAadPolicy, {&vault, &kBankZero, Kind::policy, 1, 0},
                  body.body().view());
}

void check_recipients(ReadTxn& txn, const RootRecord& root) {
  std::size_t rows = 0;
  txn.scan(Table::recipients, {}, [&](std::string_view key, std::string_view row) {
    const crypto::SlotHeader slot = crypto::read_slot(read_recipient(row).slot);
    const auto at = std::find_if(root.recipients.begin(), root.recipients.end(),
                                 [&](const RootRecipient& r) { return view(r.id) == key; });
    if (at == root.recipients.end() || at->role != slot.role ||
        crypto::view(at->public_key) != slot.public_key) {
      throw_corrupt("a recipient is not the one that the root record lists");
    }
    ++rows;
    return true;
  });
  if (rows != root.recipients.size()) {
    throw_corrupt("a recipient that the root record lists is missing");
  }
}

// ---- opening

void check_vault_path(const std::string& path) {
  check_directory(without_end_slashes(path));
}

Vault::Vault(VaultOptions options) : options_(std::move(options)) {
  options_.path = without_end_slashes(std::move(options_.path));
}

std::string Vault::root_path() const {
  return options_.path + "/root.mdb";
}
std::string Vault::bank_path(const BankId& id) const {
  return options_.path + "/banks/" + hex(view(id)) + ".mdb";
}

std::unique_ptr<Vault> Vault::open(const VaultOptions& options, Unlocker& unlocker) {
  std::unique_ptr<Vault> vault(new Vault(options));
  check_directory(vault->options_.path);
  vault->read_header();
  vault->check_backup();
  if (!file_exists(vault->root_path())) throw_corrupt("root.mdb is missing");
  vault->anchor_ = std::make_shared<Anchor>(vault->header_.vault_id, !vault->options_.no_anchor,
                                            vault->options_.read_only);
  EngineOptions engine;
  engine.read_only = vault->options_.read_only;
  engine.allow_fuse = options.allow_fuse;
  engine.root_tables = true;
  vault->root_engine_ = open_lmdb(vault->root_path(), engine);
  vault->unlock(unlocker);
  return vault;
}

// A backup is a vault that nobody goes on with: what is restored from it does.
void Vault::check_backup() {
  const auto marked = read_backup_mark(options_.path);
  if (!marked && !options_.as_backup) return;
  if (!options_.as_backup) {
    throw Error::invalid("vault", "is a backup: read it with --as-backup, or restore it");
  }
  if (!marked) throw Error::invalid("--as-backup", "is for backups, and this is none");
  if (marked->vault != hex(view(header_.vault_id)))
    throw_corrupt("the mark of a backup is another vault's");
  options_.read_only = options_.no_anchor = true;
}

void Vault::read_header() {
  auto fd = open_file(options_.path + "/header", O_RDONLY, "the vault's header");
  if (!fd) {
    // A directory without a header is somebody else's, unless the rest of a vault lies in it.
    if (file_exists(root_path())) throw_corrupt("its header is missing");
    throw Error(Code::no_vault, "The directory holds no vault.");
  }
  check_vault_file(fd->get());
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || info.st_size != kHeaderBytes) {
    throw_corrupt("its header has the wrong size");
  }
  header_bytes_ = read_all(fd->get(), kHeaderBytes, "the vault's header");
  header_ = decode_header(header_bytes_);
  if (!options_.read_only && !options_.as_backup && !can_write(header_)) {
    throw Error(Code::unsupported,
                "Only a newer Strongroom may write this vault; use --read-only.");
  }
}

std::optional<crypto::SecretKey> Vault::try_slots(ReadTxn& txn, crypto::SlotRole role,
                                                  const crypto::SlotSecrets& secrets,
                                                  SlotInfo& opened, bool& any_method_tried) {
  struct Candidate {
    Id16 id;
    std::string slot;
    crypto::SlotMethod method;
  };
  std::vector<Candidate> candidates;
  txn.scan(Table::recipients, {}, [&](std::string_view key, std::string_view row) {
    const RecipientRow recipient = read_recipient(row);
    const crypto::SlotHeader header = crypto::read_slot(recipient.slot);
    if (header.role == role) {
      candidates.push_back({id_from(key), std::string(recipient.slot), header.method});
    }
    return true;
  });
  // Cheap methods first; a passphrase costs half a second a slot.
  const auto cost = [](crypto::SlotMethod m) {
    return m == crypto::SlotMethod::passphrase || m == crypto::SlotMethod::both ? 1 : 0;
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const auto& a, const auto& b) { return cost(a.method) < cost(b.method); });
  for (const Candidate& candidate : candidates) {
    const bool has_passphrase = secrets.passphrase.has_value();
    const bool has_file = secrets.key_file.has_value();
    const bool fits = candidate.method == crypto::SlotMethod::passphrase ? has_passphrase
                      : candidate.method == crypto::SlotMethod::key_file ? has_file
                      : candidate.method == crypto::SlotMethod::both ? has_passphrase && has_file
                                                                     : secrets.code.has_value();
    if (!fits) continue;
    any_method_tried = true;
    auto key =
        crypto::open_slot({view(header_.vault_id), view(candidate.id)}, candidate.slot, secrets);
    if (key) {
      opened = {candidate.id, role, candidate.method};
      return key;
    }
  }
  return std::nullopt;
}

namespace {

// Tries what is at hand, then asks. `attempt` returns the key or nothing.
template <class Attempt>
crypto::SecretKey with_secrets(Unlocker& unlocker, std::string_view who, const Attempt& attempt) {
  bool tried = false;
  if (auto key = attempt(unlocker.secrets, tried)) return std::move(*key);
  if (!unlocker.secrets.passphrase && unlocker.ask_passphrase) {
    if (auto passphrase = unlocker.ask_passphrase()) {
      unlocker.secrets.passphrase = std::move(passphrase);
      if (auto key = attempt(unlocker.secrets, tried)) return std::move(*key);
    }
  }
  if (!unlocker.secrets.code && unlocker.ask_code) {
    if (auto typed = unlocker.ask_code()) {
      unlocker.secrets.code = crypto::recovery_code_key(typed->view());
      if (!unlocker.secrets.code) throw Error::invalid("code", "is mistyped; check its groups");
      if (auto key = attempt(unlocker.secrets, tried)) return std::move(*key);
    }
  }
  if (tried) {
    throw Error(Code::wrong_key, "The " + std::string(who) + "'s key or passphrase is wrong.");
  }
  if (who == "admin") {
    throw Error(Code::locked,
                "The admin secret is needed: set STRONGROOM_ADMIN_KEYFILE or "
                "STRONGROOM_ADMIN_PASSPHRASE_FILE, or use a terminal.");
  }
  throw Error::verbatim(Code::locked,
                        "Vault is locked. Set STRONGROOM_KEYFILE or STRONGROOM_PASSPHRASE_FILE for "
                        "this server, then retry. [locked]");
}

}  // namespace

void Vault::unlock(Unlocker& unlocker) {
  auto txn = root_engine_->begin_read();
  const auto root_row = txn->get(Table::root, root_key_view(kRootKey));
  if (!root_row) throw_corrupt("the root record is missing");
  root_ = read_root(*root_row, header_.vault_id);
  if (root_.header_hash != header_hash(header_bytes_)) {
    throw_corrupt("its header is not the one that the root record binds");
  }
  check_recipients(*txn, root_);
  const crypto::SecretKey recipient =
      with_secrets(unlocker, "owner", [&](const crypto::SlotSecrets& secrets, bool& tried) {
        return try_slots(*txn, crypto::SlotRole::owner, secrets, opened_with_, tried);
      });
  const auto row = txn->get(Table::recipients, view(opened_with_.id));
  if (!row) throw_corrupt("a recipient is missing");
  const RecipientRow opened = read_recipient(*row);
  // The slot's associated data, authentic by now, says whose signature to believe.
  if (crypto::read_slot(opened.slot).admin_public_key != crypto::view(root_.admin_public_key)) {
    throw_corrupt("the root record is signed by another key");
  }
  vmk_ = open_owner_box(recipient, crypto::view(root_.box_public_key), opened.box, header_.vault_id,
                        opened_with_.id);
  BankKeys keys = BankKeys::make(header_.vault_id, kBankZero, 1, vmk_, crypto::SecretKey());
  txn.reset();
  make_bank0(std::move(keys));
}

void Vault::make_bank0(BankKeys keys) {
  bank0_ = std::make_shared<Bank>(root_engine_, header_.vault_id, kBankZero, std::string(),
                                  std::move(keys), anchor_, options_.session);
  adopt_session(*bank0_);
  try {
    bank0_->check_anchor();
  } catch (const Error& error) {
    if (!options_.read_only || (error.code() != Code::rollback && error.code() != Code::fork))
      throw;
    lineage_notes_.push_back(error.text());
  }
  load_root();
}

void Vault::detach_root() {
  bank0_.reset();
  root_engine_.reset();
}

void Vault::attach_root(BankKeys keys) {
  EngineOptions engine;
  engine.read_only = options_.read_only;
  engine.allow_fuse = options_.allow_fuse;
  engine.root_tables = true;
  root_engine_ = open_lmdb(root_path(), engine);
  make_bank0(std::move(keys));
}

void Vault::close_bank(std::string_view name) {
  const auto at = open_.find(name);
  if (at != open_.end()) open_.erase(at);
}

void Vault::load_root() {
  ++root_reads_;
  root_transaction_ = root_engine_->last_transaction();
  BankRead view = bank0_->read();
  const auto row = view.txn().get(Table::root, root_key_view(kRootKey));
  if (!row) throw_corrupt("the root record is missing");
  const crypto::SignPublicKey admin = root_.admin_public_key;
  RootRecord root = read_root(*row, header_.vault_id);
  if (root.admin_public_key != admin) throw_corrupt("the root record is signed by another key");
  root_ = std::move(root);
  root_seen_ = root_seen(*row, root_.version);
  const bool listed = std::any_of(root_.recipients.begin(), root_.recipients.end(),
                                  [&](const RootRecipient& r) { return r.id == opened_with_.id; });
  if (!listed) throw Error(Code::wrong_key, "The slot that opened the vault was removed.");
  view.head();  // authentic, or corrupt
  load_policy(view);
}

void Vault::load_policy(BankRead& bank_view) {
  policy_ = {};
  const std::uint64_t known = std::max(anchor_->root_version(), bank_view.head().root.version);
  if (root_.version < known) {
    policy_.reason =
        "the vault's root record is older than one that was seen; the owner must seal "
        "the policy again";
    return;
  }
  const auto row = bank_view.txn().get(Table::root, root_key_view(kPolicyKey));
  if (!row) {
    policy_.reason = "the policy is missing";
    return;
  }
  if (policy_row_hash(*row) != root_.policy_hash) {
    policy_.reason = "the policy is not the one that was signed";
    return;
  }
  const SecretBytes key_bytes = stored_secret(bank_view, reserved::kPolicySecret);
  const crypto::SecretKey key = crypto::SecretKey::from_bytes(key_bytes.view());
  SecretBytes plain;
  const std::string_view body_bytes =
      open_row(key, crypto::labels::kAadPolicy, {&header_.vault_id, &kBankZero, Kind::policy, 1, 0},
               *row, plain);
  SecretBytes text;
  std::uint64_t version = 0;
  for (BodyReader body(body_bytes); body.next();) {
    switch (body.id()) {
      case 1: version = body.u64(); break;
      case 3: text.append(body.bytes()); break;
      default: body.unknown();
    }
  }
  if (version != root_.policy_version) {
    policy_.reason = "the policy has another version than the one that was signed";
    return;
  }
  policy_.text = std::move(text);
}

bool Vault::refresh() {
  if (root_engine_->last_transaction() == root_transaction_) return false;
  load_root();
  return true;
}

bool Vault::files_in_place() const {
  return root_engine_->in_place() &&
         std::all_of(open_.begin(), open_.end(), [](const auto& open_bank) {
           return open_bank.second.bank->engine().in_place();
         });
}

SecretBytes Vault::stored_secret(BankRead& bank_view, std::string_view name) {
  auto bytes = get_setting(bank_view, name);
  if (!bytes || bytes->size() != crypto::kKeyBytes) throw_corrupt("a key of the vault is missing");
  return std::move(*bytes);
}

crypto::SecretKey Vault::audit_secret() {
  BankRead view = bank0_->read();
  return crypto::SecretKey::from_bytes(stored_secret(view, reserved::kAuditSecret).view());
}

WriteStamp Vault::stamp() {
  return {anchor_->replica(), root_seen_, std::string(crypto::view(root_.audit_public_key))};
}

// ---- banks

std::vector<BankInfo> Vault::list_banks() {
  BankRead view = bank0_->read();
  std::vector<RecordId> ids;
  for_each_name(view.txn(), [&](const NamePair& pair) {
    if (read_envelope(view.row(pair.record)).kind == Kind::bank) ids.push_back(pair.record);
  });
  // A bank has two names, its own and its tag.
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<BankInfo> banks;
  SecretBytes plain;
  for (const RecordId id : ids) banks.push_back(decode_bank_row(view.open(id, plain).body).info);
  std::sort(banks.begin(), banks.end(),
            [](const BankInfo& a, const BankInfo& b) { return a.name < b.name; });
  return banks;
}

namespace {

std::optional<BankRow> bank_row(BankRead& view, std::string_view name) {
  const auto id = view.find(Kind::bank, name);
  if (!id) return std::nullopt;
  SecretBytes plain;
  const BankRead::Record record = view.open(*id, plain);
  if (record.kind != Kind::bank) throw_corrupt("a bank's name leads to another record");
  BankRow row = decode_bank_row(record.body);
  if (row.info.name != name) throw_corrupt("a bank's name leads to another bank");
  return row;
}

}  // namespace

std::optional<BankInfo> Vault::find_bank(std::string_view name) {
  BankRead view = bank0_->read();
  auto row = bank_row(view, name);
  if (!row) return std::nullopt;
  return std::move(row->info);
}

std::optional<BankInfo> Vault::find_bank_by_tag(std::string_view tag) {
  BankRead view = bank0_->read();
  const auto id = view.find(Kind::bank, bank_tag_name(tag));
  if (!id) return std::nullopt;
  SecretBytes plain;
  const BankRead::Record record = view.open(*id, plain);
  if (record.kind != Kind::bank) throw_corrupt("a bank's tag leads to another record");
  BankRow row = decode_bank_row(record.body);
  if (row.info.tag != tag) throw_corrupt("a bank's tag leads to another bank");
  return std::move(row.info);
}

void Vault::adopt_session(Bank& bank) {
  if (!options_.sessions) return;
  auto& kept = (*options_.sessions)[bank.id()];
  if (kept) {
    bank.adopt_session(kept);
  } else {
    kept = bank.share_session();
  }
}

std::shared_ptr<Bank> Vault::open_bank(std::string_view name) {
  const auto at = open_.find(name);
  if (at != open_.end()) {
    at->second.used = ++clock_;
    return at->second.bank;
  }
  std::optional<BankRow> row;
  {
    BankRead view = bank0_->read();
    row = bank_row(view, name);
  }
  if (!row) return nullptr;
  BankKeys keys = BankKeys::make(header_.vault_id, row->info.id, row->info.key_version, row->key,
                                 std::move(row->secret));
  return open_listed(row->info, std::move(keys));
}

std::shared_ptr<Bank> Vault::open_listed(const BankInfo& info, BankKeys keys) {
  EngineOptions engine;
  engine.read_only = options_.read_only;
  engine.allow_fuse = options_.allow_fuse;
  auto bank =
      std::make_shared<Bank>(open_lmdb(bank_path(info.id), engine), header_.vault_id, info.id,
                             info.name, std::move(keys), anchor_, options_.session);
  bank->set_tag(info.tag);
  adopt_session(*bank);
  try {
    bank->check_anchor();
  } catch (const Error& error) {
    if (!options_.read_only || (error.code() != Code::rollback && error.code() != Code::fork))
      throw;
    lineage_notes_.push_back(error.text());
  }
  // The owner may have signed a newer root since this process looked.
  if (bank->read().head().root.version > root_.version) refresh();
  if (bank->read().head().root.version > root_.version) {
    throw Error(
        Code::denied,
        "A bank has seen a newer root record than this vault holds; the owner must seal the "
        "policy again.");
  }
  if (open_.size() >= kMaxOpenBanks) {
    const auto oldest = std::min_element(
        open_.begin(), open_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    open_.erase(oldest);
  }
  open_[info.name] = {bank, ++clock_};
  return bank;
}

std::shared_ptr<Engine> make_bank_file(const std::string& path, bool allow_fuse) {
  EngineOptions options;
  options.create = true;
  options.allow_fuse = allow_fuse;
  return open_lmdb(path, options);
}

std::string bank_tag_name(std::string_view tag) {
  // No bank is called so: names have no control characters.
  return "\x01" + std::string(tag);
}

std::string make_bank_tag() {
  // Five letters and digits without look-alikes; the caller makes sure that it is unique.
  static constexpr std::string_view kLetters = "abcdefghjkmnpqrstuvwxyz23456789x";
  std::string tag = crypto::random_bytes(5);
  for (char& c : tag) c = kLetters[static_cast<unsigned char>(c) & 31u];
  return tag;
}

std::shared_ptr<Bank> Vault::create_bank(std::string_view name, std::string_view creator,
                                         AuditEvent event) {
  BankInfo info;
  info.id = random_id();
  info.name = name;
  info.created = event.time;
  info.creator = creator;
  crypto::SecretKey key = crypto::SecretKey::random(), secret = crypto::SecretKey::random();
  const std::string path = bank_path(info.id);
  const auto remove_file = [&] {
    for (const char* const suffix : {"", "-lock", ".guard"}) ::unlink((path + suffix).c_str());
    anchor_->drop(info.id);
  };
  try {
    // File first, list row second: a kill in between leaves a file that no row names, which
    // `verify` reports, and never a row without a file.
    auto engine = make_bank_file(path, options_.allow_fuse);
    Bank bank(engine, header_.vault_id, info.id, info.name,
              BankKeys::make(header_.vault_id, info.id, info.key_version, key, secret.clone()),
              anchor_, options_.session);
    BankWrite write = bank.write(stamp());
    write.commit();
  } catch (...) {
    remove_file();
    throw;
  }
  bool lost = false;
  try {
    BankWrite write = bank0_->write(stamp());
    lost = write.find(Kind::bank, name).has_value();
    if (!lost) {
      do {
        info.tag = make_bank_tag();
      } while (write.find(Kind::bank, bank_tag_name(info.tag)));
      event.record = write.append(Kind::bank, encode_bank_row(info, key, secret).view());
      write.bind(Kind::bank, info.name, event.record);
      write.bind(Kind::bank, bank_tag_name(info.tag), event.record);  // keeps tags unique
      write.log(std::move(event));
      write.commit();
    }
  } catch (const Error& error) {
    // After an uncertain commit the row may be there, and must then find its file.
    if (error.code() != Code::uncertain) remove_file();
    throw;
  }
  if (lost) remove_file();
  refresh();
  return open_bank(name);
}

void Vault::set_bank_creator(std::string_view name, std::string_view creator, AuditEvent event) {
  BankWrite write = bank0_->write(stamp());
  auto row = bank_row(write, name);
  if (!row) throw Error(Code::not_found, "There is no bank of that name.");
  const RecordId old = *write.find(Kind::bank, name);
  row->info.creator = creator;
  const RecordId id =
      write.append(Kind::bank, encode_bank_row(row->info, row->key, row->secret).view());
  write.bind(Kind::bank, name, id);
  write.bind(Kind::bank, bank_tag_name(row->info.tag), id);
  write.erase(old);
  event.record = id;
  write.log(std::move(event));
  write.commit();
}

std::optional<std::string> Vault::setting(std::string_view name) {
  BankRead view = bank0_->read();
  const auto value = get_setting(view, name);
  if (!value) return std::nullopt;
  return std::string(value->view());
}

void Vault::set_setting(std::string_view name, std::string_view value, AuditEvent event) {
  BankWrite write = bank0_->write(stamp());
  put_setting(write, name, value);
  write.log(std::move(event));
  write.commit();
}

void Vault::change_setting(std::string_view name,
                           const std::function<std::string(std::string_view)>& change,
                           AuditEvent event) {
  BankWrite write = bank0_->write(stamp());
  const auto old = get_setting(write, name);
  put_setting(write, name, change(old ? old->view() : std::string_view()));
  write.log(std::move(event));
  write.commit();
}

// ---- reserve

bool Vault::give_up_reserve() {
  auto fd = open_file(options_.path + "/reserve", O_WRONLY, "the vault's reserve");
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || info.st_blocks == 0) return false;
  return ::ftruncate(fd->get(), 0) == 0;
}

void Vault::restore_reserve() noexcept {
  const UniqueFd fd(::open((options_.path + "/reserve").c_str(),
                           O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1 ||
      info.st_size == kReserveBytes) {
    return;
  }
  if (::posix_fallocate(fd.get(), 0, kReserveBytes) != 0) {
    [[maybe_unused]] const int emptied = ::ftruncate(fd.get(), 0);
  }
}

// ---- admin

crypto::SecretKey Vault::unlock_admin(Unlocker& unlocker) {
  auto txn = root_engine_->begin_read();
  SlotInfo opened{};
  crypto::SecretKey seed =
      with_secrets(unlocker, "admin", [&](const crypto::SlotSecrets& secrets, bool& tried) {
        return try_slots(*txn, crypto::SlotRole::admin, secrets, opened, tried);
      });
  if (crypto::sign_public_key(seed) != root_.admin_public_key) {
    throw_corrupt("an admin slot holds another key");
  }
  return seed;
}

bool Vault::admin_opens_with(const crypto::SlotSecrets& secrets) {
  auto txn = root_engine_->begin_read();
  SlotInfo opened{};
  bool tried = false;
  return try_slots(*txn, crypto::SlotRole::admin, secrets, opened, tried).has_value();
}

void Vault::change_root(const crypto::SecretKey& admin, AuditEvent event,
                        const std::function<void(BankWrite&, RootRecord&)>& change) {
  BankWrite write = bank0_->write(stamp());
  const auto row = write.txn().get(Table::root, root_key_view(kRootKey));
  if (!row) throw_corrupt("the root record is missing");
  RootRecord root = read_root(*row, header_.vault_id);
  root.previous_hash = root_hash(*row);
  // Above every version that anybody has seen: this is how an owner ends a rollback's denial.
  root.version = std::max({root.version, anchor_->root_version(), write.head().root.version}) + 1;
  root.signed_at = event.time;
  change(write, root);
  std::sort(root.recipients.begin(), root.recipients.end(),
            [](const RootRecipient& a, const RootRecipient& b) { return view(a.id) < view(b.id); });
  const std::string signed_row = sign_root(root, header_.vault_id, admin);
  write.put_row(Table::root, root_key_view(kRootKey), signed_row, false);
  write.set_stamp_root(root_seen(signed_row, root.version));
  write.log(std::move(event));
  write.commit();
  load_root();
}

void Vault::seal_policy(const crypto::SecretKey& admin, std::string_view text,
                        std::uint64_t version, AuditEvent event) {
  change_root(admin, std::move(event), [&](BankWrite& write, RootRecord& root) {
    const SecretBytes key_bytes = stored_secret(write, reserved::kPolicySecret);
    const std::string row = seal_policy_row(
        header_.vault_id, crypto::SecretKey::from_bytes(key_bytes.view()), version, text);
    write.put_row(Table::root, root_key_view(kPolicyKey), row, true);
    root.policy_version = version;
    root.policy_hash = policy_row_hash(row);
  });
}

std::vector<SlotInfo> Vault::slots() {
  std::vector<SlotInfo> slots;
  auto txn = root_engine_->begin_read();
  txn->scan(Table::recipients, {}, [&](std::string_view key, std::string_view row) {
    const crypto::SlotHeader header = crypto::read_slot(read_recipient(row).slot);
    slots.push_back({id_from(key), header.role, header.method});
    return true;
  });
  return slots;
}

Id16 Vault::add_slot(const crypto::SecretKey& admin, crypto::SlotRole role,
                     crypto::SlotMethod method, const crypto::SlotSecrets& secrets,
                     const crypto::PassphraseCost& cost, AuditEvent event) {
  const Id16 id = random_id();
  change_root(admin, std::move(event), [&](BankWrite& write, RootRecord& root) {
    RootRecipient recipient;
    recipient.id = id;
    recipient.role = role;
    const crypto::SlotPlace place{view(header_.vault_id), view(id)};
    std::string slot, box;
    if (role == crypto::SlotRole::admin) {
      recipient.public_key = root.admin_public_key;
      slot =
          crypto::make_slot(place, role, method, secrets, cost, crypto::view(root.admin_public_key),
                            crypto::view(recipient.public_key), admin);
    } else {
      const crypto::BoxKeyPair pair = crypto::make_box_key();
      recipient.public_key = pair.public_key;
      slot =
          crypto::make_slot(place, role, method, secrets, cost, crypto::view(root.admin_public_key),
                            crypto::view(recipient.public_key), pair.secret);
      const SecretBytes box_secret = stored_secret(write, reserved::kBoxSecret);
      box = make_owner_box(crypto::SecretKey::from_bytes(box_secret.view()),
                           crypto::view(pair.public_key), header_.vault_id, id, vmk_);
    }
    write.put_row(Table::recipients, view(id), recipient_row(slot, box), false);
    root.recipients.push_back(std::move(recipient));
  });
  return id;
}

void Vault::remove_slot(const crypto::SecretKey& admin, const Id16& id, AuditEvent event) {
  change_root(admin, std::move(event), [&](BankWrite& write, RootRecord& root) {
    const auto at = std::find_if(root.recipients.begin(), root.recipients.end(),
                                 [&](const RootRecipient& r) { return r.id == id; });
    if (at == root.recipients.end()) throw Error(Code::not_found, "There is no slot of that id.");
    const auto same_role =
        std::count_if(root.recipients.begin(), root.recipients.end(),
                      [&](const RootRecipient& r) { return r.role == at->role; });
    if (same_role == 1) {
      throw Error::invalid("slot", "is the last one of its role; add another first");
    }
    write.erase_row(Table::recipients, view(id), false);
    root.recipients.erase(at);
  });
}

}  // namespace strongroom::vault
