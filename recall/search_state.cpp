#include "recall/search_state.h"

#include <algorithm>

#include "recall/ranking.h"

namespace strongroom::recall {

double SearchState::evidence(double cosine) const {
  const EvidenceCurve& curve = query.vector->curve;
  return std::clamp((cosine - double{curve.c0}) / (double{curve.c1} - double{curve.c0}), 0.0, 1.0);
}

double SearchState::own(const Node& node) const {
  double score = query.lexical ? node.lexical : 0;
  const bool said = node.attributes.speaker != 0;
  const double weight = names_only ? ranking::kMeaningOfNames
                        : said     ? ranking::kMeaningOfSpeech
                                   : ranking::kMeaningOfText;
  // What holds a rare identifier of the query is meant, whatever its other words.
  if (meaning) score += unit * weight * (node.whole ? 1.0 : evidence(node.cosine));
  return score + unit * ranking::kTemporal * node.temporal;
}

double SearchState::time_evidence(Row row, bool dated) {
  const RowTimes times = view.times(row);
  double best = 0;
  for (const TimeExpression& asked : query.times) {
    const double strength = asked.certainty == Certainty::vague ? ranking::kVagueTime : 1.0;
    if (dated && times.occurred_start < asked.until && times.occurred_end >= asked.start) {
      best = std::max(best, strength);
    } else if (times.mentioned >= asked.start && times.mentioned < asked.until) {
      best = std::max(best, strength * (dated ? ranking::kMentionedTime : 1.0));
    }
  }
  return best;
}

void SearchState::open(Node& node) {
  node.opened = true;
  node.attributes = view.attributes(node.row);
  node.visible = passes(view, query.filter, node.row, node.attributes, tag_decisions);
  if (!node.visible) return;
  if (query.temporal && !query.times.empty()) {
    node.temporal = static_cast<float>(time_evidence(node.row, node.attributes.dated));
  }
}

Node& SearchState::node(Row row) {
  const auto [n, is_new] = nodes.add(row);
  if (is_new) {
    n.lexical = terms->score(row);
    if (meaning) n.cosine = meaning->cosine(row);
  }
  if (!n.opened) open(n);
  return n;
}

}  // namespace strongroom::recall
