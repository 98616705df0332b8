// The owner's view of the logs.
#include <algorithm>

#include "service/admin_state.h"
#include "vault/log_checkpoint.h"

namespace strongroom::service {
namespace {

bool wanted(const AuditFilter& filter, const vault::AuditEvent& event) {
  return (!filter.since || event.time >= *filter.since) &&
         (filter.principal.empty() || event.principal == filter.principal) &&
         (filter.tool.empty() || event.tool == filter.tool) &&
         (!filter.denied_only || !event.permitted);
}

std::uint64_t read_one(vault::Vault& vault, vault::BankRead& view, const crypto::SecretKey& audit,
                       const std::function<void(const vault::LoggedEvent&)>& visit) {
  const vault::Bank& bank = view.bank();
  const std::uint64_t pruned =
      vault::check_log_start(view, crypto::view(vault.root().admin_public_key));
  vault::read_log(view.txn(), view.head(), bank.vault_id(), bank.id(), bank.keys().log, &audit,
                  visit);
  return pruned;
}

AuditLine line_of(const vault::LoggedEvent& logged, const std::string& bank) {
  const vault::AuditEvent& event = logged.event;
  AuditLine line;
  line.sequence = logged.sequence;
  line.time = event.time;
  line.principal = event.principal;
  line.tool = event.tool;
  line.bank = bank;
  line.rule = event.rule;
  line.error = event.error;
  line.session = vault::hex(vault::view(logged.session));
  line.permitted = event.permitted;
  line.count = event.count;
  line.bytes = event.bytes;
  line.record = event.record;
  return line;
}

// The vault's own log, then each bank's.
template <class Work>
void for_each_log(vault::Vault& vault, const std::string& only, const Work& work) {
  if (only.empty()) work(vault.bank0(), std::string());
  bool found = only.empty();
  for (const vault::BankInfo& info : vault.list_banks()) {
    if (!only.empty() && info.name != only) continue;
    found = true;
    const auto opened = vault.open_bank(info.name);
    if (!opened) vault::throw_corrupt("a bank's name does not lead to it");
    work(*opened, info.name);
  }
  if (!found) throw Error(Code::not_found, "There is no bank of that name.");
}

}  // namespace

void VaultAdmin::audit_log(const AuditFilter& filter,
                           const std::function<void(const AuditLine&)>& visit) {
  vault::Vault& vault = state_->open();
  const crypto::SecretKey audit = vault.audit_secret();
  std::vector<AuditLine> lines;
  for_each_log(vault, filter.bank, [&](vault::Bank& bank, const std::string& name) {
    vault::BankRead view = bank.read();
    read_one(vault, view, audit, [&](const vault::LoggedEvent& logged) {
      if (wanted(filter, logged.event)) lines.push_back(line_of(logged, name));
    });
  });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const AuditLine& a, const AuditLine& b) { return a.time < b.time; });
  for (const AuditLine& line : lines) visit(line);
}

std::vector<VaultAdmin::ChainLine> VaultAdmin::audit_verify() {
  vault::Vault& vault = state_->open();
  const crypto::SecretKey audit = vault.audit_secret();
  std::vector<ChainLine> chains;
  const auto check = [&](vault::Bank& bank, const std::string& name) {
    ChainLine line;
    line.bank = name;
    try {
      vault::BankRead view = bank.read();
      line.pruned =
          read_one(vault, view, audit, [&](const vault::LoggedEvent&) { ++line.records; });
    } catch (const Error& error) {
      line.problem = error.text();
    }
    chains.push_back(std::move(line));
  };
  for_each_log(vault, {}, check);
  return chains;
}

std::uint64_t VaultAdmin::prune_audit(const std::string& bank_name,
                                      const std::function<void(const AuditLine&)>& visit,
                                      const std::function<void()>& keep) {
  const crypto::SecretKey admin = state_->admin_key();
  vault::Vault& vault = state_->open();
  const crypto::SecretKey audit = vault.audit_secret();
  std::uint64_t pruned = 0;
  for_each_log(vault, bank_name, [&](vault::Bank& bank, const std::string& name) {
    bool kept = false;
    const auto work = [&] {
      // No writer comes between what is handed out and what goes.
      vault::BankWrite write = bank.write(vault.stamp());
      std::uint64_t rows = write.txn().rows(vault::Table::log);
      if (!kept) {
        read_one(vault, write, audit,
                 [&](const vault::LoggedEvent& logged) { visit(line_of(logged, name)); });
        keep();
      }
      kept = true;
      vault::prune_log(write, admin, now_ms());
      write.log(state_->event("audit export"));
      write.commit();
      pruned += rows;
    };
    try {
      work();
    } catch (const Error& error) {
      // On a full disk the reserve makes room for exactly this.
      if (error.code() != Code::no_space || !kept || !vault.give_up_reserve()) throw;
      kept = false;  // others may have written meanwhile; what was handed out comes again
      work();
    }
  });
  return pruned;
}

}  // namespace strongroom::service
