// Making a vault: everything is built in a directory beside the target, which is renamed when it is
// complete and synced, so that a kill leaves either no vault or a whole one.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "vault/directory.h"
#include "vault/file_check.h"
#include "vault/lmdb_engine.h"
#include "vault/recipient.h"
#include "vault/vault.h"

namespace strongroom::vault {
namespace {

constexpr std::string_view kDoing = "make the vault";

struct NewRecipient {
  RootRecipient root;
  std::string row;
};

NewRecipient make_owner(const CreateOptions& options, const VaultId& vault,
                        std::string_view admin_public, const crypto::SecretKey& box_secret,
                        const crypto::SecretKey& vmk) {
  NewRecipient owner;
  owner.root.id = random_id();
  owner.root.role = crypto::SlotRole::owner;
  const crypto::BoxKeyPair pair = crypto::make_box_key();
  owner.root.public_key = pair.public_key;
  const std::string slot = crypto::make_slot(
      {view(vault), view(owner.root.id)}, crypto::SlotRole::owner, options.owner_method,
      options.owner, options.cost, admin_public, crypto::view(pair.public_key), pair.secret);
  owner.row = recipient_row(
      slot, make_owner_box(box_secret, crypto::view(pair.public_key), vault, owner.root.id, vmk));
  return owner;
}

NewRecipient make_admin(const CreateOptions& options, const VaultId& vault,
                        const crypto::SignKeyPair& admin_key) {
  NewRecipient admin;
  admin.root.id = random_id();
  admin.root.role = crypto::SlotRole::admin;
  admin.root.public_key = admin_key.public_key;
  const std::string slot = crypto::make_slot(
      {view(vault), view(admin.root.id)}, crypto::SlotRole::admin, options.admin_method,
      options.admin, options.cost, crypto::view(admin_key.public_key),
      crypto::view(admin_key.public_key), admin_key.seed);
  admin.row = recipient_row(slot, {});
  return admin;
}

AuditEvent init_event(const CreateOptions& options, TimeMs now) {
  AuditEvent event;
  event.time = now;
  event.principal = options.principal;
  event.tool = "init";
  event.rule = "owner";
  return event;
}

// Bank `global`: its file, and the row that lists it.
void make_global(const std::string& directory, const CreateOptions& options, const VaultId& vault,
                 BankWrite& root_write, const WriteStamp& stamp,
                 const std::shared_ptr<Anchor>& anchor, const Id16& session, TimeMs now) {
  BankInfo info;
  info.id = random_id();
  info.name = kGlobalBank;
  info.tag = make_bank_tag();
  info.created = now;
  const crypto::SecretKey key = crypto::SecretKey::random();
  crypto::SecretKey secret = crypto::SecretKey::random();
  const std::string path = directory + "/banks/" + hex(view(info.id)) + ".mdb";
  Bank bank(make_bank_file(path, options.allow_fuse), vault, info.id, info.name,
            BankKeys::make(vault, info.id, info.key_version, key, secret.clone()), anchor, session);
  bank.write(stamp).commit();
  const RecordId id = root_write.append(Kind::bank, encode_bank_row(info, key, secret).view());
  root_write.bind(Kind::bank, info.name, id);
  root_write.bind(Kind::bank, bank_tag_name(info.tag), id);
}

void fill(const std::string& directory, const CreateOptions& options) {
  Header header;
  header.vault_id = random_id();
  header.created = now_ms();
  const std::string header_bytes = encode_header(header);
  create_file(directory + "/header", header_bytes, 0600, kDoing);
  make_reserve(directory, kDoing);
  if (::mkdir((directory + "/banks").c_str(), 0700) != 0) throw_errno(kDoing, errno);

  const crypto::SecretKey vmk = crypto::SecretKey::random();
  const crypto::SecretKey policy_key = crypto::SecretKey::random();
  const crypto::SignKeyPair admin_key = crypto::make_sign_key();
  const crypto::BoxKeyPair box = crypto::make_box_key(), audit = crypto::make_box_key();
  NewRecipient owner =
      make_owner(options, header.vault_id, crypto::view(admin_key.public_key), box.secret, vmk);
  NewRecipient admin = make_admin(options, header.vault_id, admin_key);

  RootRecord root;
  root.version = 1;
  root.header_hash = header_hash(header_bytes);
  root.admin_public_key = admin_key.public_key;
  root.box_public_key = box.public_key;
  root.audit_public_key = audit.public_key;
  root.policy_version = 1;
  const std::string policy_row =
      seal_policy_row(header.vault_id, policy_key, root.policy_version, options.policy_text);
  root.policy_hash = policy_row_hash(policy_row);
  root.recipients = {owner.root, admin.root};
  std::sort(root.recipients.begin(), root.recipients.end(),
            [](const RootRecipient& a, const RootRecipient& b) { return view(a.id) < view(b.id); });
  root.signed_at = header.created;
  const std::string root_row = sign_root(root, header.vault_id, admin_key.seed);

  const Id16 session = random_id();
  auto anchor = std::make_shared<Anchor>(header.vault_id, !options.no_anchor, false);
  const WriteStamp stamp{anchor->replica(), root_seen(root_row, root.version),
                         std::string(crypto::view(audit.public_key))};
  EngineOptions engine;
  engine.create = true;
  engine.allow_fuse = options.allow_fuse;
  engine.root_tables = true;
  Bank bank0(open_lmdb(directory + "/root.mdb", engine), header.vault_id, BankId{}, std::string(),
             BankKeys::make(header.vault_id, BankId{}, 1, vmk, crypto::SecretKey()), anchor,
             session);
  BankWrite write = bank0.write(stamp);
  put_setting(write, reserved::kBoxSecret, box.secret.view());
  put_setting(write, reserved::kAuditSecret, audit.secret.view());
  put_setting(write, reserved::kPolicySecret, policy_key.view());
  write.put_row(Table::recipients, view(owner.root.id), owner.row, false);
  write.put_row(Table::recipients, view(admin.root.id), admin.row, false);
  write.put_row(Table::root, IntegerKey(kPolicyKey).view(), policy_row, true);
  write.put_row(Table::root, IntegerKey(kRootKey).view(), root_row, false);
  make_global(directory, options, header.vault_id, write, stamp, anchor, session, header.created);
  write.log(init_event(options, header.created));
  write.commit();
}

}  // namespace

void check_new_vault(const std::string& given) {
  const std::string path = without_end_slashes(given);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return;
    throw_errno("look at the vault's directory", errno);
  }
  if (S_ISLNK(info.st_mode)) {
    throw Error::invalid("vault",
                         "is a symbolic link, which is refused; name the directory itself");
  }
  if (!S_ISDIR(info.st_mode)) throw Error::invalid("vault", "is a file; nothing was changed");
  if (info.st_uid != ::geteuid()) throw Error::invalid("vault", "belongs to another user");
  const auto entries = directory_entries(path);
  if (entries.empty()) return;
  if (std::find(entries.begin(), entries.end(), "header") != entries.end()) {
    throw Error(Code::conflict, "There is a vault already; nothing was changed.");
  }
  throw Error::invalid("vault", "is a directory that holds something else; nothing was changed");
}

void create_vault(const CreateOptions& options) {
  const std::string path = without_end_slashes(options.path);
  check_new_vault(path);
  make_directories(parent_of(path));
  const std::string building = path + ".tmp" + std::to_string(::getpid());
  remove_tree(building);
  if (::mkdir(building.c_str(), 0700) != 0) throw_errno(kDoing, errno);
  try {
    fill(building, options);
    sync_parent(building + "/header", kDoing);
    sync_parent(building + "/banks/x", kDoing);
    // Over an empty directory rename succeeds, over anything else it fails.
    if (::rename(building.c_str(), path.c_str()) != 0) {
      if (errno == ENOTEMPTY || errno == EEXIST) {
        throw Error(Code::conflict, "There is a vault already; nothing was changed.");
      }
      throw_errno(kDoing, errno);
    }
  } catch (...) {
    remove_tree(building);
    throw;
  }
  sync_parent(path, kDoing);
}

}  // namespace strongroom::vault
