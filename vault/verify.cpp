#include "vault/verify.h"

#include <algorithm>
#include <dirent.h>
#include <set>

#include "vault/log_checkpoint.h"
#include "vault/verify_records.h"

namespace strongroom::vault {
namespace {

class Verifier {
 public:
  Verifier(Vault& vault, VerifyDepth depth, const std::function<void(std::uint64_t)>& progress,
           const IndexCheck& check_index)
      : vault_(vault), depth_(depth), progress_(progress), check_index_(check_index) {}

  VerifyReport run() {
    if (!vault_.policy().text) {
      report_.problems.push_back(
          {Code::corrupt, "vault", "Policy: " + vault_.policy().reason + "."});
    }
    attempt("vault", [&] { check_recipients(); });
    attempt("vault", [&] { check_bank(vault_.bank0()); });
    std::vector<BankInfo> banks;
    attempt("vault", [&] { banks = vault_.list_banks(); });
    for (const BankInfo& info : banks) {
      std::shared_ptr<Bank> bank;
      attempt("bank " + info.name, [&] {
        bank = vault_.open_bank(info.name);
        if (!bank) throw_corrupt("a bank's name does not lead to it");
        check_bank(*bank);
      });
      if (bank && depth_ == VerifyDepth::full && check_index_) check_index(*bank, info);
    }
    attempt("vault", [&] { find_orphans(banks); });
    // What opening the banks, read-only, has noticed and let pass.
    for (const std::string& note : vault_.lineage_notes()) {
      const bool fork = note.ends_with("[fork]");
      report_.problems.push_back({fork ? Code::fork : Code::rollback, "vault", note});
    }
    return std::move(report_);
  }

 private:
  template <class Work>
  void attempt(const std::string& where, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      report_.problems.push_back({error.code(), where, error.text()});
    }
  }

  void check_index_row(BankRead& view, const IndexKey& key, std::string_view row) {
    read_envelope(row);
    plain_.resize(row.size() - kEnvelopeHeader - kEnvelopeTag);
    view.open_index(key.kind(), row, key.place(), plain_.data(), plain_.size());
  }

  // A problem of its own: whoever repairs the bank must know whether the index alone is damaged.
  void check_index(Bank& bank, const BankInfo& info) {
    attempt("bank " + info.name, [&] {
      BankRead view = bank.read();
      check_index_(view, info);
    });
  }

  void row_done() {
    if (progress_ && (++rows_ & 0x3FF) == 0) progress_(rows_);
  }

  void check_recipients() {
    BankRead view = vault_.bank0().read();
    vault::check_recipients(view.txn(), vault_.root());
  }

  void check_bank(Bank& bank) {
    ++report_.banks;
    const auto seen = vault_.anchor().seen();
    BankRead view = bank.read();
    const BankHead& head = view.head();
    if (const auto at = seen.find(bank.id()); at != seen.end() && !vault_.options().read_only) {
      check_lineage(head.vector, view.head_tag(), at->second);
    }
    if (view.txn().rows(Table::head) != 1) throw_corrupt("a bank has more than one head");
    const auto last = view.txn().last_integer_key(Table::log).value_or(0);
    if (last + 1 != head.log_next) throw_corrupt("the log does not end where its bank says");
    if (depth_ == VerifyDepth::fast) return;
    check_rows(bank, view);
    const BankCounts counts = check_records(view, [&] { row_done(); });
    report_.memories += counts.memories;
    report_.documents += counts.documents;
    report_.links += counts.links;
    check_log_start(view, crypto::view(vault_.root().admin_public_key));
    const crypto::SecretKey audit = vault_.audit_secret();
    read_log(view.txn(), head, bank.vault_id(), bank.id(), bank.keys().log, &audit,
             [&](const LoggedEvent&) {
               ++report_.log_records;
               row_done();
             });
  }

  // Every row that the set hash covers, added up again.
  void check_rows(Bank& bank, BankRead& view) {
    BankHead sum;
    const auto add = [&](Table table, const auto& sealed, std::uint64_t& rows) {
      view.txn().scan(table, {}, [&](std::string_view key, std::string_view row) {
        const bool seals = sealed(key);
        const std::uint32_t version = seals ? read_envelope(row).key_version : bank.keys().version;
        bank.count_row(sum, version, table, key, row, seals, true);
        if (table == Table::index) check_index_row(view, IndexKey(key), row);
        ++rows;
        row_done();
        return true;
      });
    };
    const auto always = [](std::string_view) { return true; };
    const auto never = [](std::string_view) { return false; };
    const auto policy = [](std::string_view key) { return key == IntegerKey(kPolicyKey).view(); };
    add(Table::names, never, report_.names);
    add(Table::records, always, report_.records);
    add(Table::chunks, always, report_.chunks);
    add(Table::index, always, report_.index_rows);
    if (bank.id() == BankId{}) {
      std::uint64_t rows = 0;
      add(Table::recipients, never, rows);
      add(Table::root, policy, rows);
    }
    const std::uint32_t version = bank.keys().version;
    BankHead stored = view.head();
    if (stored.sets.size() > 1 || stored.set(version).rows != sum.set(version).rows ||
        !(stored.set(version).sum == sum.set(version).sum)) {
      throw_corrupt("rows were removed, added, exchanged or put back");
    }
  }

  void find_orphans(const std::vector<BankInfo>& banks) {
    std::set<std::string> known;
    for (const BankInfo& info : banks) known.insert(hex(view(info.id)) + ".mdb");
    const std::string folder = vault_.options().path + "/banks";
    DIR* const dir = ::opendir(folder.c_str());
    if (dir == nullptr) throw_corrupt("the folder of its banks cannot be read");
    std::size_t orphans = 0;
    while (const dirent* entry = ::readdir(dir)) {
      const std::string name = entry->d_name;
      const bool bank_file = name.size() > 4 && name.compare(name.size() - 4, 4, ".mdb") == 0;
      if (bank_file && known.count(name) == 0) ++orphans;
    }
    ::closedir(dir);
    if (orphans != 0) {
      report_.problems.push_back({Code::corrupt, "vault",
                                  std::to_string(orphans) +
                                      " bank file(s) that no list row names: "
                                      "left by an interrupted bank creation, or put there."});
    }
  }

  Vault& vault_;
  VerifyDepth depth_;
  const std::function<void(std::uint64_t)>& progress_;
  const IndexCheck& check_index_;
  VerifyReport report_;
  std::uint64_t rows_ = 0;
  SecretBytes plain_;
};

}  // namespace

VerifyReport verify_vault(Vault& vault, VerifyDepth depth,
                          const std::function<void(std::uint64_t)>& progress,
                          const IndexCheck& check_index) {
  return Verifier(vault, depth, progress, check_index).run();
}

}  // namespace strongroom::vault
