// The anchor: what this machine last saw of a vault, kept outside the vault, so that a rolled-back
// or diverged copy is noticed. One small file a vault under $XDG_STATE_HOME/strongroom/anchors.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/file.h"
#include "vault/format.h"
#include "vault/version_vector.h"

namespace strongroom::vault {

enum class AnchorState { ok, fresh, off, unavailable };
std::string_view anchor_state_name(
    AnchorState state) noexcept;  // "ok", "new", "off", "unavailable"

/// Thread-safe. Processes merge by maximum under a lock, so that a slow one never moves it back.
class Anchor {
 public:
  struct Seen {
    VersionVector vector;
    Id16 head_tag{};
  };

  /// `enabled` false: nothing is read or written (throw-away machines).
  Anchor(const VaultId& vault, bool enabled, bool read_only);

  /// The id under which this machine writes; all zero without an anchor.
  Id16 replica();
  AnchorState state();
  /// Read it *before* the head that it is compared with, or a writer in between looks like a
  /// rollback.
  std::map<BankId, Seen> seen();
  std::uint64_t root_version();

  /// Raises what was seen; never waits for the disk, never fails a call: a failure shows in
  /// state().
  void note(const BankId& bank, const VersionVector& vector, const Id16& head_tag,
            std::uint64_t root_version);
  /// The bank is gone.
  void drop(const BankId& bank);
  /// Takes this as what was seen, in the place of everything before; `replica` is who writes from
  /// now on. Throws io when it cannot be written; does nothing without an anchor.
  void accept(const Id16& replica, std::map<BankId, Seen> banks, std::uint64_t root_version);

 private:
  struct Content {
    Id16 replica{};
    std::map<BankId, Seen> banks;
    std::uint64_t root_version = 0;
  };
  void load_locked();
  bool load_file(Content& content) const;
  bool decode(std::string_view in, Content& content) const;
  template <class Change>
  void update(const Change& change);
  std::string encode(const Content& content) const;

  VaultId vault_;
  bool enabled_, read_only_;
  std::mutex mutex_;
  bool loaded_ = false;
  AnchorState state_ = AnchorState::off;
  bool held_up_ = false;  // unavailable only because another process kept the lock too long
  Content content_;
  std::string path_;
};

/// Compares a head with what was seen. Throws rollback or fork naming the generations.
void check_lineage(const VersionVector& head, const Id16& head_tag, const Anchor::Seen& seen);

}  // namespace strongroom::vault
