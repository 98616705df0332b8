#include "model.h"

#include <algorithm>
#include <cmath>

#include "recall/splitter.h"
#include "recall/temporal.h"
#include "recall/tokens.h"

namespace strongroom::oracle {

using service::RetainItem;

namespace {

// A document is kept byte for byte: chunks, and the white space between and behind them.
std::vector<recall::Span> cut(const std::string& content, bool whole) {
  if (whole && recall::count_tokens(content) <= recall::kMaxMemoryTokens) {
    return {{0, content.size()}};
  }
  std::vector<recall::Span> spans = recall::split_document(content);
  if (spans.empty()) return {{0, content.size()}};
  spans.front() = {0, spans.front().end()};
  return spans;
}

std::vector<std::string> distinct(const std::vector<std::string>& items) {
  std::vector<std::string> once;
  for (const std::string& item : items) {
    if (std::find(once.begin(), once.end(), item) == once.end()) once.push_back(item);
  }
  return once;
}

// What the text says of when it was so, unless that was given.
void find_occurred(Memory& memory) {
  if (!memory.occurred_found && (memory.occurred_start || memory.occurred_end)) return;
  memory.occurred_start.reset();
  memory.occurred_end.reset();
  const auto time = recall::occurred_time(
      recall::find_times(memory.text, memory.mentioned, recall::Reading::text));
  memory.occurred_found = time.has_value();
  if (!time) return;
  memory.occurred_start = time->start;
  memory.occurred_end = time->until - 1;
}

}  // namespace

std::optional<std::size_t> Model::find_original(const std::string& text, TimeMs now) const {
  const std::string normalized = recall::normalized(text);
  std::optional<std::size_t> first;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (!memories[m].current(now) || memories[m].normalized != normalized) continue;
    if (!first || memories[m].row < memories[*first].row) first = m;
  }
  return first;
}

std::optional<std::size_t> Model::find_turn(const Document& document, const RetainItem& item,
                                            std::string_view text, TimeMs now) const {
  if (document.parts.empty()) return std::nullopt;
  if (item.position && (!document.last_position || *item.position > *document.last_position)) {
    return std::nullopt;
  }
  const std::string normalized = recall::normalized(text);
  std::optional<std::size_t> first;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    const Memory& at = memories[m];
    if (!at.current(now) || at.document != document.number || at.position != item.position ||
        at.normalized != normalized) {
      continue;
    }
    if (!first || at.row < memories[*first].row) first = m;
  }
  return first;
}

bool Model::says(const Document& document, const std::vector<RetainItem>& items, TimeMs now) const {
  std::string text;
  std::vector<std::size_t> ends;  // of the items
  for (const RetainItem& item : items) {
    text += (text.empty() ? "" : "\n") + item.content;
    ends.push_back(text.size());
  }
  std::string stored;
  std::size_t of = 0;
  std::vector<bool> covered(items.size(), false);
  for (const Document::Part& part : document.parts) {
    const Memory& memory = memories[part.memory];
    if (!memory.current(now)) return false;
    while (of + 1 < items.size() && stored.size() >= ends[of]) ++of;
    covered[of] = true;
    if (memory.position != items[of].position || memory.speaker != items[of].speaker) return false;
    stored += memory.text + part.gap;
  }
  return stored == text && std::find(covered.begin(), covered.end(), false) == covered.end();
}

// ---- rows

Row Model::row_of(const Memory& memory, std::uint64_t record, TimeMs now) const {
  Row row;
  row.record = record;
  row.document = memory.document;
  row.tags = memory.tags;
  std::sort(row.tags.begin(), row.tags.end());
  row.speaker = memory.speaker;
  row.type = static_cast<vault::MemoryType>(memory.type);
  row.importance =
      memory.importance >= 1
          ? 255
          : static_cast<std::uint8_t>(std::min(254L, std::lround(memory.importance * 255)));
  row.dated = memory.occurred_start || memory.occurred_end;
  row.created_hours = static_cast<std::uint32_t>(now / 3'600'000);
  row.times.believed_from = now;
  row.times.mentioned = memory.mentioned;
  if (row.dated) {
    row.times.occurred_start = memory.occurred_start.value_or(memory.occurred_end.value_or(0));
    row.times.occurred_end = memory.occurred_end.value_or(memory.occurred_start.value_or(0));
  }
  if (memory.expires) row.times.expires = *memory.expires;
  return row;
}

std::uint32_t Model::add_rows(std::size_t number, TimeMs now, std::uint32_t previous,
                              std::uint32_t old_first, std::uint32_t old_count) {
  Memory& memory = memories[number];
  const auto text = std::make_shared<const std::string>(memory.text);
  const std::vector<recall::Span> passages = recall::split_passages(*text);
  const std::uint64_t record = next_record_++;
  memory.row = static_cast<std::uint32_t>(rows.all.size());
  memory.rows = static_cast<std::uint32_t>(passages.size());
  memory.normalized = recall::normalized(memory.text);
  find_occurred(memory);
  rows.model = embedder->model_id();
  recall::Embedding vector;
  for (std::uint32_t i = 0; i < passages.size(); ++i) {
    Row row = row_of(memory, record, now);
    std::string findable = text->substr(passages[i].offset, passages[i].size);
    if (i == 0) {
      if (!memory.context.empty()) findable += "\n" + memory.context;
      for (const std::string& entity : memory.entities) findable += "\n" + entity;
      if (!memory.speaker.empty()) findable += "\n" + memory.speaker;
    }
    row.set_text(analyzer.analyze(findable));
    std::string said = text->substr(passages[i].offset, passages[i].size);
    if (!memory.speaker.empty() && said.rfind(memory.speaker + ":", 0) != 0) {
      said = memory.speaker + ": " + said;
    }
    embedder->embed(said, recall::Side::passage, vector);
    row.set_vector(vector);
    previous = rows.add(std::move(row), previous);
    memory.every_row.push_back(previous);
    shown.push_back({number, text, memory.tags, memory.importance, memory.occurred_start,
                     memory.occurred_end, memory.document_id, i, memory.rows, passages[i].offset,
                     passages[i].end()});
  }
  if (old_count != 0) rows.take_place(old_first, old_first + old_count - 1, memory.row, previous);
  return previous;
}

std::size_t Model::add(const RetainItem& item, std::string_view text, TimeMs now,
                       Document* document) {
  Memory memory;
  memory.text = text;
  memory.tags = distinct(item.tags);
  memory.entities = distinct(item.entities);
  memory.context = item.context;
  memory.speaker = item.speaker;
  const bool turn = !item.speaker.empty() || item.position;
  memory.type =
      item.type.value_or(turn ? service::MemoryType::experience : service::MemoryType::world);
  memory.importance = item.importance.value_or(0.5);
  memory.mentioned = item.timestamp.value_or(now);
  memory.occurred_start = item.occurred_start;
  memory.occurred_end = item.occurred_end;
  memory.expires = item.expires_at;
  memory.position = item.position;
  if (document != nullptr) {
    if (document->number == 0) document->number = next_document_++;
    memory.document = document->number;
    memory.document_id = item.document_id;
  }
  memories.push_back(std::move(memory));
  const std::size_t number = memories.size() - 1;
  const std::uint32_t last =
      add_rows(number, now, document == nullptr ? 0 : document->last_row, 0, 0);
  if (document != nullptr) document->last_row = last;
  return number;
}

void Model::append(Document& document, const RetainItem& item, bool whole, TimeMs now,
                   std::vector<std::size_t>& added) {
  const std::vector<recall::Span> spans = cut(item.content, whole);
  if (!document.parts.empty()) document.parts.back().gap += "\n";
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const std::size_t next = k + 1 < spans.size() ? spans[k + 1].offset : item.content.size();
    const std::string_view content = item.content;
    const std::size_t memory =
        add(item, content.substr(spans[k].offset, spans[k].size), now, &document);
    document.parts.push_back(
        {memory, std::string(content.substr(spans[k].end(), next - spans[k].end()))});
    added.push_back(memory);
  }
  if (item.position) {
    document.last_position =
        std::max(*item.position, document.last_position.value_or(*item.position));
  }
}

void Model::clear(Document& document, TimeMs now) {
  for (const Document::Part& part : document.parts) {
    if (memories[part.memory].current(now)) invalidate(part.memory, kNobody, now);
  }
  document.parts.clear();
  document.last_row = 0;
  document.last_position.reset();
}

// ---- changes

void Model::revise(std::size_t number) {
  const Memory& memory = memories[number];
  const std::uint64_t record = next_record_++;
  for (std::uint32_t i = 0; i < memory.rows; ++i) {
    rows.all[memory.row + i].record = record;
    shown[memory.row + i].tags = memory.tags;
    shown[memory.row + i].importance = memory.importance;
  }
}

void Model::rewrite(std::size_t number, const std::string& text, TimeMs now) {
  Memory& memory = memories[number];
  const std::uint32_t old_first = memory.row, old_count = memory.rows;
  for (std::uint32_t i = 0; i < old_count; ++i) rows.close(old_first + i, now);
  memory.text = text;
  const std::uint32_t last = add_rows(number, now, 0, old_first, old_count);
  for (auto& [name, document] : documents) {
    if (document.number == memory.document && document.last_row == old_first + old_count - 1) {
      document.last_row = last;
    }
  }
}

void Model::invalidate(std::size_t number, std::size_t by, TimeMs now) {
  Memory& memory = memories[number];
  memory.superseded_by = by;
  if (memory.invalid) {
    revise(number);
    return;
  }
  memory.invalid = true;
  revise(number);
  for (std::uint32_t i = 0; i < memory.rows; ++i) rows.close(memory.row + i, now);
}

void Model::restore(std::size_t number, TimeMs now) {
  Memory& memory = memories[number];
  memory.invalid = false;
  memory.was_restored = true;
  memory.superseded_by = kNobody;
  // What its document has gone on without stands for itself from now on.
  bool in_document = memory.document == 0;
  for (const auto& [name, document] : documents) {
    if (document.number != memory.document) continue;
    for (const Document::Part& part : document.parts)
      in_document = in_document || part.memory == number;
  }
  if (!in_document) {
    memory.document = 0;
    memory.document_id.clear();
  }
  rewrite(number, std::string(memory.text), now);
}

void Model::forget(std::size_t number, const std::vector<std::size_t>& affected) {
  Memory& memory = memories[number];
  std::uint32_t before = rows.all[memory.row].previous;
  if (before != 0 && rows.all[before].dead) before = 0;
  for (auto& [name, document] : documents) {
    if (memory.document != 0 && document.number == memory.document &&
        document.last_row == memory.row + memory.rows - 1) {
      document.last_row = before;
    }
  }
  std::sort(memory.every_row.begin(), memory.every_row.end());
  for (const std::uint32_t row : memory.every_row) rows.forget(row);
  memory.gone = true;
  by_id.erase(memory.id);
  for (const std::size_t other : affected) {
    memories[other].superseded_by = kNobody;
    revise(other);
  }
}

std::uint64_t Model::live_rows() const {
  std::uint64_t n = 0;
  for (std::size_t r = 1; r < rows.all.size(); ++r) {
    if (rows.all[r].current()) ++n;
  }
  return n;
}

std::uint64_t Model::valid_memories() const {
  std::uint64_t n = 0;
  for (const Memory& memory : memories) {
    if (!memory.gone && !memory.invalid) ++n;
  }
  return n;
}

}  // namespace strongroom::oracle
