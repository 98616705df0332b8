// Documents: texts that are cut into several memories, and turns of a conversation in one.
#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "recall/tokens.h"
#include "service/retain.h"

namespace strongroom::service {
namespace {

using Group = std::vector<std::size_t>;

// Items are lines of their document.
constexpr std::string_view kJoint = "\n";

// Where an item is cut. White space before the first chunk is part of it, and what is behind the
// last one becomes a gap, so that the document is kept byte for byte.
std::vector<recall::Span> cut(std::string_view content, bool whole) {
  std::vector<recall::Span> spans;
  if (!whole || recall::count_tokens(content) > recall::kMaxMemoryTokens) {
    spans = recall::split_document(content);
  }
  if (spans.empty()) return {{0, content.size()}};
  spans.front() = {0, spans.front().end()};
  return spans;
}

std::string joined(const std::vector<RetainItem>& items, const Group& group) {
  std::string text;
  for (const std::size_t i : group) {
    if (!text.empty()) text.append(kJoint);
    text.append(items[i].content);
  }
  return text;
}

// Turns in order of their position; one without a position stays behind its neighbour in the call.
Group in_order(const std::vector<RetainItem>& items, const Group& group) {
  std::vector<std::pair<std::int64_t, std::size_t>> keyed;
  std::int64_t position = std::numeric_limits<std::int64_t>::min();
  for (const std::size_t i : group) {
    position = items[i].position.value_or(position);
    keyed.emplace_back(position, i);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Group ordered;
  for (const auto& [key, i] : keyed) ordered.push_back(i);
  return ordered;
}

}  // namespace

// ---- what is there already

/// A document as it stands, compared with the items that would replace it.
struct Retain::Survey {
  bool same = true;
  std::optional<policy::Decision> denied;                       // a memory that may not be replaced
  std::vector<vault::RecordId> current;                         // memories to invalidate
  std::map<std::size_t, std::vector<vault::RecordId>> of_item;  // when it is the same
};

Retain::Survey Retain::survey(const vault::Document& document, const Group& group) {
  Survey found;
  std::string text = joined(items_, group);
  std::size_t at = 0, member = 0, member_end = items_[group[0]].content.size();
  std::string seen;
  vault::for_each_part(changes_.bank(), document, [&](const vault::DocumentPart& part) {
    const auto named = vault::find_memory(changes_.bank(), part.memory, plain_);
    if (!named) vault::throw_corrupt("a document lists a memory that is not there");
    if (!named->memory || !named->memory->current(changes_.now())) {
      found.same = false;
      return true;
    }
    const vault::Memory& memory = *named->memory;
    if (const policy::Decision& decision = decisions_.decide(memory.tags()); !decision.permitted) {
      found.denied = decision;
      return false;
    }
    found.current.push_back(part.memory);
    while (at >= member_end && member + 1 < group.size()) {
      ++member;
      member_end += kJoint.size() + items_[group[member]].content.size();
    }
    const RetainItem& item = items_[group[member]];
    seen.assign(memory.text).append(part.gap);
    found.same = found.same && text.compare(at, seen.size(), seen) == 0 &&
                 memory.position == item.position && memory.speaker == item.speaker;
    found.of_item[group[member]].push_back(part.memory);
    at += seen.size();
    return true;
  });
  found.same = found.same && at == text.size();
  wipe(text);
  wipe(seen);
  return found;
}

// ---- all items of one document

void Retain::store_group(const Group& group) {
  turns_.clear();
  const Group ordered = in_order(items_, group);
  auto document = vault::find_document(changes_.bank(), items_[group[0]].document_id);
  if (items_[group[0]].append) {
    append(ordered, std::move(document));
  } else {
    replace(ordered, std::move(document));
  }
}

void Retain::replace(const Group& group, std::optional<vault::Document> document) {
  if (document) {
    const Survey found = survey(*document, group);
    if (found.denied) {
      for (const std::size_t i : group) reject(i, Code::denied, found.denied->text());
      return;
    }
    const bool same = found.same && found.of_item.size() == group.size();
    if (same) {
      for (const auto& [i, memories] : found.of_item) {
        set_duplicate(i, memories.front(), memories.size());
      }
      return;
    }
    for (const vault::RecordId id : found.current) {
      const auto named = vault::find_memory(changes_.bank(), id, plain_);
      changes_.invalidate(*named->memory, 0);
    }
    vault::clear_parts(changes_.bank(), *document);
  } else {
    document = vault::new_document(changes_.bank(), items_[group[0]].document_id, changes_.now());
  }
  for (const std::size_t i : group) {
    add_item(i, *document, items_[i].position || !items_[i].speaker.empty());
  }
  save(*document, group);
}

void Retain::append(const Group& group, std::optional<vault::Document> document) {
  // Who may not write what is in it may not go on with it either.
  if (document) {
    if (const policy::Decision& decision = decisions_.decide(document->tags); !decision.permitted) {
      for (const std::size_t i : group) reject(i, Code::denied, decision.text());
      return;
    }
  } else {
    document = vault::new_document(changes_.bank(), items_[group[0]].document_id, changes_.now());
  }
  Group added;
  for (const std::size_t i : group) {
    std::vector<vault::RecordId> turns;
    const std::vector<recall::Span> spans = cut(items_[i].content, true);
    for (const recall::Span& span : spans) {
      const std::string_view text =
          std::string_view(items_[i].content).substr(span.offset, span.size);
      const auto turn = find_turn(*document, items_[i], text);
      if (!turn) break;
      turns.push_back(*turn);
    }
    if (turns.size() == spans.size()) {
      set_duplicate(i, turns.front(), turns.size());
    } else {
      add_item(i, *document, true);
      added.push_back(i);
    }
  }
  if (!added.empty()) save(*document, added);
}

void Retain::add_item(std::size_t i, vault::Document& document, bool whole) {
  const std::string_view content = items_[i].content;
  const std::vector<recall::Span> spans = cut(content, whole);
  if (document.parts > 0) {
    vault::set_last_gap(document, document.recent.back().gap + std::string(kJoint));
  }
  vault::MemoryDraft draft = draft_of(items_[i]);
  vault::RecordId first = 0;
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const std::size_t next = k + 1 < spans.size() ? spans[k + 1].offset : content.size();
    draft.text = content.substr(spans[k].offset, spans[k].size);
    const vault::RecordId id =
        add_part(document, draft, content.substr(spans[k].end(), next - spans[k].end()));
    if (first == 0) first = id;
  }
  set_stored(i, first, spans.size());
}

vault::RecordId Retain::add_part(vault::Document& document, vault::MemoryDraft& draft,
                                 std::string_view gap) {
  draft.document = document.name;
  draft.document_first = document.first;
  draft.chunk_index = static_cast<std::uint32_t>(document.parts);
  std::string normalized = recall::normalized(draft.text);
  const MemoryChanges::Added added = changes_.add(draft, document.last_row, normalized);
  if (const auto known = turns_.find(normalized); known != turns_.end()) {
    known->second.emplace(draft.position, added.id);
  }
  wipe(normalized);
  vault::append_part(changes_.bank(), document, {added.id, std::string(gap)});
  document.last_row = added.last_row;
  if (draft.position) {
    document.last_position =
        std::max(*draft.position, document.last_position.value_or(*draft.position));
  }
  return added.id;
}

void Retain::save(vault::Document& document, const Group& group) {
  // What is appended adds its tags: those of the rest stay, and what they keep closed stays closed.
  std::vector<std::string> tags;
  if (items_[group[0]].append) tags = document.tags;
  for (const std::size_t i : group) {
    tags.insert(tags.end(), items_[i].tags.begin(), items_[i].tags.end());
  }
  document.tags = sorted(std::move(tags));
  vault::save_document(changes_.bank(), document, changes_.now());
}

// ---- turns that come again

std::optional<vault::RecordId> Retain::find_turn(const vault::Document& document,
                                                 const RetainItem& item, std::string_view text) {
  if (document.parts == 0) return std::nullopt;
  // Behind all that is there, as in a conversation that goes on: nothing can be the same.
  if (item.position && (!document.last_position || *item.position > *document.last_position)) {
    return std::nullopt;
  }
  const std::string normalized = recall::normalized(text);
  const Turns& turns = turns_of(document, text, normalized);
  const auto at = turns.find(item.position);
  return at == turns.end() ? std::nullopt : std::optional(at->second);
}

// A short turn ("yes") is said at many positions: they are opened once a call, not once an item.
Retain::Turns& Retain::turns_of(const vault::Document& document, std::string_view text,
                                const std::string& normalized) {
  const auto [at, fresh] = turns_.try_emplace(normalized);
  if (!fresh) return at->second;
  for (const recall::Row row : changes_.rows().find_fingerprint(normalized)) {
    const recall::RowAttributes attributes = changes_.rows().attributes(row);
    if (attributes.closed || attributes.dead || attributes.document != document.first) continue;
    const vault::Memory memory = open_row(changes_.bank(), row, attributes, plain_);
    if (!memory.current(changes_.now()) || !may_touch(memory)) continue;
    if (memory.text == text || recall::normalized(memory.text) == normalized) {
      at->second.emplace(memory.position, memory.first);
    }
  }
  return at->second;
}

// ---- long content without a name

void Retain::store_long(std::size_t i) {
  const std::string_view content = items_[i].content;
  const std::vector<recall::Span> spans = cut(content, false);
  if (find_long(i, content.substr(0, spans.front().size))) return;
  turns_.clear();
  vault::BankWrite& bank = changes_.bank();
  vault::Document document = vault::new_document(bank, {}, changes_.now());
  // Its name is that of its first memory; a caller may have taken just that one.
  const auto name = [&] { return "doc-" + public_id(bank.next_id()); };
  while (vault::find_document(bank, name())) bank.reserve_id();
  document.name = name();
  add_item(i, document, false);
  save(document, {i});
  result_->items[i].document_id = document.name;
}

// A document, of any name, with this text.
bool Retain::find_long(std::size_t i, std::string_view first_chunk) {
  // Documents that begin alike are rare; looking at all of many would cost too much.
  constexpr int kMostCandidates = 8;
  const std::string_view content = items_[i].content;
  const std::string normalized = recall::normalized(first_chunk);
  if (normalized.empty()) return false;
  std::set<std::string> looked_at;
  for (const recall::Row row : changes_.rows().find_fingerprint(normalized)) {
    const recall::RowAttributes attributes = changes_.rows().attributes(row);
    if (attributes.closed || attributes.dead || attributes.document == 0) continue;
    const vault::Memory memory = open_row(changes_.bank(), row, attributes, plain_);
    if (memory.chunk_index != 0 || !looked_at.insert(std::string(memory.document)).second) continue;
    if (looked_at.size() > kMostCandidates) return false;
    const std::string name(memory.document);
    const auto document = vault::find_document(changes_.bank(), name);
    if (!document || document->first != attributes.document) continue;
    const std::optional<std::vector<vault::RecordId>> parts = same_text(*document, content);
    if (!parts) continue;
    set_duplicate(i, parts->front(), parts->size());
    result_->items[i].document_id = name;
    return true;
  }
  return false;
}

// The memories of a document that says what `content` says, if this principal may touch them all.
std::optional<std::vector<vault::RecordId>> Retain::same_text(const vault::Document& document,
                                                              std::string_view content) {
  std::vector<vault::RecordId> parts;
  std::string text;
  bool whole = true;
  vault::for_each_part(changes_.bank(), document, [&](const vault::DocumentPart& part) {
    const auto named = vault::find_memory(changes_.bank(), part.memory, plain_);
    whole = named && named->memory && named->memory->current(changes_.now()) &&
            may_touch(*named->memory);
    if (!whole) return false;
    parts.push_back(part.memory);
    text.append(named->memory->text).append(part.gap);
    // White space may differ, but not by as much again.
    whole = text.size() <= 2 * content.size();
    return whole;
  });
  whole = whole && !parts.empty() && recall::normalized(text) == recall::normalized(content);
  wipe(text);
  if (!whole) return std::nullopt;
  return parts;
}

}  // namespace strongroom::service
