// anchor: what this machine has seen of the vault, against the files.
#include <algorithm>

#include "base/error.h"
#include "service/admin_state.h"

namespace strongroom::service {
namespace {

using vault::Anchor;

class AnchorCheck {
 public:
  explicit AnchorCheck(vault::Vault& vault) : vault_(vault), seen_(vault.anchor().seen()) {}

  AnchorReport report() {
    AnchorReport report;
    report.state = vault::anchor_state_name(vault_.anchor().state());
    const vault::Id16 replica = vault_.anchor().replica();
    if (replica != vault::Id16{}) report.replica = vault::hex(vault::view(replica));
    report.root_version = vault_.root().version;
    report.root_seen = vault_.anchor().root_version();
    report.lines.push_back(line({}, vault_.bank0()));
    for (const vault::BankInfo& info : vault_.list_banks()) {
      try {
        const auto bank = vault_.open_bank(info.name);
        if (!bank) vault::throw_corrupt("a bank's name does not lead to it");
        report.lines.push_back(line(info.name, *bank));
      } catch (const Error& error) {
        AnchorLine failed;
        failed.bank = info.name;
        failed.state = code_name(error.code());
        failed.problem = error.text();
        report.lines.push_back(std::move(failed));
      }
    }
    return report;
  }

  /// As the files are now.
  const std::map<vault::BankId, Anchor::Seen>& heads() const { return heads_; }

 private:
  AnchorLine line(const std::string& name, vault::Bank& bank) {
    AnchorLine line;
    line.bank = name;
    vault::BankRead view = bank.read();
    line.generation = view.head().generation;
    heads_[bank.id()] = {view.head().vector, view.head_tag()};
    const auto seen = seen_.find(bank.id());
    if (seen == seen_.end()) {
      line.state = "not seen";
      return line;
    }
    line.seen = seen->second.vector.newest();
    line.state = "ok";
    try {
      vault::check_lineage(view.head().vector, view.head_tag(), seen->second);
    } catch (const Error& error) {
      line.state = code_name(error.code());
      line.problem = error.text();
    }
    return line;
  }

  vault::Vault& vault_;
  std::map<vault::BankId, Anchor::Seen> seen_, heads_;
};

AdminOptions read_only(AdminOptions options) {
  options.read_only = true;
  return options;
}

}  // namespace

AnchorReport VaultAdmin::anchor() {
  // Read-only, because nothing else opens a vault that was rolled back.
  VaultAdmin reader(read_only(state_->options));
  return AnchorCheck(reader.state_->open()).report();
}

AnchorReport VaultAdmin::accept_anchor() {
  state_->require_write();
  if (state_->options.no_anchor) throw Error::invalid("--no-anchor", "leaves nothing to accept");
  AnchorReport before;
  {
    VaultAdmin reader(read_only(state_->options));
    vault::Vault& vault = reader.state_->open();
    AnchorCheck check(vault);
    before = check.report();
    for (const AnchorLine& line : before.lines) {
      // Only what is older or other than seen is a matter of belief.
      if (line.state != "ok" && line.state != "not seen" && line.state != "rollback" &&
          line.state != "fork") {
        throw Error(Code::corrupt, "A bank cannot be read: " + line.problem);
      }
    }
    // Who may sign a root is not the owner's to say: an older one stays denied until it is sealed.
    Anchor anchor(vault.header().vault_id, true, false);
    anchor.accept(vault::random_id(), check.heads(),
                  std::max(before.root_version, before.root_seen));
  }
  state_->vault.reset();
  vault::Vault& vault = state_->open();
  vault::BankWrite write = vault.bank0().write(vault.stamp());
  write.log(state_->event("anchor accept"));
  write.commit();
  return before;
}

}  // namespace strongroom::service
