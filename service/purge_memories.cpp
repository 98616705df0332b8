// Removal in bulk: memories by filter, and whole documents.
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "service/erase.h"
#include "service/memory_changes.h"
#include "service/memory_words.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kBatch = 1000, kMaxIds = 1000;

// What a batch forgot, as log records of limited length.
void log_forgotten(MemoryService::State& state, vault::BankWrite& bank, std::string_view tool,
                   std::string_view rule, const std::vector<vault::RecordId>& records) {
  for (std::size_t at = 0; at < records.size();) {
    vault::AuditEvent event = state.event(tool, rule);
    for (; at < records.size() && event.records.size() < vault::AuditEvent::kMaxRecords; ++at) {
      event.records.push_back({records[at], 1, 0});
    }
    bank.log(std::move(event));
  }
}

// Runs a batch of forgets; on a full disk the reserve makes room for exactly this.
template <class Work>
void with_reserve(MemoryService::State& state, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != Code::no_space || !state.vault->give_up_reserve()) throw;
    work();
  }
}

bool matches(const PurgeRequest& request, const vault::Memory& memory,
             const std::vector<std::string>& tags, TimeMs now) {
  if (request.invalid_only && memory.current(now)) return false;
  if (request.before && memory.mentioned >= *request.before) return false;
  if (!request.document_id.empty() && memory.document != request.document_id) return false;
  if (!request.types.empty() &&
      std::find(request.types.begin(), request.types.end(), static_cast<MemoryType>(memory.type)) ==
          request.types.end()) {
    return false;
  }
  return tags_match(tags, request.tags, TagMatch::all_strict);
}

void check_purge(const PurgeRequest& request) {
  check_tag_list(request.tags, "tags");
  check_time(request.before, "before");
  if (!request.document_id.empty()) check_name(request.document_id, "document_id");
  if (request.tags.empty() && !request.before && request.types.empty() && !request.invalid_only &&
      request.document_id.empty()) {
    throw Error::invalid("tags", "or another filter must be given: a purge never means everything");
  }
}

std::vector<vault::RecordId> find_matches(MemoryService::State& state,
                                          const std::shared_ptr<vault::Bank>& bank,
                                          const PurgeRequest& request) {
  std::vector<vault::RecordId> matched;
  vault::BankRead view = bank->read();
  TagDecisions decisions(state, tool::kPurge, bank->name());
  vault::for_each_memory(view, 1, [&](const vault::Memory& memory) {
    const std::vector<std::string> tags = memory.tags();
    if (matches(request, memory, tags, state.last_call) && decisions.permits(tags)) {
      matched.push_back(memory.first);
    }
    return true;
  });
  return matched;
}

// Forgets what still matches: another process may have changed it since it was found.
std::uint64_t forget_batch(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank,
                           const PurgeRequest& request, const std::string& rule,
                           const vault::RecordId* from, std::size_t count) {
  MemoryChanges changes(state, bank, tool::kPurge);
  TagDecisions decisions(state, tool::kPurge, bank->name());
  SecretBytes plain;
  std::vector<vault::RecordId> records, affected;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = vault::find_memory(changes.bank(), from[i], plain);
    if (!found || !found->memory) continue;
    const std::vector<std::string> tags = found->memory->tags();
    if (!matches(request, *found->memory, tags, changes.now()) || !decisions.permits(tags)) {
      continue;
    }
    records.push_back(changes.forget(*found->memory, affected));
  }
  log_forgotten(state, changes.bank(), tool::kPurge, rule, records);
  changes.commit();
  return records.size();
}

}  // namespace

PurgeResult MemoryService::purge_memories(const PurgeRequest& request) {
  check_purge(request);
  State& state = *state_;
  return state.call(tool::kPurge, [&]() -> PurgeResult {
    const Banks banks = state.resolve(request.bank);
    if (state.options.read_only && !request.dry_run) {
      state.deny(banks.write, tool::kPurge, read_only_denial());
    }
    PurgeResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    result.dry_run = request.dry_run;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kPurge, scope);
    if (!bank) return result;
    const std::vector<vault::RecordId> matched = find_matches(state, bank, request);
    result.matched = matched.size();
    for (std::size_t i = 0; i < std::min(matched.size(), kMaxIds); ++i) {
      result.ids.push_back(vault::memory_id(bank->tag(), matched[i]));
    }
    if (request.dry_run || matched.empty()) {
      state.log_read(bank, tool::kPurge, scope.rule, 0, 0, !matched.empty());
      return result;
    }
    for (std::size_t at = 0; at < matched.size(); at += kBatch) {
      const std::size_t count = std::min(kBatch, matched.size() - at);
      with_reserve(state, [&] {
        result.removed += forget_batch(state, bank, request, scope.rule, &matched[at], count);
      });
    }
    return result;
  });
}

// ---- a document

namespace {

class DocumentRemoval {
 public:
  DocumentRemoval(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank,
                  const std::string& name, std::string rule, bool erase)
      : state_(state),
        name_(name),
        erase_(erase),
        rule_(std::move(rule)),
        decisions_(state, tool::kDeleteDocument, bank->name()),
        changes_(state, bank, tool::kDeleteDocument) {}

  /// The denial, when the policy closes one of its memories: a document goes whole or not at all.
  std::optional<policy::Decision> run(DeleteDocumentResult& result) {
    result.found = false;
    result.memories = 0;
    result.receipt.reset();
    const auto document = vault::find_document(changes_.bank(), name_);
    if (!document) {
      if (auto denied = denial({})) return denied;
      vault::AuditEvent miss = state_.event(tool::kDeleteDocument, rule_);
      miss.error = code_name(Code::not_found);
      changes_.bank().log(std::move(miss));
      changes_.commit();
      return std::nullopt;
    }
    std::vector<vault::RecordId> memories;
    if (auto denied = collect(*document, memories)) return denied;
    std::vector<vault::RecordId> records, affected;
    for (const vault::RecordId memory : memories) {
      const auto found = vault::find_memory(changes_.bank(), memory, plain_);
      if (!found || !found->memory) vault::throw_corrupt("a row of the index has no memory");
      records.push_back(changes_.forget(*found->memory, affected, true));
    }
    vault::erase_document(changes_.bank(), *document);
    if (records.empty()) records.push_back(document->id);
    if (erase_) {
      result.receipt = mark_erased(
          changes_.bank(), records.front(), changes_.now(),
          {"the document, with its name, and " + std::to_string(memories.size()) +
               (memories.size() == 1 ? " memory" : " memories") + " with every revision",
           "passages, vectors and fingerprints in the index",
           "terms, words, tags and speakers that no other memory has",
           "replies that were kept for operation ids of the bank"});
    }
    log_forgotten(state_, changes_.bank(), tool::kDeleteDocument, rule_, records);
    changes_.commit();
    result.found = true;
    result.memories = memories.size();
    return std::nullopt;
  }

 private:
  std::optional<policy::Decision> denial(const std::vector<std::string>& tags) {
    const policy::Decision& decision = decisions_.decide(tags);
    return decision.permitted ? std::nullopt : std::optional(decision);
  }

  // Memories of earlier texts are in the index alone: the document no longer lists them.
  std::optional<policy::Decision> collect(const vault::Document& document,
                                          std::vector<vault::RecordId>& memories) {
    std::optional<policy::Decision> denied = denial(document.tags);
    recall::IndexWriter& rows = changes_.rows();
    for (recall::Row row = 1; row < rows.next_row() && !denied; ++row) {
      const recall::RowAttributes attributes = rows.attributes(row);
      if (attributes.document != document.first || attributes.dead || attributes.passage != 0) {
        continue;
      }
      const vault::Memory memory = vault::open_memory(changes_.bank(), attributes.record, plain_);
      memories.push_back(memory.first);
      denied = denial(memory.tags());
    }
    std::sort(memories.begin(), memories.end());
    memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
    return denied;
  }

  MemoryService::State& state_;
  const std::string& name_;
  bool erase_;
  std::string rule_;
  TagDecisions decisions_;
  MemoryChanges changes_;
  SecretBytes plain_;
};

}  // namespace

DeleteDocumentResult MemoryService::delete_document(const std::string& document_id,
                                                    const std::string& bank_name, bool erase) {
  check_name(document_id, "document_id");
  State& state = *state_;
  return state.call(tool::kDeleteDocument, [&]() -> DeleteDocumentResult {
    const Banks banks = state.resolve(bank_name);
    if (state.options.read_only) state.deny(banks.write, tool::kDeleteDocument, read_only_denial());
    DeleteDocumentResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    policy::Decision scope;
    const auto bank = open_for_listing(state, banks, tool::kDeleteDocument, scope);
    if (!bank) return result;
    std::optional<policy::Decision> denied;
    with_reserve(state, [&] {
      denied = DocumentRemoval(state, bank, document_id, scope.rule, erase).run(result);
    });
    if (denied) state.deny(banks.write, tool::kDeleteDocument, *denied);
    return result;
  });
}

}  // namespace strongroom::service
