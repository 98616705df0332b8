// What recall is measured beside: SQLite's full-text index over the same texts.
#pragma once

#ifdef STRONGROOM_BENCH_SQLITE
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::bench {

/// FTS5 with its own content, tokenize = 'porter unicode61', WAL, synchronous=FULL, prepared
/// statements. It keeps no revisions, no audit, no tags and no encryption.
class Fts5Store {
 public:
  explicit Fts5Store(const std::string& path);
  ~Fts5Store();
  Fts5Store(const Fts5Store&) = delete;
  Fts5Store& operator=(const Fts5Store&) = delete;

  /// One transaction.
  void add(const std::vector<std::string_view>& texts);
  /// The texts of the best 30 by bm25 that have any of the words; their number.
  std::size_t search(const std::vector<std::string>& words);
  void checkpoint();

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace strongroom::bench
#endif
