// Every row of a vault in the clear: what somebody finds who has the files and all keys.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "memory_fixture.h"
#include "service/unlocker.h"
#include "vault/entries.h"
#include "vault/vault.h"

namespace strongroom::service {

struct OpenedRow {
  std::string where, plain;
  std::string nonce;  // of a sealed row: by it the row is found again in raw bytes
};

class OpenedRows {
 public:
  explicit OpenedRows(const TestHome& home) {
    KeySource key;
    key.keyfile = home.keyfile();
    vault::Unlocker unlocker = make_unlocker(key);
    vault::VaultOptions options;
    options.path = home.vault_path();
    options.session = vault::random_id();
    const auto opened = vault::Vault::open(options, unlocker);
    add_bank(opened->bank0());
    for (const vault::BankInfo& info : opened->list_banks()) {
      add_bank(*opened->open_bank(info.name));
    }
  }

  /// Rows that hold these bytes.
  std::vector<const OpenedRow*> with(std::string_view needle) const {
    std::vector<const OpenedRow*> found;
    for (const OpenedRow& row : rows_) {
      if (row.plain.find(needle) != std::string::npos) found.push_back(&row);
    }
    return found;
  }
  const std::vector<OpenedRow>& all() const { return rows_; }

 private:
  static std::string nonce_of(std::string_view sealed) { return std::string(sealed.substr(7, 24)); }

  void add_bank(vault::Bank& bank) {
    vault::BankRead view = bank.read();
    SecretBytes plain;
    std::size_t chunks = 0;
    view.txn().scan(vault::Table::names, {}, [&](std::string_view key, std::string_view row) {
      rows_.push_back({"name", std::string(key) + std::string(row), {}});
      return true;
    });
    std::vector<vault::RecordId> ids;
    view.txn().scan(vault::Table::records, {}, [&](std::string_view key, std::string_view row) {
      ids.push_back(vault::load_le<vault::RecordId>(key));
      const auto record = view.open(ids.back(), plain);
      rows_.push_back(
          {"record " + std::to_string(ids.back()), std::string(record.body), nonce_of(row)});
      return true;
    });
    for (const vault::RecordId id : ids) {
      if (vault::read_envelope(view.row(id)).kind != vault::Kind::entry) continue;
      const vault::Entry entry = vault::open_entry(view, id, plain);
      if (entry.inline_value) continue;
      SecretBytes value;
      vault::read_value(view, entry, 0, entry.bytes, value);
      for (std::uint32_t i = 0;; ++i) {
        const auto row =
            view.txn().get(vault::Table::chunks, vault::chunk_key(entry.content_id, i));
        if (!row) break;
        ++chunks;
        rows_.push_back({"chunk", std::string(value.view()), nonce_of(*row)});
      }
    }
    // A chunk that no record leads to could be opened by trying.
    REQUIRE(view.txn().rows(vault::Table::chunks) == chunks);
    view.txn().scan(vault::Table::index, {}, [&](std::string_view key, std::string_view row) {
      const vault::IndexKey place(key);
      plain.resize(row.size() - vault::kEnvelopeHeader - vault::kEnvelopeTag);
      view.open_index(place.kind(), row, place.place(), plain.data(), plain.size());
      rows_.push_back({"index " + std::to_string(static_cast<int>(place.kind())) + "/" +
                           std::to_string(place.place() >> 32) + "/" +
                           std::to_string(place.number()),
                       std::string(plain.view()), nonce_of(row)});
      return true;
    });
    view.txn().scan(vault::Table::root, {}, [&](std::string_view, std::string_view row) {
      rows_.push_back({"root", std::string(row), {}});
      return true;
    });
  }

  std::vector<OpenedRow> rows_;
};

}  // namespace strongroom::service
