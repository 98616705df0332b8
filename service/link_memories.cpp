// memory_link: a typed link between memories or entities.
#include "base/error.h"
#include "service/memory_changes.h"
#include "service/memory_words.h"

namespace strongroom::service {
namespace {

void check_link(const LinkRequest& request) {
  check_name(request.from, "from");
  check_name(request.to, "to");
  check_name(request.relation, "relation");
  if (request.from == request.to) throw Error::invalid("to", "is the same as from");
  check_time(request.valid_from, "valid_from");
  check_time(request.valid_until, "valid_until");
  if (request.valid_from && request.valid_until && *request.valid_until < *request.valid_from) {
    throw Error::invalid("valid_until", "is before valid_from");
  }
  refuse_credential(request.from, "from");
  refuse_credential(request.to, "to");
  refuse_credential(request.relation, "relation");
}

// The bank that an end names. What only looks like an id ("redis-7") is an entity's name; so is an
// id of a bank that this principal may not read, which is not told from one that is not there.
std::optional<std::string> bank_of(MemoryService::State& state, const std::string& end) {
  const auto parsed = vault::parse_memory_id(end);
  const auto info = parsed ? state.vault->find_bank_by_tag(parsed->tag) : std::nullopt;
  if (!info) return std::nullopt;
  for (const std::string_view name : {tool::kLink, tool::kGet, tool::kSearch}) {
    if (state.policy.decide_scope(state.request(name, info->name)).permitted) return info->name;
  }
  return std::nullopt;
}

// The bank of the ends; without one of them that is a memory, the one that the call is for.
Banks choose_bank(MemoryService::State& state, const LinkRequest& request) {
  const auto from = bank_of(state, request.from), to = bank_of(state, request.to);
  if (from && to && *from != *to) {
    throw Error::invalid("to", "is of another bank than from");
  }
  if (!from && !to) return state.resolve(request.bank);
  Banks banks;
  banks.write = from ? *from : *to;
  state.call_bank = banks.write;
  if (!request.bank.empty() && request.bank != banks.write) {
    throw Error::invalid("bank", "is not the one that the ids name");
  }
  return banks;
}

class LinkChange {
 public:
  LinkChange(MemoryService::State& state, const LinkRequest& request,
             const std::shared_ptr<vault::Bank>& bank)
      : state_(state), request_(request), bank_(bank), changes_(state, bank, tool::kLink) {}

  /// The denial, when policy decides against it.
  std::optional<policy::Decision> run(LinkResult& result) {
    decision_ = state_.decide(tool::kLink, bank_->name(), {});
    vault::Link link;
    link.from = end_of(request_.from);
    link.to = end_of(request_.to);
    if (!decision_.permitted) return decision_;
    link.relation = request_.relation;
    link.valid_from = request_.valid_from;
    link.valid_until = request_.valid_until;
    link.principal = state_.options.principal;
    if (request_.remove) {
      const auto old = vault::find_link(changes_.bank(), link.from, link.to, link.relation);
      if (!old) throw Error(Code::not_found, "There is no such link.");
      if (!old->quotes.empty()) {
        throw Error::invalid("relation",
                             "of this link is what an observation rests on; it goes "
                             "with the observation or with the memory");
      }
      link = *old;
      vault::remove_link(changes_.bank(), link.from, link.to, link.relation);
      result.status = "removed";
    } else {
      result.status = vault::put_link(changes_.bank(), link, changes_.now()) ? "linked" : "updated";
    }
    result.link = {request_.from, request_.to, link.relation, link.valid_from, link.valid_until};
    vault::AuditEvent event = state_.event(tool::kLink, decision_.rule);
    event.record = link.id;
    changes_.bank().log(std::move(event));
    changes_.commit();
    return std::nullopt;
  }

 private:
  vault::LinkEnd end_of(const std::string& name) {
    vault::LinkEnd end;
    const auto parsed = vault::parse_memory_id(name);
    if (!parsed || parsed->tag != bank_->tag()) {
      end.entity = name;
      return end;
    }
    SecretBytes plain;
    const auto found = vault::find_memory(changes_.bank(), parsed->first, plain);
    const bool stored = found && found->memory && !found->memory->expired(changes_.now());
    if (stored && decision_.permitted) {
      decision_ = state_.decide(tool::kLink, bank_->name(), found->memory->tags());
    }
    if (!stored && decision_.permitted) throw no_such_memory(name);
    end.memory = parsed->first;
    return end;
  }

  MemoryService::State& state_;
  const LinkRequest& request_;
  std::shared_ptr<vault::Bank> bank_;
  MemoryChanges changes_;
  policy::Decision decision_;
};

}  // namespace

LinkResult MemoryService::link_memories(const LinkRequest& request) {
  check_link(request);
  State& state = *state_;
  return state.call(tool::kLink, [&]() -> LinkResult {
    const Banks banks = choose_bank(state, request);
    if (state.options.read_only) state.deny(banks.write, tool::kLink, read_only_denial());
    const policy::Decision scope =
        state.policy.decide_scope(state.request(tool::kLink, banks.write));
    if (!scope.permitted) state.deny(banks.write, tool::kLink, scope);
    const auto bank = state.open_for_write(banks, tool::kLink);
    LinkResult result;
    result.bank = banks.write;
    result.notes = banks.notes;
    if (const auto denied = LinkChange(state, request, bank).run(result)) {
      state.deny(banks.write, tool::kLink, *denied);
    }
    return result;
  });
}

}  // namespace strongroom::service
