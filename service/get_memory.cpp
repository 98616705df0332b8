// memory_get: a whole memory with its history and links, or a document with its memories.
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "service/memory_words.h"
#include "service/observations.h"
#include "vault/documents.h"
#include "vault/links.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kMaxHistory = 1000, kMaxLinks = 100, kMaxParts = 1000;
constexpr std::string_view kRemoved = "[removed]";

// The bytes that were asked for, of a text that comes in pieces.
class Part {
 public:
  Part(std::uint64_t offset, std::uint64_t max_bytes)
      : offset_(offset),
        // At least one whole character a part, so that reading part by part always gets on.
        wanted_(std::max<std::uint64_t>(max_bytes, 4)) {}

  void add(std::string_view piece) {
    const std::uint64_t begin = bytes_, end = begin + piece.size();
    bytes_ = end;
    if (end <= offset_ || text_.size() >= wanted_) return;
    const std::size_t from = offset_ > begin ? static_cast<std::size_t>(offset_ - begin) : 0;
    const std::uint64_t room = wanted_ - text_.size();
    text_.append(piece.substr(
        from, static_cast<std::size_t>(std::min<std::uint64_t>(room, piece.size() - from))));
  }

  /// Throws invalid for an offset inside a character.
  void finish(MemoryDetail& detail) {
    if (!text_.empty() && (text_.front() & 0xC0) == 0x80) {
      throw Error::invalid("offset", "is inside a character");
    }
    const std::uint64_t start = std::min(offset_, bytes_);
    if (start + text_.size() < bytes_) {
      text_.resize(utf8_whole_length(text_));
      detail.next_offset = start + text_.size();
    }
    detail.bytes = bytes_;
    detail.text = std::move(text_);
  }

 private:
  std::uint64_t offset_, wanted_, bytes_ = 0;
  std::string text_;
};

void add_history(vault::BankRead& bank, const vault::Memory& memory, MemoryDetail& detail) {
  const auto add = [&](const vault::Memory& revision) {
    MemoryRevision line;
    line.revision = revision.revision;
    line.updated = revision.updated;
    line.principal = revision.principal;
    line.source = vault::source_name(revision.source);
    line.bytes = revision.text.size();
    line.valid = !revision.invalidated;
    detail.history.push_back(std::move(line));
  };
  add(memory);
  SecretBytes plain;
  for (const vault::RecordId id : memory.older_ids()) {
    if (detail.history.size() == kMaxHistory) {
      detail.notes.push_back("Only the newest 1000 revisions are listed.");
      return;
    }
    const vault::Memory older = vault::open_memory(bank, id, plain);
    if (older.first != memory.first) vault::throw_corrupt("a memory lists another one's revision");
    add(older);
  }
}

std::string end_text(const vault::LinkEnd& end, const vault::Bank& bank) {
  return end.memory != 0 ? vault::memory_id(bank.tag(), end.memory) : end.entity;
}

// Links whose other end may be seen; they are counted like that, too: a total would tell how many
// there are to hide.
void add_links(MemoryService::State& state, vault::BankRead& view, const vault::Memory& memory,
               TagDecisions& decisions, MemoryDetail& detail) {
  SecretBytes plain;
  const auto visible = [&](const vault::LinkEnd& end) {
    if (end.memory == 0 || end.memory == memory.first) return true;
    const auto found = vault::find_memory(view, end.memory, plain);
    return found && found->memory && !found->memory->expired(state.last_call) &&
           decisions.permits(found->memory->tags());
  };
  vault::LinkEnd self;
  self.memory = memory.first;
  vault::for_each_link(view, self, [&](const vault::Link& link) {
    if (!visible(link.from) || !visible(link.to)) return true;
    ++detail.links_total;
    if (detail.links.size() == kMaxLinks) return true;
    MemoryLinkInfo info;
    info.from = end_text(link.from, view.bank());
    info.to = end_text(link.to, view.bank());
    info.relation = link.relation;
    info.valid_from = link.valid_from;
    info.valid_until = link.valid_until;
    detail.links.push_back(std::move(info));
    return true;
  });
}

void add_provenance(const vault::Memory& memory, MemoryDetail& detail) {
  detail.revision = memory.revision;
  detail.created = memory.created;
  detail.updated = memory.updated;
  detail.invalidated_at = memory.invalidated;
  detail.expires_at = memory.expires;
  detail.principal = memory.principal;
  detail.tool = memory.tool;
  detail.source_kind = vault::source_name(memory.source);
  detail.source_label = memory.source_label;
  detail.session = vault::hex(vault::view(memory.session));
}

MemoryDetail get_by_id(MemoryService::State& state, const GetMemoryRequest& request) {
  const Located at = locate(state, request.id, request.bank, tool::kGet);
  const std::string& name = at.bank->name();
  vault::BankRead view = at.bank->read();
  SecretBytes plain;
  const auto found = vault::find_memory(view, at.first, plain);
  const bool stored = found && found->memory && !found->memory->expired(state.last_call);
  TagDecisions decisions(state, tool::kGet, name);
  const policy::Decision decision =
      decisions.decide(stored ? found->memory->tags() : std::vector<std::string>());
  // Decided for an unknown one as well, so that a denial does not tell which ids exist.
  if (!decision.permitted) state.deny(name, tool::kGet, decision);
  if (!stored) throw no_such_memory(request.id);
  const vault::Memory& memory = *found->memory;
  MemoryDetail detail;
  detail.id = vault::memory_id(at.bank->tag(), at.first);
  detail.document_id = memory.document;
  detail.bank = name;
  detail.memory = describe(memory, *at.bank, state.last_call);
  detail.memory.superseded_by = replacement_id(state, view, tool::kGet, memory.superseded_by);
  SourceReader sources(state, view, tool::kGet);
  sources.describe(memory, detail.memory);
  detail.sources = sources.sources(memory);
  Part part(request.offset, request.max_bytes);
  part.add(memory.text);
  part.finish(detail);
  add_provenance(memory, detail);
  add_history(view, memory, detail);
  add_links(state, view, memory, decisions, detail);
  state.log_read(at.bank, tool::kGet, decision.rule, at.first, detail.text.size());
  return detail;
}

// ---- documents

struct DocumentView {
  std::uint64_t shown = 0, hidden = 0, forgotten = 0;
  std::optional<policy::Decision> denied;  // of the first hidden part
  std::string rule;                        // of the first shown part
};

DocumentView read_document(MemoryService::State& state, vault::BankRead& view,
                           const vault::Document& document, const GetMemoryRequest& request,
                           MemoryDetail& detail) {
  DocumentView seen;
  SecretBytes plain;
  TagDecisions decisions(state, tool::kGet, view.bank().name());
  Part text(request.offset, request.max_bytes);
  const auto add = [&](vault::RecordId memory, std::string_view shown, bool removed) {
    text.add(shown);
    if (detail.parts.size() < kMaxParts) {
      detail.parts.push_back({vault::memory_id(view.bank().tag(), memory), removed});
    }
  };
  vault::for_each_part(view, document, [&](const vault::DocumentPart& part) {
    const auto found = vault::find_memory(view, part.memory, plain);
    if (!found) vault::throw_corrupt("a document lists a memory that is not there");
    if (!found->memory || found->memory->expired(state.last_call)) {
      ++seen.forgotten;
      add(part.memory, kRemoved, true);
    } else if (const auto& decision = decisions.decide(found->memory->tags());
               !decision.permitted) {
      // Its id is not told either.
      if (seen.hidden++ == 0) seen.denied = decision;
      text.add(kRemoved);
    } else {
      if (seen.shown++ == 0) seen.rule = decision.rule;
      add(part.memory, found->memory->text, false);
    }
    text.add(part.gap);
    return true;
  });
  if (seen.shown == 0 && seen.denied) return seen;
  text.finish(detail);
  detail.parts_total = document.parts - seen.hidden;
  detail.forgotten_parts = seen.forgotten > 0;
  return seen;
}

std::optional<MemoryDetail> get_from_bank(MemoryService::State& state,
                                          const std::shared_ptr<vault::Bank>& bank,
                                          const GetMemoryRequest& request) {
  vault::BankRead view = bank->read();
  const policy::Decision untagged = state.decide(tool::kGet, bank->name(), {});
  const auto document = vault::find_document(view, request.document_id);
  if (!document) {
    if (!untagged.permitted) state.deny(bank->name(), tool::kGet, untagged);
    state.log_read(bank, tool::kGet, untagged.rule, 0, 0, false);
    return std::nullopt;
  }
  MemoryDetail detail;
  const DocumentView seen = read_document(state, view, *document, request, detail);
  if (seen.shown == 0) {
    if (seen.denied) state.deny(bank->name(), tool::kGet, *seen.denied);
    if (!untagged.permitted) state.deny(bank->name(), tool::kGet, untagged);
  }
  if (seen.hidden > 0) {
    detail.notes.push_back("The policy hides parts of this document; they are shown as [removed].");
  }
  detail.document_id = document->name;
  detail.bank = bank->name();
  detail.memory.document_id = document->name;
  detail.memory.bank = bank->name();
  if (state.decide(tool::kGet, bank->name(), document->tags).permitted) {
    detail.memory.tags = document->tags;
  }
  detail.revision = document->revision;
  detail.created = document->created;
  detail.updated = document->updated;
  state.log_read(bank, tool::kGet, seen.shown > 0 ? seen.rule : untagged.rule, document->id,
                 detail.text.size());
  return detail;
}

MemoryDetail get_by_document(MemoryService::State& state, const GetMemoryRequest& request) {
  const Banks banks = state.resolve(request.bank);
  std::vector<std::string> notes = banks.notes;
  for (const std::string& name : banks.read) {
    const policy::Decision scope = state.policy.decide_scope(state.request(tool::kGet, name));
    if (!scope.permitted) {
      if (name == banks.read.front()) state.deny(name, tool::kGet, scope);
      notes.push_back("The bank " + json_quoted(name) + " may not be read here.");
      continue;
    }
    const auto bank = state.open(name);
    if (!bank) {
      if (!banks.may_create) state.throw_unknown_bank(name);
      continue;
    }
    if (auto detail = get_from_bank(state, bank, request)) {
      detail->notes.insert(detail->notes.begin(), notes.begin(), notes.end());
      return std::move(*detail);
    }
  }
  throw Error(Code::not_found,
              "No document found with id " + json_quoted(request.document_id) + ".");
}

}  // namespace

MemoryDetail MemoryService::get_memory(const GetMemoryRequest& request) {
  if (request.id.empty() == request.document_id.empty()) {
    throw Error::invalid("id", "or document_id must be given, and not both");
  }
  if (!request.document_id.empty()) check_name(request.document_id, "document_id");
  if (!request.id.empty()) check_name(request.id, "id");
  State& state = *state_;
  return state.call(tool::kGet, [&]() -> MemoryDetail {
    return request.id.empty() ? get_by_document(state, request) : get_by_id(state, request);
  });
}

}  // namespace strongroom::service
