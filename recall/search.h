// Ranking: from a query to scored rows of one bank. Pure reading; the caller opens the memories.
//
// lexical: BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
// 2009) over stems and whole identifiers, OR semantics, with live document counts.
// semantic: the cosine of the query's vector and the passage's, through the model's curve.
// temporal: rows whose occurred or mentioned time is one that the query names.
// structure: neighbours by stored links lend lexical score, so do the best of the same document,
// and the named speaker is lifted. Meaning is not lent: it costs more than it brings.
// Scores are absolute: the best hit's is the share of the query's weight that it covers together
// with its neighbours, the others' their share of that. So they compare between queries, and
// "nothing is good enough" can be said. The same snapshot, query and time give the same bits
// whatever segments the index happens to have. Ties go to the lower record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recall/index.h"
#include "recall/ranking.h"
#include "recall/temporal.h"

namespace strongroom::recall {

/// Which rows may be found; decided before anything is ranked and before neighbours lend score.
struct SearchFilter {
  std::uint8_t types = 7;  // a bit a MemoryType
  bool permanent = false;  // also any memory of importance 1, whatever its type
  /// Decided once a tag set (sorted, distinct); absent: all.
  std::function<bool(const std::vector<std::string>&)> tags;
  struct Window {
    TimeMs start, end;  // inclusive
  };
  std::optional<Window> window;  // occurred span overlaps, else mentioned inside
  std::optional<TimeMs> as_of;   // what was believed then, and stored then
  bool include_invalid = false;  // closed and expired rows too
  TimeMs now = 0;
};

/// The query as a model sees it. Only vectors of that model are compared with it.
struct QueryVector {
  std::string_view model;
  const Embedding* embedding = nullptr;  // not empty
  EvidenceCurve curve{};
};

/// Parts of the ranking that a search can leave out, to see what each brings.
enum class Part : std::uint8_t {
  previous,  // what the row before lends
  next,      // and the row behind
  further,   // and those two and three steps away
  session,   // and the best of its document
  speaker,   // being said by who is named
  priors,    // importance, age, bank, type
  links,     // explicit links
  again,     // the second look of a deep search
  copies,    // near-copies moving behind
  nearness,  // the nearest vector's share in the confidence
  margin,    // how far the best stands out
};
/// nullopt: there is no such part.
std::optional<Part> part_named(std::string_view name) noexcept;
constexpr std::uint32_t bit(Part part) {
  return std::uint32_t{1} << static_cast<unsigned>(part);
}

/// Memories that explicit links lead to.
struct LinkedMemories {
  struct One {
    Row row = 0;        // the first passage
    double weight = 0;  // the share that is passed on, 0 to 1
  };
  std::vector<One> memories;
  std::vector<std::string> entities;  // that the query names and links lead from
  std::uint64_t read = 0;             // records opened
  bool cut = false;                   // there were more links than were read
};

/// Who knows the links of this bank. Both read at most `most` records, and answer with links that
/// hold at the time of the search; whether their memories may be found is decided by the search.
struct LinkSource {
  /// Of the memory whose revision this record is.
  std::function<LinkedMemories(vault::RecordId record, std::size_t most)> of_memory;
  /// Of entities that the query names.
  std::function<LinkedMemories(std::string_view query, std::size_t most)> of_query;
};

struct SearchQuery {
  std::string_view text;
  SearchFilter filter;
  ranking::Depth depth = ranking::kMid;
  std::size_t candidates = depth.candidates;  // rows an arm hands on
  bool lexical = true, structure = true;
  std::optional<QueryVector> vector;  // none: the semantic arm does not run
  bool temporal = true;
  std::vector<TimeExpression> times;  // that the query names, of its text
  TimeMs query_time = 0;              // for recency
  double scope_prior = 1.0;           // of this bank among those asked
  /// Everything that a memory's record is found by, into `out`. With it the typo rule asks the
  /// texts whether a form of a word is still there; without it the index's word list is believed,
  /// which keeps forms of forgotten memories while another has a word of the same stem.
  std::function<void(vault::RecordId, SecretBytes& out)> text_of;
  bool prefer_observations = false;
  const LinkSource* links = nullptr;  // none: the bank has no links. A part of `structure`.
  std::uint32_t without = 0;          // bits of Part
};

/// Each lies in [.8, 1.25], their product in [.7, 1.4].
struct Prior {
  double weight = 1, recency = 1, scope = 1, access = 1, type = 1;
  double product() const;
};

struct Hit {
  Row row = 0;  // the best passage of its memory
  vault::RecordId record = 0;
  RowAttributes attributes;
  double bm25 = 0;        // own, unscaled
  double keyword = 0;     // own share of the attainable, 0 to 1
  double cosine = 0;      // of its passage and the query; 0 without vectors
  double semantic = 0;    // what that cosine is worth as evidence, 0 to 1
  double temporal = 0;    // how well its time fits one that the query names, 0 to 1
  double graph = 0;       // the share of the attainable that structure lent, 0 to 1
  double similarity = 0;  // evidence of all arms, 0 to 1, before priors
  Prior prior;
  double final = 0;         // 0 to 1
  bool guaranteed = false;  // has a query term that at most two memories have
  bool whole = false;       // and that term is a whole identifier
};

struct SearchedTerm {
  std::string term;
  std::uint64_t live_rows = 0;
  double idf = 0;
  std::vector<std::string> corrected_to;  // by the typo rule
};

struct SearchOutcome {
  std::vector<Hit> hits;  // a memory once, best first
  double attainable = 0;  // BM25 of a row that has it all
  std::vector<SearchedTerm> terms;
  std::uint64_t postings = 0;  // visited
  std::uint64_t matched = 0;   // rows that pass the filter and have a score, at most `candidates`
  bool cut = false;            // there were more than `candidates`
  std::vector<std::string> speakers_named;
  /// The semantic arm: how many rows it handed on, and what it could not see.
  std::uint64_t near = 0;
  bool compared = false;                // the bank has vectors of the query's model
  std::uint64_t behind = 0;             // rows that have not been through that model yet
  double top_cosine = 0, coverage = 0;  // what the confidence was made of
  std::uint64_t compared_rows = 0;      // vectors that were compared in full
  std::uint64_t in_time = 0;            // rows that the temporal arm handed on
  bool time_cut = false;                // older rows were not looked at for their time
  std::uint64_t linked = 0;             // memories that links lead to and that may be found
  std::uint64_t links_read = 0;         // records opened for them
  bool links_cut = false;               // there were more links than are followed
  std::int64_t lexical_ns = 0, semantic_ns = 0, temporal_ns = 0, structure_ns = 0;
};

SearchOutcome search(IndexView& view, Analyzer& analyzer, const SearchQuery& query);

/// True when a row may be shown under the filter. `tag_decisions` is kept between calls (indexed by
/// tag set; 0 undecided, 1 yes, 2 no).
bool passes(IndexView& view, const SearchFilter& filter, Row row, const RowAttributes& attributes,
            std::vector<std::uint8_t>& tag_decisions);

}  // namespace strongroom::recall
