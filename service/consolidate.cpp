// consolidation_candidates: what the model of a host may extract, merge or archive. Only proposals:
// nothing is written, and no model is asked here.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "service/memory_changes.h"
#include "service/memory_scan.h"
#include "service/memory_words.h"
#include "service/state.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kDay = TimeMs{24} * 3600 * 1000;
constexpr std::int64_t kMostDays = 36'500;
constexpr std::size_t kMostCandidates = 100;
constexpr std::size_t kLookedAt = 1000;       // memories a page
constexpr std::size_t kGroup = 20;            // memories of a merge
constexpr std::size_t kListedIds = 50;        // of one candidate
constexpr std::size_t kPartsLookedAt = 1000;  // of a document
constexpr std::size_t kLinksLookedAt = 200;   // of one memory, newest first
constexpr double kLittleImportance = 0.3;

constexpr const char* kExtract =
    "Read the document (memory_get with this document_id). For each thing that will hold beyond "
    "it, "
    "call observe once: your own words, with the ids of the memories that say so and the exact "
    "words that do. Leave out what matters only inside the document.";
constexpr const char* kMerge =
    "Read these memories (memory_get). If they say the same, retain one text that keeps every fact "
    "of theirs, then call memory_edit with op invalidate on each of them and the new id as "
    "replacement_id. If one of them says something of its own, leave them as they are.";
constexpr const char* kArchive =
    "Read these memories (memory_get). Those that will not matter again: memory_edit with op "
    "invalidate, which can be undone. Keep what you are not sure about, and forget nothing.";

void check_candidates(const CandidatesRequest& request) {
  if (request.older_than_days < 0 || request.older_than_days > kMostDays) {
    throw Error::invalid("older_than_days", "must be from 0 to 36500");
  }
  if (request.limit < 1 || request.limit > kMostCandidates) {
    throw Error::invalid("limit", "must be from 1 to 100");
  }
}

class Consolidation {
 public:
  Consolidation(MemoryService::State& state, const CandidatesRequest& request,
                const std::shared_ptr<vault::Bank>& bank, CandidatesResult& result)
      : state_(state),
        request_(request),
        bank_(bank),
        read_(bank->read()),
        decisions_(state, tool::kCandidates, bank->name()),
        result_(result) {}

  // A group is proposed where its newest memory is met, so that pages need not know each other.
  void run(vault::RecordId below) {
    vault::RecordId last = 0;
    for_each_newest_first(read_, below, [&](const vault::Memory& memory) {
      if (result_.candidates.size() >= request_.limit || archived_.size() == kListedIds ||
          result_.looked_at == kLookedAt) {
        result_.cursor = memory_cursor(last);
        return false;
      }
      last = memory.first;
      ++result_.looked_at;
      if (!shows(memory)) return true;
      if (wants(CandidateAction::merge)) propose_merge(memory);
      if (wants(CandidateAction::extract)) propose_extract(memory);
      if (wants(CandidateAction::archive)) propose_archive(memory);
      return true;
    });
    if (archived_.empty()) return;
    add(CandidateAction::archive, archived_,
        "Importance of 0.3 or less, unchanged for " + std::to_string(request_.older_than_days) +
            " days, of no document, with no link. Whether they were read is not known.",
        kArchive);
  }

 private:
  bool wants(CandidateAction action) const {
    return request_.actions.empty() || std::find(request_.actions.begin(), request_.actions.end(),
                                                 action) != request_.actions.end();
  }

  bool shows(const vault::Memory& memory) {
    return memory.current(state_.last_call) && decisions_.permits(memory.tags());
  }

  bool shows(vault::RecordId first) {
    const auto found = vault::find_memory(read_, first, plain_);
    return found && found->memory && shows(*found->memory);
  }

  void add(CandidateAction action, std::vector<vault::RecordId> group, std::string reason,
           const char* prompt, std::string document = {}) {
    std::sort(group.rbegin(), group.rend());
    Candidate candidate;
    candidate.action = action;
    for (std::size_t i = 0; i < std::min(group.size(), kListedIds); ++i) {
      candidate.ids.push_back(vault::memory_id(bank_->tag(), group[i]));
    }
    candidate.reason = std::move(reason);
    candidate.prompt = prompt;
    candidate.document_id = std::move(document);
    result_.candidates.push_back(std::move(candidate));
  }

  template <class Visit>
  void each_link(vault::RecordId first, const Visit& visit) {
    vault::LinkEnd self;
    self.memory = first;
    std::size_t seen = 0;
    vault::for_each_link(read_, self, [&](const vault::Link& link) {
      visit(link, link.from.memory == first ? link.to.memory : link.from.memory);
      return ++seen < kLinksLookedAt;
    });
  }

  // All that links `similar` lead to, one after the other.
  void propose_merge(const vault::Memory& memory) {
    const vault::RecordId newest = memory.first;
    std::vector<vault::RecordId> group = {newest};
    for (std::size_t at = 0; at < group.size(); ++at) {
      std::vector<vault::RecordId> near;
      each_link(group[at], [&](const vault::Link& link, vault::RecordId other) {
        if (link.relation == kSimilarTo && other != 0) near.push_back(other);
      });
      for (const vault::RecordId other : near) {
        const bool known = std::find(group.begin(), group.end(), other) != group.end();
        if (!known && group.size() < kGroup && shows(other)) group.push_back(other);
      }
    }
    if (group.size() < 2 || *std::max_element(group.begin(), group.end()) != newest) return;
    const std::string count = std::to_string(group.size());
    add(CandidateAction::merge, std::move(group), count + " memories say nearly the same.", kMerge);
  }

  // ---- documents that no observation rests on

  struct Parts {
    std::vector<vault::RecordId> shown;
    bool observed = false;
  };

  void propose_extract(const vault::Memory& memory) {
    if (memory.document_first == 0) return;
    const auto [at, fresh] = documents_.try_emplace(memory.document_first);
    if (fresh) at->second = parts_of(memory);
    const std::vector<vault::RecordId>& shown = at->second.shown;
    if (at->second.observed || shown.size() < 2) return;
    if (*std::max_element(shown.begin(), shown.end()) != memory.first) return;
    add(CandidateAction::extract, shown,
        std::to_string(shown.size()) +
            " memories of one document, and no observation rests on them.",
        kExtract, std::string(memory.document));
  }

  Parts parts_of(const vault::Memory& memory) {
    Parts parts;
    const auto document = vault::find_document(read_, memory.document);
    if (!document || document->first != memory.document_first) return parts;
    std::size_t seen = 0;
    vault::for_each_part(read_, *document, [&](const vault::DocumentPart& part) {
      if (shows(part.memory)) {
        parts.shown.push_back(part.memory);
        parts.observed = observed(part.memory);
      }
      return !parts.observed && ++seen < kPartsLookedAt;
    });
    return parts;
  }

  bool observed(vault::RecordId first) {
    std::vector<vault::RecordId> quoting;
    each_link(first, [&](const vault::Link& link, vault::RecordId other) {
      if (!link.quotes.empty() && link.to.memory == first) quoting.push_back(other);
    });
    return std::any_of(quoting.begin(), quoting.end(),
                       [&](vault::RecordId observation) { return shows(observation); });
  }

  // ---- what may go

  void propose_archive(const vault::Memory& memory) {
    const TimeMs changed = std::max(memory.updated, memory.restored.value_or(0));
    if (memory.importance > kLittleImportance || memory.document_first != 0 ||
        memory.type == vault::MemoryType::observation ||
        state_.last_call - changed < request_.older_than_days * kDay) {
      return;
    }
    vault::LinkEnd self;
    self.memory = memory.first;
    if (vault::count_links(read_, self) == 0) archived_.push_back(memory.first);
  }

  MemoryService::State& state_;
  const CandidatesRequest& request_;
  std::shared_ptr<vault::Bank> bank_;
  vault::BankRead read_;
  TagDecisions decisions_;
  CandidatesResult& result_;
  std::map<vault::RecordId, Parts> documents_;  // by number
  std::vector<vault::RecordId> archived_;       // one candidate for the page
  SecretBytes plain_;
};

}  // namespace

std::string_view candidate_action_name(CandidateAction action) noexcept {
  switch (action) {
    case CandidateAction::extract: return "extract";
    case CandidateAction::merge: return "merge";
    case CandidateAction::archive: return "archive";
  }
  return {};
}

std::optional<CandidateAction> parse_candidate_action(std::string_view word) noexcept {
  for (const CandidateAction action :
       {CandidateAction::extract, CandidateAction::merge, CandidateAction::archive}) {
    if (word == candidate_action_name(action)) return action;
  }
  return std::nullopt;
}

CandidatesResult MemoryService::consolidation_candidates(const CandidatesRequest& request) {
  check_candidates(request);
  const vault::RecordId below =
      request.cursor.empty() ? ~vault::RecordId{0} : read_memory_cursor(request.cursor);
  State& state = *state_;
  return state.call(tool::kCandidates, [&]() -> CandidatesResult {
    const Banks banks = state.resolve(request.bank);
    CandidatesResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kCandidates, scope);
    if (!bank) return result;
    Consolidation(state, request, bank, result).run(below);
    note_narrowed(state, tool::kCandidates, bank->name(), result.notes);
    state.log_read(bank, tool::kCandidates, scope.rule, 0, 0);
    return result;
  });
}

}  // namespace strongroom::service
