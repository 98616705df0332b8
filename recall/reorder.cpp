#include "recall/reorder.h"

#include <algorithm>

#include "recall/ranking.h"
#include "recall/vectors_of.h"

namespace strongroom::recall {
namespace {

VectorsOf vectors_of(SearchState& state, const std::vector<Ranked>& ranked, std::size_t count) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(ranked[i].node->row);
  return {state.view, state.meaning->set(), rows};
}

// How much of `value` lies between low and high.
double share_of(double value, double low, double high) {
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

// Sorts what stands behind the first `settled` places, and keeps it below them.
void settle(std::vector<Ranked>& ranked, std::size_t settled) {
  std::sort(ranked.begin() + static_cast<std::ptrdiff_t>(settled), ranked.end(), before);
  const double last = ranked[settled - 1].final;
  for (std::size_t i = settled; i < ranked.size() && ranked[i].final > last; ++i) {
    ranked[i].score *= last / ranked[i].final;
    ranked[i].final = last;
  }
}

void add(Ranked& one, double more) {
  const double priors = one.final / one.score;
  one.score += more;
  one.final = one.score * priors;
}

// What is like one of the best.
void add_likeness(SearchState& state, std::vector<Ranked>& ranked, std::size_t settled) {
  const VectorsOf vectors = vectors_of(state, ranked, ranked.size());
  const double best = ranked[0].final;
  for (std::size_t i = settled; i < ranked.size(); ++i) {
    if (ranked[i].node->attributes.speaker == 0) continue;
    double near = 0;
    for (std::size_t j = 0; j < ranking::kLookedLike; ++j) {
      const double share = share_of(vectors.cosine(i, j), ranking::kLikeLow, ranking::kLikeHigh);
      near = std::max(near, ranked[j].final / best * share);
    }
    add(ranked[i], ranking::kLookAgain * state.unit * near);
  }
}

// What stands beside something near in meaning.
void add_surroundings(SearchState& state, std::vector<Ranked>& ranked, std::size_t settled) {
  for (std::size_t i = settled; i < ranked.size(); ++i) {
    const RowAttributes& a = ranked[i].node->attributes;
    if (a.speaker == 0) continue;
    double near = 0;
    for (const Row row : {a.previous, a.next}) {
      if (row == 0) continue;
      const Node& n = state.node(row);
      if (n.visible) near += state.evidence(n.cosine);
    }
    add(ranked[i], ranking::kLentMeaning * state.unit * near);
  }
}

}  // namespace

void look_again(SearchState& state, std::vector<Ranked>& ranked) {
  if (!state.meaning || state.names_only) return;
  const auto turn = [](const Ranked& one) { return one.node->attributes.speaker != 0; };
  if (std::none_of(ranked.begin(), ranked.end(), turn)) return;
  if (ranked.size() > ranking::kSettledPlaces) {
    add_likeness(state, ranked, ranking::kSettledPlaces);
    settle(ranked, ranking::kSettledPlaces);
  }
  if (ranked.size() > ranking::kSettledMeaning) {
    add_surroundings(state, ranked, ranking::kSettledMeaning);
    settle(ranked, ranking::kSettledMeaning);
  }
}

void set_copies_apart(SearchState& state, std::vector<Ranked>& ranked) {
  const std::size_t count = std::min(ranking::kComparedPlaces, ranked.size());
  if (!state.meaning || count < 2) return;
  const VectorsOf vectors = vectors_of(state, ranked, count);
  std::vector<double> copied(count, 0);  // how much of it stands above
  std::vector<bool> placed(count, false);
  std::vector<Ranked> order;
  for (std::size_t step = 0; step < count; ++step) {
    const auto worth = [&](std::size_t i) {
      return ranked[i].final * (1 - ranking::kCopyCosts * copied[i]);
    };
    std::size_t next = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!placed[i] && (next == count || worth(i) > worth(next))) next = i;
    }
    placed[next] = true;
    order.push_back(ranked[next]);
    for (std::size_t i = 0; i < count; ++i) {
      if (placed[i]) continue;
      // What no longer holds is shown beside what replaced it, which mostly is like it.
      if (ranked[i].node->attributes.closed || ranked[next].node->attributes.closed) continue;
      const double cosine = vectors.cosine(i, next);
      copied[i] = std::max(copied[i], share_of(cosine, ranking::kCopyLow, 1.0));
    }
  }
  std::copy(order.begin(), order.end(), ranked.begin());
  double least = ranked[0].final;
  for (Ranked& one : ranked) {
    if (one.final > least) {
      one.score *= least / one.final;
      one.final = least;
    }
    least = one.final;
  }
}

}  // namespace strongroom::recall
