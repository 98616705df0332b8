#include "bench/recall_fts5.h"

#include <sqlite3.h>
#include <stdexcept>

#include "bench/recall_corpus.h"

namespace strongroom::bench {
namespace {

void check(int rc, int wanted = SQLITE_OK) {
  if (rc != wanted) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errstr(rc));
}

void bind_text(sqlite3_stmt* statement, std::string_view text) {
  check(sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
}

}  // namespace

struct Fts5Store::Handles {
  sqlite3* db = nullptr;
  sqlite3_stmt* add = nullptr;
  sqlite3_stmt* search = nullptr;
  ~Handles() {
    sqlite3_finalize(add);
    sqlite3_finalize(search);
    sqlite3_close(db);
  }
  void run(const char* sql) { check(sqlite3_exec(db, sql, nullptr, nullptr, nullptr)); }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }
};

Fts5Store::Fts5Store(const std::string& path) : handles_(std::make_unique<Handles>()) {
  check(sqlite3_open(path.c_str(), &handles_->db));
  handles_->run("PRAGMA journal_mode=WAL");
  handles_->run("PRAGMA synchronous=FULL");
  handles_->run(
      "CREATE VIRTUAL TABLE memory USING fts5(text, tokenize = 'porter unicode61')");
  handles_->add = handles_->prepare("INSERT INTO memory(text) VALUES(?1)");
  // `rank` is bm25(), sorted inside the index: faster than ORDER BY bm25(memory).
  handles_->search = handles_->prepare(
      "SELECT rowid, text FROM memory WHERE memory MATCH ?1 ORDER BY rank LIMIT 30");
}

Fts5Store::~Fts5Store() = default;

void Fts5Store::add(const std::vector<std::string_view>& texts) {
  handles_->run("BEGIN IMMEDIATE");
  for (const std::string_view text : texts) {
    bind_text(handles_->add, text);
    check(sqlite3_step(handles_->add), SQLITE_DONE);
    check(sqlite3_reset(handles_->add));
  }
  handles_->run("COMMIT");
}

std::size_t Fts5Store::search(const std::vector<std::string>& words) {
  const std::string match = "\"" + joined(words, "\" OR \"") + "\"";
  bind_text(handles_->search, match);
  std::size_t found = 0;
  std::string text;
  while (sqlite3_step(handles_->search) == SQLITE_ROW) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handles_->search, 1));
    text.assign(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handles_->search, 1)));
    ++found;
  }
  check(sqlite3_reset(handles_->search));
  return found;
}

void Fts5Store::checkpoint() {
  handles_->run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace strongroom::bench
