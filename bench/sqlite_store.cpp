#include <sqlite3.h>
#include <stdexcept>

#include "bench/baselines.h"

namespace strongroom::bench {
namespace {

void check(int rc, int wanted = SQLITE_OK) {
  if (rc != wanted) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errstr(rc));
}

void bind(sqlite3_stmt* statement, int at, std::string_view bytes, bool text) {
  const int size = static_cast<int>(bytes.size());
  check(text ? sqlite3_bind_text(statement, at, bytes.data(), size, SQLITE_STATIC)
             : sqlite3_bind_blob(statement, at, bytes.data(), size, SQLITE_STATIC));
}

}  // namespace

struct SqliteStore::Handles {
  sqlite3* db = nullptr;
  sqlite3_stmt* put = nullptr;
  sqlite3_stmt* get = nullptr;
  ~Handles() {
    sqlite3_finalize(put);
    sqlite3_finalize(get);
    sqlite3_close(db);
  }
  void run(const char* sql) { check(sqlite3_exec(db, sql, nullptr, nullptr, nullptr)); }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }
};

SqliteStore::SqliteStore(const std::string& path) : handles_(std::make_unique<Handles>()) {
  check(sqlite3_open(path.c_str(), &handles_->db));
  handles_->run("PRAGMA journal_mode=WAL");
  handles_->run("PRAGMA synchronous=FULL");
  handles_->run(
      "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, name TEXT UNIQUE, value BLOB)");
  handles_->put = handles_->prepare(
      "INSERT INTO entry(name, value) VALUES(?1, ?2) "
      "ON CONFLICT(name) DO UPDATE SET value = excluded.value");
  handles_->get = handles_->prepare("SELECT value FROM entry WHERE name = ?1");
}

SqliteStore::~SqliteStore() = default;

void SqliteStore::begin() {
  handles_->run("BEGIN IMMEDIATE");
}
void SqliteStore::commit() {
  handles_->run("COMMIT");
}
void SqliteStore::checkpoint() {
  handles_->run("PRAGMA wal_checkpoint(TRUNCATE)");
}

void SqliteStore::put(std::string_view name, std::string_view value) {
  bind(handles_->put, 1, name, true);
  bind(handles_->put, 2, value, false);
  check(sqlite3_step(handles_->put), SQLITE_DONE);
  check(sqlite3_reset(handles_->put));
}

bool SqliteStore::get(std::string_view name, std::string& out) {
  bind(handles_->get, 1, name, true);
  const bool found = sqlite3_step(handles_->get) == SQLITE_ROW;
  if (found) {
    const char* bytes = static_cast<const char*>(sqlite3_column_blob(handles_->get, 0));
    out.assign(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handles_->get, 0)));
  }
  check(sqlite3_reset(handles_->get));
  return found;
}

}  // namespace strongroom::bench
