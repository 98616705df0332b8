// reflect: the searches of recall, put in an order that helps to draw conclusions. Drawing them is
// the caller's: no model is asked here, and nothing is written but the audit record.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "recall/tokens.h"
#include "service/memory_words.h"
#include "service/reflect_claims.h"
#include "service/reflect_gaps.h"
#include "service/reflect_themes.h"
#include "service/search_memories.h"
#include "service/state.h"
#include "vault/links.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kLinksLookedAt = 200;     // of one memory, newest first
constexpr std::size_t kMaxContradictions = 20;  // more are counted
constexpr std::uint64_t kSupersededShare = 4;   // superseded texts get 1/4 of max_tokens beside it
constexpr std::uint64_t kNoTokenLimit = ~std::uint64_t{0} >> 1;

// All that fits into max_tokens, as far as the budget looks: the number of results is no limit of
// its own. `low` looks at 100 rows of a bank.
SearchRequest base_search(const ReflectRequest& request) {
  SearchRequest search;
  search.query = request.query;
  search.scope = request.scope;
  search.bank = request.bank;
  search.tags = request.tags;
  search.tags_match = request.tags_match;
  search.budget = request.budget;
  search.max_tokens = request.max_tokens;
  search.limit = request.budget == Budget::low ? kMaxResults / 2 : kMaxResults;
  search.include_entities.reset();
  return search;
}

std::string query_in_context(const ReflectRequest& request) {
  return request.query + "\n" + request.context;
}

void check_reflect(const ReflectRequest& request) {
  check_search(base_search(request));
  check_text(request.context, "context", kMaxContextBytes);
  const std::uint64_t tokens = recall::count_tokens(query_in_context(request));
  if (!request.context.empty() && tokens > kMaxQueryTokens) {
    throw Error::invalid("context", "and query have " + std::to_string(tokens) +
                                        " tokens together, limit " +
                                        std::to_string(kMaxQueryTokens));
  }
}

// A bank that results are in.
struct EvidenceBank {
  EvidenceBank(std::shared_ptr<vault::Bank> opened, std::string rule_)
      : bank(std::move(opened)), read(bank->read()), rule(std::move(rule_)) {}
  std::shared_ptr<vault::Bank> bank;
  vault::BankRead read;
  std::string rule;
};

class Reflection {
 public:
  Reflection(MemoryService::State& state, const ReflectRequest& request)
      : state_(state), request_(request) {}

  ReflectResult run() {
    find_evidence();
    find_superseded();
    for (const std::string& name : result_.banks) open(name);
    find_links();
    find_contradictions();
    add_timeline();
    add_gaps();
    log_reads();
    for (const FoundMemory& found : evidence_) result_.ids.push_back(found.id);
    for (const FoundMemory& found : result_.superseded) result_.ids.push_back(found.id);
    result_.themes = group_in_themes(state_.analyzer, request_.query, evidence_, linked_);
    return std::move(result_);
  }

 private:
  // ---- what is found

  std::vector<SearchRequest> searches() const {
    std::vector<SearchRequest> all = {base_search(request_)};
    if (request_.context.empty()) return all;
    all.push_back(all.front());
    all.back().query = query_in_context(request_);
    return all;
  }

  void find_evidence() {
    for (const SearchRequest& search : searches()) {
      SearchResult found = search_unlogged(state_, search, tool::kReflect);
      if (result_.arms.empty()) {
        result_.arms = std::move(found.arms);
        result_.banks = std::move(found.banks);
        result_.as_of = found.as_of;
      }
      result_.best_score = std::max(result_.best_score, found.best_score);
      cut_ = std::max(cut_, found.cut_results);
      merge(std::move(found.results), evidence_);
      for (const std::string& note : found.notes) {
        const auto& notes = result_.notes;
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
          result_.notes.push_back(note);
        }
      }
    }
    result_.cut_results = cut_ + cut_to(request_.max_tokens, evidence_, result_.tokens);
    result_.abstained = evidence_.empty() && result_.cut_results == 0;
  }

  // What was right once. Searched apart, so that it takes no room from what is right now: a memory
  // is found once in a search, maybe by a text that it no longer has.
  void find_superseded() {
    std::vector<FoundMemory> all;
    for (SearchRequest search : searches()) {
      search.include_invalid = true;
      search.max_tokens = kNoTokenLimit;
      merge(search_unlogged(state_, search, tool::kReflect).results, all);
    }
    std::erase_if(all, [&](FoundMemory& found) { return !invalidated(found); });
    std::uint64_t tokens = 0;
    superseded_cut_ = cut_to(request_.max_tokens / kSupersededShare, all, tokens);
    result_.superseded = std::move(all);
  }

  // An edited memory is found by an older text, too, and an expired one is absent: neither was
  // taken back. Sets its last text, and what replaces it if that may be told.
  bool invalidated(FoundMemory& found) {
    if (found.valid) return false;
    EvidenceBank* const at = open(found.bank);
    const auto stored = at ? vault::find_memory(at->read, first_of(found), plain_) : std::nullopt;
    if (!stored || !stored->memory || !stored->memory->invalidated) return false;
    found.text = stored->memory->text;
    found.window.reset();
    found.superseded_by =
        replacement_id(state_, at->read, tool::kReflect, stored->memory->superseded_by);
    return true;
  }

  // The better score of each, best first.
  static void merge(std::vector<FoundMemory> more, std::vector<FoundMemory>& all) {
    for (FoundMemory& found : more) {
      const auto known = std::find_if(all.begin(), all.end(),
                                      [&](const FoundMemory& one) { return one.id == found.id; });
      if (known == all.end()) {
        all.push_back(std::move(found));
      } else if (found.score > known->score) {
        *known = std::move(found);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const FoundMemory& a, const FoundMemory& b) { return a.score > b.score; });
  }

  // Ends the list at the first text that does not fit; returns how many go.
  static std::size_t cut_to(std::uint64_t max_tokens, std::vector<FoundMemory>& all,
                            std::uint64_t& tokens) {
    std::size_t kept = 0;
    for (; kept < all.size(); ++kept) {
      const std::uint64_t needed = recall::count_tokens(all[kept].text);
      if (tokens + needed > max_tokens) break;
      tokens += needed;
    }
    const std::size_t cut = all.size() - kept;
    all.resize(kept);
    return cut;
  }

  // ---- what it has to do with each other

  void find_links() {
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < evidence_.size(); ++i) index.emplace(evidence_[i].id, i);
    for (std::size_t i = 0; i < evidence_.size(); ++i) {
      EvidenceBank* const at = open(evidence_[i].bank);
      if (at == nullptr) continue;
      vault::LinkEnd self;
      self.memory = first_of(evidence_[i]);
      std::size_t seen = 0;
      vault::for_each_link(at->read, self, [&](const vault::Link& link) {
        // Only ends that are evidence count: what is hidden joins nothing and is not named.
        const vault::RecordId other =
            link.from.memory == self.memory ? link.to.memory : link.from.memory;
        const auto to =
            other == 0 ? index.end() : index.find(vault::memory_id(at->bank->tag(), other));
        if (to != index.end() && to->second != i && holds(link)) add_link(i, to->second, link);
        return ++seen < kLinksLookedAt;
      });
    }
  }

  bool holds(const vault::Link& link) const {
    return (!link.valid_from || *link.valid_from <= state_.last_call) &&
           (!link.valid_until || *link.valid_until > state_.last_call);
  }

  void add_link(std::size_t a, std::size_t b, const vault::Link& link) {
    linked_.emplace_back(a, b);
    if (link.relation == "contradicts") contradict(a, b, "link");
  }

  void find_contradictions() {
    ClaimReader reader(state_.analyzer);
    std::vector<Claim> claims;
    for (const FoundMemory& found : evidence_) claims.push_back(reader.read(found.text));
    for (std::size_t b = 0; b < claims.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        const std::string_view rule = disagreement(claims[a], claims[b]);
        if (!rule.empty()) contradict(a, b, rule);
      }
    }
  }

  void contradict(std::size_t a, std::size_t b, std::string_view rule) {
    const auto later = [&](std::size_t i) {
      return std::make_pair(evidence_[i].mentioned_at, first_of(evidence_[i]));
    };
    if (later(a) < later(b)) std::swap(a, b);
    const Contradiction found{evidence_[a].id, evidence_[b].id, std::string(rule)};
    for (const Contradiction& known : result_.contradictions) {
      if (known.newer == found.newer && known.older == found.older) return;
    }
    if (result_.contradictions.size() == kMaxContradictions) {
      ++contradictions_cut_;
    } else {
      result_.contradictions.push_back(found);
    }
  }

  void add_timeline() {
    for (const FoundMemory& found : evidence_) {
      ReflectMoment moment;
      moment.id = found.id;
      moment.occurred = found.occurred_start || found.occurred_end;
      moment.time = found.occurred_start.value_or(found.occurred_end.value_or(found.mentioned_at));
      if (found.occurred_end && *found.occurred_end != moment.time) moment.end = found.occurred_end;
      result_.timeline.push_back(std::move(moment));
    }
    std::stable_sort(
        result_.timeline.begin(), result_.timeline.end(),
        [](const ReflectMoment& a, const ReflectMoment& b) { return a.time < b.time; });
  }

  void add_gaps() {
    std::string words;
    for (const std::string& word : uncovered_words(state_.analyzer, request_.query, evidence_)) {
      words += (words.empty() ? "" : ", ") + json_quoted(word);
    }
    std::vector<std::string>& gaps = result_.gaps;
    if (!words.empty()) gaps.push_back("No result has " + words + ".");
    if (result_.abstained) gaps.emplace_back("Nothing was good enough to be shown.");
    for (std::string& gap : arm_gaps(result_.arms)) gaps.push_back(std::move(gap));
    const auto cut = [&](std::uint64_t count, const char* what) {
      if (count > 0) gaps.push_back(std::to_string(count) + what);
    };
    cut(result_.cut_results, " more results did not fit into max_tokens.");
    cut(superseded_cut_, " more superseded memories did not fit.");
    cut(contradictions_cut_, " more pairs may disagree.");
  }

  // ---- banks and the log

  // nullptr: it has not been made yet.
  EvidenceBank* open(const std::string& name) {
    const auto [at, fresh] = banks_.try_emplace(name);
    if (fresh) {
      if (auto bank = state_.open(name)) {
        const policy::Decision scope =
            state_.policy.decide_scope(state_.request(tool::kReflect, name));
        at->second = std::make_unique<EvidenceBank>(std::move(bank), scope.rule);
      }
    }
    return at->second.get();
  }

  static vault::RecordId first_of(const FoundMemory& found) {
    const auto id = vault::parse_memory_id(found.id);
    return id ? id->first : 0;
  }

  // As of a recall: a line a memory that is shown; with nothing shown, that something was asked.
  void log_reads() {
    for (const auto& [name, at] : banks_) {
      if (!at) continue;
      bool any = false;
      for (const auto* shown : {&evidence_, &result_.superseded}) {
        for (const FoundMemory& found : *shown) {
          if (found.bank != name) continue;
          state_.log_read(at->bank, tool::kReflect, at->rule, first_of(found), found.text.size());
          any = true;
        }
      }
      if (!any) state_.log_read(at->bank, tool::kReflect, at->rule, 0, 0);
    }
  }

  MemoryService::State& state_;
  const ReflectRequest& request_;
  ReflectResult result_;
  std::vector<FoundMemory> evidence_;  // best first
  std::vector<IndexPair> linked_;
  std::map<std::string, std::unique_ptr<EvidenceBank>> banks_;
  std::uint64_t cut_ = 0, superseded_cut_ = 0, contradictions_cut_ = 0;
  SecretBytes plain_;
};

}  // namespace

ReflectResult MemoryService::reflect(const ReflectRequest& request) {
  check_reflect(request);
  State& state = *state_;
  return state.call(tool::kReflect, [&] { return Reflection(state, request).run(); });
}

void leave_out(ReflectResult& result, const std::set<std::string>& ids) {
  const auto out = [&](const std::string& id) { return ids.count(id) > 0; };
  const auto found_out = [&](const FoundMemory& found) { return out(found.id); };
  for (ReflectTheme& theme : result.themes) {
    for (const FoundMemory& found : theme.results) {
      if (found_out(found)) result.tokens -= recall::count_tokens(found.text);
    }
    std::erase_if(theme.results, found_out);
  }
  std::erase_if(result.themes, [](const ReflectTheme& theme) { return theme.results.empty(); });
  std::erase_if(result.timeline, [&](const ReflectMoment& moment) { return out(moment.id); });
  std::erase_if(result.contradictions,
                [&](const Contradiction& pair) { return out(pair.newer) || out(pair.older); });
  std::erase_if(result.superseded, found_out);
  std::erase_if(result.ids, out);
}

}  // namespace strongroom::service
