// get_project_context: what an agent should know first, redacted.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "service/state.h"

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

}  // namespace

ProjectContext MemoryService::project_context(std::uint64_t max_tokens, const std::string& bank,
                                              const std::vector<std::string>& tools) {
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
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
  std::set<std::string, std::less<>> seen;
  for (const std::string& name : banks.read) {
    if (!state.policy.decide_scope(state.request(tool::kRecall, name)).permitted) continue;
    const auto opened = state.open(name);
    if (!opened) {
      if (!banks.may_create) state.throw_unknown_bank(name);
      continue;
    }
    vault::BankRead view = opened->read();
    context.erase_pending += view.head().erase_pending.size();
    add_keys(state.lines(opened), state, name, seen, context);
    state.log_read(opened, tool::kContext, decision.rule, 0, 0);
  }
  cut_keys(context, max_tokens);
  for (const std::string& note : state.vault->lineage_notes()) context.notes.push_back(note);
  if (state.options.read_only) {
    context.notes.push_back("This process is read-only: it stores nothing and writes no audit.");
  }
  return context;
}

}  // namespace strongroom::service
