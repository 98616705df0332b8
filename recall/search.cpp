#include "recall/search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "recall/node_table.h"
#include "recall/query_terms.h"
#include "recall/ranking.h"
#include "recall/semantic.h"

namespace strongroom::recall {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ns_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

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
    auto start = Clock::now();
    terms_.emplace(view_, analyzer_, query_, out_);
    names_only_ = asks_for_names();
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
    start = Clock::now();
    make_hits();
    out_.structure_ns = ns_since(start);
    return std::move(out_);
  }

 private:
  // ---- what may be found
  bool visible(Row row) {
    return passes(view_, query_.filter, row, view_.attributes(row), tag_decisions_);
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
    meaning_.emplace(view_, *set, *query_.vector->embedding);
    near_ = meaning_->nearest(query_.candidates, [&](Row row) { return may_show(row); });
    out_.near = near_.size();
    if (!near_.empty()) out_.top_cosine = near_.front().cosine;
    std::erase_if(near_, [&](const VectorHit& hit) { return evidence(hit.cosine) <= 0; });
    std::sort(near_.begin(), near_.end(),
              [](const VectorHit& a, const VectorHit& b) { return a.row < b.row; });
    for (const VectorHit& hit : near_) nodes_.add(hit.row).first.cosine = hit.cosine;
  }

  double evidence(double cosine) const {
    const EvidenceCurve& curve = query_.vector->curve;
    return std::clamp((cosine - double{curve.c0}) / (double{curve.c1} - double{curve.c0}), 0.0,
                      1.0);
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
      if (time_evidence(row, view_.attributes(row).dated) > 0 && may_show(row)) {
        in_time_.push_back(row);
      }
    }
    out_.in_time = in_time_.size();
  }

  double time_evidence(Row row, bool dated) {
    const RowTimes times = view_.times(row);
    double best = 0;
    for (const TimeExpression& asked : query_.times) {
      const double strength = asked.certainty == Certainty::vague ? ranking::kVagueTime : 1.0;
      if (dated && times.occurred_start < asked.until && times.occurred_end >= asked.start) {
        best = std::max(best, strength);
      } else if (times.mentioned >= asked.start && times.mentioned < asked.until) {
        best = std::max(best, strength * (dated ? ranking::kMentionedTime : 1.0));
      }
    }
    return best;
  }

  // ---- candidates
  // What full evidence by meaning or time is measured against: the best lexical score, or what a
  // row with all the words could have where few are known.
  void find_unit() {
    const double best = heap_.empty() ? 0 : heap_.front().score;
    unit_ = std::max(best, ranking::kLeastUnit * out_.attainable);
    if (unit_ <= 0) unit_ = 1;  // nothing but meaning and time to go by
  }

  // By words, meaning and time together; what surroundings lend comes on top.
  double own(const Node& n) const {
    double score = query_.lexical ? n.lexical : 0;
    const bool said = n.attributes.speaker != 0;
    const double weight = names_only_ ? ranking::kMeaningOfNames
                          : said      ? ranking::kMeaningOfSpeech
                                      : ranking::kMeaningOfText;
    // What holds a rare identifier of the query is meant, whatever its other words.
    if (meaning_) score += unit_ * weight * (n.whole ? 1.0 : evidence(n.cosine));
    return score + unit_ * ranking::kTemporal * n.temporal;
  }

  void open(Node& n) {
    n.opened = true;
    n.attributes = view_.attributes(n.row);
    n.visible = passes(view_, query_.filter, n.row, n.attributes, tag_decisions_);
    if (!n.visible) return;
    if (query_.temporal && !query_.times.empty()) {
      n.temporal = static_cast<float>(time_evidence(n.row, n.attributes.dated));
    }
  }

  // A row that comes in from beside; remembered.
  Node& node(Row row) {
    const auto [n, is_new] = nodes_.add(row);
    if (is_new) {
      n.lexical = terms_->score(row);
      if (meaning_) n.cosine = meaning_->cosine(row);
    }
    if (!n.opened) open(n);
    return n;
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
      open(n);
      if (n.visible) candidates_.push_back(&n);
    }
  }

  // ---- structure
  void make_hits() {
    find_unit();
    gather();
    add_guaranteed();
    if (query_.structure) {
      add_neighbours();
      find_sessions();
      find_speakers();
    }
    find_best();
    rank();
  }

  void add_guaranteed() {
    for (const ScoredTerm& term : terms_->all()) {
      if (!term.rare) continue;
      for (const IndexView::Posting& posting : term.postings) {
        const bool known = nodes_.find(posting.row) != nullptr;
        Node& n = node(posting.row);
        if (!n.visible) continue;
        if (!known) candidates_.push_back(&n);
        n.guaranteed = true;
        n.whole = n.whole || term.whole;
      }
    }
  }

  // Rows beside one that has words of the query.
  void add_neighbours() {
    const std::size_t seeds = candidates_.size();
    for (std::size_t i = 0; i < seeds; ++i) {
      const Node& seed = *candidates_[i];
      if (seed.lexical <= 0) continue;
      for (const Row next : {seed.attributes.previous, seed.attributes.next}) {
        if (next == 0 || nodes_.find(next) != nullptr) continue;
        Node& n = node(next);
        if (n.visible) candidates_.push_back(&n);
      }
    }
  }

  void find_sessions() {
    std::unordered_map<std::uint32_t, std::array<float, 3>> best;
    for (const Scored& scored : heap_) {
      const std::uint32_t document = nodes_.find(scored.row)->attributes.document;
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
    std::vector<Speaker> speakers;
    for (const Node& n : nodes_.all()) {
      if (n.visible && n.attributes.speaker != 0) speakers.push_back(n.attributes.speaker);
    }
    if (speakers.empty()) return;
    std::sort(speakers.begin(), speakers.end());
    speakers.erase(std::unique(speakers.begin(), speakers.end()), speakers.end());
    std::unordered_set<std::string> words;
    for (const QueryTerm& term : analyzer_.query(query_.text)) words.insert(term.text);
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

  void find_best() {
    for (const Node* const n : candidates_) best_own_ = std::max(best_own_, own(*n));
  }

  double lent_by(Row row) {
    if (row == 0) return 0;
    const Node& n = node(row);
    return n.visible ? double{n.lexical} : 0;
  }

  // Words are lent, meaning is not: that costs more than it brings (docs/performance.md).
  double lent_to(const Node& n) {
    const RowAttributes& a = n.attributes;
    const ranking::Lending& lending = a.speaker != 0 ? ranking::kConversation : ranking::kText;
    double lent = lending.previous * lent_by(a.previous) + lending.next * lent_by(a.next);
    const auto session = sessions_.find(a.document);
    if (session != sessions_.end()) lent += lending.session * session->second;
    // Lifts what matched; who spoke alone is no evidence.
    if (speaker_ != 0 && a.speaker == speaker_ && own(n) + lent > 0) {
      lent += ranking::kSpeaker * best_own_;
    }
    return lent;
  }

  // ---- ranks and scores
  struct Candidate {
    double final, score, lent;
    vault::RecordId record;
    const Node* node;
    bool guaranteed, whole;
  };

  // A memory scores as its best passage; what one passage guarantees holds for it.
  void rank() {
    std::vector<Candidate> ranked;
    std::unordered_map<vault::RecordId, std::size_t> by_record(candidates_.size());
    ranked.reserve(candidates_.size());
    for (const Node* const n : candidates_) {
      const double lent = query_.structure ? lent_to(*n) : 0;
      const double score = own(*n) + lent;
      if (score <= 0) continue;
      const Candidate fresh{score * prior_of(n->attributes).product(),
                            score,
                            lent,
                            n->attributes.record,
                            n,
                            n->guaranteed,
                            n->whole};
      const auto [at, is_new] = by_record.try_emplace(fresh.record, ranked.size());
      if (is_new) {
        ranked.push_back(fresh);
        continue;
      }
      Candidate& old = ranked[at->second];
      const bool sure = old.guaranteed || fresh.guaranteed, whole = old.whole || fresh.whole;
      if (fresh.final > old.final || (fresh.final == old.final && n->row < old.node->row)) {
        old = fresh;
      }
      old.guaranteed = sure;
      old.whole = whole;
    }
    std::sort(ranked.begin(), ranked.end(), [](const Candidate& a, const Candidate& b) {
      return a.final != b.final ? a.final > b.final : a.record < b.record;
    });
    if (!ranked.empty()) scale(ranked);
  }

  static double score_of(double evidence) { return 1 - std::exp(-ranking::kSlope * evidence); }

  // From rank to absolute evidence: the best hit gets what the query's coverage is worth, the
  // others their share of it.
  void scale(const std::vector<Candidate>& ranked) {
    double top = 0;
    for (const Candidate& candidate : ranked) top = std::max(top, candidate.score);
    const double sure = confidence(ranked);
    const double factor =
        (meaning_ ? ranking::kMostSure * sure * std::sqrt(sure) : score_of(sure)) / top;
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      if (i >= query_.candidates && !ranked[i].guaranteed) continue;
      out_.hits.push_back(hit_of(ranked[i], factor));
    }
    // A whole identifier that is rare has a floor, which may change the order.
    const auto by_rank = [](const Hit& a, const Hit& b) {
      return a.final != b.final ? a.final > b.final : a.record < b.record;
    };
    if (!std::is_sorted(out_.hits.begin(), out_.hits.end(), by_rank)) {
      std::sort(out_.hits.begin(), out_.hits.end(), by_rank);
    }
    promote();
  }

  Hit hit_of(const Candidate& candidate, double factor) {
    const Node& n = *candidate.node;
    const double attainable = out_.attainable > 0 ? out_.attainable : unit_;
    Hit hit;
    hit.row = n.row;
    hit.record = candidate.record;
    hit.attributes = n.attributes;
    // Without the lexical arm a memory is found by what its surroundings lend it alone.
    hit.bm25 = query_.lexical ? n.lexical : 0;
    hit.cosine = n.cosine;
    hit.semantic = meaning_ ? evidence(n.cosine) : 0;
    hit.temporal = n.temporal;
    hit.keyword = score_of(std::min(hit.bm25 / attainable, 1.0));
    hit.graph = score_of(std::min(candidate.lent / attainable, 1.0));
    hit.guaranteed = candidate.guaranteed;
    hit.whole = candidate.whole;
    hit.prior = prior_of(n.attributes);
    hit.similarity = candidate.score * factor;
    if (hit.whole) hit.similarity = std::max(hit.similarity, ranking::kRareEvidence);
    hit.final = hit.similarity * hit.prior.product();
    return hit;
  }

  // How sure it is that the bank knows an answer.
  double confidence(const std::vector<Candidate>& ranked) {
    const std::size_t looked = std::min(ranked.size(), ranking::kCoverageRows);
    double sure = 0;
    for (std::size_t i = 0; i < looked; ++i) sure = std::max(sure, coverage(*ranked[i].node));
    out_.coverage = sure;
    const auto add = [&](double share) { sure += share * (1 - sure); };
    if (meaning_ && !names_only_) {
      const double near = (evidence(out_.top_cosine) - ranking::kNearLow) /
                          (ranking::kNearHigh - ranking::kNearLow);
      add(ranking::kMeaningConfidence * std::clamp(near, 0.0, 1.0));
    }
    if (!out_.speakers_named.empty()) add(ranking::kNamedSpeaker);
    return sure;
  }

  // The share of the query's weight that a row and its neighbours hold between them. Words for a
  // time are held by what lies in it.
  double coverage(const Node& n) {
    double covered = 0, all = 0;
    for (const ScoredTerm& term : terms_->all()) {
      double most = term.of(n.row);
      if (query_.structure) {
        for (const Row row : {n.attributes.previous, n.attributes.next}) {
          if (row != 0 && node(row).visible) most = std::max<double>(most, term.of(row));
        }
      }
      if (term.tells_time) most = std::max(most, term.attainable * n.temporal);
      covered += std::min(most, term.attainable);
      all += term.attainable;
    }
    if (all > 0) return covered / all;
    return n.temporal;  // the query is nothing but a time
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

  // Memories with a rare term of the query are among the first five, those that hold a rare
  // identifier whole before the others.
  void promote() {
    promote_where([](const Hit& hit) { return hit.whole; });
    promote_where([](const Hit& hit) { return hit.guaranteed; });
  }

  // One that ranks below the first places takes the last of them, and the last of the others there
  // leaves; those between keep their order and get at least the score of who left, so that scores
  // go on descending.
  template <class Sure>
  void promote_where(const Sure& sure) {
    constexpr std::size_t kPlaces = ranking::kGuaranteedPlaces;
    std::vector<Hit>& hits = out_.hits;
    for (std::size_t i = kPlaces; i < hits.size(); ++i) {
      if (!sure(hits[i])) continue;
      std::size_t behind = kPlaces;
      while (behind > 0 && sure(hits[behind - 1])) --behind;
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
  std::optional<QueryTerms> terms_;
  std::optional<SemanticArm> meaning_;  // none: no vectors to compare with
  std::vector<VectorHit> near_;         // ascending by row
  std::vector<Scored> heap_;            // the worst in front while it fills, best first afterwards
  std::vector<Row> in_time_;
  std::vector<std::uint8_t> tag_decisions_;
  NodeTable nodes_;
  std::vector<Node*> candidates_;
  double unit_ = 1, best_own_ = 0;
  bool names_only_ = false;
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
