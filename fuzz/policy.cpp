// A policy and a request: policy text NUL principal NUL tool NUL bank NUL source NUL key NUL tags.
#include "policy/policy.h"

#include <optional>

#include "fuzz/fuzz.h"

using namespace strongroom;
using policy::Policy;

FUZZ_TARGET(input) {
  const std::string_view text = fuzz::take_part(input);
  std::optional<Policy> rules;
  if (!fuzz::accepts({Code::invalid, Code::unsupported, Code::too_large},
                     [&] { rules = Policy::parse(text); })) {
    return;
  }
  policy::Request request;
  request.principal = fuzz::take_part(input);
  request.tool = fuzz::take_part(input);
  request.bank = fuzz::take_part(input);
  request.source = fuzz::take_part(input);
  if (!input.empty()) request.key = fuzz::take_part(input);
  while (!input.empty()) request.tags.push_back(fuzz::take_part(input));
  for (const auto value_class : {policy::ValueClass::normal, policy::ValueClass::secret}) {
    request.value_class = value_class;
    const policy::Decision decision = rules->decide(request);
    fuzz::require(decision.permitted == rules->permits(request), "the fast path agrees");
    const std::string* const rule = rules->permitting_rule(request);
    fuzz::require((rule != nullptr) == decision.permitted, "a permit has a rule");
    if (rule != nullptr) fuzz::require(*rule == decision.rule, "both name the same rule");
    fuzz::require(!decision.rule.empty(), "every decision names a rule");
    bool permit = false, forbid = false;
    for (const policy::RuleTrace& step : rules->explain(request)) {
      if (!step.matched) continue;
      (step.effect == policy::Effect::permit ? permit : forbid) = true;
    }
    fuzz::require(decision.permitted == (permit && !forbid), "the explanation agrees");
    if (decision.permitted) {
      fuzz::require(rules->decide_scope(request).permitted, "a scope never hides a permit");
    }
  }
  (void)rules->warnings();
}
