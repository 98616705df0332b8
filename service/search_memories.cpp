// recall by a question: which banks, which rows may be seen, ranking, and what is shown.
#include "service/search_memories.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "recall/search.h"
#include "recall/splitter.h"
#include "recall/tokens.h"
#include "service/fill_vectors.h"
#include "service/link_source.h"
#include "service/memory_words.h"
#include "service/rerank.h"
#include "service/search_answer.h"
#include "service/state.h"

namespace strongroom::service {
namespace {

// The project's own memories go before the shared ones where both answer alike.
constexpr double kProjectPrior = 1.05;
// Scores below this share of the best end the list.
constexpr double kFallOff = 0.35;

void check_group(const TagGroup& group, int depth, std::size_t& tags) {
  if (depth > kMaxTagGroupDepth) {
    throw Error::invalid("tag_groups", "is nested deeper than 16 levels");
  }
  tags += group.tags.size();
  for (const TagGroup& part : group.parts) check_group(part, depth + 1, tags);
}

void check_share(double value, const char* field) {
  if (!(value >= 0 && value <= 1)) throw Error::invalid(field, "must be from 0 to 1");
}

}  // namespace

void check_search(const SearchRequest& request) {
  if (!valid_utf8(request.query)) throw Error::invalid("query", "is not valid UTF-8");
  if (request.query.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Error::invalid("query", "must not be empty");
  }
  const std::uint64_t tokens = recall::count_tokens(request.query);
  if (tokens > kMaxQueryTokens) {
    throw Error::invalid("query", "is " + std::to_string(tokens) + " tokens, limit " +
                                      std::to_string(kMaxQueryTokens));
  }
  if (request.limit < 1 || request.limit > kMaxResults) {
    throw Error::invalid("limit", "must be from 1 to 200");
  }
  check_share(request.min_score, "min_score");
  if (request.min_scores.keyword) check_share(*request.min_scores.keyword, "min_scores.keyword");
  if (request.min_scores.final) check_share(*request.min_scores.final, "min_scores.final");
  if (request.min_scores.semantic) check_share(*request.min_scores.semantic, "min_scores.semantic");
  if (request.window_start && request.window_end && *request.window_start > *request.window_end) {
    throw Error::invalid("temporal_window", "ends before it starts");
  }
  std::size_t tags = request.tags.size();
  for (const TagGroup& group : request.tag_groups) check_group(group, 1, tags);
  if (tags > kMaxFilterTags) {
    throw Error::invalid("tags", "has more than 10000 tags, groups included");
  }
  for (const std::string& arm : request.arms) {
    if (!known_arm(arm)) {
      throw Error::invalid("arms", "knows keyword, semantic, temporal and graph");
    }
  }
  for (const std::string& part : request.without) {
    if (!recall::part_named(part)) {
      throw Error::invalid("without", "names no part of the ranking: " + json_quoted(part));
    }
  }
}

namespace {

bool group_passes(const TagGroup& group, const std::vector<std::string>& tags) {
  const auto passes = [&](const TagGroup& part) { return group_passes(part, tags); };
  switch (group.kind) {
    case TagGroup::Kind::leaf: return tags_match(tags, group.tags, group.match);
    case TagGroup::Kind::all_of: return std::all_of(group.parts.begin(), group.parts.end(), passes);
    case TagGroup::Kind::any_of: return std::any_of(group.parts.begin(), group.parts.end(), passes);
    case TagGroup::Kind::none_of:
      return std::none_of(group.parts.begin(), group.parts.end(), passes);
  }
  return false;
}

recall::ranking::Depth depth(const SearchRequest& request) {
  switch (request.budget) {
    case Budget::low: return recall::ranking::kLow;
    case Budget::mid: return recall::ranking::kMid;
    case Budget::high: return recall::ranking::kHigh;
  }
  return recall::ranking::kMid;
}

std::size_t candidates(const SearchRequest& request) {
  return std::max(depth(request).candidates, request.limit);
}

// All that a memory is found by: the same parts as in MemoryChanges::findable_text().
void append_findable(const vault::Memory& memory, SecretBytes& out) {
  const auto add = [&](std::string_view part) {
    if (part.empty()) return;
    out.append(part);
    out.append("\n");
  };
  add(memory.text);
  add(memory.context);
  for (const std::string& entity : memory.entities()) add(entity);
  add(memory.speaker);
}

class Search {
 public:
  Search(MemoryService::State& state, const SearchRequest& request, std::string_view tool)
      : state_(state), request_(request), tool_(tool) {}

  SearchResult run() {
    const Banks banks = find_banks();
    result_.notes = banks.notes;
    result_.as_of = request_.as_of.value_or(state_.last_call);
    for (std::size_t i = 0; i < banks.read.size(); ++i) search_bank(banks, i);
    std::stable_sort(ranked_.begin(), ranked_.end(),
                     [](const Ranked& a, const Ranked& b) { return a.hit.final > b.hit.final; });
    reranked_ = rerank(state_, request_, searched_, ranked_);
    if (!ranked_.empty()) result_.best_score = shown_score(ranked_.front().hit.final);
    apply_scores();
    build_answer(state_, request_, searched_, ranked_, result_);
    report_arms();
    return std::move(result_);
  }

  void report_temporal() {
    ArmReport arm;
    arm.name = "temporal";
    arm.state = arm_runs("temporal") ? "ran" : "off";
    for (const auto& searched : searched_) {
      arm.candidates += searched->outcome.in_time;
      arm.cut = arm.cut || searched->outcome.time_cut;
    }
    if (arm.cut) {
      arm.reason =
          "Of older memories only those that the other arms found were looked at for "
          "their time.";
    }
    result_.arms.push_back(std::move(arm));
  }

  // Only where a bank has one.
  void report_reranker() {
    if (!reranked_.asked) return;
    ArmReport arm;
    arm.name = "reranker";
    arm.state = reranked_.problem.empty() ? "ran" : "unavailable";
    arm.model = reranked_.model;
    arm.candidates = reranked_.hits;
    arm.reason = reranked_.problem;
    result_.arms.push_back(std::move(arm));
  }

  // Which memories were read, by whom; with nothing found, that something was asked.
  void log_reads() const {
    for (std::size_t i = 0; i < searched_.size(); ++i) {
      bool any = false;
      for (const ShownMemory& shown : searched_[i]->shown) {
        state_.log_read(searched_[i]->bank, tool_, searched_[i]->rule, shown.first, shown.bytes);
        any = true;
      }
      if (!any) state_.log_read(searched_[i]->bank, tool_, searched_[i]->rule, 0, 0);
    }
  }

 private:
  Banks find_banks() {
    if (request_.scope.empty()) return state_.resolve(request_.bank);
    if (!request_.bank.empty()) {
      throw Error::invalid("scope", "and bank cannot both be given");
    }
    Banks all;
    for (const std::string& part : request_.scope) {
      const bool own = part == "project" || part == "bank";
      const Banks found = state_.resolve(own ? std::string() : part);
      const std::string& name = found.write;
      if (std::find(all.read.begin(), all.read.end(), name) != all.read.end()) continue;
      all.read.push_back(name);
      all.may_create = all.may_create || found.may_create;
      for (const std::string& note : found.notes) all.notes.push_back(note);
    }
    all.write = all.read.front();
    return all;
  }

  void search_bank(const Banks& banks, std::size_t i) {
    const std::string& name = banks.read[i];
    const policy::Request asked = state_.request(tool_, name);
    const policy::Decision scope = state_.policy.decide_scope(asked);
    if (!scope.permitted) {
      if (i == 0) state_.deny(name, tool_, scope);
      result_.notes.push_back("The bank " + json_quoted(name) + " may not be read here.");
      return;
    }
    const auto bank = state_.open(name);
    if (!bank) {
      const bool expected = banks.may_create && (request_.scope.empty() || name == banks.write ||
                                                 name == vault::kGlobalBank);
      if (!expected) state_.throw_unknown_bank(name);
      result_.banks.push_back(name);
      return;
    }
    result_.banks.push_back(name);
    SearchedBank& searched = *searched_.emplace_back(std::make_unique<SearchedBank>(state_, bank));
    searched.tool = tool_;
    searched.rule = scope.rule;
    searched.narrowed = state_.policy.narrows_memories(asked);
    recall::SearchQuery query;
    query.text = request_.query;
    query.filter = filter(name, asked);
    query.depth = depth(request_);
    query.candidates = candidates(request_);
    query.lexical = arm_runs("keyword");
    query.structure = arm_runs("graph");
    if (arm_runs("semantic")) query.vector = query_vector(searched);
    query.query_time = request_.query_timestamp.value_or(request_.as_of.value_or(state_.last_call));
    query.temporal = arm_runs("temporal");
    query.times = recall::query_times(request_.query, query.query_time).spans;
    query.scope_prior = banks.read.size() > 1 && i == 0 ? kProjectPrior : 1.0;
    query.prefer_observations = request_.prefer_observations;
    for (const std::string& part : request_.without) {
      query.without |= recall::bit(recall::part_named(part).value());
    }
    query.text_of = [&](vault::RecordId record, SecretBytes& out) {
      append_findable(vault::open_memory(searched.read, record, plain_), out);
    };
    LinkReader links(searched.read, request_.as_of, state_.last_call);
    if (query.structure) query.links = links.source();
    searched.outcome = recall::search(searched.view, state_.analyzer, query);
    if (searched.narrowed && (request_.as_of || request_.include_invalid)) hide_older(searched);
    for (const recall::Hit& hit : searched.outcome.hits) {
      ranked_.push_back({hit, searched_.size() - 1});
    }
  }

  // Of the bank's own model where every passage has been through it, else of the model in the
  // program. None when the query says nothing to it.
  std::optional<recall::QueryVector> query_vector(const SearchedBank& searched) {
    recall::Embedder* model = own_model(searched);
    std::string why;
    if (model != nullptr && !embed(*model, why)) {
      note_model(std::string(model->model_id()) + " could not be asked: " + why);
      model = nullptr;
    }
    if (model == nullptr) {
      model = &state_.open_models.builtin();
      if (!embed(*model, why)) throw Error(Code::internal, why);
    }
    models_.insert(std::string(model->model_id()));
    const recall::Embedding& embedded = *embedded_.find(model->model_id())->second;
    if (embedded.empty()) return std::nullopt;
    return recall::QueryVector{model->model_id(), &embedded, model->curve()};
  }

  // nullptr where the bank has none, or it cannot answer, which is noted.
  recall::Embedder* own_model(const SearchedBank& searched) {
    const RegisteredModel* own = state_.models.embedder_of(searched.bank->tag());
    if (own == nullptr) return nullptr;
    recall::Embedder* model = nullptr;
    try {
      model = &state_.open_models.embedder(*own);
    } catch (const Error& error) {
      note_model(own->id + " could not be opened: " + error.text());
      return nullptr;
    }
    const std::uint64_t behind = rows_behind(searched.view, *model);
    if (behind == 0) return model;
    own_behind_ += behind;
    note_model(std::to_string(behind) + " passages have no vector of " + own->id +
               " yet (`strongroom model fill`).");
    return nullptr;
  }

  // The query by a model, once whatever the number of banks. False when the model fails.
  bool embed(recall::Embedder& model, std::string& why) {
    auto [at, is_new] = embedded_.try_emplace(std::string(model.model_id()));
    if (!is_new) return at->second != nullptr;
    auto embedding = std::make_unique<recall::Embedding>();
    try {
      model.embed(request_.query, recall::Side::query, *embedding);
    } catch (const Error& error) {
      why = error.text();
      return false;
    }
    at->second = std::move(embedding);
    return true;
  }

  void note_model(std::string note) {
    if (!model_notes_.empty()) model_notes_ += ' ';
    model_notes_ += note;
  }

  // A row that was closed has the tags of its time; the policy also looks at those of today.
  void hide_older(SearchedBank& searched) {
    SecretBytes plain;
    std::erase_if(searched.outcome.hits, [&](const recall::Hit& hit) {
      if (!hit.attributes.closed) return false;
      const vault::RecordId first = vault::open_memory(searched.read, hit.record, plain).first;
      const auto newest = vault::find_memory(searched.read, first, plain);
      return !newest || !newest->memory ||
             !state_.decide(tool_, searched.bank->name(), newest->memory->tags()).permitted;
    });
  }

  recall::SearchFilter filter(const std::string& bank, const policy::Request& asked) const {
    recall::SearchFilter filter;
    filter.now = state_.last_call;
    filter.as_of = request_.as_of;
    filter.include_invalid = request_.include_invalid;
    filter.permanent = request_.permanent;
    if (!request_.types.empty() || request_.permanent) filter.types = 0;
    for (const MemoryType type : request_.types) {
      filter.types = static_cast<std::uint8_t>(filter.types | 1u << static_cast<unsigned>(type));
    }
    if (request_.window_start || request_.window_end) {
      filter.window = {request_.window_start.value_or(INT64_MIN),
                       request_.window_end.value_or(INT64_MAX)};
    }
    const bool by_policy = state_.policy.narrows_memories(asked);
    const bool by_tags = !request_.tags.empty() || request_.tags_match == TagMatch::exact ||
                         !request_.tag_groups.empty();
    if (by_policy || by_tags) {
      filter.tags = [this, bank, by_policy](const std::vector<std::string>& tags) {
        if (by_policy && !state_.decide(tool_, bank, tags).permitted) return false;
        return tags_match(tags, request_.tags, request_.tags_match) &&
               std::all_of(request_.tag_groups.begin(), request_.tag_groups.end(),
                           [&](const TagGroup& group) { return group_passes(group, tags); });
      };
    }
    return filter;
  }

  bool arm_runs(std::string_view arm) const {
    return request_.arms.empty() ||
           std::find(request_.arms.begin(), request_.arms.end(), arm) != request_.arms.end();
  }

  // What is good enough, and where the list ends for falling far below the best.
  void apply_scores() {
    const bool any = !ranked_.empty();
    const double floor = std::max(request_.min_score, request_.min_scores.final.value_or(0));
    const double best = any ? ranked_.front().hit.final : 0;
    const double end = request_.min_score > 0 ? best * kFallOff : 0;
    std::erase_if(ranked_, [&](const Ranked& ranked) {
      return shown_score(ranked.hit.final) < floor || ranked.hit.final < end ||
             ranked.hit.keyword < request_.min_scores.keyword.value_or(0) ||
             ranked.hit.semantic < request_.min_scores.semantic.value_or(0);
    });
    result_.abstained = ranked_.empty() && request_.min_score > 0;
  }

  void report_arms() {
    report_words();
    report_graph();
    report_semantic();
    report_temporal();
    report_reranker();
    const bool words = std::any_of(searched_.begin(), searched_.end(), [](const auto& searched) {
      return searched->outcome.attainable > 0;
    });
    if (!searched_.empty() && !words) {
      result_.notes.push_back(
          "Nothing to look for: the query has only common words, or nothing is stored here.");
    }
  }

  void report_words() {
    ArmReport arm;
    arm.name = "keyword";
    arm.state = arm_runs("keyword") ? "ran" : "off";
    if (arm_runs("keyword")) count_matched(arm);
    result_.arms.push_back(std::move(arm));
  }

  void report_graph() {
    ArmReport arm;
    arm.name = "graph";
    arm.state = arm_runs("graph") ? "ran" : "off";
    if (arm_runs("graph")) {
      count_matched(arm);
      bool links_cut = false;
      for (const auto& searched : searched_) {
        arm.candidates += searched->outcome.linked;
        links_cut = links_cut || searched->outcome.links_cut;
      }
      if (links_cut) {
        arm.reason += std::string(arm.reason.empty() ? "" : " ") +
                      "There are more links than are followed; of a memory its newest " +
                      std::to_string(recall::ranking::kLinksAnEnd) + " are.";
      }
      arm.cut = arm.cut || links_cut;
    }
    result_.arms.push_back(std::move(arm));
  }

  void count_matched(ArmReport& arm) const {
    for (const auto& searched : searched_) {
      arm.candidates += searched->outcome.matched;
      arm.cut = arm.cut || searched->outcome.cut;
    }
    if (arm.cut) {
      arm.reason = "More memories matched than budget looks at (" +
                   std::to_string(candidates(request_)) + ").";
    }
  }

  void report_semantic() {
    ArmReport arm;
    arm.name = "semantic";
    arm.state = arm_runs("semantic") ? "ran" : "off";
    std::uint64_t behind = 0;
    bool missing = false;
    for (const auto& searched : searched_) {
      arm.candidates += searched->outcome.near;
      behind += searched->outcome.behind;
      missing = missing || (!searched->outcome.compared && searched->view.live_rows() > 0);
    }
    if (arm.state == "ran") {
      for (const std::string& model : models_) {
        if (!arm.model.empty()) arm.model += ", ";
        arm.model += model;
      }
      const bool said = std::any_of(embedded_.begin(), embedded_.end(), [](const auto& asked) {
        return asked.second != nullptr && !asked.second->empty();
      });
      if (!said) {
        arm.reason = "The query has no word that the model knows.";
      } else if (missing || behind > 0) {
        arm.state = missing ? "unavailable" : "behind";
        arm.reason = missing ? "A bank has no vectors of this model yet."
                             : std::to_string(behind) + " passages have no vector yet.";
      } else if (!model_notes_.empty()) {
        if (own_behind_ > 0) arm.state = "behind";
        arm.reason = model_notes_ + " So " + std::string(state_.open_models.builtin().model_id()) +
                     " answered.";
      }
    }
    result_.arms.push_back(std::move(arm));
  }

  MemoryService::State& state_;
  const SearchRequest& request_;
  std::string_view tool_;  // whose policy and log these are
  SearchResult result_;
  std::vector<std::unique_ptr<SearchedBank>> searched_;
  std::vector<Ranked> ranked_;
  Reranked reranked_;
  SecretBytes plain_;
  // The query by each model that was asked; nullptr for one that failed.
  std::map<std::string, std::unique_ptr<recall::Embedding>, std::less<>> embedded_;
  std::set<std::string> models_;  // that answered
  std::string model_notes_;       // why another one did not
  std::uint64_t own_behind_ = 0;
};

}  // namespace

SearchResult search_unlogged(MemoryService::State& state, const SearchRequest& request,
                             std::string_view tool) {
  return Search(state, request, tool).run();
}

SearchResult MemoryService::search(const SearchRequest& request) {
  check_search(request);
  State& state = *state_;
  return state.call(tool::kSearch, [&] {
    Search search(state, request, tool::kSearch);
    SearchResult result = search.run();
    search.log_reads();
    return result;
  });
}

}  // namespace strongroom::service
