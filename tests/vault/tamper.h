// Changing a closed vault's file behind the vault's back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vault/lmdb_engine.h"
#include "vault_fixture.h"

namespace strongroom::vault {

inline std::string key_of(std::uint64_t id) { return std::string(IntegerKey(id).view()); }

/// Works on a closed vault's file with the engine alone, behind the vault's back.
template <class Work>
void behind_its_back(const std::string& file, bool root, const Work& work) {
  EngineOptions options;
  options.root_tables = root;
  auto engine = open_lmdb(file, options);
  auto txn = engine->begin_write();
  work(*txn);
  txn->commit();
}

struct Row {
  Table table;
  std::string key, value;
};

inline std::vector<Row> all_rows(const std::string& file, bool root) {
  std::vector<Row> rows;
  EngineOptions options;
  options.root_tables = root;
  auto engine = open_lmdb(file, options);
  auto txn = engine->begin_read();
  std::vector<Table> tables{Table::names, Table::records, Table::chunks,
                            Table::head,  Table::log,     Table::index};
  if (root) tables.insert(tables.end(), {Table::recipients, Table::root});
  for (const Table table : tables) {
    txn->scan(table, {}, [&](std::string_view key, std::string_view value) {
      rows.push_back({table, std::string(key), std::string(value)});
      return true;
    });
  }
  return rows;
}

inline bool verify_finds(const TestVault& test) {
  try {
    auto vault = test.open();
    return !verify_vault(*vault, VerifyDepth::full).problems.empty();
  } catch (const Error& error) {
    return error.code() == Code::corrupt || error.code() == Code::unsupported ||
           error.code() == Code::wrong_key;
  }
}

}  // namespace strongroom::vault
