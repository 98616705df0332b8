#include "service/retain.h"

#include <algorithm>

#include "base/error.h"
#include "recall/splitter.h"
#include "recall/tokens.h"

namespace strongroom::service {

Retain::Retain(MemoryService::State& state, const RetainRequest& request,
               const std::shared_ptr<vault::Bank>& bank, Rejections rejections, std::string rule)
    : state_(state),
      request_(request),
      items_(request.items),
      bank_(bank),
      rejections_(std::move(rejections)),
      rule_(std::move(rule)),
      changes_(state, bank, tool::kRetain),
      decisions_(state, tool::kRetain, bank->name()) {}

Retain::~Retain() = default;

void Retain::run(RetainResult& result) {
  result_ = &result;
  if (answered_before(result)) {
    changes_.bank().log(state_.event(tool::kRetain, "repeated"));
  } else {
    result.items.assign(items_.size(), {});
    store_items();
  }
  for (const RetainedItem& item : result.items) {
    if (item.status == ItemStatus::stored || item.status == ItemStatus::duplicate) ++result.count;
  }
  if (!result.repeated) {
    // A call that stored nothing is not remembered: the next one may do better.
    if (result.count > 0) remember_reply(result);
    log(result);
  }
  changes_.commit();
  if (state_.vectors_problem.empty()) return;
  result.warning = state_.vectors_problem;
  result.notes.push_back(result.warning);
}

void Retain::log(const RetainResult& result) {
  vault::AuditEvent event = state_.event(tool::kRetain, rule_);
  event.record = first_stored_;
  event.count = items_.size();
  event.bytes = bytes_;
  if (result.count == 0) {
    const auto rejected = std::find_if(rejections_.begin(), rejections_.end(),
                                       [](const auto& rejection) { return rejection.has_value(); });
    const Code code = rejected == rejections_.end() ? Code::invalid : (*rejected)->code;
    event.permitted = code == Code::invalid;
    event.error = code_name(code);
  }
  changes_.bank().log(std::move(event));
}

// An import's texts, but not those of documents and of speakers, which are cut or added to.
void Retain::embed_ahead() {
  if (items_.size() <= kNearDuplicateItems) return;
  std::vector<std::string_view> passages;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const RetainItem& item = items_[i];
    const bool whole = item.document_id.empty() && item.speaker.empty();
    if (whole && !rejections_[i] && recall::split_passages(item.content).size() == 1) {
      passages.push_back(item.content);
    }
  }
  changes_.embed_ahead(passages);
}

void Retain::store_items() {
  embed_ahead();
  std::unordered_map<std::string_view, Group> groups;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!rejections_[i] && !items_[i].document_id.empty()) {
      groups[items_[i].document_id].push_back(i);
    }
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (rejections_[i]) {
      reject(i, rejections_[i]->code, std::string(rejections_[i]->reason));
      continue;
    }
    if (items_[i].document_id.empty()) {
      store_single(i);
      continue;
    }
    // All of a document with its first item.
    const Group& group = groups[items_[i].document_id];
    if (group.front() == i) store_group(group);
  }
}

// ---- one memory

void Retain::store_single(std::size_t i) {
  const std::string_view content = items_[i].content;
  std::vector<std::string_view> bullets;
  if (recall::is_recall_output(content, &bullets) && judge_recall_output(i, bullets)) return;
  if (recall::count_tokens(content) > recall::kMaxMemoryTokens) {
    store_long(i);
  } else {
    store_memory(i);
  }
}

void Retain::store_memory(std::size_t i) {
  const RetainItem& item = items_[i];
  std::string normalized = recall::normalized(item.content);
  if (const auto original = find_original(changes_, decisions_, item.content, normalized)) {
    set_duplicate(i, *original);
  } else {
    std::vector<vault::RecordId> similar;
    if (items_.size() <= kNearDuplicateItems) similar = find_similar(item.content, normalized);
    vault::MemoryDraft draft = draft_of(item);
    draft.text = item.content;
    const MemoryChanges::Added added = changes_.add(draft, 0, normalized);
    set_stored(i, added.id, 1);
    if (!similar.empty()) link_similar(i, added.id, similar);
  }
  wipe(normalized);
}

vault::MemoryDraft Retain::draft_of(const RetainItem& item) const {
  vault::MemoryDraft draft;
  const bool turn = !item.speaker.empty() || item.position;
  const MemoryType type = item.type.value_or(turn ? MemoryType::experience : MemoryType::world);
  draft.type = static_cast<vault::MemoryType>(type);
  draft.importance = item.importance.value_or(0.5);
  draft.mentioned = item.timestamp.value_or(changes_.now());
  draft.occurred_start = item.occurred_start;
  draft.occurred_end = item.occurred_end;
  draft.expires = item.expires_at;
  draft.context = item.context;
  draft.speaker = item.speaker;
  draft.source_label = request_.source;
  draft.position = item.position;
  if (!item.tags.empty()) draft.tags = distinct(item.tags);
  if (!item.entities.empty()) draft.entities = distinct(item.entities);
  if (!item.metadata.empty()) draft.metadata = item.metadata;
  draft.trust = state_.trust();
  changes_.sign(draft);
  return draft;
}

// ---- repeats

vault::Memory open_row(vault::BankRead& bank, recall::Row row,
                       const recall::RowAttributes& attributes, SecretBytes& plain) {
  const vault::Memory memory = vault::open_memory(bank, attributes.record, plain);
  if (row < memory.row || row - memory.row >= memory.rows) {
    vault::throw_corrupt("a row of the index leads to another memory");
  }
  return memory;
}

std::optional<vault::RecordId> find_original(MemoryChanges& changes, TagDecisions& decisions,
                                             std::string_view text, std::string_view normalized,
                                             std::optional<vault::RecordId> except) {
  if (normalized.empty()) return std::nullopt;
  SecretBytes plain;
  for (const recall::Row row : changes.rows().find_fingerprint(normalized)) {
    const recall::RowAttributes attributes = changes.rows().attributes(row);
    if (attributes.closed || attributes.dead) continue;
    if (attributes.timed && changes.rows().times(row).expires <= changes.now()) continue;
    const vault::Memory memory = open_row(changes.bank(), row, attributes, plain);
    if (memory.first == except || !memory.current(changes.now())) continue;
    if (!decisions.permits(memory.tags())) continue;
    if (memory.text == text || recall::normalized(memory.text) == normalized) return memory.first;
  }
  return std::nullopt;
}

// A bullet names its memory, "(id: ...)" at its end, and may show its text shortened. One that says
// anything else is news, whatever it is labelled with.
std::optional<vault::RecordId> Retain::find_named(std::string_view bullet,
                                                  std::string_view normalized) {
  constexpr std::string_view kMark = "(id: ";
  const std::size_t at = bullet.rfind(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view id = bullet.substr(at + kMark.size());
  id = id.substr(0, id.find(')'));
  const auto parsed = vault::parse_memory_id(id);
  if (!parsed || parsed->tag != bank_->tag()) return std::nullopt;
  const auto found = vault::find_memory(changes_.bank(), parsed->first, plain_);
  if (!found || !found->memory || !found->memory->current(changes_.now()) ||
      !may_touch(*found->memory)) {
    return std::nullopt;
  }
  std::string text = recall::normalized(found->memory->text);
  const bool shortened = text.compare(0, normalized.size(), normalized) == 0;
  wipe(text);
  return shortened ? std::optional(parsed->first) : std::nullopt;
}

// What recall answered is not retained again. False when nothing of it is known here.
bool Retain::judge_recall_output(std::size_t i, const std::vector<std::string_view>& bullets) {
  std::optional<vault::RecordId> first;
  std::size_t known = 0;
  for (const std::string_view bullet : bullets) {
    std::string normalized = recall::normalized(bullet);
    auto original = find_original(changes_, decisions_, bullet, normalized);
    if (!original) original = find_named(bullet, normalized);
    wipe(normalized);
    if (!original) continue;
    ++known;
    if (!first) first = original;
  }
  if (known == 0) return false;
  if (known == bullets.size()) {
    set_duplicate(i, *first);
  } else {
    reject(i, Code::invalid,
           "It is an answer of recall, of which " + std::to_string(known) + " of " +
               std::to_string(bullets.size()) +
               " results are stored already. Retain the new facts alone, one an item.");
  }
  return true;
}

// ---- results

std::string Retain::public_id(vault::RecordId first) const {
  return vault::memory_id(bank_->tag(), first);
}

void Retain::set_stored(std::size_t i, vault::RecordId first, std::uint64_t memories) {
  RetainedItem& item = result_->items[i];
  item.id = public_id(first);
  item.status = ItemStatus::stored;
  item.memories = memories;
  item.document_id = items_[i].document_id;
  if (first_stored_ == 0) first_stored_ = first;
  bytes_ += items_[i].content.size();
}

void Retain::set_duplicate(std::size_t i, vault::RecordId first, std::uint64_t memories) {
  RetainedItem& item = result_->items[i];
  item.id = public_id(first);
  item.status = ItemStatus::duplicate;
  item.memories = memories;
  item.document_id = items_[i].document_id;
}

void Retain::reject(std::size_t i, Code code, std::string reason) {
  RetainedItem& item = result_->items[i];
  item.status = ItemStatus::rejected;
  item.memories = 0;
  item.reason = std::move(reason);
  if (!rejections_[i]) rejections_[i] = {code, item.reason};
}

// ---- the call

namespace {

// Each item by its own tags. All denied is a call denied.
void decide_items(MemoryService::State& state, const RetainRequest& request,
                  const std::string& bank, Rejections& rejections, std::string& rule) {
  TagDecisions decisions(state, tool::kRetain, bank);
  std::optional<policy::Decision> denied;
  std::size_t permitted = 0;
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const policy::Decision& decision = decisions.decide(request.items[i].tags);
    if (decision.permitted) {
      ++permitted;
      if (rule.empty()) rule = decision.rule;
      continue;
    }
    // What is denied is not judged further: it learns nothing but that.
    rejections[i] = {Code::denied, decision.text()};
    if (!denied) denied = decision;
  }
  if (permitted == 0) state.deny(bank, tool::kRetain, *denied);
}

// Nothing of the call can be stored: no bank is made for it, and no one is waited for.
void reject_all(MemoryService::State& state, const std::shared_ptr<vault::Bank>& bank,
                const Rejections& rejections, const std::string& rule, RetainResult& result) {
  for (const auto& rejection : rejections) {
    RetainedItem item;
    item.status = ItemStatus::rejected;
    item.memories = 0;
    item.reason = rejection->reason;
    result.items.push_back(std::move(item));
  }
  vault::AuditEvent event = state.event(tool::kRetain, rule);
  event.count = rejections.size();
  event.permitted = rejections.front()->code == Code::invalid;
  event.error = code_name(rejections.front()->code);
  state.log_now(bank, std::move(event));
}

}  // namespace

RetainResult MemoryService::retain(const RetainRequest& request) {
  check_retain(request);
  Rejections rejections = find_credentials(request);
  State& state = *state_;
  return state.call(tool::kRetain, [&]() -> RetainResult {
    const Banks banks = state.resolve(request.bank);
    if (state.options.read_only) state.deny(banks.write, tool::kRetain, read_only_denial());
    const policy::Decision scope =
        state.policy.decide_scope(state.request(tool::kRetain, banks.write));
    if (!scope.permitted) state.deny(banks.write, tool::kRetain, scope);
    std::string rule;
    decide_items(state, request, banks.write, rejections, rule);

    RetainResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    const bool none = std::all_of(rejections.begin(), rejections.end(),
                                  [](const auto& rejection) { return rejection.has_value(); });
    if (none) {
      auto bank = state.open(banks.write);
      if (!bank && !banks.may_create) state.throw_unknown_bank(banks.write);
      if (!bank) bank = state.open(std::string(vault::kGlobalBank));
      reject_all(state, bank, rejections, rule, result);
      return result;
    }
    const auto bank = state.open_for_write(banks, tool::kRetain);
    Retain(state, request, bank, std::move(rejections), std::move(rule)).run(result);
    return result;
  });
}

}  // namespace strongroom::service
