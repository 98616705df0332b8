// compact: fresh files without free pages, expired entries and erased content.
#include "base/error.h"
#include "service/admin_state.h"
#include "service/erase.h"
#include "vault/vault_files.h"

namespace strongroom::service {
namespace {

constexpr std::string_view kTool = "compact";

class Compaction {
 public:
  Compaction(vault::Vault& vault, const VaultAdmin::State& state) : vault_(vault), state_(state) {}

  CompactLine run(const std::string& name) {
    CompactLine line;
    line.bank = name;
    try {
      if (!name.empty()) prepare(line);
      const vault::Compacted done = vault::VaultFiles(vault_).compact(
          name, state_.event(kTool), [this](vault::Bank& bank) { erase_content(vault_, bank); });
      line.bytes_before = done.bytes_before;
      line.bytes_after = done.bytes_after;
      line.erased = done.erased;
      line.erase_pending = 0;
    } catch (const Error& error) {
      line.failed = error.code();
      line.problem = error.text();
    }
    return line;
  }

 private:
  void prepare(CompactLine& line) {
    const auto bank = vault_.open_bank(line.bank);
    if (!bank) vault::throw_corrupt("a bank's name does not lead to it");
    line.expired = vault::VaultFiles(vault_).drop_expired(*bank, now_ms(), state_.event(kTool));
    line.erase_pending = bank->read().head().erase_pending.size();
  }

  vault::Vault& vault_;
  const VaultAdmin::State& state_;
};

}  // namespace

std::vector<CompactLine> VaultAdmin::compact(const std::string& bank,
                                             const std::function<void(const CompactLine&)>& visit) {
  state_->require_write();
  vault::Vault& vault = state_->open();
  std::vector<std::string> names;
  if (bank.empty()) {
    for (const vault::BankInfo& info : vault.list_banks()) names.push_back(info.name);
    names.emplace_back();
  } else {
    if (!vault.find_bank(bank)) throw Error(Code::not_found, "There is no bank of that name.");
    names.push_back(bank);
  }
  std::vector<CompactLine> lines;
  for (const std::string& name : names) {
    lines.push_back(Compaction(vault, *state_).run(name));
    if (visit) visit(lines.back());
  }
  vault.restore_reserve();
  // Its own file may be closed: the next call opens it again.
  if (lines.back().failed) state_->vault.reset();
  return lines;
}

}  // namespace strongroom::service
