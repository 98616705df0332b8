// Making a vault from the secrets that the command line collected.
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "crypto/process.h"
#include "crypto/recovery_code.h"
#include "policy/policy.h"
#include "service/new_secret.h"
#include "service/unlocker.h"
#include "service/vault_admin.h"
#include "vault/file_check.h"
#include "vault/vault.h"

namespace strongroom::service {

PreparedSecret::PreparedSecret(NewSecret& secret) {
  switch (secret.kind) {
    case SlotKind::passphrase: method = crypto::SlotMethod::passphrase; break;
    case SlotKind::keyfile: method = crypto::SlotMethod::key_file; break;
    case SlotKind::both: method = crypto::SlotMethod::both; break;
    case SlotKind::code: method = crypto::SlotMethod::code; break;
  }
  if (secret.kind == SlotKind::passphrase || secret.kind == SlotKind::both) {
    if (!secret.passphrase || secret.passphrase->empty()) {
      throw Error::invalid("passphrase", "must not be empty");
    }
    secrets.passphrase = SecretBytes(secret.passphrase->view());
  }
  if (secret.kind == SlotKind::keyfile || secret.kind == SlotKind::both)
    use_key_file(secret.keyfile);
  if (secret.kind == SlotKind::code) {
    secret.code = crypto::make_recovery_code();
    secrets.code = crypto::recovery_code_key(secret.code->view());
  }
}

void PreparedSecret::use_key_file(const std::string& path) {
  secrets.key_file = read_key_file(path, true);
  if (secrets.key_file) return;
  secrets.key_file = crypto::SecretKey::random();
  make_directories(parent_of(path));
  create_file(path, secrets.key_file->view(), 0600, "make the key file");
  made_file_ = path;
}

PreparedSecret::~PreparedSecret() {
  if (!made_file_.empty()) ::unlink(made_file_.c_str());
}

namespace {

// One `init` at a time in a place: a second one must not take up, or take away, the key file that
// the first is making its vault with.
UniqueFd lock_place(const std::string& vault_path) {
  const std::string parent = parent_of(vault_path);
  make_directories(parent);
  UniqueFd fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw_errno("make the vault", errno);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw_errno("make the vault", errno);
  }
  return fd;
}

}  // namespace

void init_vault(InitOptions& options) {
  vault::CreateOptions create;
  create.path = vault::without_end_slashes(options.vault_path);
  const UniqueFd lock = lock_place(create.path);
  // A vault that is there, or a folder of somebody else's, is told before any key is made.
  vault::check_new_vault(create.path);
  PreparedSecret owner(options.owner);
  std::optional<PreparedSecret> admin;
  if (options.admin) admin.emplace(*options.admin);
  const PreparedSecret& admin_secret = admin ? *admin : owner;
  create.owner_method = owner.method;
  create.owner = copy(owner.secrets);
  create.admin_method = admin_secret.method;
  create.admin = copy(admin_secret.secrets);
  create.policy_text = policy::Policy::default_text();
  create.principal = "local:cli";
  create.no_anchor = options.no_anchor;
  create.allow_fuse = env("STRONGROOM_ALLOW_FUSE") == "1";
  vault::create_vault(create);
  owner.keep_file();
  if (admin) admin->keep_file();
}

crypto::SlotSecrets copy(const crypto::SlotSecrets& secrets) {
  crypto::SlotSecrets out;
  if (secrets.passphrase) out.passphrase = SecretBytes(secrets.passphrase->view());
  if (secrets.key_file) out.key_file = secrets.key_file->clone();
  if (secrets.code) out.code = secrets.code->clone();
  return out;
}

}  // namespace strongroom::service
