#include "service/memory_service.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "policy/secret_scanner.h"
#include "recall/tokens.h"
#include "service/erase.h"
#include "service/memory_words.h"
#include "service/state.h"
#include "vault/operations.h"

namespace strongroom::service {
namespace {

policy::ValueClass policy_class(vault::EntryClass entry_class) {
  return entry_class == vault::EntryClass::secret ? policy::ValueClass::secret
                                                  : policy::ValueClass::normal;
}

void check_key(std::string_view key) {
  if (key.empty()) throw Error::invalid("key", "must not be empty");
  if (key.size() > kMaxKeyBytes) throw Error::too_large("key", key.size(), kMaxKeyBytes);
  if (!valid_utf8(key)) throw Error::invalid("key", "is not valid UTF-8");
}

void check_remember(const RememberRequest& request) {
  check_key(request.key);
  if (request.value.size() > kMaxValueBytes) {
    throw Error::too_large("value", request.value.size(), kMaxValueBytes);
  }
  if (!valid_utf8(request.value)) throw Error::invalid("value", "is not valid UTF-8");
  if (request.form == ValueForm::json) Json::parse(request.value, "value");
  if (request.tags) check_tag_list(*request.tags, "tags");
  if (request.ttl_seconds && (*request.ttl_seconds < 1 || *request.ttl_seconds > kMaxTtlSeconds)) {
    throw Error::invalid("ttl_seconds", "must be from 1 to " + std::to_string(kMaxTtlSeconds));
  }
  check_operation_id(request.operation_id);
}

struct Credential {
  std::string field;
  std::string kind;
};

[[noreturn]] void throw_credential(const Credential& found) {
  throw Error::verbatim(Code::secret_detected, credential_text(found.field, found.kind));
}

// Names and tags are never secret, whatever the value's class is.
std::optional<Credential> credential_in_names(const RememberRequest& request) {
  if (const auto found = policy::find_credential(request.key)) {
    return Credential{"key", std::string(found->kind)};
  }
  for (std::size_t i = 0; request.tags && i < request.tags->size(); ++i) {
    if (const auto found = policy::find_credential((*request.tags)[i])) {
      return Credential{"tags[" + std::to_string(i) + "]", std::string(found->kind)};
    }
  }
  return std::nullopt;
}

std::string operation_bytes(const RememberRequest& request) {
  std::string bytes;
  const auto add = [&](std::string_view part) {
    vault::append_varint(bytes, part.size());
    bytes.append(part);
  };
  add(request.key);
  add(request.value);
  bytes.push_back(static_cast<char>(request.form));
  add(request.tags ? std::to_string(request.tags->size()) : "-");
  if (request.tags) {
    for (const std::string& tag : *request.tags) add(tag);
  }
  add(std::to_string(request.ttl_seconds.value_or(0)));
  add(request.entry_class ? std::to_string(static_cast<int>(*request.entry_class)) : "-");
  add(request.if_revision ? std::to_string(*request.if_revision) : "-");
  return bytes;
}

// The reply of a remembered operation: revision, time, class.
std::string encode_reply(const RememberResult& result) {
  std::string reply;
  vault::append_le(reply, result.revision);
  vault::append_le(reply, result.updated);
  reply.push_back(static_cast<char>(result.entry_class));
  return reply;
}

void decode_reply(std::string_view reply, RememberResult& result) {
  if (reply.size() != 17) vault::throw_corrupt("an operation's reply is malformed");
  result.revision = vault::load_le<std::uint64_t>(reply);
  result.updated = vault::load_le<TimeMs>(reply, 8);
  result.entry_class = static_cast<EntryClass>(reply[16] & 1);
  result.repeated = true;
}

std::vector<std::string_view> tag_views(const std::vector<std::string>& tags) {
  return {tags.begin(), tags.end()};
}

}  // namespace

std::uint64_t count_tokens(std::string_view text) noexcept {
  return recall::count_tokens(text);
}

MemoryService::MemoryService(ServiceOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

MemoryService::~MemoryService() {
  try {
    close();
  } catch (const std::exception&) {
    // Only buffered reads are lost, as after a kill; close() tells callers who ask.
  }
}

// ---- remember

namespace {

// One remember inside its write transaction.
class Remember {
 public:
  Remember(MemoryService::State& state, const RememberRequest& request, vault::Bank& bank)
      : state_(state), request_(request), bank_(bank), write_(bank.write(state.vault->stamp())) {}

  /// The denial, when policy decides against it; logging that needs the write transaction ended.
  std::optional<policy::Decision> run(RememberResult& result,
                                      const std::optional<Credential>& in_value) {
    const TimeMs now = now_ms();
    if (answered_before(result, now)) return std::nullopt;
    SecretBytes plain;
    const auto current = vault::find_entry(write_, request_.key, plain);
    const bool exists = current && current->entry && !current->entry->expired(now);
    const vault::Entry* const stored = exists ? &*current->entry : nullptr;
    const vault::EntryClass class_before = class_of(current);
    const vault::EntryClass entry_class =
        request_.entry_class ? static_cast<vault::EntryClass>(*request_.entry_class) : class_before;
    const std::vector<std::string> tags = choose_tags(stored);
    // Before the revision is compared: a conflict tells the caller what the revision is.
    const policy::Decision decision = decide(stored, tags, class_before, entry_class);
    if (!decision.permitted) return decision;
    check_revision(exists ? current->entry->revision : 0);
    if (in_value && entry_class == vault::EntryClass::normal && !request_.allow_secret) {
      throw_credential(*in_value);
    }
    vault::EntryDraft draft;
    draft.name = request_.key;
    draft.value = request_.value;
    draft.form = static_cast<vault::ValueForm>(request_.form);
    draft.entry_class = entry_class;
    draft.tags = tags;
    if (request_.ttl_seconds) draft.expires = now + *request_.ttl_seconds * 1000;
    draft.principal = state_.options.principal;
    draft.tool = tool::kRemember;
    draft.source = source_kind(state_.options.source);
    draft.session = state_.session;
    draft.trust = state_.options.source == "cli" ? vault::Trust::owner : vault::Trust::agent;
    const vault::PutResult put = vault::put_entry(write_, current, draft, state_.revisions, now);
    result.revision = put.revision;
    result.updated = now;
    result.entry_class = static_cast<EntryClass>(entry_class);
    if (!request_.operation_id.empty()) {
      vault::put_operation(write_, state_.options.principal, request_.operation_id,
                           {payload_, now, encode_reply(result)});
    }
    vault::sweep_operations(write_, now);
    vault::AuditEvent event = state_.event(tool::kRemember, decision.rule);
    event.record = put.id;
    event.bytes = request_.value.size();
    write_.log(std::move(event));
    write_.commit();
    return std::nullopt;
  }

 private:
  bool answered_before(RememberResult& result, TimeMs now) {
    if (request_.operation_id.empty()) return false;
    std::string bytes = operation_bytes(request_);
    payload_ = vault::operation_payload(bank_, bytes);
    wipe(bytes);
    const auto before =
        vault::find_operation(write_, state_.options.principal, request_.operation_id, now);
    if (!before) return false;
    if (before->payload != payload_) {
      throw Error(Code::conflict, "Conflict: operation_id was used for another write.");
    }
    decode_reply(before->reply, result);
    write_.log(state_.event(tool::kRemember, "repeated"));
    write_.commit();
    return true;
  }

  void check_revision(std::uint64_t revision) const {
    if (!request_.if_revision || *request_.if_revision == revision) return;
    throw Error::verbatim(
        Code::conflict, "Conflict: " + json_quoted(request_.key) + " is at revision " +
                            std::to_string(revision) + ", you sent " +
                            std::to_string(*request_.if_revision) + ". Read it again. [conflict]");
  }

  // Without tags an entry keeps those it has. A tag is there or not: twice is once.
  std::vector<std::string> choose_tags(const vault::Entry* current) const {
    if (!request_.tags) return current == nullptr ? std::vector<std::string>{} : current->tags();
    std::vector<std::string> tags;
    for (const std::string& tag : *request_.tags) {
      if (std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(tag);
    }
    return tags;
  }

  // Without a class a name keeps the one it has, also over a forget or an expiry: rotating a secret
  // must not open it, whatever an agent did to the name before.
  static vault::EntryClass class_of(const std::optional<vault::NamedEntry>& current) {
    if (!current) return vault::EntryClass::normal;
    return current->entry ? current->entry->entry_class : current->tombstone->entry_class;
  }

  policy::Decision decide(const vault::Entry* current, const std::vector<std::string>& new_tags,
                          vault::EntryClass class_before, vault::EntryClass entry_class) {
    policy::Request request = state_.request(tool::kRemember, bank_.name());
    request.key = request_.key;
    request.tags = tag_views(new_tags);
    request.value_class = policy_class(entry_class);
    policy::Decision decision = state_.policy.decide(request);
    if (decision.permitted && current != nullptr) {
      // What is overwritten counts as well: its tags and class may be protected.
      const std::vector<std::string> tags = current->tags();
      request.tags = tag_views(tags);
      request.value_class = policy_class(current->entry_class);
      policy::Decision on_current = state_.policy.decide(request);
      if (!on_current.permitted) decision = std::move(on_current);
    }
    if (decision.permitted && class_before == vault::EntryClass::secret &&
        entry_class == vault::EntryClass::normal) {
      // Later revisions keep the class, so opening it is as good as reading: who may not read a
      // secret may not open it either.
      request.tool = tool::kRecall;
      request.value_class = policy::ValueClass::secret;
      policy::Decision may_read = state_.policy.decide(request);
      if (!may_read.permitted) decision = std::move(may_read);
    }
    return decision;
  }

  MemoryService::State& state_;
  const RememberRequest& request_;
  vault::Bank& bank_;
  vault::BankWrite write_;
  crypto::Hash32 payload_{};
};

}  // namespace

RememberResult MemoryService::remember(const RememberRequest& request) {
  check_remember(request);
  std::optional<Credential> in_value;
  if (request.entry_class != EntryClass::secret && !request.allow_secret) {
    if (const auto found = policy::find_credential(request.value)) {
      in_value = Credential{"value", std::string(found->kind)};
    }
  }
  State& state = *state_;
  return state.call(tool::kRemember, [&]() -> RememberResult {
    const Banks banks = state.resolve(request.bank);
    if (state.options.read_only) state.deny(banks.write, tool::kRemember, read_only_denial());
    // Decided before anything is looked up or made: what is denied learns nothing.
    policy::Request first = state.request(tool::kRemember, banks.write);
    first.key = request.key;
    if (request.tags) first.tags = tag_views(*request.tags);
    if (request.entry_class) {
      first.value_class = policy_class(static_cast<vault::EntryClass>(*request.entry_class));
    }
    const bool complete = request.entry_class && request.tags;
    const policy::Decision decision =
        complete ? state.policy.decide(first) : state.policy.decide_scope(first);
    if (!decision.permitted) state.deny(banks.write, tool::kRemember, decision);
    if (!request.allow_secret) {
      if (const auto found = credential_in_names(request)) throw_credential(*found);
    }
    if (in_value && request.entry_class == EntryClass::normal) throw_credential(*in_value);
    const auto bank = state.open_for_write(banks, tool::kRemember);
    RememberResult result;
    result.key = request.key;
    result.place = {banks.write, banks.notes};
    const auto denied = Remember(state, request, *bank).run(result, in_value);
    if (denied) state.deny(banks.write, tool::kRemember, *denied);
    return result;
  });
}

// ---- recall

std::optional<RecalledValue> MemoryService::recall(const RecallRequest& request) {
  check_key(request.key);
  State& state = *state_;
  return state.call(tool::kRecall, [&]() -> std::optional<RecalledValue> {
    Banks banks = state.resolve(request.bank);
    SecretBytes plain;
    for (std::size_t i = 0; i < banks.read.size(); ++i) {
      const std::string& name = banks.read[i];
      policy::Request asked = state.request(tool::kRecall, name);
      asked.key = request.key;
      // Decided as an ordinary, untagged entry, which it mostly is. A name that is not permitted
      // even so is denied whether it exists or not, unless a permit for its class or tags may yet
      // fit.
      const std::string* rule = state.policy.permitting_rule(asked);
      if (rule == nullptr && !state.policy.decide_scope(asked).permitted) {
        if (i == 0) state.deny(name, tool::kRecall, state.policy.decide_scope(asked));
        banks.notes.push_back("The bank " + json_quoted(name) + " may not be read here.");
        continue;
      }
      const auto bank = state.open(name);
      if (!bank) {
        if (!banks.may_create) state.throw_unknown_bank(name);
        continue;
      }
      vault::BankRead view = bank->read();
      const auto found = vault::find_entry(view, request.key, plain);
      if (!found || !found->entry || found->entry->expired(state.last_call)) {
        if (rule == nullptr) state.deny(name, tool::kRecall, state.policy.decide(asked));
        state.log_read(bank, tool::kRecall, *rule, 0, 0, false);
        continue;
      }
      const vault::Entry& entry = *found->entry;
      RecalledValue value;
      value.tags = entry.tags();
      if (!value.tags.empty() || entry.entry_class == vault::EntryClass::secret) {
        asked.tags = tag_views(value.tags);
        asked.value_class = policy_class(entry.entry_class);
        rule = state.policy.permitting_rule(asked);
      }
      if (rule == nullptr) state.deny(name, tool::kRecall, state.policy.decide(asked));

      const std::uint64_t offset = std::min(request.offset, entry.bytes);
      // At least one whole character a part, so that reading part by part always gets on.
      const std::uint64_t wanted = std::max<std::uint64_t>(request.max_bytes, 4);
      std::uint64_t size = std::min(entry.bytes - offset, wanted);
      if (entry.entry_class == vault::EntryClass::secret) {
        vault::AuditEvent event = state.event(tool::kRecall, *rule);
        event.record = entry.id;
        event.bytes = size;
        state.log_now(bank, std::move(event));
      } else {
        state.log_read(bank, tool::kRecall, *rule, entry.id, size);
      }
      vault::read_value(view, entry, offset, size, value.value);
      if (size > 0 && (value.value.data()[0] & 0xC0) == 0x80) {
        throw Error::invalid("offset", "is inside a character");
      }
      if (offset + size < entry.bytes) {
        value.value.resize(utf8_whole_length(value.value.view()));
        size = value.value.size();
        value.next_offset = offset + size;
      }
      value.form = static_cast<ValueForm>(entry.form);
      value.entry_class = static_cast<EntryClass>(entry.entry_class);
      value.revision = entry.revision;
      value.created = entry.created;
      value.updated = entry.updated;
      value.expires = entry.expires;
      value.total_bytes = entry.bytes;
      value.principal = entry.principal;
      value.source = vault::source_name(entry.source);
      value.place = {name, std::move(banks.notes)};
      return value;
    }
    return std::nullopt;
  });
}

// ---- forget and history

ForgetResult MemoryService::forget(const ForgetRequest& request) {
  check_key(request.key);
  State& state = *state_;
  return state.call(tool::kForget, [&]() -> ForgetResult {
    const Banks banks = state.resolve(request.bank);
    if (state.options.read_only) state.deny(banks.write, tool::kForget, read_only_denial());
    policy::Request asked = state.request(tool::kForget, banks.write);
    asked.key = request.key;
    const policy::Decision scope = state.policy.decide_scope(asked);
    if (!scope.permitted) state.deny(banks.write, tool::kForget, scope);
    ForgetResult result;
    result.place = {banks.write, banks.notes};
    const auto bank = state.open(banks.write);
    if (!bank) {
      if (!banks.may_create) state.throw_unknown_bank(banks.write);
      return result;
    }
    policy::Decision decision;
    const auto work = [&] {
      vault::BankWrite write = bank->write(state.vault->stamp());
      SecretBytes plain;
      const TimeMs now = now_ms();
      const auto current = vault::find_entry(write, request.key, plain);
      const bool stored = current && current->entry;
      const std::vector<std::string> tags =
          stored ? current->entry->tags() : std::vector<std::string>{};
      asked.tags = tag_views(tags);
      if (stored) asked.value_class = policy_class(current->entry->entry_class);
      // Decided for an absent name as well, so that a denial does not tell which names exist.
      decision = state.policy.decide(asked);
      if (!decision.permitted) return;
      if (!stored) {
        vault::AuditEvent miss = state.event(tool::kForget, decision.rule);
        miss.error = code_name(Code::not_found);
        write.log(std::move(miss));
        write.commit();
        return;
      }
      // An expired entry is absent for the caller, and goes all the same.
      result.found = !current->entry->expired(now);
      vault::AuditEvent event = state.event(tool::kForget, decision.rule);
      const std::size_t revisions = 1 + current->entry->older_ids().size();
      event.record = vault::forget_entry(write, *current->entry, state.options.principal, now);
      if (request.erase) {
        result.receipt =
            mark_erased(write, event.record, now,
                        {std::to_string(revisions) + (revisions == 1 ? " revision" : " revisions") +
                             " of the value, with name and tags",
                         "replies that were kept for operation ids of the bank"});
      }
      vault::sweep_operations(write, now);
      write.log(std::move(event));
      write.commit();
    };
    try {
      work();
    } catch (const Error& error) {
      // On a full disk the reserve makes room for exactly this.
      if (error.code() != Code::no_space || !state.vault->give_up_reserve()) throw;
      result.found = false;
      result.receipt.reset();
      work();
    }
    if (!decision.permitted && !decision.rule.empty()) {
      state.deny(banks.write, tool::kForget, decision);
    }
    return result;
  });
}

std::optional<std::vector<Revision>> MemoryService::history(std::string_view key,
                                                            const std::string& bank_name) {
  check_key(key);
  State& state = *state_;
  return state.call(tool::kRecall, [&]() -> std::optional<std::vector<Revision>> {
    const Banks banks = state.resolve(bank_name);
    for (const std::string& name : banks.read) {
      policy::Request asked = state.request(tool::kRecall, name);
      asked.key = key;
      const policy::Decision scope = state.policy.decide_scope(asked);
      if (!scope.permitted) {
        // A shared bank that may not be read is left out, as in recall().
        if (name != banks.read.front()) continue;
        state.deny(name, tool::kRecall, scope);
      }
      const auto bank = state.open(name);
      if (!bank) {
        if (!banks.may_create) state.throw_unknown_bank(name);
        continue;
      }
      vault::BankRead view = bank->read();
      SecretBytes plain;
      const auto found = vault::find_entry(view, key, plain);
      const bool stored = found && found->entry && !found->entry->expired(state.last_call);
      const std::vector<std::string> tags =
          stored ? found->entry->tags() : std::vector<std::string>{};
      asked.tags = tag_views(tags);
      if (stored) asked.value_class = policy_class(found->entry->entry_class);
      const policy::Decision decision = state.policy.decide(asked);
      if (!decision.permitted) state.deny(name, tool::kRecall, decision);
      if (!stored) {
        state.log_read(bank, tool::kRecall, decision.rule, 0, 0, false);
        continue;
      }
      std::vector<vault::RecordId> ids{found->entry->id};
      for (const vault::RecordId id : found->entry->older_ids()) ids.push_back(id);
      std::vector<Revision> revisions;
      for (const vault::RecordId id : ids) {
        const vault::Entry entry = vault::open_entry(view, id, plain);
        revisions.push_back({entry.revision, entry.updated, entry.bytes,
                             static_cast<EntryClass>(entry.entry_class),
                             std::string(entry.principal),
                             std::string(vault::source_name(entry.source)), entry.tags()});
      }
      state.log_read(bank, tool::kRecall, decision.rule, ids.front(), 0);
      return revisions;
    }
    return std::nullopt;
  });
}

// ---- life

void MemoryService::flush_audit() {
  const std::lock_guard lock(state_->mutex);
  try {
    state_->flush_in_passing();
  } catch (const Error& error) {
    // As after a call: the database may refuse to go on until it is opened again.
    if (error.code() == Code::uncertain || error.code() == Code::io) state_->close_vault();
    throw;
  }
}

void MemoryService::close_if_idle(TimeMs idle) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->vault || now_ms() - state_->last_call < idle) return;
  if (state_->flush_in_passing()) state_->close_vault();
}

void MemoryService::close() {
  const std::lock_guard lock(state_->mutex);
  state_->flush();
  state_->close_vault();
}

}  // namespace strongroom::service
