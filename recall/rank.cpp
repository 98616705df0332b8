#include "recall/rank.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "recall/graph.h"
#include "recall/ranking.h"
#include "recall/reorder.h"

namespace strongroom::recall {
namespace {

double score_of(double evidence) {
  return 1 - std::exp(-ranking::kSlope * evidence);
}

double bounded(double value) {
  return std::clamp(value, ranking::kPriorLow, ranking::kPriorHigh);
}

}  // namespace

double Prior::product() const {
  return std::clamp(
      bounded(weight) * bounded(recency) * bounded(scope) * bounded(access) * bounded(type),
      ranking::kProductLow, ranking::kProductHigh);
}

void Ranker::run() {
  std::vector<Ranked> ranked = rank();
  const SearchQuery& query = state_.query;
  if (query.structure && query.links != nullptr && !state_.without(Part::links)) {
    add_linked(ranked);
  }
  if (ranked.empty()) return;
  if (query.depth.look_again && !state_.without(Part::again)) look_again(state_, ranked);
  if (!state_.without(Part::copies)) set_copies_apart(state_, ranked);
  scale(ranked);
  promote();
}

std::vector<Ranked> Ranker::rank() {
  std::vector<Ranked> ranked;
  std::unordered_map<vault::RecordId, std::size_t> by_record(state_.candidates.size());
  for (Node* const n : state_.candidates) {
    const double lent = structure_.lent_to(*n);
    const double score = state_.own(*n) + lent;
    if (score <= 0) continue;
    const Ranked fresh{score * prior_of(n->attributes).product(),
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
    Ranked& old = ranked[at->second];
    const bool sure = old.guaranteed || fresh.guaranteed, whole = old.whole || fresh.whole;
    if (fresh.final > old.final || (fresh.final == old.final && n->row < old.node->row)) {
      old = fresh;
    }
    old.guaranteed = sure;
    old.whole = whole;
  }
  std::sort(ranked.begin(), ranked.end(), before);
  return ranked;
}

void Ranker::add_linked(std::vector<Ranked>& ranked) {
  std::unordered_map<vault::RecordId, std::size_t> by_record(state_.candidates.size());
  for (std::size_t i = 0; i < ranked.size(); ++i) by_record[ranked[i].record] = i;
  for (const Lift& lift : follow_links(state_, ranked)) {
    Node& n = *state_.nodes.find(lift.row);
    const vault::RecordId record = n.attributes.record;
    const auto [at, is_new] = by_record.try_emplace(record, ranked.size());
    if (is_new) {
      const double lent = structure_.lent_to(n);
      const double score = state_.own(n) + lent;
      ranked.push_back({0, std::max(score, 0.0), lent, record, &n, n.guaranteed, n.whole});
    }
    Ranked& one = ranked[at->second];
    const double lifted = std::max(
        {one.score, lift.lift, std::min(one.score + ranking::kLinkedMore * lift.lift, lift.most)});
    one.lent += lifted - one.score;
    one.score = lifted;
    one.final = lifted * prior_of(one.node->attributes).product();
    // Its name was asked for, whichever passage ranks best.
    one.node->of_entity = one.node->of_entity || n.of_entity;
  }
  std::sort(ranked.begin(), ranked.end(), before);
}

// From rank to absolute evidence: the best hit gets what the query's coverage is worth, the others
// their share of it.
void Ranker::scale(const std::vector<Ranked>& ranked) {
  double top = 0;
  for (const Ranked& one : ranked) top = std::max(top, one.score);
  const double sure = confidence(ranked);
  const double factor =
      (state_.meaning ? ranking::kMostSure * sure * std::sqrt(sure) : score_of(sure)) / top;
  double behind = 0;
  for (std::size_t i = 1; i <= ranking::kMarginPlaces && i < ranked.size(); ++i) {
    behind += ranked[i].final / ranked[0].final;
  }
  const double margin = 1 - behind / static_cast<double>(ranking::kMarginPlaces);
  std::vector<Hit>& hits = state_.out.hits;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (i >= state_.query.candidates && !ranked[i].guaranteed) continue;
    hits.push_back(hit_of(ranked[i], factor, margin));
  }
  // A whole identifier that is rare has a floor, which may change the order. Stable: what was set
  // apart has the score of what stands before it.
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& a, const Hit& b) { return a.final > b.final; });
}

// Scores of questions without an answer stay as they are, so that the rule for those stays.
double Ranker::spread(double score, double margin) const {
  if (!state_.meaning || state_.without(Part::margin) || score <= ranking::kSureFrom) return score;
  const double span = ranking::kMostSure - ranking::kSureFrom;
  const double u = (score - ranking::kSureFrom) / span;
  const double sharp = u < 1 ? u * u : u;  // priors lift beyond
  const double stands_out = std::min(margin / ranking::kFullMargin, 1.0);
  return ranking::kSureFrom +
         span * sharp * (ranking::kUnmatched + (1 - ranking::kUnmatched) * stands_out);
}

Hit Ranker::hit_of(const Ranked& ranked, double factor, double margin) {
  const Node& n = *ranked.node;
  const double attainable = state_.out.attainable > 0 ? state_.out.attainable : state_.unit;
  Hit hit;
  hit.row = n.row;
  hit.record = ranked.record;
  hit.attributes = n.attributes;
  // Without the lexical arm a memory is found by what its surroundings lend it alone.
  hit.bm25 = state_.query.lexical ? n.lexical : 0;
  hit.cosine = n.cosine;
  hit.semantic = state_.meaning ? state_.evidence(n.cosine) : 0;
  hit.temporal = n.temporal;
  hit.keyword = score_of(std::min(hit.bm25 / attainable, 1.0));
  hit.graph = score_of(std::min(ranked.lent / attainable, 1.0));
  hit.guaranteed = ranked.guaranteed;
  hit.whole = ranked.whole;
  hit.prior = prior_of(n.attributes);
  // Spread with the priors in it, so that the order stays.
  hit.final = spread(ranked.final * factor, margin);
  hit.similarity = hit.final / hit.prior.product();
  if (hit.whole && hit.similarity < ranking::kRareEvidence) {
    hit.similarity = ranking::kRareEvidence;
    hit.final = hit.similarity * hit.prior.product();
  }
  return hit;
}

// How sure it is that the bank knows an answer.
double Ranker::confidence(const std::vector<Ranked>& ranked) {
  const std::size_t looked = std::min(ranked.size(), ranking::kCoverageRows);
  double sure = 0;
  for (std::size_t i = 0; i < looked; ++i) {
    sure = std::max(sure, structure_.coverage(*ranked[i].node));
  }
  state_.out.coverage = sure;
  const auto add = [&](double share) { sure += share * (1 - sure); };
  if (state_.meaning && !state_.names_only && !state_.without(Part::nearness)) {
    const double near = (state_.evidence(state_.out.top_cosine) - ranking::kNearLow) /
                        (ranking::kNearHigh - ranking::kNearLow);
    add(ranking::kMeaningConfidence * std::clamp(near, 0.0, 1.0));
  }
  if (!state_.out.speakers_named.empty()) add(ranking::kNamedSpeaker);
  return sure;
}

Prior Ranker::prior_of(const RowAttributes& a) const {
  Prior prior;
  if (state_.without(Part::priors)) return prior;
  const SearchQuery& query = state_.query;
  const double hours = static_cast<double>(query.query_time) / 3'600'000.0 - a.created_hours;
  const double days = std::max(0.0, hours / 24);
  const double importance = a.importance / 255.0;
  const double rate = a.importance == 255                       ? 0
                      : a.type == vault::MemoryType::experience ? ranking::kDecayExperience
                                                                : ranking::kDecayWorld;
  prior.weight = 1 + ranking::kWeightSpan * (importance * std::exp(-rate * days) - 0.5);
  prior.recency = 1 + ranking::kRecencySpan * (std::exp(-days / ranking::kRecencyDays) - 0.5);
  prior.scope = query.scope_prior;
  if (query.prefer_observations && a.type == vault::MemoryType::observation) {
    prior.type = ranking::kObservationPrior;
  }
  return prior;
}

// Memories with a rare term of the query are among the first five, those that hold a rare
// identifier whole before the others.
void Ranker::promote() {
  promote_where([](const Hit& hit) { return hit.whole; });
  promote_where([](const Hit& hit) { return hit.guaranteed; });
}

// One that ranks below the first places takes the last of them, and the last of the others there
// leaves; those between keep their order and get at least the score of who left, so that scores go
// on descending.
template <class Sure>
void Ranker::promote_where(const Sure& sure) {
  constexpr std::size_t kPlaces = ranking::kGuaranteedPlaces;
  std::vector<Hit>& hits = state_.out.hits;
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

}  // namespace strongroom::recall
