#include "recall/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "recall/ranking.h"

namespace strongroom::recall {
namespace {

// From where links are followed.
struct Seed {
  vault::RecordId record;
  double score;
};

class LinkWalk {
 public:
  explicit LinkWalk(SearchState& state) : state_(state), links_(*state.query.links) {}

  std::vector<Lift> run(const std::vector<Ranked>& ranked) {
    const ranking::Depth& depth = state_.query.depth;
    std::vector<Seed> seeds;
    for (std::size_t i = 0; i < std::min(depth.link_seeds, ranked.size()); ++i) {
      seeds.push_back({ranked[i].record, ranked[i].score});
    }
    from_query(ranked);
    for (unsigned hop = 0; hop < depth.hops && !seeds.empty(); ++hop) {
      seeds = from_memories(seeds);
    }
    std::vector<Lift> all;
    for (const auto& [record, lift] : lifts_) all.push_back(lift);
    std::sort(all.begin(), all.end(), [](const Lift& a, const Lift& b) { return a.row < b.row; });
    state_.out.linked = all.size();
    state_.out.links_read = read_;
    return all;
  }

 private:
  // What is linked with an entity that the query names is as good as a share of the best.
  void from_query(const std::vector<Ranked>& ranked) {
    const LinkedMemories found = links_.of_query(state_.query.text, left());
    count(found);
    for (const std::string& name : found.entities) state_.terms->mark_entity(name);
    const double best = ranked.empty() ? state_.unit : std::max(ranked[0].score, state_.unit);
    for (const LinkedMemories::One& one : found.memories) {
      Node* const n = visible(one.row);
      if (n == nullptr) continue;
      n->of_entity = true;
      add(*n, best, one.weight);
    }
  }

  // The next seeds: those that came in here, best first.
  std::vector<Seed> from_memories(const std::vector<Seed>& seeds) {
    std::vector<Seed> next;
    for (const Seed& seed : seeds) visited_.insert(seed.record);
    for (const Seed& seed : seeds) {
      if (left() == 0) {
        state_.out.links_cut = true;
        break;
      }
      const LinkedMemories found = links_.of_memory(seed.record, left());
      count(found);
      for (const LinkedMemories::One& one : found.memories) {
        Node* const n = visible(one.row);
        if (n == nullptr) continue;
        add(*n, seed.score, one.weight);
        const vault::RecordId record = n->attributes.record;
        if (visited_.insert(record).second) next.push_back({record, lifts_[record].lift});
      }
    }
    for (Seed& seed : next) seed.score = lifts_[seed.record].lift;
    std::sort(next.begin(), next.end(), [](const Seed& a, const Seed& b) {
      return a.score != b.score ? a.score > b.score : a.record < b.record;
    });
    if (next.size() > state_.query.depth.link_seeds) next.resize(state_.query.depth.link_seeds);
    return next;
  }

  Node* visible(Row row) {
    if (row == 0 || row >= state_.view.row_end()) return nullptr;
    Node& n = state_.node(row);
    return n.visible ? &n : nullptr;
  }

  void add(const Node& n, double score, double weight) {
    Lift& lift = lifts_[n.attributes.record];
    const double given = score * weight;
    if (given < lift.lift || (given == lift.lift && lift.row != 0)) return;
    lift = {n.row, given, score};
  }

  void count(const LinkedMemories& found) {
    read_ += found.read;
    state_.out.links_cut = state_.out.links_cut || found.cut;
  }
  std::size_t left() const {
    const std::size_t most = state_.query.depth.link_reads;
    return read_ < most ? most - static_cast<std::size_t>(read_) : 0;
  }

  SearchState& state_;
  const LinkSource& links_;
  std::map<vault::RecordId, Lift> lifts_;
  std::set<vault::RecordId> visited_;
  std::uint64_t read_ = 0;
};

}  // namespace

std::vector<Lift> follow_links(SearchState& state, const std::vector<Ranked>& ranked) {
  return LinkWalk(state).run(ranked);
}

}  // namespace strongroom::recall
