#include "service/search_answer.h"

#include <algorithm>
#include <unordered_set>

#include "base/utf8.h"
#include "recall/splitter.h"
#include "recall/tokens.h"
#include "service/memory_words.h"
#include "service/observations.h"

namespace strongroom::service {
namespace {

constexpr double kApply = 0.6, kHint = 0.4;

std::string band_of(double score) {
  return score >= kApply ? "apply" : score >= kHint ? "hint" : "weak";
}

// The longest prefix of at most `tokens`; found by halving, since tokens only grow.
std::string_view token_prefix(std::string_view text, std::uint64_t tokens) {
  std::size_t low = 0, high = text.size();
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (recall::count_tokens(utf8_prefix(text, middle)) <= tokens) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return utf8_prefix(text, low);
}

class Answer {
 public:
  Answer(MemoryService::State& state, const SearchRequest& request,
         std::vector<std::unique_ptr<SearchedBank>>& banks, SearchResult& result)
      : state_(state), request_(request), banks_(banks), result_(result) {}

  void add_all(const std::vector<Ranked>& ranked) {
    const std::size_t count = std::min(ranked.size(), request_.limit);
    bool open = request_.max_tokens > 0;
    std::uint64_t chunk_tokens = request_.include_chunks.value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
      if (!open && (chunk_tokens == 0 || !request_.include_chunks)) {
        ++result_.cut_results;
        continue;
      }
      FoundMemory found = load(ranked[i]);
      // Chosen before the token cut: a caller that asks for chunks alone gets them.
      const std::uint64_t chunk_bytes =
          request_.include_chunks ? add_chunk(found, chunk_tokens) : 0;
      if (!open || !fits(found)) {
        open = false;
        ++result_.cut_results;
        if (chunk_bytes != 0) banks_[ranked[i].bank]->shown.push_back({first_, chunk_bytes});
        continue;
      }
      open = !found.truncated;
      result_.tokens += recall::count_tokens(found.text);
      banks_[ranked[i].bank]->shown.push_back({first_, found.text.size()});
      result_.results.push_back(std::move(found));
    }
    add_source_facts();
    add_entities();
  }

  void add_trace(const std::vector<Ranked>& ranked) {
    SearchTrace trace;
    const TimeMs asked =
        request_.query_timestamp.value_or(request_.as_of.value_or(state_.last_call));
    for (const recall::TimeExpression& time : recall::query_times(request_.query, asked).spans) {
      trace.times.push_back(
          {request_.query.substr(time.begin, time.end - time.begin), recall::describe(time)});
    }
    for (const auto& bank : banks_) {
      const recall::SearchOutcome& outcome = bank->outcome;
      trace.timings_us.emplace_back("keyword", outcome.lexical_ns / 1000);
      trace.timings_us.emplace_back("semantic", outcome.semantic_ns / 1000);
      trace.timings_us.emplace_back("temporal", outcome.temporal_ns / 1000);
      trace.timings_us.emplace_back("graph", outcome.structure_ns / 1000);
      for (const std::string& name : outcome.speakers_named) trace.speakers.push_back(name);
      if (bank->narrowed) {
        result_.notes.push_back("The policy may hide memories here, so trace leaves out counts.");
        continue;
      }
      for (const recall::SearchedTerm& term : outcome.terms) {
        trace.terms.push_back({term.term, term.live_rows, term.idf, term.corrected_to});
      }
      trace.attainable = std::max(trace.attainable, outcome.attainable);
      trace.postings += outcome.postings;
    }
    const std::size_t count = std::min<std::size_t>(ranked.size(), 50);
    for (std::size_t i = 0; i < count; ++i) {
      SecretBytes plain;
      SearchedBank& bank = *banks_[ranked[i].bank];
      const vault::Memory memory = vault::open_memory(bank.read, ranked[i].hit.record, plain);
      const std::string id = vault::memory_id(bank.bank->tag(), memory.first);
      trace.keyword.push_back({id, ranked[i].hit.keyword});
      trace.semantic.push_back({id, ranked[i].hit.semantic});
      trace.temporal.push_back({id, ranked[i].hit.temporal});
      trace.graph.push_back({id, ranked[i].hit.graph});
      trace.final.push_back({id, ranked[i].hit.final});
    }
    const auto by_value = [](const SearchTraceHit& a, const SearchTraceHit& b) {
      return a.value > b.value;
    };
    std::stable_sort(trace.keyword.begin(), trace.keyword.end(), by_value);
    std::stable_sort(trace.semantic.begin(), trace.semantic.end(), by_value);
    std::stable_sort(trace.temporal.begin(), trace.temporal.end(), by_value);
    std::stable_sort(trace.graph.begin(), trace.graph.end(), by_value);
    result_.trace = std::move(trace);
  }

 private:
  FoundMemory load(const Ranked& ranked) {
    SearchedBank& bank = *banks_[ranked.bank];
    const recall::Hit& hit = ranked.hit;
    const vault::Memory memory = vault::open_memory(bank.read, hit.record, plain_);
    if (hit.row < memory.row || hit.row - memory.row >= memory.rows) {
      vault::throw_corrupt("a row of the index and its memory disagree");
    }
    first_ = memory.first;
    FoundMemory found = describe(memory, *bank.bank, state_.last_call);
    found.text = memory.text;
    set_validity(bank, memory, hit, found);
    if (memory.rows > 1) set_window(memory, hit, found);
    set_scores(hit, found);
    // What its sources have become since was not known then.
    if (!request_.as_of) SourceReader(state_, bank.read, bank.tool).describe(memory, found);
    return found;
  }

  // A row that was closed belongs to a revision that no longer holds; as_of asks for just that.
  void set_validity(SearchedBank& bank, const vault::Memory& memory, const recall::Hit& hit,
                    FoundMemory& found) {
    if (request_.as_of) {
      // What happened later was not known then.
      found.valid = true;
      return;
    }
    vault::RecordId by = memory.superseded_by;
    if (hit.attributes.closed) {
      found.valid = false;
      SecretBytes plain;
      const auto newest = vault::find_memory(bank.read, memory.first, plain);
      if (newest && newest->memory) by = newest->memory->superseded_by;
    }
    found.superseded_by = replacement_id(state_, bank.read, bank.tool, by);
  }

  static void set_window(const vault::Memory& memory, const recall::Hit& hit, FoundMemory& found) {
    const std::vector<recall::Span> passages = recall::split_passages(memory.text);
    const std::size_t passage = hit.row - memory.row;
    if (passage >= passages.size()) {
      vault::throw_corrupt("a row of the index and its memory disagree");
    }
    found.window = {passages[passage].offset, passages[passage].end()};
  }

  void set_scores(const recall::Hit& hit, FoundMemory& found) const {
    const auto ran = [&](std::string_view arm) {
      return request_.arms.empty() ||
             std::find(request_.arms.begin(), request_.arms.end(), arm) != request_.arms.end();
    };
    found.score = shown_score(hit.final);
    if (ran("keyword")) found.keyword = hit.keyword;
    if (ran("semantic")) found.semantic = hit.semantic;
    if (ran("temporal")) found.temporal = hit.temporal;
    if (ran("graph")) found.graph = hit.graph;
    found.prior = {hit.similarity,  hit.prior.weight, hit.prior.recency,
                   hit.prior.scope, hit.prior.access, hit.prior.type};
    found.band = band_of(found.score);
  }

  // The list ends at the first text that does not fit; the very first one comes shortened.
  bool fits(FoundMemory& found) {
    const std::uint64_t tokens = recall::count_tokens(found.text);
    if (result_.tokens + tokens <= request_.max_tokens) return true;
    if (!result_.results.empty()) return false;
    found.text = std::string(token_prefix(found.text, request_.max_tokens));
    found.truncated = true;
    return !found.text.empty();
  }

  // The bytes shown.
  std::uint64_t add_chunk(const FoundMemory& found, std::uint64_t& tokens_left) {
    if (found.chunk_id.empty() || tokens_left == 0) return 0;
    FoundChunk chunk;
    chunk.id = found.chunk_id;
    chunk.chunk_index = found.chunk_index;
    const std::uint64_t tokens = recall::count_tokens(found.text);
    chunk.truncated = tokens > tokens_left;
    chunk.text = chunk.truncated ? std::string(token_prefix(found.text, tokens_left)) : found.text;
    tokens_left = chunk.truncated ? 0 : tokens_left - tokens;
    result_.chunks.push_back(std::move(chunk));
    return result_.chunks.back().text.size();
  }

  // What the observations that are shown rest on, each once, up to so many tokens.
  void add_source_facts() {
    std::uint64_t left = request_.include_source_facts.value_or(0);
    std::unordered_set<std::string> seen;
    for (const FoundMemory& found : result_.results) {
      if (left == 0) return;
      if (found.source_fact_ids.empty()) continue;
      SearchedBank& bank = bank_of(found);
      const auto id = vault::parse_memory_id(found.id);
      const auto stored = vault::find_memory(bank.read, id->first, plain_);
      if (!stored || !stored->memory) continue;
      const vault::Memory observation = *stored->memory;
      for (FoundSource& source : SourceReader(state_, bank.read, bank.tool).sources(observation)) {
        if (left == 0 || !seen.insert(source.id).second) continue;
        left -= shorten(source, left);
        bank.shown.push_back({vault::parse_memory_id(source.id)->first, source.text.size()});
        result_.source_facts.push_back(std::move(source));
      }
    }
  }

  // The tokens that it takes, at most `most`.
  static std::uint64_t shorten(FoundSource& source, std::uint64_t most) {
    const std::uint64_t tokens = recall::count_tokens(source.text);
    if (tokens <= most) return tokens;
    source.text = std::string(token_prefix(source.text, most));
    source.truncated = true;
    return most;
  }

  SearchedBank& bank_of(const FoundMemory& found) {
    return **std::find_if(banks_.begin(), banks_.end(),
                          [&](const auto& bank) { return bank->bank->name() == found.bank; });
  }

  // Names that were given with the results, then, if asked for, those that their texts have; result
  // by result. Reading the texts takes as long as a small search.
  void add_entities() {
    if (!request_.include_entities) return;
    std::uint64_t left = *request_.include_entities;
    std::unordered_set<std::string> seen;
    // False when it does not fit: the list ends there.
    const auto add = [&](const std::string& bank, std::string_view name) {
      const std::string canonical = recall::canonical_entity(name);
      if (canonical.empty() || !seen.insert(bank + "\n" + canonical).second) return true;
      const std::uint64_t tokens = recall::count_tokens(name);
      if (tokens > left) return false;
      left -= tokens;
      result_.entities.push_back({entity_id(bank, canonical), std::string(name), {}});
      return true;
    };
    for (const FoundMemory& found : result_.results) {
      for (const std::string& name : found.entities) {
        if (!add(found.bank, name)) return;
      }
      if (!request_.find_entities) continue;
      for (const recall::Entity& entity : state_.entity_finder().find(found.text)) {
        const std::string_view text = found.text;
        if (!add(found.bank, text.substr(entity.begin, entity.end - entity.begin))) return;
      }
    }
  }

  // Of the bank and the name alone, so that it is the same in every answer; keyed, so that it tells
  // nobody else the name.
  std::string entity_id(const std::string& bank_name, const std::string& canonical) const {
    for (const auto& bank : banks_) {
      if (bank->bank->name() != bank_name) continue;
      const crypto::Hash16 hash = bank->bank->name_hash(vault::Kind::entity, canonical);
      return bank->bank->tag() + "-e" + vault::hex({hash.data(), 6});
    }
    return {};
  }

  MemoryService::State& state_;
  const SearchRequest& request_;
  std::vector<std::unique_ptr<SearchedBank>>& banks_;
  SearchResult& result_;
  SecretBytes plain_;
  vault::RecordId first_ = 0;
};

}  // namespace

double shown_score(double score) {
  return std::min(score, 1.0);
}

void build_answer(MemoryService::State& state, const SearchRequest& request,
                  std::vector<std::unique_ptr<SearchedBank>>& banks,
                  const std::vector<Ranked>& ranked, SearchResult& result) {
  Answer answer(state, request, banks, result);
  answer.add_all(ranked);
  if (request.trace) answer.add_trace(ranked);
}

}  // namespace strongroom::service
