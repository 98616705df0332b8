#include "recall/structure.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <vector>

namespace strongroom::recall {

Structure::Structure(SearchState& state) : state_(state) {
  if (state_.query.structure) {
    add_neighbours();
    find_sessions();
    find_speakers();
  }
  for (const Node* const n : state_.candidates) best_own_ = std::max(best_own_, state_.own(*n));
}

// Rows beside one that has words of the query.
void Structure::add_neighbours() {
  const std::size_t seeds = state_.candidates.size();
  for (std::size_t i = 0; i < seeds; ++i) {
    const Node& seed = *state_.candidates[i];
    if (seed.lexical <= 0) continue;
    for (const Row next : {seed.attributes.previous, seed.attributes.next}) {
      if (next == 0 || state_.nodes.find(next) != nullptr) continue;
      Node& n = state_.node(next);
      if (n.visible) state_.candidates.push_back(&n);
    }
  }
}

void Structure::find_sessions() {
  if (state_.without(Part::session)) return;
  std::unordered_map<std::uint32_t, std::array<float, 3>> best;
  for (const Scored& scored : state_.by_words) {
    const std::uint32_t document = state_.nodes.find(scored.row)->attributes.document;
    if (document == 0) continue;
    auto& three = best.try_emplace(document, std::array<float, 3>{}).first->second;
    // Best first, so that the first three are the best.
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
void Structure::find_speakers() {
  std::vector<Speaker> speakers;
  for (const Node& n : state_.nodes.all()) {
    if (n.visible && n.attributes.speaker != 0) speakers.push_back(n.attributes.speaker);
  }
  if (speakers.empty()) return;
  std::sort(speakers.begin(), speakers.end());
  speakers.erase(std::unique(speakers.begin(), speakers.end()), speakers.end());
  std::unordered_set<std::string> words;
  for (const QueryTerm& term : state_.analyzer.query(state_.query.text)) words.insert(term.text);
  for (const Speaker i : speakers) {
    const std::vector<QueryTerm> name = state_.analyzer.query(state_.view.speaker(i));
    const bool named =
        !name.empty() && std::all_of(name.begin(), name.end(),
                                     [&](const QueryTerm& t) { return words.count(t.text) != 0; });
    if (named) state_.out.speakers_named.push_back(state_.view.speaker(i));
    if (named) speaker_ = i;
  }
  if (state_.out.speakers_named.size() != 1) speaker_ = 0;
}

// While nothing was cut every row with a word of the query has been looked at, so that others need
// not be opened to see that they have none.
bool Structure::wordless(Row row) {
  return !state_.out.cut && state_.nodes.find(row) == nullptr;
}

RowAttributes Structure::attributes_of(Row row) {
  const Node* const n = state_.nodes.find(row);
  return n != nullptr && n->opened ? n->attributes : state_.view.attributes(row);
}

double Structure::lent_by(Row row) {
  if (row == 0 || wordless(row)) return 0;
  const Node& n = state_.node(row);
  return n.visible ? double{n.lexical} : 0;
}

ranking::Lending Structure::lending_of(const Node& node) const {
  ranking::Lending lending = node.attributes.speaker != 0 ? ranking::kConversation : ranking::kText;
  if (state_.without(Part::previous)) lending.previous = 0;
  if (state_.without(Part::next)) lending.next = 0;
  if (state_.without(Part::further)) lending.second = lending.third = 0;
  return lending;
}

// Two and three steps away, on both sides. A chain that comes back to a row it has been at (two
// rows that lead to each other) is as good as any other.
double Structure::lent_from_further(const RowAttributes& attributes,
                                    const ranking::Lending& lending) {
  double lent = 0;
  Row before = attributes.previous, behind = attributes.next;
  for (const double share : {lending.second, lending.third}) {
    if (before != 0) before = attributes_of(before).previous;
    if (behind != 0) behind = attributes_of(behind).next;
    if (before == 0 && behind == 0) break;
    lent += share * (lent_by(before) + lent_by(behind));
  }
  return lent;
}

double Structure::lent_to(const Node& node) {
  if (!state_.query.structure) return 0;
  const RowAttributes& a = node.attributes;
  const ranking::Lending lending = lending_of(node);
  double lent = lending.previous * lent_by(a.previous) + lending.next * lent_by(a.next);
  if (lending.second > 0) lent += lent_from_further(a, lending);
  const auto session = sessions_.find(a.document);
  if (session != sessions_.end()) lent += lending.session * session->second;
  // Lifts what matched; who spoke alone is no evidence.
  if (speaker_ != 0 && !state_.without(Part::speaker) && a.speaker == speaker_ &&
      state_.own(node) + lent > 0) {
    lent += ranking::kSpeaker * best_own_;
  }
  return lent;
}

double Structure::coverage(const Node& node) {
  double covered = 0, all = 0;
  for (const ScoredTerm& term : state_.terms->all()) {
    double most = term.of(node.row);
    if (state_.query.structure) {
      for (const Row row : {node.attributes.previous, node.attributes.next}) {
        if (row == 0 || wordless(row) || !state_.node(row).visible) continue;
        most = std::max<double>(most, term.of(row));
      }
    }
    if (term.tells_time) most = std::max(most, term.attainable * node.temporal);
    if (term.names_entity && node.of_entity) most = term.attainable;
    covered += std::min(most, term.attainable);
    all += term.attainable;
  }
  if (all > 0) return covered / all;
  return node.temporal;  // the query is nothing but a time
}

}  // namespace strongroom::recall
