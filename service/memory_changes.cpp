#include "service/memory_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "recall/temporal.h"
#include "service/memory_words.h"
#include "vault/operations.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kHour = 3'600'000;

vault::LinkEnd memory_end(vault::RecordId memory) {
  vault::LinkEnd end;
  end.memory = memory;
  return end;
}

recall::RowTimes row_times(const vault::MemoryDraft& draft, TimeMs now) {
  recall::RowTimes times;
  times.believed_from = now;
  times.mentioned = draft.mentioned;
  // A span of which one end is known is that moment.
  if (draft.occurred_start || draft.occurred_end) {
    times.occurred_start = draft.occurred_start ? *draft.occurred_start : *draft.occurred_end;
    times.occurred_end = draft.occurred_end ? *draft.occurred_end : *draft.occurred_start;
  }
  if (draft.expires) times.expires = *draft.expires;
  return times;
}

// When what the text tells was so, where its own words say it and the caller does not. "Yesterday"
// counts from when it was said.
void find_occurred(vault::MemoryDraft& draft) {
  if (draft.occurred_found) draft.occurred_start = draft.occurred_end = std::nullopt;
  draft.occurred_found = false;
  if (draft.occurred_start || draft.occurred_end) return;
  const auto times = recall::find_times(draft.text, draft.mentioned, recall::Reading::text);
  const auto time = recall::occurred_time(times);
  if (!time) return;
  draft.occurred_start = time->start;
  draft.occurred_end = time->until - 1;
  draft.occurred_found = true;
}

}  // namespace

std::uint8_t importance_byte(double importance) {
  if (importance >= 1) return 255;
  return static_cast<std::uint8_t>(std::min(254L, std::lround(importance * 255)));
}

MemoryChanges::MemoryChanges(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank,
                             std::string_view tool)
    : state_(state),
      tool_(tool),
      now_(now_ms()),
      bank_(bank),
      write_(bank->write(state.vault->stamp())),
      rows_(state.index(bank), write_),
      first_row_(rows_.next_row()) {
  // Waiting for another writer takes time, and its changes are older than these.
  now_ = now_ms();
}

MemoryChanges::~MemoryChanges() {
  wipe(findable_);
}

void MemoryChanges::sign(vault::MemoryDraft& draft) const {
  draft.principal = state_.options.principal;
  draft.tool = tool_;
  draft.source = source_kind(state_.options.source);
  draft.session = state_.session;
}

// ---- rows

std::string_view findable_text(const vault::MemoryDraft& draft, std::string_view passage,
                               std::string& room) {
  if (draft.context.empty() && draft.entities.empty() && draft.speaker.empty()) return passage;
  room.assign(passage);
  const auto add = [&](std::string_view more) {
    if (!more.empty()) room.append(1, '\n').append(more);
  };
  add(draft.context);
  for (const std::string& entity : draft.entities) add(entity);
  add(draft.speaker);
  return room;
}

recall::TagSet MemoryChanges::tag_set(const std::vector<std::string>& tags) {
  if (tags.empty()) return 0;
  if (tag_set_ == 0 || tags != tags_) {
    tag_set_ = rows_.intern_tags(sorted(tags));
    tags_ = tags;
  }
  return tag_set_;
}

recall::Speaker MemoryChanges::speaker(std::string_view name) {
  if (name.empty()) return 0;
  if (speaker_ == 0 || name != speaker_name_) {
    speaker_ = rows_.intern_speaker(name);
    speaker_name_ = name;
  }
  return speaker_;
}

recall::RowDraft MemoryChanges::row_draft(const vault::MemoryDraft& draft, vault::RecordId record) {
  if (draft.document_first > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Code::too_large, "The bank has no more numbers for documents.");
  }
  recall::RowDraft row;
  row.attributes.record = record;
  row.attributes.document = static_cast<std::uint32_t>(draft.document_first);
  row.attributes.tag_set = tag_set(draft.tags);
  row.attributes.speaker = speaker(draft.speaker);
  row.attributes.type = draft.type;
  row.attributes.trust = draft.trust;
  row.attributes.importance = importance_byte(draft.importance);
  row.attributes.timed = draft.expires.has_value();
  row.attributes.dated = draft.occurred_start || draft.occurred_end;
  row.attributes.created_hours = static_cast<std::uint32_t>(now_ / kHour);
  row.times = row_times(draft, now_);
  return row;
}

// Who speaks is a part of what a turn means. Other models are asked after the commit, since that
// can take long and other writers would wait.
recall::RowVector MemoryChanges::embed(const vault::MemoryDraft& draft, std::string_view passage) {
  recall::Embedder& model = state_.open_models.builtin();
  if (vector_set_ == 0) vector_set_ = rows_.vector_set(model.model_id(), model.dimensions());
  std::string_view said = passage;
  if (needs_speaker(draft.speaker, passage)) {
    findable_.assign(draft.speaker).append(": ").append(passage);
    said = findable_;
  }
  const auto known = ahead_.find(said);
  if (known != ahead_.end()) return {vector_set_, &known->second};
  model.embed(said, recall::Side::passage, embedding_);
  return {vector_set_, &embedding_};
}

void MemoryChanges::embed_ahead(const std::vector<std::string_view>& passages) {
  std::vector<recall::Embedding> vectors(passages.size());
  state_.open_models.builtin().embed_batch(passages, recall::Side::passage, vectors);
  for (std::size_t i = 0; i < passages.size(); ++i) {
    ahead_.emplace(passages[i], std::move(vectors[i]));
  }
}

recall::Row MemoryChanges::add_rows(const vault::MemoryDraft& draft, vault::RecordId record,
                                    recall::Row previous, std::string_view normalized,
                                    const std::vector<recall::Span>& passages,
                                    const vault::Memory* replaced) {
  recall::RowDraft row = row_draft(draft, record);
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const std::string_view passage = draft.text.substr(passages[i].offset, passages[i].size);
    row.attributes.passage = static_cast<std::uint8_t>(i);
    row.text =
        &state_.analyzer.analyze(i == 0 ? findable_text(draft, passage, findable_) : passage);
    row.fingerprint = i == 0 ? normalized : std::string_view();
    // What is a part of a document is not compared with others.
    row.sketched = i == 0 && draft.document_first == 0;
    const recall::RowVector vector = embed(draft, passage);
    row.vectors = {&vector, 1};
    previous = rows_.add(row, previous);
  }
  if (replaced != nullptr) {
    rows_.take_place(replaced->row, replaced->row + replaced->rows - 1, draft.row, previous);
  }
  return previous;
}

std::vector<recall::Span> passages_of(std::string_view text) {
  std::vector<recall::Span> passages = recall::split_passages(text);
  if (passages.empty() || passages.size() > 255) {
    throw Error(Code::internal, "A memory was cut into a wrong number of passages.");
  }
  return passages;
}

MemoryChanges::Added MemoryChanges::add(vault::MemoryDraft& draft, recall::Row previous,
                                        std::string_view normalized) {
  const std::vector<recall::Span> passages = passages_of(draft.text);
  find_occurred(draft);
  draft.row = rows_.next_row();
  draft.rows = static_cast<std::uint32_t>(passages.size());
  Added added;
  added.id = vault::add_memory(write_, draft, now_);
  added.last_row = add_rows(draft, added.id, previous, normalized, passages, nullptr);
  return added;
}

vault::RecordId MemoryChanges::rewrite(const vault::Memory& current, vault::MemoryDraft& draft) {
  const std::vector<recall::Span> passages = passages_of(draft.text);
  const recall::Row old_last = current.row + current.rows - 1;
  if (!current.invalidated) {
    for (recall::Row row = current.row; row <= old_last; ++row) rows_.close(row, now_);
  }
  find_occurred(draft);
  draft.row = rows_.next_row();
  draft.rows = static_cast<std::uint32_t>(passages.size());
  const vault::RecordId id = vault::revise_memory(write_, current, draft, now_);
  std::string normalized = recall::normalized(draft.text);
  const recall::Row last = add_rows(draft, id, 0, normalized, passages, &current);
  wipe(normalized);
  move_last_row(current, old_last, last);
  return id;
}

vault::RecordId MemoryChanges::revise(const vault::Memory& current,
                                      const vault::MemoryDraft& draft) {
  const vault::RecordId id = vault::revise_memory(write_, current, draft, now_);
  for (std::uint32_t i = 0; i < current.rows; ++i) rows_.set_record(current.row + i, id);
  return id;
}

// What an append follows: the last row of the document's last memory.
void MemoryChanges::move_last_row(const vault::Memory& memory, recall::Row from, recall::Row to) {
  if (memory.document_first == 0) return;
  auto document = vault::find_document(write_, memory.document);
  if (!document || document->first != memory.document_first || document->last_row != from) return;
  document->last_row = to;
  vault::save_document(write_, *document, now_);
}

// ---- validity

vault::RecordId MemoryChanges::invalidate(const vault::Memory& current,
                                          vault::RecordId superseded_by) {
  vault::MemoryDraft draft = vault::draft_of(current);
  draft.invalidated = now_;
  draft.superseded_by = superseded_by;
  sign(draft);
  const vault::RecordId id = revise(current, draft);
  for (std::uint32_t i = 0; i < current.rows; ++i) rows_.close(current.row + i, now_);
  if (superseded_by != 0) link_supersedes(superseded_by, current.first);
  return id;
}

vault::RecordId MemoryChanges::supersede(const vault::Memory& memory,
                                         vault::RecordId superseded_by) {
  if (!memory.invalidated) return invalidate(memory, superseded_by);
  if (superseded_by == 0 || superseded_by == memory.superseded_by) return memory.id;
  if (memory.superseded_by != 0) unlink_supersedes(memory.superseded_by, memory.first);
  vault::MemoryDraft draft = vault::draft_of(memory);
  draft.superseded_by = superseded_by;
  sign(draft);
  const vault::RecordId id = revise(memory, draft);
  link_supersedes(superseded_by, memory.first);
  return id;
}

// Is it a part of its document's present text?
bool MemoryChanges::in_document(const vault::Memory& memory) {
  if (memory.document_first == 0) return true;
  const auto document = vault::find_document(write_, memory.document);
  if (!document || document->first != memory.document_first) return false;
  bool found = false;
  vault::for_each_part(write_, *document, [&](const vault::DocumentPart& part) {
    found = part.memory == memory.first;
    return !found;
  });
  return found;
}

vault::RecordId MemoryChanges::restore(const vault::Memory& current) {
  vault::MemoryDraft draft = vault::draft_of(current);
  draft.invalidated.reset();
  draft.restored = now_;
  draft.superseded_by = 0;
  if (!in_document(current)) {
    // Its document has gone on without it: from now on it stands for itself.
    draft.document = {};
    draft.document_first = 0;
    draft.chunk_index = 0;
  }
  sign(draft);
  if (current.superseded_by != 0) unlink_supersedes(current.superseded_by, current.first);
  return rewrite(current, draft);
}

void MemoryChanges::put_link(vault::RecordId from, vault::RecordId to, std::string_view relation,
                             std::vector<std::string> quotes) {
  vault::Link link;
  link.from = memory_end(from);
  link.to = memory_end(to);
  link.relation = relation;
  link.quotes = std::move(quotes);
  link.principal = state_.options.principal;
  vault::put_link(write_, link, now_);
}

void MemoryChanges::link_supersedes(vault::RecordId replacement, vault::RecordId replaced) {
  put_link(replacement, replaced, kSupersedes);
}

void MemoryChanges::unlink_supersedes(vault::RecordId replacement, vault::RecordId replaced) {
  vault::remove_link(write_, memory_end(replacement), memory_end(replaced), kSupersedes);
}

void MemoryChanges::link_similar(vault::RecordId memory, vault::RecordId older) {
  put_link(memory, older, kSimilarTo);
}

void MemoryChanges::link_quotes(vault::RecordId observation, vault::RecordId source,
                                std::vector<std::string> quotes) {
  put_link(observation, source, kQuotes, std::move(quotes));
}

// ---- forgetting

namespace {

// The rows of all revisions; several share theirs.
std::vector<recall::Row> all_rows(vault::BankRead& bank, const vault::Memory& current) {
  std::vector<recall::Row> rows;
  const auto add = [&](const vault::Memory& memory) {
    for (std::uint32_t i = 0; i < memory.rows; ++i) rows.push_back(memory.row + i);
  };
  add(current);
  SecretBytes plain;
  for (const vault::RecordId id : current.older_ids()) {
    const vault::Memory older = vault::open_memory(bank, id, plain);
    if (older.first != current.first) vault::throw_corrupt("a memory lists another one's revision");
    add(older);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace

vault::RecordId MemoryChanges::forget(const vault::Memory& current,
                                      std::vector<vault::RecordId>& affected, bool document_goes) {
  const vault::LinkEnd end = memory_end(current.first);
  std::vector<vault::RecordId> replaced, quoting;
  vault::for_each_link(write_, end, [&](const vault::Link& link) {
    if (link.from == end && link.relation == kSupersedes) replaced.push_back(link.to.memory);
    if (link.to == end && !link.quotes.empty()) quoting.push_back(link.from.memory);
    return true;
  });
  if (!document_goes) {
    recall::Row before = rows_.attributes(current.row).previous;
    if (before != 0 && rows_.attributes(before).dead) before = 0;
    move_last_row(current, current.row + current.rows - 1, before);
  }
  for (const recall::Row row : all_rows(write_, current)) rows_.forget(row);
  vault::remove_links(write_, end);
  const vault::RecordId gone = current.first;
  const vault::RecordId tombstone =
      vault::forget_memory(write_, current, state_.options.principal, now_);

  // What it replaced stays invalid, and no longer says by what.
  SecretBytes plain;
  for (const vault::RecordId id : replaced) {
    const auto found = vault::find_memory(write_, id, plain);
    if (!found || !found->memory || found->memory->superseded_by != gone) continue;
    vault::MemoryDraft draft = vault::draft_of(*found->memory);
    draft.superseded_by = 0;
    sign(draft);
    revise(*found->memory, draft);
    affected.push_back(id);
  }
  // The quotes went with the links; what was concluded from them no longer holds.
  for (const vault::RecordId id : quoting) {
    const auto found = vault::find_memory(write_, id, plain);
    if (!found || !found->memory || found->memory->invalidated) continue;
    invalidate(*found->memory, 0);
    affected.push_back(id);
  }
  return tombstone;
}

void MemoryChanges::commit() {
  vault::sweep_operations(write_, now_);
  const recall::Row end = rows_.next_row();
  const auto sets = rows_.vector_sets();
  rows_.finish();
  write_.commit();
  const bool behind = std::any_of(sets.begin(), sets.end(), [&](const recall::VectorSet& set) {
    return set.number == vector_set_ && set.filled < end;
  });
  if (behind || state_.models.embedder_of(bank_->tag()) != nullptr) {
    state_.catch_up(bank_, tool_, end - first_row_);
  }
}

}  // namespace strongroom::service
