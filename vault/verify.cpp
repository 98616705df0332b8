#include "vault/verify.h"

#include <algorithm>
#include <dirent.h>
#include <set>

#include "crypto/aead.h"
#include "crypto/process.h"
#include "vault/entries.h"

namespace strongroom::vault {
namespace {

class Verifier {
 public:
  Verifier(Vault& vault, VerifyDepth depth, const std::function<void(std::uint64_t)>& progress)
      : vault_(vault), depth_(depth), progress_(progress) {}

  VerifyReport run() {
    for (const std::string& note : vault_.lineage_notes()) {
      report_.problems.push_back({Code::rollback, "vault", note});
    }
    if (!vault_.policy().text) {
      report_.problems.push_back(
          {Code::corrupt, "vault", "Policy: " + vault_.policy().reason + "."});
    }
    attempt("vault", [&] { check_recipients(); });
    attempt("vault", [&] { check_bank(vault_.bank0()); });
    std::vector<BankInfo> banks;
    attempt("vault", [&] { banks = vault_.list_banks(); });
    for (const BankInfo& info : banks) {
      attempt("bank " + info.name, [&] {
        const std::shared_ptr<Bank> bank = vault_.open_bank(info.name);
        if (!bank) throw_corrupt("a bank's name does not lead to it");
        check_bank(*bank);
      });
    }
    attempt("vault", [&] { find_orphans(banks); });
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
    check_names(bank, view);
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
    const auto add = [&](Table table, std::string_view key, std::string_view row, bool sealed) {
      std::uint32_t version = bank.keys().version;
      if (sealed) version = read_envelope(row).key_version;
      bank.count_row(sum, version, table, key, row, sealed, true);
      row_done();
    };
    view.txn().scan(Table::names, {}, [&](std::string_view key, std::string_view row) {
      add(Table::names, key, row, false);
      ++report_.names;
      return true;
    });
    view.txn().scan(Table::records, {}, [&](std::string_view key, std::string_view row) {
      add(Table::records, key, row, true);
      ++report_.records;
      return true;
    });
    view.txn().scan(Table::chunks, {}, [&](std::string_view key, std::string_view row) {
      add(Table::chunks, key, row, true);
      ++report_.chunks;
      return true;
    });
    if (bank.id() == BankId{}) {
      view.txn().scan(Table::recipients, {}, [&](std::string_view key, std::string_view row) {
        add(Table::recipients, key, row, false);
        return true;
      });
      view.txn().scan(Table::root, {}, [&](std::string_view key, std::string_view row) {
        add(Table::root, key, row, key == IntegerKey(kPolicyKey).view());
        return true;
      });
    }
    const BankHead& head = view.head();
    const std::uint32_t version = bank.keys().version;
    BankHead stored = head;
    if (head.sets.size() > 1 || stored.set(version).rows != sum.set(version).rows ||
        !(stored.set(version).sum == sum.set(version).sum)) {
      throw_corrupt("rows were removed, added, exchanged or put back");
    }
  }

  // Every record opens, every name leads to its record, every value is whole.
  void check_names(Bank& bank, BankRead& view) {
    SecretBytes plain, value;
    std::uint64_t entries = 0, secrets = 0;
    std::vector<RecordId> ids;
    view.txn().scan(Table::records, {}, [&](std::string_view key, std::string_view) {
      ids.push_back(load_le<std::uint64_t>(key));
      return true;
    });
    for (const RecordId id : ids) {
      if (id >= view.head().next_record_id) throw_corrupt("a record is newer than its bank");
      if (view.open(id, plain).kind != Kind::entry) continue;
      const Entry entry = open_entry(view, id, plain);
      const bool readable = entry.inline_value || entry.entry_class == EntryClass::normal ||
                            !bank.keys().secret.empty();
      if (readable) {
        value.clear();
        read_value(view, entry, 0, entry.bytes, value);
      }
      row_done();
    }
    for_each_name(view.txn(), [&](const NamePair& pair) {
      if (view.open(pair.record, plain).kind != Kind::entry) return;
      const Entry entry = open_entry(view, pair.record, plain);
      if (view.find(Kind::entry, entry.name) != pair.record) {
        throw_corrupt("a name leads to another entry");
      }
      ++entries;
      if (entry.entry_class == EntryClass::secret) ++secrets;
    });
    if (entries != view.head().counts.entries || secrets != view.head().counts.secrets) {
      throw_corrupt("a bank's counts are wrong");
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
  VerifyReport report_;
  std::uint64_t rows_ = 0;
};

}  // namespace

VerifyReport verify_vault(Vault& vault, VerifyDepth depth,
                          const std::function<void(std::uint64_t)>& progress) {
  return Verifier(vault, depth, progress).run();
}

}  // namespace strongroom::vault
