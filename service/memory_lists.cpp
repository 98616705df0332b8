// Lists and numbers of a bank's memories, documents and tags, and the banks themselves.
#include <algorithm>

#include "base/error.h"
#include "service/memory_scan.h"
#include "service/memory_words.h"
#include "service/project.h"
#include "vault/documents.h"

namespace strongroom::service {
namespace {

bool has_type(const std::vector<MemoryType>& types, vault::MemoryType type) {
  return types.empty() ||
         std::find(types.begin(), types.end(), static_cast<MemoryType>(type)) != types.end();
}

ListedMemory listed(const vault::Memory& memory, std::vector<std::string> tags,
                    const vault::Bank& bank, TimeMs now) {
  ListedMemory line;
  line.id = vault::memory_id(bank.tag(), memory.first);
  line.text = memory.text;
  line.document_id = memory.document;
  line.bank = bank.name();
  line.type = static_cast<MemoryType>(memory.type);
  line.tags = std::move(tags);
  line.mentioned_at = memory.mentioned;
  line.updated = memory.updated;
  line.importance = memory.importance;
  line.valid = memory.current(now);
  return line;
}

}  // namespace

ListMemoriesResult MemoryService::list_memories(const ListMemoriesRequest& request) {
  if (request.limit > kMaxListLimit) throw Error::invalid("limit", "must be from 1 to 1000");
  check_tag_list(request.tags, "tags");
  const vault::RecordId below =
      request.cursor.empty() ? ~vault::RecordId{0} : read_memory_cursor(request.cursor);
  State& state = *state_;
  return state.call(tool::kListMemories, [&]() -> ListMemoriesResult {
    const Banks banks = state.resolve(request.bank);
    ListMemoriesResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kListMemories, scope);
    if (!bank) return result;
    vault::BankRead view = bank->read();
    TagDecisions decisions(state, tool::kListMemories, bank->name());
    vault::RecordId last = 0;
    for_each_newest_first(view, below, [&](const vault::Memory& memory) {
      if (!request.include_invalid && !memory.current(state.last_call)) return true;
      if (!has_type(request.types, memory.type)) return true;
      std::vector<std::string> tags = memory.tags();
      if (!tags_match(tags, request.tags, request.tags_match) || !decisions.permits(tags)) {
        return true;
      }
      if (request.limit != 0 && result.memories.size() == request.limit) {
        result.cursor = memory_cursor(last);
        return false;
      }
      last = memory.first;
      result.memories.push_back(listed(memory, std::move(tags), *bank, state.last_call));
      return true;
    });
    note_narrowed(state, tool::kListMemories, bank->name(), result.notes);
    state.log_read(bank, tool::kListMemories, scope.rule, 0, 0);
    return result;
  });
}

ListDocumentsResult MemoryService::list_documents(const std::string& bank_name) {
  State& state = *state_;
  return state.call(tool::kListDocuments, [&]() -> ListDocumentsResult {
    const Banks banks = state.resolve(bank_name);
    ListDocumentsResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kListDocuments, scope);
    if (!bank) return result;
    vault::BankRead view = bank->read();
    TagDecisions decisions(state, tool::kListDocuments, bank->name());
    for (vault::Document& document : vault::list_documents(view)) {
      if (!decisions.permits(document.tags)) continue;
      result.documents.push_back({std::move(document.name), bank->name(), document.parts,
                                  std::move(document.tags), document.created, document.updated});
    }
    note_narrowed(state, tool::kListDocuments, bank->name(), result.notes);
    state.log_read(bank, tool::kListDocuments, scope.rule, 0, 0);
    return result;
  });
}

// ---- what the index counts

ListTagsResult MemoryService::list_tags(const std::string& bank_name) {
  State& state = *state_;
  return state.call(tool::kListTags, [&]() -> ListTagsResult {
    const Banks banks = state.resolve(bank_name);
    ListTagsResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kListTags, scope);
    if (!bank) return result;
    vault::BankRead read = bank->read();
    recall::IndexView view(state.index(bank), read);
    std::vector<std::uint64_t> of_set(view.tag_set_count() + 1);
    for_each_current(view, state.last_call, [&](recall::Row, const recall::RowAttributes& row) {
      ++of_set.at(row.tag_set);
    });
    std::map<std::string, std::uint64_t> counts;
    for (std::size_t set = 1; set < of_set.size(); ++set) {
      if (of_set[set] == 0) continue;
      const std::vector<std::string> tags = view.tag_set(static_cast<recall::TagSet>(set));
      if (!state.decide(tool::kListTags, bank->name(), tags).permitted) continue;
      for (const std::string& tag : tags) counts[tag] += of_set[set];
    }
    for (const auto& [tag, memories] : counts) result.tags.push_back({tag, memories});
    std::stable_sort(
        result.tags.begin(), result.tags.end(),
        [](const ListedTag& a, const ListedTag& b) { return a.memories > b.memories; });
    note_narrowed(state, tool::kListTags, bank->name(), result.notes);
    state.log_read(bank, tool::kListTags, scope.rule, 0, 0);
    return result;
  });
}

namespace {

// A total would tell how much the policy hides.
bool hides_something(const MemoryService::State& state, const std::string& bank) {
  return state.policy.narrows_memories(state.request(tool::kSearch, bank)) ||
         state.policy.narrows_listing(state.request(tool::kRecall, bank));
}

void fill_counts(const vault::BankHead& head, recall::IndexView& view, MemoryBankStats& stats) {
  stats.entries = head.counts.entries;
  stats.memories = head.counts.memories;
  stats.documents = head.counts.documents;
  stats.links = head.counts.links;
  stats.erase_pending = head.erase_pending.size();
  const recall::IndexState index = view.state();
  stats.rows = index.rows;
  stats.live_rows = index.live_rows;
  stats.dead_rows = index.dead_rows;
  stats.segments = index.segments;
  stats.merges_running = index.merges_running;
  stats.tail_rows = index.tail_rows;
  stats.garbage_blocks = index.garbage_blocks;
  stats.tag_sets = view.tag_set_count();
  stats.speakers = view.speaker_count();
}

}  // namespace

MemoryBankStats MemoryService::bank_stats(const std::string& bank_name) {
  State& state = *state_;
  return state.call(tool::kBankStats, [&]() -> MemoryBankStats {
    const Banks banks = state.resolve(bank_name);
    MemoryBankStats stats;
    stats.bank = banks.write;
    stats.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kBankStats, scope);
    if (!bank) return stats;
    vault::BankRead read = bank->read();
    recall::IndexView view(state.index(bank), read);
    stats.tag = bank->tag();
    const bool hides = hides_something(state, bank->name());
    if (hides) {
      stats.notes.push_back(
          "The policy may hide something here: only memories that it shows count.");
    } else {
      fill_counts(read.head(), view, stats);
    }
    for_each_current(view, state.last_call, [&](recall::Row, const recall::RowAttributes& row) {
      if (hides &&
          !state.decide(tool::kSearch, bank->name(), view.tag_set(row.tag_set)).permitted) {
        return;
      }
      if (hides) ++stats.memories;
      ++stats.by_type[std::string(memory_type_name(static_cast<MemoryType>(row.type)))];
    });
    state.log_read(bank, tool::kBankStats, scope.rule, 0, 0);
    return stats;
  });
}

// ---- banks

namespace {

VisibleBank visible(const MemoryService::State& state, vault::Bank& bank) {
  vault::BankRead view = bank.read();
  const vault::BankCounts& counts = view.head().counts;
  VisibleBank seen;
  seen.name = bank.name();
  seen.tag = bank.tag();
  if (hides_something(state, bank.name())) return seen;
  seen.counted = true;
  seen.entries = counts.entries;
  seen.memories = counts.memories;
  seen.documents = counts.documents;
  return seen;
}

// The bank that a call without one uses; empty when that is refused here.
std::string default_bank(MemoryService::State& state) {
  try {
    return state.resolve({}).write;
  } catch (const Error& error) {
    if (error.code() != Code::denied) throw;
    return {};
  }
}

}  // namespace

std::vector<VisibleBank> MemoryService::visible_banks() {
  State& state = *state_;
  return state.call(tool::kListBanks, [&]() -> std::vector<VisibleBank> {
    const policy::Decision decision =
        state.policy.decide_scope(state.request(tool::kListBanks, vault::kGlobalBank));
    const std::string usual = default_bank(state);
    std::vector<VisibleBank> banks;
    bool any = false;
    for (const vault::BankInfo& info : state.vault->list_banks()) {
      const auto opens = [&](std::string_view name) {
        return state.policy.decide_scope(state.request(name, info.name)).permitted;
      };
      if (!opens(tool::kListBanks)) continue;
      any = true;
      if (!opens(tool::kRecall) && !opens(tool::kSearch)) continue;
      const auto bank = state.open(info.name);
      if (!bank) continue;
      banks.push_back(visible(state, *bank));
      banks.back().is_default = info.name == usual;
      state.log_read(bank, tool::kListBanks, decision.rule, 0, 0);
    }
    if (!any) state.deny(std::string(vault::kGlobalBank), tool::kListBanks, decision);
    return banks;
  });
}

VisibleBank MemoryService::create_bank(const std::string& name) {
  if (!valid_bank_name(name)) {
    throw Error::invalid("bank", "must be 1 to 256 bytes of text without control characters");
  }
  State& state = *state_;
  return state.call(tool::kCreateBank, [&]() -> VisibleBank {
    const std::string global(vault::kGlobalBank);
    if (state.options.read_only) state.deny(global, tool::kCreateBank, read_only_denial());
    const policy::Decision decision = state.decide(tool::kCreateBank, name, {});
    if (!decision.permitted) state.deny(global, tool::kCreateBank, decision);
    if (state.vault->find_bank(name)) {
      throw Error(Code::conflict, "There is a bank of that name already.");
    }
    const auto bank =
        state.vault->create_bank(name, {}, state.event(tool::kCreateBank, decision.rule));
    return visible(state, *bank);
  });
}

}  // namespace strongroom::service
