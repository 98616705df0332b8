// memory_edit: update, forget, invalidate, restore.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "recall/tokens.h"
#include "service/erase.h"
#include "service/memory_changes.h"
#include "service/memory_words.h"

namespace strongroom::service {
namespace {

void check_update(const EditRequest& request) {
  if (!request.content && !request.importance && !request.tags && !request.metadata) {
    throw Error::invalid("op", "update needs content, importance, tags or metadata");
  }
  if (request.content) {
    check_content(*request.content, "content", kMaxContentBytes);
    if (recall::count_tokens(*request.content) > recall::kMaxMemoryTokens) {
      throw Error::invalid("content", "has more than 2000 tokens; retain it as a document instead");
    }
  }
  if (request.importance) check_importance(*request.importance, "importance");
  if (request.tags) check_tag_list(*request.tags, "tags");
  if (request.metadata) check_metadata(*request.metadata, "metadata");
}

void check_edit(const EditRequest& request) {
  const bool update = request.op == EditOp::update;
  const auto only_update = [&](bool given, const char* field) {
    if (given && !update) throw Error::invalid(field, "belongs to op update");
  };
  only_update(request.content.has_value(), "content");
  only_update(request.importance.has_value(), "importance");
  only_update(request.tags.has_value(), "tags");
  only_update(request.metadata.has_value(), "metadata");
  if (update) check_update(request);
  if (request.erase && request.op != EditOp::forget) {
    throw Error::invalid("erase", "belongs to op forget");
  }
  if (request.replacement_id.empty()) return;
  if (request.op != EditOp::invalidate) {
    throw Error::invalid("replacement_id", "belongs to op invalidate");
  }
  check_name(request.replacement_id, "replacement_id");
  if (request.replacement_id == request.id) {
    throw Error::invalid("replacement_id", "is the memory itself");
  }
}

void refuse_credentials(const EditRequest& request) {
  if (request.allow_secret) return;
  if (request.content) refuse_credential(*request.content, "content");
  for (std::size_t i = 0; request.tags && i < request.tags->size(); ++i) {
    refuse_credential((*request.tags)[i], "tags[" + std::to_string(i) + "]");
  }
  if (!request.metadata) return;
  for (const auto& [name, value] : *request.metadata) {
    refuse_credential(name, "metadata");
    refuse_credential(value, "metadata");
    refuse_credential(name + "=" + value, "metadata");
  }
}

// One edit inside its write transaction.
class Edit {
 public:
  Edit(MemoryService::State& state, const EditRequest& request, const Located& at)
      : state_(state), request_(request), at_(at), changes_(state, at.bank, tool::kEdit) {}

  /// The denial, when policy decides against it: it is logged when this transaction has ended.
  std::optional<policy::Decision> run(EditResult& result) {
    const auto found = vault::find_memory(changes_.bank(), at_.first, plain_);
    const bool stored = found && found->memory;
    const bool expired = stored && found->memory->expired(changes_.now());
    // Decided for an unknown one as well, so that a denial does not tell which ids exist.
    decision_ = state_.decide(tool::kEdit, at_.bank->name(),
                              stored ? found->memory->tags() : std::vector<std::string>());
    if (decision_.permitted && request_.tags) {
      policy::Decision on_new = state_.decide(tool::kEdit, at_.bank->name(), *request_.tags);
      if (!on_new.permitted) decision_ = std::move(on_new);
    }
    if (!decision_.permitted) return decision_;
    // An expired memory is absent for the caller; only a forget still has something to do.
    if (!stored || (expired && request_.op != EditOp::forget)) throw no_such_memory(request_.id);
    const vault::Memory& memory = *found->memory;
    if (!expired) check_revision(memory);
    result.revision = memory.revision;
    switch (request_.op) {
      case EditOp::update: update(memory, result); break;
      case EditOp::forget: forget(memory, result); break;
      case EditOp::invalidate: invalidate(memory, result); break;
      case EditOp::restore: restore(memory, result); break;
    }
    if (!decision_.permitted) return decision_;
    commit();
    return std::nullopt;
  }

 private:
  void check_revision(const vault::Memory& memory) const {
    if (!request_.if_revision || *request_.if_revision == memory.revision) return;
    throw Error::verbatim(
        Code::conflict, "Conflict: " + json_quoted(request_.id) + " is at revision " +
                            std::to_string(memory.revision) + ", you sent " +
                            std::to_string(*request_.if_revision) + ". Read it again. [conflict]");
  }

  void commit() {
    vault::AuditEvent event = state_.event(tool::kEdit, decision_.rule);
    event.record = record_;
    if (request_.content) event.bytes = request_.content->size();
    changes_.bank().log(std::move(event));
    changes_.commit();
  }

  void update(const vault::Memory& memory, EditResult& result) {
    result.status = "updated";
    if (memory.invalidated) {
      throw Error::invalid("id", "names a memory that is not valid; restore it first");
    }
    refuse_credentials(request_);
    vault::MemoryDraft draft = vault::draft_of(memory);
    const bool text = request_.content && *request_.content != memory.text;
    if (text) draft.text = *request_.content;
    if (request_.importance) draft.importance = *request_.importance;
    if (request_.tags) draft.tags = distinct(*request_.tags);
    if (request_.metadata) draft.metadata = *request_.metadata;
    record_ = memory.id;
    const bool same = !text && draft.importance == memory.importance &&
                      draft.tags == memory.tags() && draft.metadata == memory.metadata();
    if (same) return;
    changes_.sign(draft);
    // Trust is that of the text: a new label does not make it another's.
    if (text) draft.trust = state_.trust();
    record_ = changes_.rewrite(memory, draft);
    ++result.revision;
  }

  void forget(const vault::Memory& memory, EditResult& result) {
    result.status = "deleted";
    if (!memory.document.empty()) {
      result.notes.push_back("Its document shows [removed] in its place.");
    }
    std::vector<vault::RecordId> affected;
    const std::size_t revisions = 1 + memory.older_ids().size();
    record_ = changes_.forget(memory, affected);
    if (request_.erase) {
      drop_document_tags(memory);
      result.receipt =
          mark_erased(changes_.bank(), record_, changes_.now(),
                      {std::to_string(revisions) + (revisions == 1 ? " revision" : " revisions") +
                           " of the text, with tags, metadata and links",
                       "passages, vectors and fingerprints in the index",
                       "terms, words, tags and speakers that no other memory has",
                       "replies that were kept for operation ids of the bank"});
    }
    for (const vault::RecordId id : affected) {
      result.affected.push_back(vault::memory_id(at_.bank->tag(), id));
    }
  }

  // A document has the tags that came with its latest text: those that only this memory had go.
  void drop_document_tags(const vault::Memory& memory) {
    if (memory.document_first == 0) return;
    auto document = vault::find_document(changes_.bank(), memory.document);
    if (!document || document->first != memory.document_first || document->tags.empty()) return;
    std::vector<std::string> kept;
    SecretBytes plain;
    vault::for_each_part(changes_.bank(), *document, [&](const vault::DocumentPart& part) {
      const auto found = vault::find_memory(changes_.bank(), part.memory, plain);
      if (found && found->memory) {
        for (std::string& tag : found->memory->tags()) kept.push_back(std::move(tag));
      }
      return true;
    });
    std::sort(kept.begin(), kept.end());
    const auto gone = std::erase_if(document->tags, [&](const std::string& tag) {
      return !std::binary_search(kept.begin(), kept.end(), tag);
    });
    if (gone != 0) vault::save_document(changes_.bank(), *document, changes_.now());
  }

  // The memory that replaces the other: 0 = none was named.
  vault::RecordId replacement() {
    if (request_.replacement_id.empty()) return 0;
    const auto parsed = vault::parse_memory_id(request_.replacement_id);
    if (!parsed) throw no_such_memory(request_.replacement_id);
    if (parsed->tag != at_.bank->tag()) {
      throw Error::invalid("replacement_id", "is not of the same bank");
    }
    SecretBytes plain;
    const auto found = vault::find_memory(changes_.bank(), parsed->first, plain);
    const bool stored = found && found->memory && !found->memory->expired(changes_.now());
    decision_ = state_.decide(tool::kEdit, at_.bank->name(),
                              stored ? found->memory->tags() : std::vector<std::string>());
    if (!decision_.permitted) return 0;
    if (!stored) throw no_such_memory(request_.replacement_id);
    if (found->memory->invalidated) {
      throw Error::invalid("replacement_id", "names a memory that is not valid itself");
    }
    return parsed->first;
  }

  void invalidate(const vault::Memory& memory, EditResult& result) {
    result.status = "invalidated";
    const vault::RecordId by = replacement();
    if (!decision_.permitted) return;
    record_ = changes_.supersede(memory, by);
    if (record_ != memory.id) ++result.revision;
  }

  void restore(const vault::Memory& memory, EditResult& result) {
    result.status = "restored";
    record_ = memory.id;
    if (!memory.invalidated) return;
    record_ = changes_.restore(memory);
    ++result.revision;
  }

  MemoryService::State& state_;
  const EditRequest& request_;
  const Located& at_;
  MemoryChanges changes_;
  SecretBytes plain_;
  policy::Decision decision_;
  vault::RecordId record_ = 0;
};

}  // namespace

EditResult MemoryService::edit_memory(const EditRequest& request) {
  check_name(request.id, "id");
  check_edit(request);
  State& state = *state_;
  return state.call(tool::kEdit, [&]() -> EditResult {
    const Located at = locate(state, request.id, request.bank, tool::kEdit);
    if (state.options.read_only) state.deny(at.bank->name(), tool::kEdit, read_only_denial());
    EditResult result;
    result.id = vault::memory_id(at.bank->tag(), at.first);
    result.bank = at.bank->name();
    const EditResult blank = result;
    std::optional<policy::Decision> denied;
    const auto work = [&] { denied = Edit(state, request, at).run(result); };
    try {
      work();
    } catch (const Error& error) {
      // On a full disk the reserve makes room for exactly this.
      if (error.code() != Code::no_space || request.op != EditOp::forget ||
          !state.vault->give_up_reserve()) {
        throw;
      }
      result = blank;
      work();
    }
    if (denied) state.deny(at.bank->name(), tool::kEdit, *denied);
    return result;
  });
}

}  // namespace strongroom::service
