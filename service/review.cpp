// review: what in a bank needs a look: likely contradictions, what expires, stale observations.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "service/memory_scan.h"
#include "service/memory_words.h"
#include "service/observations.h"
#include "service/reflect_claims.h"
#include "service/search_memories.h"
#include "service/state.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kDay = TimeMs{24} * 3600 * 1000;
constexpr std::size_t kMostDays = 3650, kMostNewest = 1000, kMostListed = 200;
constexpr std::size_t kNeighbours = 10;      // of one memory, by its words
constexpr std::size_t kQuestionBytes = 500;  // of its text: never more than 500 tokens
constexpr std::size_t kLinksLookedAt = 200;  // of one memory, newest first
constexpr std::size_t kObservations = 1000;  // that are looked at, newest first

void check_review(const ReviewRequest& request) {
  if (request.days < 1 || request.days > static_cast<std::int64_t>(kMostDays)) {
    throw Error::invalid("days", "must be from 1 to 3650");
  }
  if (request.newest < 1 || request.newest > kMostNewest) {
    throw Error::invalid("newest", "must be from 1 to 1000");
  }
  if (request.limit < 1 || request.limit > kMostListed) {
    throw Error::invalid("limit", "must be from 1 to 200");
  }
}

class Review {
 public:
  Review(MemoryService::State& state, const ReviewRequest& request,
         const std::shared_ptr<vault::Bank>& bank, ReviewResult& result)
      : state_(state),
        request_(request),
        bank_(bank),
        decisions_(state, tool::kReview, bank->name()),
        claims_(state.analyzer),
        result_(result) {}

  void run() {
    {
      Snapshot at(state_, bank_);
      compare_newest(at);
      find_expiring(at);
      find_stale(at);
    }
    // Each search has a snapshot of its own.
    compare_neighbours();
  }

 private:
  struct Snapshot {
    Snapshot(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank)
        : read(bank->read()), view(state.index(bank), read) {}
    vault::BankRead read;
    recall::IndexView view;
  };
  struct Compared {
    vault::RecordId first = 0;
    TimeMs mentioned = 0;
    Claim claim;
    std::string question;  // the beginning of its text
  };

  // ---- contradictions

  // The newest memories with each other, by claims and links.
  void compare_newest(Snapshot& at) {
    result_.all_compared = true;
    for_each_newest_first(at.read, ~vault::RecordId{0}, [&](const vault::Memory& memory) {
      if (!memory.current(state_.last_call) || !decisions_.permits(memory.tags())) return true;
      if (newest_.size() == request_.newest) {
        result_.all_compared = false;
        return false;
      }
      newest_.push_back({memory.first, memory.mentioned, claims_.read(memory.text),
                         std::string(utf8_prefix(memory.text, kQuestionBytes))});
      return true;
    });
    result_.compared = newest_.size();
    for (std::size_t b = 0; b < newest_.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        add_pair(newest_[a], newest_[b], disagreement(newest_[a].claim, newest_[b].claim));
      }
    }
    for (const Compared& one : newest_) compare_links(at.read, one);
  }

  // Each with the older ones that share its words.
  void compare_neighbours() {
    if (result_.all_compared) return;
    std::set<vault::RecordId> known;
    for (const Compared& one : newest_) known.insert(one.first);
    for (const Compared& one : newest_) {
      for (const FoundMemory& found : neighbours(one)) {
        const auto id = vault::parse_memory_id(found.id);
        if (!id || known.count(id->first) > 0) continue;
        const Compared other{id->first, found.mentioned_at, claims_.read(found.text), {}};
        add_pair(one, other, disagreement(one.claim, other.claim));
      }
    }
  }

  std::vector<FoundMemory> neighbours(const Compared& one) {
    SearchRequest search;
    search.query = one.question;
    search.bank = bank_->name();
    search.limit = kNeighbours;
    search.max_tokens = ~std::uint64_t{0} >> 1;
    search.budget = Budget::low;
    search.arms = {"keyword"};
    search.include_entities.reset();
    return search_unlogged(state_, search, tool::kReview).results;
  }

  void compare_links(vault::BankRead& read, const Compared& one) {
    vault::LinkEnd self;
    self.memory = one.first;
    std::size_t seen = 0;
    vault::for_each_link(read, self, [&](const vault::Link& link) {
      const vault::RecordId other =
          link.from.memory == self.memory ? link.to.memory : link.from.memory;
      if (link.relation == "contradicts" && other != 0 && other != one.first && holds(link)) {
        const auto found = vault::find_memory(read, other, plain_);
        if (found && found->memory && found->memory->current(state_.last_call) &&
            decisions_.permits(found->memory->tags())) {
          add_pair(one, {other, found->memory->mentioned, {}, {}}, "link");
        }
      }
      return ++seen < kLinksLookedAt;
    });
  }

  bool holds(const vault::Link& link) const {
    return (!link.valid_from || *link.valid_from <= state_.last_call) &&
           (!link.valid_until || *link.valid_until > state_.last_call);
  }

  void add_pair(const Compared& a, const Compared& b, std::string_view rule) {
    if (rule.empty()) return;
    const bool in_order =
        std::make_pair(a.mentioned, a.first) >= std::make_pair(b.mentioned, b.first);
    const vault::RecordId newer = in_order ? a.first : b.first,
                          older = in_order ? b.first : a.first;
    if (!pairs_.insert({newer, older}).second) return;
    if (result_.contradictions.size() == request_.limit) {
      ++result_.contradictions_cut;
    } else {
      result_.contradictions.push_back({id_of(newer), id_of(older), std::string(rule)});
    }
  }

  // ---- what expires, what is stale

  bool visible(Snapshot& at, const recall::RowAttributes& row) {
    const auto [known, fresh] = permitted_.try_emplace(row.tag_set, false);
    if (fresh) known->second = decisions_.permits(at.view.tag_set(row.tag_set));
    return known->second;
  }

  void find_expiring(Snapshot& at) {
    const TimeMs end = state_.last_call + request_.days * kDay;
    std::vector<std::pair<TimeMs, vault::RecordId>> found;
    for_each_current(at.view, state_.last_call,
                     [&](recall::Row row, const recall::RowAttributes& attributes) {
                       if (!attributes.timed || !visible(at, attributes)) return;
                       const TimeMs expires = at.view.times(row).expires;
                       if (expires <= end) found.emplace_back(expires, attributes.record);
                     });
    std::sort(found.begin(), found.end());
    for (const auto& [expires, record] : found) {
      if (result_.expiring.size() == request_.limit) {
        ++result_.expiring_cut;
        continue;
      }
      result_.expiring.push_back(reviewed(vault::open_memory(at.read, record, plain_)));
    }
  }

  void find_stale(Snapshot& at) {
    std::vector<vault::RecordId> observations;
    for_each_current(
        at.view, state_.last_call, [&](recall::Row, const recall::RowAttributes& attributes) {
          if (attributes.type == vault::MemoryType::observation && visible(at, attributes)) {
            observations.push_back(attributes.record);
          }
        });
    std::sort(observations.rbegin(), observations.rend());
    observations.resize(std::min(observations.size(), kObservations));
    result_.observations = observations.size();
    SourceReader sources(state_, at.read, tool::kReview);
    for (const vault::RecordId record : observations) {
      const vault::Memory memory = vault::open_memory(at.read, record, plain_);
      FoundMemory found;
      sources.describe(memory, found);
      if (found.trend != "stale") continue;
      if (result_.stale.size() == request_.limit) {
        ++result_.stale_cut;
        continue;
      }
      result_.stale.push_back(reviewed(memory));
      result_.stale.back().source_fact_ids = std::move(found.source_fact_ids);
    }
  }

  ReviewedMemory reviewed(const vault::Memory& memory) const {
    ReviewedMemory one;
    one.id = id_of(memory.first);
    one.text = memory.text;
    one.type = static_cast<MemoryType>(memory.type);
    one.expires_at = memory.expires;
    return one;
  }

  std::string id_of(vault::RecordId first) const { return vault::memory_id(bank_->tag(), first); }

  MemoryService::State& state_;
  const ReviewRequest& request_;
  std::shared_ptr<vault::Bank> bank_;
  TagDecisions decisions_;
  ClaimReader claims_;
  ReviewResult& result_;
  std::vector<Compared> newest_;
  std::set<std::pair<vault::RecordId, vault::RecordId>> pairs_;
  std::map<recall::TagSet, bool> permitted_;
  SecretBytes plain_;
};

}  // namespace

ReviewResult MemoryService::review(const ReviewRequest& request) {
  check_review(request);
  State& state = *state_;
  return state.call(tool::kReview, [&]() -> ReviewResult {
    const Banks banks = state.resolve(request.bank);
    ReviewResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kReview, scope);
    if (!bank) return result;
    Review(state, request, bank, result).run();
    note_narrowed(state, tool::kReview, bank->name(), result.notes);
    state.log_read(bank, tool::kReview, scope.rule, 0, 0);
    return result;
  });
}

}  // namespace strongroom::service
