#include "recall/search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"
#include "recall/ranking.h"

namespace strongroom::recall {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ns_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

std::size_t code_points(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return n;
}

// A query term with its postings and what one of them is worth.
struct ScoredTerm {
  std::vector<IndexView::Posting> postings;
  std::array<float, 256> worth{};  // by code
  double attainable = 0;
  bool rare = false, whole = false;

  float of(Row row) const {
    const auto at =
        std::lower_bound(postings.begin(), postings.end(), row,
                         [](const IndexView::Posting& posting, Row r) { return posting.row < r; });
    return at == postings.end() || at->row != row ? 0.0f : worth[at->code];
  }
};

struct Scored {
  float score;
  Row row;
};
// "Worse" first: lower score, then the higher row.
bool better(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

class Searcher {
 public:
  Searcher(IndexView& view, Analyzer& analyzer, const SearchQuery& query)
      : view_(view), analyzer_(analyzer), query_(query) {}

  SearchOutcome run() {
    if (view_.live_rows() == 0 && view_.row_end() <= 1) return std::move(out_);
    const auto start = Clock::now();
    load_terms();
    if (out_.attainable <= 0) return std::move(out_);
    score_rows();
    out_.lexical_ns = ns_since(start);
    const auto middle = Clock::now();
    make_hits();
    out_.structure_ns = ns_since(middle);
    return std::move(out_);
  }

 private:
  // ---- terms
  void load_terms() {
    for (const QueryTerm& term : analyzer_.query(query_.text)) {
      SearchedTerm& searched = out_.terms.emplace_back();
      searched.term = term.text;
      ScoredTerm scored;
      scored.whole = term.whole;
      searched.live_rows = view_.postings(view_.term_id(term.text), scored.postings);
      searched.idf = idf(searched.live_rows);
      if (searched.live_rows == 0 && scored.postings.empty() && !term.word.empty() &&
          correct(term, searched)) {
        continue;
      }
      add_term(std::move(scored), searched.live_rows, 1.0);
    }
  }

  double idf(std::uint64_t live) const {
    const auto n = static_cast<double>(view_.live_rows()), df = static_cast<double>(live);
    return std::log(1.0 + std::max(n - df + 0.5, 0.5) / (df + 0.5));
  }

  void add_term(ScoredTerm term, std::uint64_t live, double weight) {
    const double value = idf(live) * weight;
    const double average = view_.average_length();
    for (unsigned code = 0; code < 256; ++code) {
      const double tf = IndexView::frequency(static_cast<std::uint8_t>(code));
      const double length =
          IndexView::class_length(IndexView::length_class(static_cast<std::uint8_t>(code)));
      const double norm = ranking::kK1 * (1 - ranking::kB + ranking::kB * length / average);
      term.worth[code] = static_cast<float>(value * tf * (ranking::kK1 + 1) / (tf + norm));
    }
    // Once in a text of average length.
    term.attainable = value;
    out_.attainable += value;
    out_.postings += term.postings.size();
    term.rare = is_rare(term, live);
    terms_.push_back(std::move(term));
  }

  // In at most two memories; their passages may be several rows.
  bool is_rare(const ScoredTerm& term, std::uint64_t live) {
    if (live == 0 || live > ranking::kRareRows) return false;
    std::unordered_set<vault::RecordId> records;
    for (const IndexView::Posting& posting : term.postings) {
      if (view_.live(posting.row)) records.insert(view_.attributes(posting.row).record);
    }
    return !records.empty() && records.size() <= ranking::kRareMemories;
  }

  // The nearest known words stand in for an unknown one.
  bool correct(const QueryTerm& term, SearchedTerm& searched) {
    const std::size_t letters = code_points(term.word);
    if (letters < 4) return false;
    const unsigned limit = letters >= ranking::kTwoEditLetters ? 2 : 1;
    const auto near = view_.words_near(term.word, limit, 256);
    std::unordered_set<std::string> stems;
    unsigned distance = limit + 1;
    for (const IndexView::NearWord& word : near) {
      if (stems.size() == ranking::kCorrections || word.distance > distance) break;
      std::string stem = analyzer_.stem(word.word);
      if (stems.count(stem) != 0) continue;
      ScoredTerm scored;
      const std::uint64_t live = view_.postings(view_.term_id(stem), scored.postings);
      if (live == 0) continue;  // every memory with it is gone
      if (!holds_form(scored.postings, word.word)) continue;
      distance = word.distance;
      stems.insert(stem);
      searched.corrected_to.push_back(word.word);
      searched.live_rows += live;
      corrections_.push_back({std::move(scored), live});
    }
    if (stems.empty()) return false;
    const double weight = distance == 1 ? ranking::kOneEdit : ranking::kTwoEdits;
    for (auto& [scored, live] : corrections_) {
      // Together they can attain what one word can.
      add_term(std::move(scored), live, weight / static_cast<double>(corrections_.size()));
    }
    corrections_.clear();
    return true;
  }

  // The word list may still have forms that only forgotten memories had, until a merge and beyond
  // where the stem lives on. So the texts decide, whatever segments there are.
  bool holds_form(const std::vector<IndexView::Posting>& postings, const std::string& word) {
    if (!query_.text_of) return true;
    SecretBytes text;
    std::unordered_set<vault::RecordId> looked;
    for (const IndexView::Posting& posting : postings) {
      const vault::RecordId record = view_.attributes(posting.row).record;
      if (!looked.insert(record).second) continue;
      if (looked.size() > ranking::kFormMemories) return false;
      text.clear();
      query_.text_of(record, text);
      const auto& words = analyzer_.analyze(text.view()).words;
      if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    }
    return false;
  }

  // ---- scores
  bool visible(Row row) {
    return passes(view_, query_.filter, row, view_.attributes(row), tag_decisions_);
  }

  // Rows that match nothing but the default filter need no look at their attributes.
  bool trivial_filter() const {
    const SearchFilter& f = query_.filter;
    return f.types == 7 && !f.tags && !f.window && !f.as_of && !f.include_invalid;
  }

  // Row ranges small enough that their scores stay in the processor's cache.
  void score_rows() {
    constexpr Row kRange = 1u << 16;
    std::vector<float> scores(kRange);
    std::vector<std::size_t> at(terms_.size(), 0);
    const bool trivial = trivial_filter();
    if (!trivial) view_.prefetch_attributes({});
    const bool all_live = view_.all_live();
    for (std::uint64_t base = 0; base < view_.row_end(); base += kRange) {
      bool any = false;
      for (std::size_t t = 0; t < terms_.size(); ++t) {
        const ScoredTerm& term = terms_[t];
        std::size_t& i = at[t];
        for (; i < term.postings.size() && term.postings[i].row < base + kRange; ++i) {
          scores[term.postings[i].row - base] += term.worth[term.postings[i].code];
          any = true;
        }
      }
      if (!any) continue;
      const auto end = static_cast<Row>(std::min<std::uint64_t>(kRange, view_.row_end() - base));
      for (Row i = 0; i < end; ++i) {
        if (scores[i] <= 0) continue;
        const Scored scored{scores[i], static_cast<Row>(base) + i};
        scores[i] = 0;
        if (heap_.size() == query_.candidates && !better(scored, heap_.front())) {
          out_.cut = true;
          continue;
        }
        const bool cheap =
            trivial && (all_live || view_.live(scored.row)) && !view_.timed(scored.row);
        if (!cheap && !visible(scored.row)) continue;
        push(scored);
      }
    }
    std::sort(heap_.begin(), heap_.end(), better);
    out_.matched = heap_.size();
  }

  void push(const Scored& scored) {
    if (heap_.size() == query_.candidates) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
      out_.cut = true;
    }
    heap_.push_back(scored);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }

  // ---- structure
  struct Node {
    float own = 0;
    bool visible = false;
    RowAttributes attributes;
  };

  // A row's own score and whether it may lend or be found; remembered.
  const Node& node(Row row) {
    const auto [at, is_new] = nodes_.try_emplace(row);
    if (!is_new) return at->second;
    Node& n = at->second;
    n.attributes = view_.attributes(row);
    n.visible = passes(view_, query_.filter, row, n.attributes, tag_decisions_);
    if (n.visible) {
      for (const ScoredTerm& term : terms_) n.own += term.of(row);
    }
    return n;
  }

  void make_hits() {
    std::vector<Row> rows;
    for (const Scored& scored : heap_) rows.push_back(scored.row);
    view_.prefetch_attributes(rows);
    rows.clear();
    for (const Scored& scored : heap_) {
      Node& n = nodes_[scored.row];
      n.attributes = view_.attributes(scored.row);
      n.visible = true;
      n.own = scored.score;
      rows.push_back(scored.row);
    }
    add_guaranteed(rows);
    if (query_.structure) {
      add_neighbours(rows);
      find_sessions();
      find_speakers();
    }
    std::unordered_map<vault::RecordId, std::size_t> by_record;
    for (const Row row : rows) add_hit(row, by_record);
    const auto by_rank = [](const Hit& a, const Hit& b) {
      return a.final != b.final ? a.final > b.final : a.record < b.record;
    };
    std::sort(out_.hits.begin(), out_.hits.end(), by_rank);
    scale();
    // A whole identifier that is rare has a floor, which may change the order.
    std::sort(out_.hits.begin(), out_.hits.end(), by_rank);
    promote();
  }

  void add_guaranteed(std::vector<Row>& rows) {
    for (const ScoredTerm& term : terms_) {
      if (!term.rare) continue;
      for (const IndexView::Posting& posting : term.postings) {
        const bool known = nodes_.count(posting.row) != 0;
        if (!node(posting.row).visible) continue;
        if (!known) rows.push_back(posting.row);
        bool& whole = guaranteed_[posting.row];
        whole = whole || term.whole;
      }
    }
  }

  void add_neighbours(std::vector<Row>& rows) {
    const std::size_t seeds = rows.size();
    for (std::size_t i = 0; i < seeds; ++i) {
      const RowAttributes a = node(rows[i]).attributes;
      for (const Row next : {a.previous, a.next}) {
        if (next == 0 || nodes_.count(next) != 0) continue;
        if (node(next).visible) rows.push_back(next);
      }
    }
  }

  void find_sessions() {
    std::unordered_map<std::uint32_t, std::array<float, 3>> best;
    for (const Scored& scored : heap_) {
      const std::uint32_t document = nodes_.at(scored.row).attributes.document;
      if (document == 0) continue;
      auto& three = best.try_emplace(document, std::array<float, 3>{}).first->second;
      // The heap is sorted, so the first three are the best.
      for (float& score : three) {
        if (score != 0) continue;
        score = scored.score;
        break;
      }
    }
    for (const auto& [document, three] : best) {
      sessions_[document] = (double{three[0]} + double{three[1]} + double{three[2]}) / 3;
    }
  }

  // The one speaker whose whole name the query has; two named speakers cancel out. Only who speaks
  // in what was found counts: others are forgotten, or not for this caller to know.
  void find_speakers() {
    std::unordered_set<Speaker> present;
    for (const auto& [row, n] : nodes_) {
      if (n.visible && n.attributes.speaker != 0) present.insert(n.attributes.speaker);
    }
    if (present.empty()) return;
    std::unordered_set<std::string> words;
    for (const QueryTerm& term : analyzer_.query(query_.text)) words.insert(term.text);
    std::vector<Speaker> speakers(present.begin(), present.end());
    std::sort(speakers.begin(), speakers.end());
    for (const Speaker i : speakers) {
      const std::vector<QueryTerm> name = analyzer_.query(view_.speaker(i));
      const bool named = !name.empty() &&
                         std::all_of(name.begin(), name.end(),
                                     [&](const QueryTerm& t) { return words.count(t.text) != 0; });
      if (named) out_.speakers_named.push_back(view_.speaker(i));
      if (named) speaker_ = i;
    }
    if (out_.speakers_named.size() != 1) speaker_ = 0;
  }

  double lent_by(Row row) {
    if (row == 0) return 0;
    const Node& n = node(row);
    return n.visible ? double{n.own} : 0;
  }

  static double score_of(double evidence) { return 1 - std::exp(-ranking::kSlope * evidence); }

  // Ranked by own score and what structure lends; scaled to a score afterwards.
  void add_hit(Row row, std::unordered_map<vault::RecordId, std::size_t>& by_record) {
    const Node n = node(row);
    Hit hit;
    hit.row = row;
    hit.record = n.attributes.record;
    hit.attributes = n.attributes;
    // Without the lexical arm a memory is found by what its surroundings lend it alone.
    hit.bm25 = query_.lexical ? n.own : 0;
    const double lent = query_.structure ? lent_to(n) : 0;
    if (hit.bm25 + lent <= 0) return;
    hit.keyword = score_of(std::min(hit.bm25 / out_.attainable, 1.0));
    hit.graph = score_of(std::min(lent / out_.attainable, 1.0));
    const auto rare = guaranteed_.find(row);
    hit.guaranteed = rare != guaranteed_.end();
    hit.whole = hit.guaranteed && rare->second;
    hit.prior = prior_of(n.attributes);
    hit.similarity = hit.bm25 + lent;
    hit.final = hit.similarity * hit.prior.product();
    const auto [at, is_new] = by_record.try_emplace(hit.record, out_.hits.size());
    if (is_new) {
      out_.hits.push_back(hit);
      return;
    }
    // A memory scores as its best passage; what one passage guarantees holds for it.
    Hit& old = out_.hits[at->second];
    const bool sure = old.guaranteed || hit.guaranteed, whole = old.whole || hit.whole;
    if (hit.final > old.final || (hit.final == old.final && hit.row < old.row)) old = hit;
    old.guaranteed = sure;
    old.whole = whole;
  }

  double lent_to(const Node& n) {
    const RowAttributes& a = n.attributes;
    const ranking::Lending& lending = a.speaker != 0 ? ranking::kConversation : ranking::kText;
    double lent = lending.previous * lent_by(a.previous) + lending.next * lent_by(a.next);
    const auto session = sessions_.find(a.document);
    if (session != sessions_.end()) lent += lending.session * session->second;
    // Lifts what matched; who spoke alone is no evidence.
    if (speaker_ != 0 && a.speaker == speaker_ && n.own + lent > 0 && !heap_.empty()) {
      lent += ranking::kSpeaker * heap_.front().score;
    }
    return lent;
  }

  // The share of the query's weight that a row and its neighbours hold between them.
  double coverage(const Hit& hit) {
    const RowAttributes& a = hit.attributes;
    const Row around[] = {query_.structure && node_lends(a.previous) ? a.previous : 0,
                          query_.structure && node_lends(a.next) ? a.next : 0};
    double covered = 0;
    for (const ScoredTerm& term : terms_) {
      double most = term.of(hit.row);
      for (const Row row : around) {
        if (row != 0) most = std::max<double>(most, term.of(row));
      }
      covered += std::min(most, term.attainable);
    }
    return covered / out_.attainable;
  }

  bool node_lends(Row row) { return row != 0 && node(row).visible; }

  // From rank to absolute evidence: the best hit gets what the query's coverage is worth, the
  // others their share of it.
  void scale() {
    if (out_.hits.empty()) return;
    double confidence = 0;
    const std::size_t looked = std::min(out_.hits.size(), ranking::kCoverageRows);
    for (std::size_t i = 0; i < looked; ++i) {
      confidence = std::max(confidence, coverage(out_.hits[i]));
    }
    if (!out_.speakers_named.empty()) confidence += ranking::kNamedSpeaker * (1 - confidence);
    double top = 0;
    for (const Hit& hit : out_.hits) top = std::max(top, hit.similarity);
    const double unit = score_of(confidence) / top;
    for (Hit& hit : out_.hits) {
      hit.similarity *= unit;
      if (hit.whole) hit.similarity = std::max(hit.similarity, ranking::kRareEvidence);
      hit.final = hit.similarity * hit.prior.product();
    }
  }

  Prior prior_of(const RowAttributes& a) const {
    const double hours = static_cast<double>(query_.query_time) / 3'600'000.0 - a.created_hours;
    const double days = std::max(0.0, hours / 24);
    const double importance = a.importance / 255.0;
    const double rate = a.importance == 255                       ? 0
                        : a.type == vault::MemoryType::experience ? ranking::kDecayExperience
                                                                  : ranking::kDecayWorld;
    Prior prior;
    prior.weight = 1 + ranking::kWeightSpan * (importance * std::exp(-rate * days) - 0.5);
    prior.recency = 1 + ranking::kRecencySpan * (std::exp(-days / ranking::kRecencyDays) - 0.5);
    prior.scope = query_.scope_prior;
    if (query_.prefer_observations && a.type == vault::MemoryType::observation) {
      prior.type = ranking::kObservationPrior;
    }
    return prior;
  }

  // Memories with a rare term of the query are among the first five. One that ranks below takes the
  // last place and the last of the others there leaves; those between keep their order and get at
  // least the score of who left, so that scores go on descending.
  void promote() {
    constexpr std::size_t kPlaces = ranking::kGuaranteedPlaces;
    std::vector<Hit>& hits = out_.hits;
    for (std::size_t i = kPlaces; i < hits.size(); ++i) {
      if (!hits[i].guaranteed) continue;
      std::size_t behind = kPlaces;
      while (behind > 0 && hits[behind - 1].guaranteed) --behind;
      if (behind == 0) return;
      const std::size_t place = behind - 1;
      const Hit lifted = hits[i], leaving = hits[place];
      const auto at = [&](std::size_t n) { return hits.begin() + static_cast<std::ptrdiff_t>(n); };
      hits.erase(at(i));
      hits.erase(at(place));
      hits.insert(at(kPlaces - 1), lifted);
      hits.insert(at(kPlaces), leaving);
      for (std::size_t k = place; k < kPlaces; ++k) {
        hits[k].final = std::max(hits[k].final, leaving.final);
      }
    }
  }

  IndexView& view_;
  Analyzer& analyzer_;
  const SearchQuery& query_;
  SearchOutcome out_;
  std::vector<ScoredTerm> terms_;
  std::vector<std::pair<ScoredTerm, std::uint64_t>> corrections_;
  std::vector<Scored> heap_;  // the worst in front while it fills, best first afterwards
  std::vector<std::uint8_t> tag_decisions_;
  std::unordered_map<Row, Node> nodes_;
  std::unordered_map<Row, bool> guaranteed_;
  std::unordered_map<std::uint32_t, double> sessions_;
  Speaker speaker_ = 0;
};

double bounded(double value) {
  return std::clamp(value, ranking::kPriorLow, ranking::kPriorHigh);
}

}  // namespace

double Prior::product() const {
  return std::clamp(
      bounded(weight) * bounded(recency) * bounded(scope) * bounded(access) * bounded(type),
      ranking::kProductLow, ranking::kProductHigh);
}

SearchOutcome search(IndexView& view, Analyzer& analyzer, const SearchQuery& query) {
  return Searcher(view, analyzer, query).run();
}

}  // namespace strongroom::recall
