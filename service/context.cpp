// get_project_context: what an agent should know first, redacted.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "recall/search.h"
#include "service/state.h"
#include "vault/memories.h"

namespace strongroom::service {
namespace {

// Counts, too, are of what the policy shows: a total would tell how much it hides. Secrets are
// counted where an ordinary entry of that name would be shown, and never named.
void add_keys(const std::vector<vault::EntryLine>& lines, const MemoryService::State& state,
              const std::string& bank, std::set<std::string, std::less<>>& seen,
              ProjectContext& context) {
  for (const vault::EntryLine& line : lines) {
    if (line.expires && *line.expires <= state.last_call) continue;
    policy::Request asked = state.request(tool::kRecall, bank);
    asked.key = line.name;
    asked.tags = {line.tags.begin(), line.tags.end()};
    if (!state.policy.permits(asked)) continue;
    if (line.entry_class == vault::EntryClass::secret) {
      ++context.secrets;
      continue;
    }
    // A name of the project hides the shared bank's.
    if (!seen.insert(line.name).second) continue;
    ++context.entries;
    context.keys.push_back({line.name, line.tags, line.updated});
  }
}

// Newest first, as many as fit.
void cut_keys(ProjectContext& context, std::uint64_t max_tokens) {
  std::stable_sort(context.keys.begin(), context.keys.end(),
                   [](const ContextKey& a, const ContextKey& b) { return a.updated > b.updated; });
  std::uint64_t tokens = 0;
  std::size_t fit = 0;
  for (const ContextKey& key : context.keys) {
    tokens += count_tokens(key.key) + 4;  // its age and punctuation
    for (const std::string& tag : key.tags) tokens += count_tokens(tag) + 1;
    if (tokens > max_tokens) break;
    ++fit;
  }
  context.keys_cut = context.keys.size() - fit;
  context.keys.resize(fit);
}

// A memory of the context before it is opened.
struct Candidate {
  recall::Row row = 0;
  vault::RecordId record = 0;
  bool important = false;
};

constexpr std::uint8_t kImportant = 230;  // .9 of 255
constexpr std::size_t kNewest = 50;

// Rows are ascending in time, so the newest are the last. Preferences, conventions and decisions
// are found by their importance wherever they are. `count` gets what the policy shows in all.
std::vector<Candidate> choose_memories(recall::IndexView& view, const recall::SearchFilter& filter,
                                       std::uint64_t& count) {
  std::vector<Candidate> chosen;
  std::vector<std::uint8_t> decisions;
  std::size_t newest = 0;
  for (recall::Row row = view.row_end(); row-- > 1;) {
    if (!view.live(row)) continue;
    const recall::RowAttributes a = view.attributes(row);
    const bool important = a.importance >= kImportant;
    if (a.passage != 0 || !recall::passes(view, filter, row, a, decisions)) continue;
    ++count;
    if (!important && ++newest > kNewest) continue;
    chosen.push_back({row, a.record, important});
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Candidate& a, const Candidate& b) {
    return a.important && !b.important;
  });
  return chosen;
}

// What fits into the tokens, important ones first; the rest is counted.
void add_memories(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank,
                  vault::BankRead& read, std::string_view rule, std::uint64_t& tokens,
                  ProjectContext& context) {
  recall::IndexView view(state.index(bank), read);
  recall::SearchFilter filter;
  filter.now = state.last_call;
  if (state.policy.narrows_memories(state.request(tool::kSearch, bank->name()))) {
    filter.tags = [&](const std::vector<std::string>& tags) {
      return state.decide(tool::kSearch, bank->name(), tags).permitted;
    };
  }
  SecretBytes plain;
  for (const Candidate& candidate : choose_memories(view, filter, context.memories)) {
    const vault::Memory memory = vault::open_memory(read, candidate.record, plain);
    const std::uint64_t needed = count_tokens(memory.text) + 12;  // id, type, time
    if (needed > tokens) break;
    tokens -= needed;
    context.context_memories.push_back(
        {vault::memory_id(bank->tag(), memory.first), std::string(memory.text), bank->name(),
         static_cast<MemoryType>(memory.type), memory.mentioned, memory.importance});
    state.log_read(bank, tool::kContext, rule, memory.first, memory.text.size());
  }
}

}  // namespace

ProjectContext MemoryService::project_context(std::uint64_t max_tokens, const std::string& bank,
                                              const std::vector<std::string>& tools) {
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
  state.index_uses_before = state.index_uses;
  ProjectContext context;
  try {
    state.ensure_open();
    context.vault = "open";
  } catch (const Error& error) {
    if (error.code() == Code::no_vault) {
      context.vault = "no_vault";
    } else if (error.code() == Code::locked || error.code() == Code::wrong_key) {
      context.vault = "locked";
    } else {
      throw;
    }
    context.unlock_hint = error.text();
  }
  const Banks banks = state.resolve(bank);
  context.bank = banks.write;
  context.chosen_by = banks.chosen_by;
  context.reads = banks.read;
  context.notes = banks.notes;
  if (context.vault != "open") {
    context.anchor = "unavailable";
    return context;
  }
  const policy::Decision decision = state.policy.decide(state.request(tool::kContext, banks.write));
  if (!decision.permitted) state.deny(banks.write, tool::kContext, decision);
  context.anchor = vault::anchor_state_name(state.vault->anchor().state());
  for (const std::string& name : tools) {
    if (state.policy.decide_scope(state.request(name, banks.write)).permitted) {
      context.may.push_back(name);
    }
  }
  context.arms = {"keyword", "graph"};
  // Names get half of the room, memories what is left of all of it.
  std::uint64_t memory_tokens = max_tokens / 2;
  std::set<std::string, std::less<>> seen;
  for (const std::string& name : banks.read) {
    const auto opens = [&](std::string_view called) {
      return state.policy.decide_scope(state.request(called, name)).permitted;
    };
    if (!opens(tool::kRecall) && !opens(tool::kSearch)) continue;
    const auto opened = state.open(name);
    if (!opened) {
      if (!banks.may_create) state.throw_unknown_bank(name);
      continue;
    }
    vault::BankRead view = opened->read();
    context.erase_pending += view.head().erase_pending.size();
    if (opens(tool::kRecall)) add_keys(state.lines(opened), state, name, seen, context);
    if (opens(tool::kSearch)) {
      add_memories(state, opened, view, decision.rule, memory_tokens, context);
    }
    state.log_read(opened, tool::kContext, decision.rule, 0, 0);
  }
  context.memories_cut = context.memories - context.context_memories.size();
  cut_keys(context, max_tokens - max_tokens / 2 + memory_tokens);
  for (const std::string& note : state.vault->lineage_notes()) context.notes.push_back(note);
  if (state.options.read_only) {
    context.notes.push_back("This process is read-only: it stores nothing and writes no audit.");
  }
  return context;
}

}  // namespace strongroom::service
