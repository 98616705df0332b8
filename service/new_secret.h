// Turns what a user chose for a new slot into secrets. Internal to service/.
#pragma once

#include <string>

#include "crypto/key_slot.h"
#include "service/vault_admin.h"

namespace strongroom::service {

crypto::SlotSecrets copy(const crypto::SlotSecrets& secrets);

/// Reads or makes the key file, makes the code. A key file that it made is removed again unless
/// keep_file() is called: no key without its slot.
class PreparedSecret {
 public:
  explicit PreparedSecret(NewSecret& secret);
  ~PreparedSecret();
  PreparedSecret(const PreparedSecret&) = delete;
  PreparedSecret& operator=(const PreparedSecret&) = delete;
  void keep_file() { made_file_.clear(); }

  crypto::SlotMethod method = crypto::SlotMethod::key_file;
  crypto::SlotSecrets secrets;

 private:
  void use_key_file(const std::string& path);
  std::string made_file_;
};

}  // namespace strongroom::service
