#include "service/memory_words.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "policy/secret_scanner.h"
#include "recall/splitter.h"
#include "service/project.h"

namespace strongroom::service {

std::string_view memory_type_name(MemoryType type) noexcept {
  switch (type) {
    case MemoryType::world: return "world";
    case MemoryType::experience: return "experience";
    case MemoryType::observation: return "observation";
  }
  return "world";
}

std::optional<MemoryType> parse_memory_type(std::string_view name) noexcept {
  if (name == "world" || name == "semantic" || name == "fact") return MemoryType::world;
  if (name == "experience" || name == "episodic" || name == "episode") {
    return MemoryType::experience;
  }
  if (name == "observation") return MemoryType::observation;
  return std::nullopt;
}

std::string_view item_status_name(ItemStatus status) noexcept {
  switch (status) {
    case ItemStatus::stored: return "stored";
    case ItemStatus::duplicate: return "duplicate";
    case ItemStatus::rejected: return "rejected";
    case ItemStatus::quarantined: return "quarantined";
  }
  return "rejected";
}

std::optional<TagMatch> parse_tag_match(std::string_view word) noexcept {
  if (word == "any") return TagMatch::any;
  if (word == "any_strict") return TagMatch::any_strict;
  if (word == "all") return TagMatch::all;
  if (word == "all_strict") return TagMatch::all_strict;
  if (word == "exact") return TagMatch::exact;
  return std::nullopt;
}

bool known_arm(std::string_view name) noexcept {
  return name == "keyword" || name == "semantic" || name == "temporal" || name == "graph";
}

std::string_view trust_name(vault::Trust trust) noexcept {
  switch (trust) {
    case vault::Trust::owner: return "owner";
    case vault::Trust::agent: return "agent";
    case vault::Trust::imported: return "imported";
    case vault::Trust::untrusted: return "untrusted";
  }
  return "untrusted";
}

// ---- checks

void check_text(std::string_view text, std::string_view field, std::size_t limit) {
  if (text.size() > limit) throw Error::too_large(field, text.size(), limit);
  if (!valid_utf8(text)) throw Error::invalid(field, "is not valid UTF-8");
}

void check_name(std::string_view text, std::string_view field) {
  if (text.empty()) throw Error::invalid(field, "must not be empty");
  check_text(text, field, kMaxNameBytes);
}

void check_tag_list(const std::vector<std::string>& tags, const std::string& field) {
  if (tags.size() > kMaxTags) throw Error::invalid(field, "has more than 64 tags");
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (!tags[i].empty() && tags[i].size() <= kMaxTagBytes && valid_utf8(tags[i])) continue;
    check_name(tags[i], field + "[" + std::to_string(i) + "]");
  }
}

void check_metadata(const Metadata& metadata, const std::string& field) {
  if (metadata.size() > kMaxMetadata) throw Error::invalid(field, "has more than 64 pairs");
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    const auto& [name, value] = metadata[i];
    check_name(name, field);
    if (!valid_utf8(value)) throw Error::invalid(field, "is not valid UTF-8");
    check_text(value, field + "." + escape_for_display(name), kMaxMetadataBytes);
    for (std::size_t k = 0; k < i; ++k) {
      if (metadata[k].first == name) throw Error::invalid(field, "has a name twice");
    }
  }
}

void check_importance(double importance, const std::string& field) {
  if (!(importance >= 0 && importance <= 1)) throw Error::invalid(field, "must be from 0 to 1");
}

void check_time(const std::optional<TimeMs>& time, const std::string& field) {
  constexpr TimeMs kFirst = -62'135'596'800'000, kLast = 253'402'300'799'999;
  if (time && (*time < kFirst || *time > kLast)) {
    throw Error::invalid(field, "must lie in the years 1 to 9999");
  }
}

void check_operation_id(const std::string& operation_id) {
  check_text(operation_id, "operation_id", kMaxNameBytes);
}

namespace {

// The length of the white space character at the start of `text`, or 0.
std::size_t white_space(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = at(0);
  if (first == ' ' || (first >= '\t' && first <= '\r')) return 1;
  if (first == 0xC2) return at(1) == 0x85 || at(1) == 0xA0 ? 2 : 0;
  if (first == 0xE1) return at(1) == 0x9A && at(2) == 0x80 ? 3 : 0;
  if (first == 0xE3) return at(1) == 0x80 && at(2) == 0x80 ? 3 : 0;
  if (first != 0xE2) return 0;
  // U+2000 to U+200A, U+2028, U+2029, U+202F; U+205F.
  if (at(1) == 0x81) return at(2) == 0x9F ? 3 : 0;
  if (at(1) != 0x80) return 0;
  return (at(2) >= 0x80 && at(2) <= 0x8A) || at(2) == 0xA8 || at(2) == 0xA9 || at(2) == 0xAF ? 3
                                                                                             : 0;
}

bool blank(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = white_space(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace

void check_content(std::string_view content, const std::string& field, std::size_t limit) {
  check_text(content, field, limit);
  if (blank(content)) throw Error::invalid(field, "must not be empty");
}

std::vector<std::string> distinct(const std::vector<std::string>& items) {
  std::vector<std::string> once;
  once.reserve(items.size());
  for (const std::string& item : items) {
    if (std::find(once.begin(), once.end(), item) == once.end()) once.push_back(item);
  }
  return once;
}

std::vector<std::string> sorted(std::vector<std::string> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

bool tags_match(const std::vector<std::string>& has, const std::vector<std::string>& asked,
                TagMatch match) {
  const auto in = [&](const std::string& tag) {
    return std::find(has.begin(), has.end(), tag) != has.end();
  };
  if (match == TagMatch::exact) {
    return std::all_of(asked.begin(), asked.end(), in) &&
           std::all_of(has.begin(), has.end(), [&](const std::string& tag) {
             return std::find(asked.begin(), asked.end(), tag) != asked.end();
           });
  }
  if (asked.empty()) return true;
  if (has.empty()) return match == TagMatch::any || match == TagMatch::all;
  const bool any = match == TagMatch::any || match == TagMatch::any_strict;
  return any ? std::any_of(asked.begin(), asked.end(), in)
             : std::all_of(asked.begin(), asked.end(), in);
}

// ---- fixed words

bool needs_speaker(std::string_view speaker, std::string_view text) {
  if (speaker.empty()) return false;
  return text.substr(0, speaker.size()) != speaker || text.substr(speaker.size(), 1) != ":";
}

void passage_for_model(const vault::Memory& memory, std::size_t passage, SecretBytes& out) {
  const std::vector<recall::Span> passages = recall::split_passages(memory.text);
  if (passage >= passages.size()) {
    vault::throw_corrupt("a row of the index leads to another memory");
  }
  const recall::Span& at = passages[passage];
  const std::string_view text = memory.text.substr(at.offset, at.size);
  out.clear();
  if (needs_speaker(memory.speaker, text)) {
    out.append(memory.speaker);
    out.append(": ");
  }
  out.append(text);
}

std::string credential_text(std::string_view field, std::string_view kind) {
  return "Refused: " + std::string(field) + " looks like a credential (" + std::string(kind) +
         "). Remove it, or store it with agent_remember and class \"secret\". [secret_detected]";
}

void refuse_credential(std::string_view text, std::string_view field) {
  if (const auto found = policy::find_credential(text)) {
    throw Error::verbatim(Code::secret_detected, credential_text(field, found->kind));
  }
}

Error no_such_memory(std::string_view id) {
  return Error::verbatim(Code::not_found, "No memory found with id " + json_quoted(id));
}

policy::Decision read_only_denial() {
  policy::Decision decision;
  decision.rule = "read-only";
  decision.reason = "this process was started read-only";
  return decision;
}

// ---- memories for callers

FoundMemory describe(const vault::Memory& memory, const vault::Bank& bank, TimeMs now) {
  FoundMemory found;
  found.id = vault::memory_id(bank.tag(), memory.first);
  found.context = memory.context;
  found.document_id = memory.document;
  if (!memory.document.empty()) found.chunk_id = found.id;
  found.chunk_index = memory.chunk_index;
  found.source = memory.source_label;
  found.speaker = memory.speaker;
  found.bank = bank.name();
  found.type = static_cast<MemoryType>(memory.type);
  found.trust = trust_name(memory.trust);
  found.metadata = memory.metadata();
  found.tags = memory.tags();
  found.entities = memory.entities();
  found.occurred_start = memory.occurred_start;
  found.occurred_end = memory.occurred_end;
  found.mentioned_at = memory.mentioned;
  found.importance = memory.importance;
  found.valid = memory.current(now);
  return found;
}

std::string replacement_id(const MemoryService::State& state, vault::BankRead& read,
                           std::string_view tool, vault::RecordId superseded_by) {
  if (superseded_by == 0) return {};
  SecretBytes plain;
  const auto found = vault::find_memory(read, superseded_by, plain);
  const bool shown = found && found->memory && !found->memory->expired(state.last_call) &&
                     state.decide(tool, read.bank().name(), found->memory->tags()).permitted;
  return shown ? vault::memory_id(read.bank().tag(), superseded_by) : std::string();
}

Located locate(MemoryService::State& state, const std::string& id, const std::string& bank,
               std::string_view tool) {
  check_name(id, "id");
  if (!bank.empty() && !valid_bank_name(bank)) {
    throw Error::invalid("bank", "must be 1 to 256 bytes of text without control characters");
  }
  const auto parsed = vault::parse_memory_id(id);
  const auto info = parsed ? state.vault->find_bank_by_tag(parsed->tag) : std::nullopt;
  if (!info) throw no_such_memory(id);
  const auto opens = [&](std::string_view name) {
    return state.policy.decide_scope(state.request(name, info->name));
  };
  const policy::Decision scope = opens(tool);
  // A bank that may not be read in any way is not told from one that is not there.
  if (!scope.permitted && !opens(tool::kGet).permitted && !opens(tool::kSearch).permitted) {
    throw no_such_memory(id);
  }
  state.call_bank = info->name;
  if (!bank.empty() && bank != info->name) {
    throw Error::invalid("bank", "is not the one that the id names");
  }
  if (!scope.permitted) state.deny(info->name, tool, scope);
  Located located{state.open(info->name), parsed->first};
  if (!located.bank) throw no_such_memory(id);
  return located;
}

std::shared_ptr<vault::Bank> open_for_listing(MemoryService::State& state, const Banks& banks,
                                              std::string_view tool, policy::Decision& scope) {
  scope = state.policy.decide_scope(state.request(tool, banks.write));
  if (!scope.permitted) state.deny(banks.write, tool, scope);
  auto bank = state.open(banks.write);
  if (!bank && !banks.may_create) state.throw_unknown_bank(banks.write);
  return bank;
}

void note_narrowed(const MemoryService::State& state, std::string_view tool,
                   const std::string& bank, std::vector<std::string>& notes) {
  if (!state.policy.narrows_listing(state.request(tool, bank))) return;
  notes.emplace_back("The policy may leave some out of this list.");
}

std::string memory_cursor(vault::RecordId last) {
  return "m" + std::to_string(last);
}

vault::RecordId read_memory_cursor(const std::string& cursor) {
  vault::RecordId last = 0;
  const char* const end = cursor.data() + cursor.size();
  if (!cursor.empty() && cursor.front() == 'm') {
    const auto [at, error] = std::from_chars(cursor.data() + 1, end, last);
    if (error == std::errc() && at == end && last > 0) return last;
  }
  throw Error::invalid("cursor", "is not one that an earlier page gave");
}

const policy::Decision& TagDecisions::decide(const std::vector<std::string>& tags) {
  if (!decision_ || tags != tags_) {
    decision_ = state_.decide(tool_, bank_, tags);
    tags_ = tags;
  }
  return *decision_;
}

}  // namespace strongroom::service
