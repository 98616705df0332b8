// Ranking once more, written from its description (recall/search.h, recall/ranking.h) and kept
// naive: rows are a plain list, every text is looked at for every word, nothing is kept between two
// searches. What recall::search() answers must be this, whatever segments, caches and merges there
// are.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "recall/search.h"

namespace strongroom::oracle {

struct Row {
  std::uint64_t record = 0;
  std::uint32_t document = 0;
  std::uint32_t previous = 0, next = 0;
  std::vector<std::string> tags;  // sorted, distinct
  std::string speaker;
  vault::MemoryType type = vault::MemoryType::world;
  std::uint8_t importance = 0;
  std::uint8_t length_class = 0;
  bool closed = false, dead = false, dated = false;
  std::uint32_t created_hours = 0;
  recall::RowTimes times;
  std::unordered_map<std::string, unsigned> terms;
  std::vector<std::string> words;
  std::vector<std::int8_t> vector;  // empty when the text says nothing to the model
  float scale = 0;

  bool current() const { return !closed && !dead; }
  /// Takes over what the text says: terms, words, length.
  void set_text(const recall::AnalyzedText& text);
  void set_vector(const recall::Embedding& embedding);
};

/// Rows by number, from 1.
struct Rows {
  std::vector<Row> all{1};
  std::string model;  // whose vectors they have; empty: none

  std::uint32_t add(Row row, std::uint32_t previous);
  void take_place(std::uint32_t old_first, std::uint32_t old_last, std::uint32_t fresh_first,
                  std::uint32_t fresh_last);
  void close(std::uint32_t row, TimeMs until);
  void forget(std::uint32_t row);
};

struct Hit {
  std::uint32_t row = 0;
  std::uint64_t record = 0;
  double keyword = 0, semantic = 0, temporal = 0, graph = 0, similarity = 0, final = 0;
  recall::Prior prior;
  bool guaranteed = false, whole = false;
};

bool visible(const Row& row, const recall::SearchFilter& filter);

std::vector<Hit> search(const Rows& rows, recall::Analyzer& analyzer,
                        const recall::SearchQuery& query);

}  // namespace strongroom::oracle
