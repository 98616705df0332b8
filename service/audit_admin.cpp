// The owner's view of the logs.
#include <algorithm>

#include "service/admin_state.h"

namespace strongroom::service {
namespace {

bool wanted(const AuditFilter& filter, const vault::AuditEvent& event) {
  return (!filter.since || event.time >= *filter.since) &&
         (filter.principal.empty() || event.principal == filter.principal) &&
         (filter.tool.empty() || event.tool == filter.tool) &&
         (!filter.denied_only || !event.permitted);
}

void read_one(vault::Bank& bank, const crypto::SecretKey& audit,
              const std::function<void(const vault::LoggedEvent&)>& visit) {
  vault::BankRead view = bank.read();
  vault::read_log(view.txn(), view.head(), bank.vault_id(), bank.id(), bank.keys().log, &audit,
                  visit);
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
    read_one(bank, audit, [&](const vault::LoggedEvent& logged) {
      const vault::AuditEvent& event = logged.event;
      if (!wanted(filter, event)) return;
      AuditLine line;
      line.sequence = logged.sequence;
      line.time = event.time;
      line.principal = event.principal;
      line.tool = event.tool;
      line.bank = name;
      line.rule = event.rule;
      line.error = event.error;
      line.session = vault::hex(vault::view(logged.session));
      line.permitted = event.permitted;
      line.count = event.count;
      line.bytes = event.bytes;
      line.record = event.record;
      lines.push_back(std::move(line));
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
      read_one(bank, audit, [&](const vault::LoggedEvent&) { ++line.records; });
    } catch (const Error& error) {
      line.problem = error.text();
    }
    chains.push_back(std::move(line));
  };
  for_each_log(vault, {}, check);
  return chains;
}

}  // namespace strongroom::service
