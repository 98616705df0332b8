// observe: an observation with the memories that it rests on.
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "recall/tokens.h"
#include "service/memory_changes.h"
#include "service/memory_words.h"
#include "service/observations.h"
#include "service/operation_payload.h"
#include "service/retain.h"
#include "vault/operations.h"

namespace strongroom::service {
namespace {

std::string source_field(std::size_t i, const char* member) {
  return "sources[" + std::to_string(i) + "]." + member;
}

void check_observe(const ObserveRequest& request) {
  check_content(request.text, "text", kMaxContentBytes);
  if (recall::count_tokens(request.text) > recall::kMaxMemoryTokens) {
    throw Error::invalid("text", "has more than 2000 tokens; an observation is one thought");
  }
  if (recall::is_recall_output(request.text, nullptr)) {
    throw Error::invalid("text", "is an answer of recall; say what follows from it");
  }
  if (request.sources.empty()) throw Error::invalid("sources", "must have at least one source");
  if (request.sources.size() > kMaxSources) {
    throw Error::invalid("sources", "has more than 32 sources");
  }
  for (std::size_t i = 0; i < request.sources.size(); ++i) {
    check_name(request.sources[i].id, source_field(i, "id"));
    check_content(request.sources[i].quote, source_field(i, "quote"), kMaxQuoteBytes);
  }
  check_tag_list(request.tags, "tags");
  if (request.importance) check_importance(*request.importance, "importance");
  if (!request.refines.empty()) check_name(request.refines, "refines");
  check_operation_id(request.operation_id);
  refuse_credential(request.text, "text");
  for (std::size_t i = 0; i < request.tags.size(); ++i) {
    refuse_credential(request.tags[i], "tags[" + std::to_string(i) + "]");
  }
  for (std::size_t i = 0; i < request.sources.size(); ++i) {
    refuse_credential(request.sources[i].quote, source_field(i, "quote"));
  }
}

// One call inside its write transaction.
class Observe {
 public:
  Observe(MemoryService::State& state, const ObserveRequest& request,
          const std::shared_ptr<vault::Bank>& bank)
      : state_(state),
        request_(request),
        bank_(bank),
        changes_(state, bank, tool::kObserve),
        decisions_(state, tool::kObserve, bank->name()) {}

  /// The denial, when policy decides against it: it is logged when this transaction has ended.
  std::optional<policy::Decision> run(ObserveResult& result) {
    decision_ = decisions_.decide(request_.tags);
    const std::string rule = decision_.rule;
    if (!decision_.permitted) return decision_;
    if (answered_before(result)) {
      finish("repeated", 0);
      return std::nullopt;
    }
    for (std::size_t i = 0; i < request_.sources.size(); ++i) {
      read_source(i);
      if (!decision_.permitted) return decision_;
    }
    const std::optional<vault::RecordId> refined = find_refined();
    if (!decision_.permitted) return decision_;
    std::string normalized = recall::normalized(request_.text);
    const auto original = find_original(changes_, decisions_, request_.text, normalized, refined);
    vault::RecordId record = 0;
    if (original) {
      result.status = "duplicate";
      result.id = public_id(*original);
    } else {
      record = store(normalized, refined, result);
    }
    wipe(normalized);
    remember_reply(result);
    finish(rule, record);
    return std::nullopt;
  }

 private:
  struct Quoted {
    vault::RecordId first = 0;
    SourceState state;
    std::vector<std::string> quotes;
  };

  std::string public_id(vault::RecordId first) const {
    return vault::memory_id(bank_->tag(), first);
  }

  // A memory that an id of the request names. Decided for an unknown one as well, so that a denial
  // does not tell which ids exist. nullopt: denied.
  std::optional<vault::Memory> read(const std::string& id, const std::string& field) {
    const auto parsed = vault::parse_memory_id(id);
    if (!parsed) throw no_such_memory(id);
    if (parsed->tag != bank_->tag()) throw Error::invalid(field, "is not of the same bank");
    const auto found = vault::find_memory(changes_.bank(), parsed->first, plain_);
    const bool stored = found && found->memory && !found->memory->expired(changes_.now());
    const auto tags = stored ? found->memory->tags() : std::vector<std::string>();
    decision_ = decisions_.decide(tags);
    // A quote that is found tells what the text says: only who may read it may ask.
    const auto reads = [&](std::string_view name) {
      return state_.decide(name, bank_->name(), tags);
    };
    if (decision_.permitted && !reads(tool::kSearch).permitted) decision_ = reads(tool::kGet);
    if (!decision_.permitted) return std::nullopt;
    if (!stored) throw no_such_memory(id);
    return found->memory;
  }

  void read_source(std::size_t i) {
    const ObservedSource& source = request_.sources[i];
    const auto memory = read(source.id, source_field(i, "id"));
    if (!memory) return;
    if (memory->invalidated) {
      throw Error::invalid(source_field(i, "id"), "names a memory that is not valid");
    }
    if (memory->text.find(source.quote) == std::string_view::npos) {
      throw Error::invalid(source_field(i, "quote"),
                           "is not in the text of that memory, word for word");
    }
    const auto at = std::find_if(quoted_.begin(), quoted_.end(),
                                 [&](const Quoted& one) { return one.first == memory->first; });
    if (at == quoted_.end()) {
      quoted_.push_back({memory->first, {true, memory->mentioned}, {source.quote}});
    } else {
      at->quotes.push_back(source.quote);
    }
    // No more is known than the least trusted of them says.
    trust_ = std::max(trust_, memory->trust);
  }

  std::optional<vault::RecordId> find_refined() {
    if (request_.refines.empty()) return std::nullopt;
    const auto memory = read(request_.refines, "refines");
    if (!memory) return std::nullopt;
    if (memory->type != vault::MemoryType::observation) {
      throw Error::invalid("refines", "names a memory that is no observation");
    }
    if (memory->superseded_by != 0) {
      throw Error::invalid("refines",
                           "names an observation that has been replaced; refine the "
                           "one that replaced it");
    }
    for (const Quoted& one : quoted_) {
      if (one.first == memory->first) {
        throw Error::invalid("refines", "names one of the sources");
      }
    }
    return memory->first;
  }

  vault::RecordId store(std::string_view normalized, std::optional<vault::RecordId> refined,
                        ObserveResult& result) {
    vault::MemoryDraft draft;
    draft.text = request_.text;
    draft.type = vault::MemoryType::observation;
    draft.importance = request_.importance.value_or(0.5);
    draft.mentioned = changes_.now();
    draft.tags = distinct(request_.tags);
    draft.trust = std::max(state_.trust(), trust_);
    draft.refines = refined.value_or(0);
    std::vector<SourceState> states;
    for (const Quoted& one : quoted_) {
      draft.sources.push_back(one.first);
      states.push_back(one.state);
    }
    changes_.sign(draft);
    const vault::RecordId id = changes_.add(draft, 0, normalized).id;
    for (Quoted& one : quoted_) changes_.link_quotes(id, one.first, std::move(one.quotes));
    if (refined) {
      const auto old = vault::find_memory(changes_.bank(), *refined, plain_);
      if (!old || !old->memory) vault::throw_corrupt("an observation is gone");
      changes_.supersede(*old->memory, id);
      result.affected.push_back(public_id(*refined));
    }
    result.status = "stored";
    result.id = public_id(id);
    result.trend = observation_trend(states, refined.has_value(), changes_.now(), changes_.now());
    return id;
  }

  // ---- the same operation again

  bool answered_before(ObserveResult& result) {
    if (request_.operation_id.empty()) return false;
    {
      OperationPayload payload;
      payload.text(tool::kObserve);
      payload.text(request_.text);
      for (const ObservedSource& source : request_.sources)
        payload.texts({source.id, source.quote});
      payload.texts(request_.tags);
      payload.optional(request_.importance);
      payload.text(request_.refines);
      payload_ = vault::operation_payload(*bank_, payload.bytes());
    }
    const auto before = vault::find_operation(changes_.bank(), state_.options.principal,
                                              request_.operation_id, changes_.now());
    if (!before) return false;
    if (before->payload != payload_) {
      throw Error(Code::conflict, "Conflict: operation_id was used for another write.");
    }
    std::string_view reply = before->reply;
    result.status = take_reply_text(reply);
    result.id = take_reply_text(reply);
    result.trend = take_reply_text(reply);
    const bool stored = result.status == "stored";
    if (stored && !request_.refines.empty()) result.affected.push_back(request_.refines);
    result.repeated = true;
    return true;
  }

  void remember_reply(const ObserveResult& result) {
    if (request_.operation_id.empty()) return;
    std::string reply;
    append_reply_text(reply, result.status);
    append_reply_text(reply, result.id);
    append_reply_text(reply, result.trend);
    vault::put_operation(changes_.bank(), state_.options.principal, request_.operation_id,
                         {payload_, changes_.now(), std::move(reply)});
  }

  void finish(const std::string& rule, vault::RecordId record) {
    vault::AuditEvent event = state_.event(tool::kObserve, rule);
    event.record = record;
    if (record != 0) event.bytes = request_.text.size();
    changes_.bank().log(std::move(event));
    changes_.commit();
  }

  MemoryService::State& state_;
  const ObserveRequest& request_;
  std::shared_ptr<vault::Bank> bank_;
  MemoryChanges changes_;
  TagDecisions decisions_;
  policy::Decision decision_;
  std::vector<Quoted> quoted_;
  vault::Trust trust_ = vault::Trust::owner;
  crypto::Hash32 payload_{};
  SecretBytes plain_;
};

}  // namespace

ObserveResult MemoryService::observe(const ObserveRequest& request) {
  check_observe(request);
  State& state = *state_;
  return state.call(tool::kObserve, [&]() -> ObserveResult {
    const Located at = locate(state, request.sources.front().id, request.bank, tool::kObserve);
    const std::string& name = at.bank->name();
    if (state.options.read_only) state.deny(name, tool::kObserve, read_only_denial());
    ObserveResult result;
    result.bank = name;
    if (const auto denied = Observe(state, request, at.bank).run(result)) {
      state.deny(name, tool::kObserve, *denied);
    }
    return result;
  });
}

}  // namespace strongroom::service
