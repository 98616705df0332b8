#include "service/rerank.h"

#include <algorithm>
#include <numeric>

#include "service/memory_words.h"
#include "vault/memories.h"

namespace strongroom::service {
namespace {

std::size_t depth(const SearchRequest& request) {
  static constexpr std::size_t kDepth[] = {0, 10, 50};
  return kDepth[static_cast<std::size_t>(request.budget)];
}

// Gives the hits at `places` (ascending, so the best first) to the order that `evidence` says.
void trade_places(std::vector<Ranked>& ranked, const std::vector<std::size_t>& places,
                  const std::vector<float>& evidence) {
  const double best = std::max(ranked[places.front()].hit.final, 1e-9);
  std::vector<double> worth(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    worth[i] = ranked[places[i]].hit.final / best + double{evidence[i]};
  }
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
  std::vector<recall::Hit> hits;
  for (const std::size_t i : order) hits.push_back(ranked[places[i]].hit);
  for (std::size_t i = 0; i < places.size(); ++i) {
    recall::Hit& to = ranked[places[i]].hit;
    hits[i].final = to.final;
    to = std::move(hits[i]);
  }
}

std::vector<SecretBytes> texts_of(SearchedBank& bank, const std::vector<Ranked>& ranked,
                                  const std::vector<std::size_t>& places) {
  std::vector<SecretBytes> texts(places.size());
  SecretBytes plain;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const recall::Hit& hit = ranked[places[i]].hit;
    const vault::Memory memory = vault::open_memory(bank.read, hit.record, plain);
    passage_for_model(memory, hit.attributes.passage, texts[i]);
  }
  return texts;
}

}  // namespace

Reranked rerank(MemoryService::State& state, const SearchRequest& request,
                std::vector<std::unique_ptr<SearchedBank>>& banks, std::vector<Ranked>& ranked) {
  Reranked outcome;
  const std::size_t most = depth(request);
  for (std::size_t i = 0; i < banks.size() && most > 0; ++i) {
    const RegisteredModel* const chosen = state.models.reranker_of(banks[i]->bank->tag());
    if (chosen == nullptr) continue;
    outcome.asked = true;
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < ranked.size() && places.size() < most; ++at) {
      if (ranked[at].bank == i && !ranked[at].hit.guaranteed) places.push_back(at);
    }
    if (places.size() < 2) continue;
    const std::vector<SecretBytes> texts = texts_of(*banks[i], ranked, places);
    std::vector<std::string_view> views;
    for (const SecretBytes& text : texts) views.push_back(text.view());
    std::vector<float> evidence(places.size());
    try {
      state.open_models.reranker(*chosen).score(request.query, views, evidence);
    } catch (const Error& error) {
      outcome.problem = chosen->id + " could not be asked: " + error.text();
      continue;
    }
    trade_places(ranked, places, evidence);
    outcome.hits += places.size();
    if (outcome.model.find(chosen->id) == std::string::npos) {
      outcome.model += (outcome.model.empty() ? "" : ", ") + chosen->id;
    }
  }
  return outcome;
}

}  // namespace strongroom::service
