// The arms that find rows: words, meaning, time. What is made of them is in rank.cpp.
#include "recall/search.h"

#include <algorithm>
#include <chrono>

#include "recall/rank.h"
#include "recall/ranking.h"
#include "recall/search_state.h"
#include "recall/structure.h"

namespace strongroom::recall {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ns_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

// "Worse" first: lower score, then the higher row.
bool better(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

// The arms: which rows are candidates, and what each has of its own.
class Arms {
 public:
  explicit Arms(SearchState& state)
      : state_(state),
        view_(state.view),
        analyzer_(state.analyzer),
        query_(state.query),
        out_(state.out),
        terms_(state.terms),
        meaning_(state.meaning),
        nodes_(state.nodes),
        heap_(state.by_words),
        candidates_(state.candidates) {}

  void run() {
    auto start = Clock::now();
    terms_.emplace(view_, analyzer_, query_, out_);
    state_.names_only = asks_for_names();
    if (!trivial_filter()) view_.prefetch_attributes({});
    out_.lexical_ns = ns_since(start);
    start = Clock::now();
    if (query_.vector) find_near();
    out_.semantic_ns = ns_since(start);
    start = Clock::now();
    if (out_.attainable > 0) score_rows();
    out_.lexical_ns += ns_since(start);
    start = Clock::now();
    if (query_.temporal && !query_.times.empty()) find_in_time();
    out_.temporal_ns = ns_since(start);
    find_unit();
    gather();
    add_guaranteed();
  }

 private:
  // ---- what may be found
  bool visible(Row row) {
    return passes(view_, query_.filter, row, view_.attributes(row), state_.tag_decisions);
  }

  // Rows that match nothing but the default filter need no look at their attributes.
  bool trivial_filter() const {
    const SearchFilter& f = query_.filter;
    return f.types == 7 && !f.tags && !f.window && !f.as_of && !f.include_invalid;
  }

  bool may_show(Row row) {
    const bool cheap =
        trivial_filter() && (view_.all_live() || view_.live(row)) && !view_.timed(row);
    return cheap || visible(row);
  }

  // Whether the query is identifiers, paths or hashes and nothing else: they are to be found as
  // they are.
  bool asks_for_names() {
    const auto whole = [](const auto& term) { return term.whole; };
    if (std::none_of(terms_->all().begin(), terms_->all().end(), whole)) return false;
    for (std::size_t at = 0; at < query_.text.size();) {
      const std::size_t end =
          std::min(query_.text.find_first_of(" \t\r\n", at), query_.text.size());
      const std::vector<QueryTerm> word = analyzer_.query(query_.text.substr(at, end - at));
      if (!word.empty() && std::none_of(word.begin(), word.end(), whole)) return false;
      at = end + 1;
    }
    return true;
  }

  // ---- meaning: rows whose vectors are near the query's
  void find_near() {
    const auto sets = view_.vector_sets();
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const VectorSet& s) {
      return s.model == query_.vector->model &&
             s.dimensions == query_.vector->embedding->bytes.size();
    });
    if (set == sets.end()) return;
    out_.compared = true;
    out_.behind = view_.row_end() - set->filled;
    meaning_.emplace(view_, *set, *query_.vector->embedding, query_.depth.exact_rows,
                     query_.depth.rescored);
    near_ = meaning_->nearest(query_.candidates, [&](Row row) { return may_show(row); });
    out_.near = near_.size();
    out_.compared_rows = meaning_->compared();
    if (!near_.empty()) out_.top_cosine = near_.front().cosine;
    std::erase_if(near_, [&](const VectorHit& hit) { return state_.evidence(hit.cosine) <= 0; });
    std::sort(near_.begin(), near_.end(),
              [](const VectorHit& a, const VectorHit& b) { return a.row < b.row; });
    for (const VectorHit& hit : near_) nodes_.add(hit.row).first.cosine = hit.cosine;
  }

  // ---- words: BM25 of every row that has one
  // Row ranges small enough that their scores stay in the processor's cache, and of those sixteen
  // at a time, since most rows have no word of the query, or too few.
  static constexpr Row kRange = 1u << 16, kTogether = 16;

  static bool any_above(const float* scores, float least) {
    bool any = false;
    for (Row i = 0; i < kTogether; ++i) any |= scores[i] > least;
    return any;
  }

  void score_rows() {
    std::vector<float> scores((std::min(kRange, view_.row_end()) + kTogether - 1) / kTogether *
                              kTogether);
    std::vector<std::size_t> at(terms_->all().size(), 0);
    auto near = near_.begin();
    for (std::uint64_t base = 0; base < view_.row_end(); base += kRange) {
      bool any = false;
      for (std::size_t t = 0; t < at.size(); ++t) {
        const ScoredTerm& term = terms_->all()[t];
        std::size_t& i = at[t];
        for (; i < term.postings.size() && term.postings[i].row < base + kRange; ++i) {
          scores[term.postings[i].row - base] += term.worth[term.postings[i].code];
          any = true;
        }
      }
      for (; near != near_.end() && near->row < base + kRange; ++near) {
        nodes_.find(near->row)->lexical = scores[near->row - base];
      }
      if (!any) continue;
      const auto end = static_cast<Row>(std::min<std::uint64_t>(kRange, view_.row_end() - base));
      for (Row i = 0; i < end; i += kTogether) {
        const float* const some = scores.data() + i;
        // Rows ascend, so that one as good as the worst of a full heap is none of the best.
        const float least = heap_.size() == query_.candidates ? heap_.front().score : 0;
        if (!any_above(some, least)) {
          out_.cut = out_.cut || any_above(some, 0);
          continue;
        }
        for (Row k = i; k < i + kTogether; ++k) {
          if (scores[k] > 0) offer({scores[k], static_cast<Row>(base) + k});
        }
      }
      std::fill(scores.begin(), scores.end(), 0.0F);
    }
    std::sort(heap_.begin(), heap_.end(), better);
    out_.matched = heap_.size();
  }

  void offer(const Scored& scored) {
    const bool full = heap_.size() == query_.candidates;
    if (full && !better(scored, heap_.front())) {
      out_.cut = true;
      return;
    }
    if (!may_show(scored.row)) return;
    if (full) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
      out_.cut = true;
    }
    heap_.push_back(scored);
    std::push_heap(heap_.begin(), heap_.end(), better);
  }

  // ---- time
  // The newest rows whose time is one that the query names are candidates whatever their words.
  void find_in_time() {
    const Row end = view_.row_end();
    const Row first = end > ranking::kTemporalRows ? end - ranking::kTemporalRows : 1;
    out_.time_cut = first > 1;
    for (Row row = end - 1; row >= first && in_time_.size() < query_.candidates; --row) {
      if (!view_.live(row) && trivial_filter()) continue;
      if (state_.time_evidence(row, view_.attributes(row).dated) > 0 && may_show(row)) {
        in_time_.push_back(row);
      }
    }
    out_.in_time = in_time_.size();
  }

  // ---- candidates
  void find_unit() {
    const double best = heap_.empty() ? 0 : heap_.front().score;
    state_.unit = std::max(best, ranking::kLeastUnit * out_.attainable);
    if (state_.unit <= 0) state_.unit = 1;  // nothing but meaning and time to go by
  }

  void gather() {
    std::vector<Row> rows;
    for (const VectorHit& hit : near_) rows.push_back(hit.row);
    for (const Scored& scored : heap_) {
      const auto [n, is_new] = nodes_.add(scored.row);
      n.lexical = scored.score;
      if (is_new) rows.push_back(scored.row);
    }
    for (const Row row : in_time_) {
      const auto [n, is_new] = nodes_.add(row);
      if (!is_new) continue;
      n.lexical = terms_->score(row);
      rows.push_back(row);
    }
    if (!rows.empty()) view_.prefetch_attributes(rows);
    const auto nearest = static_cast<std::ptrdiff_t>(near_.size());
    if (meaning_) meaning_->prefetch({rows.begin() + nearest, rows.end()});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Node& n = *nodes_.find(rows[i]);
      if (meaning_ && i >= near_.size()) n.cosine = meaning_->cosine(n.row);
      state_.open(n);
      if (n.visible) candidates_.push_back(&n);
    }
  }

  void add_guaranteed() {
    for (const ScoredTerm& term : terms_->all()) {
      if (!term.rare) continue;
      for (const IndexView::Posting& posting : term.postings) {
        const bool known = nodes_.find(posting.row) != nullptr;
        Node& n = state_.node(posting.row);
        if (!n.visible) continue;
        if (!known) candidates_.push_back(&n);
        n.guaranteed = true;
        n.whole = n.whole || term.whole;
      }
    }
  }

  SearchState& state_;
  IndexView& view_;
  Analyzer& analyzer_;
  const SearchQuery& query_;
  SearchOutcome& out_;
  std::optional<QueryTerms>& terms_;
  std::optional<SemanticArm>& meaning_;
  NodeTable& nodes_;
  std::vector<Scored>& heap_;  // the worst in front while it fills, best first afterwards
  std::vector<Node*>& candidates_;
  std::vector<VectorHit> near_;  // ascending by row
  std::vector<Row> in_time_;
};

}  // namespace

SearchOutcome search(IndexView& view, Analyzer& analyzer, const SearchQuery& query) {
  SearchState state(view, analyzer, query);
  if (view.live_rows() == 0 && view.row_end() <= 1) return std::move(state.out);
  Arms(state).run();
  const auto start = Clock::now();
  Structure structure(state);
  Ranker(state, structure).run();
  state.out.structure_ns = ns_since(start);
  return std::move(state.out);
}

}  // namespace strongroom::recall
