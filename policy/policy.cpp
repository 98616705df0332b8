#include "policy/policy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace strongroom::policy {
namespace {

// Every name that is only configured starts so; a grant's name never does.
constexpr std::string_view kLabelPrefix = "local:";

constexpr std::uint8_t kAllClasses = 3;
constexpr std::array kClasses = {ValueClass::normal, ValueClass::secret};

std::string quoted(std::string_view name) {
  return "\"" + escape_for_display(name) + "\"";
}

// `agent_recall on class secret in bank "work" for local:mcp`. Class normal goes without saying.
std::string describe(const Request& request, bool with_class) {
  std::string text = request.tool.empty() ? "this call" : escape_for_display(request.tool);
  if (with_class && request.value_class == ValueClass::secret) text += " on class secret";
  if (!request.bank.empty()) text += " in bank " + quoted(request.bank);
  if (!request.principal.empty()) text += " for " + escape_for_display(request.principal);
  return text;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t after_star = std::string_view::npos;  // where to resume: behind the last star,
  std::size_t resume = 0;                           // with the star taking one byte more
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      if (p == pattern.size()) return true;
      if (pattern[p] != '*') t = std::min(text.find(pattern[p], t), text.size());
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      t = resume = std::min(text.find(pattern[p], resume + 1), text.size());
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Policy::Pattern::Pattern(std::string glob)
    : text(std::move(glob)), literal(std::min(text.find('*'), text.size())), form(Form::general) {
  if (literal == text.size()) {
    form = Form::exact;
  } else if (text.find_first_not_of('*', literal) == std::string::npos) {
    form = literal == 0 ? Form::any : Form::prefix;
  }
}

bool Policy::Pattern::matches(std::string_view value) const noexcept {
  switch (form) {
    case Form::any: return true;
    case Form::exact: return value == text;
    case Form::prefix:
      // One byte at each end rejects most values without a call.
      return value.size() >= literal && value[0] == text[0] &&
             value[literal - 1] == text[literal - 1] &&
             value.starts_with(std::string_view(text).substr(0, literal));
    case Form::general: return glob_match(text, value);
  }
  return false;
}

/// What a rule says about a request, and how rules relate to each other.
struct RuleLogic {
  using Rule = Policy::Rule;
  using Patterns = Policy::Patterns;

  static bool any_matches(const Patterns& patterns, std::string_view value) noexcept {
    for (const auto& pattern : patterns)
      if (pattern.matches(value)) return true;
    return false;
  }

  // A value that is always there; an empty list of patterns matches it.
  static bool accepts(const Patterns& patterns, std::string_view value) noexcept {
    return patterns.empty() || any_matches(patterns, value);
  }

  // A value whose absence is written as the empty string.
  static bool accepts_present(const Patterns& patterns, std::string_view value) noexcept {
    return patterns.empty() || (!value.empty() && any_matches(patterns, value));
  }

  static bool accepts_key(const Rule& rule, const Request& request) noexcept {
    return rule.key.empty() || (request.key.has_value() && any_matches(rule.key, *request.key));
  }

  static bool accepts_tags(const Rule& rule, const Request& request) noexcept {
    if (rule.tags.empty()) return true;
    for (const std::string_view tag : request.tags)
      if (any_matches(rule.tags, tag)) return true;
    return false;
  }

  static bool accepts_class(const Rule& rule, const Request& request) noexcept {
    return (rule.classes & class_bit(request.value_class)) != 0;
  }

  /// The members that a listing already knows.
  static bool matches_scope(const Rule& rule, const Request& request) noexcept {
    return accepts(rule.principal, request.principal) && accepts(rule.tool, request.tool) &&
           accepts_present(rule.bank, request.bank) && accepts_present(rule.source, request.source);
  }

  static bool matches(const Rule& rule, const Request& request) noexcept {
    return accepts_class(rule, request) && matches_scope(rule, request) &&
           accepts_key(rule, request) && accepts_tags(rule, request);
  }

  static std::string why(const Rule& rule, const Request& request);

  // A star of `narrow` can only be taken by a star of `wide`, which then takes whatever it stands
  // for: so matching one pattern as the text of the other proves that it covers it.
  static bool covers(const Patterns& wide, const Patterns& narrow) {
    return std::all_of(narrow.begin(), narrow.end(),
                       [&](const auto& pattern) { return any_matches(wide, pattern.text); });
  }

  // Principal and tool always have a value, so that an absent member is the same as "*".
  static bool covers_present(const Patterns& wide, const Patterns& narrow) {
    return wide.empty() || (narrow.empty() ? any_matches(wide, "*") : covers(wide, narrow));
  }

  static bool covers_optional(const Patterns& wide, const Patterns& narrow) {
    return wide.empty() || (!narrow.empty() && covers(wide, narrow));
  }

  /// True when every request that `narrow` matches is matched by `wide`.
  static bool covers(const Rule& wide, const Rule& narrow) {
    return (narrow.classes & ~wide.classes) == 0 &&
           covers_present(wide.principal, narrow.principal) &&
           covers_present(wide.tool, narrow.tool) && covers_optional(wide.bank, narrow.bank) &&
           covers_optional(wide.key, narrow.key) && covers_optional(wide.tags, narrow.tags) &&
           covers_optional(wide.source, narrow.source);
  }

  static std::string shadow_warning(const std::vector<Rule>& rules, std::size_t index);
  static std::string label_warning(const Rule& rule, const std::vector<Rule>& defaults);
};

std::string RuleLogic::why(const Rule& rule, const Request& request) {
  const auto text_member = [](const Patterns& patterns, std::string_view value, const char* name) {
    if (accepts_present(patterns, value)) return std::string();
    return value.empty() ? "the request has no " + std::string(name)
                         : std::string(name) + " does not match";
  };
  if (!accepts(rule.principal, request.principal)) return "principal does not match";
  if (!accepts(rule.tool, request.tool)) return "tool does not match";
  if (auto text = text_member(rule.bank, request.bank, "bank"); !text.empty()) return text;
  if (!accepts_key(rule, request))
    return request.key ? "key does not match" : "the request has no key";
  if (!accepts_tags(rule, request))
    return request.tags.empty() ? "the request has no tags" : "tags do not match";
  if (!accepts_class(rule, request)) return "class does not match";
  if (auto text = text_member(rule.source, request.source, "source"); !text.empty()) return text;
  return "matches";
}

/// One request against the compiled rules; remembers what it has found out about the first
/// conditions, which is all of them but in a very large policy.
class Evaluation {
 public:
  Evaluation(const Policy& policy, const Request& request) noexcept
      : policy_(policy), request_(request), class_bit_(class_bit(request.value_class)) {}

  /// The first rule in file order of that effect that matches, or nullptr.
  const Policy::Rule* first(Effect effect) noexcept {
    for (std::size_t i = 0; i < policy_.steps_.size(); ++i)
      if (policy_.steps_[i].effect == effect && matches(policy_.steps_[i]))
        return &policy_.rules_[i];
    return nullptr;
  }

 private:
  enum class Known : std::uint8_t { open, yes, no };

  bool matches(const Policy::Step& step) noexcept {
    if ((step.classes & class_bit_) == 0) return false;
    for (std::size_t i = 0; i < step.count; ++i)
      if (!holds(step.conditions[i])) return false;
    return true;
  }

  bool holds(std::size_t index) noexcept {
    if (index >= known_.size()) return decide(policy_.conditions_[index]);
    if (known_[index] == Known::open)
      known_[index] = decide(policy_.conditions_[index]) ? Known::yes : Known::no;
    return known_[index] == Known::yes;
  }

  bool decide(const Policy::Condition& condition) const noexcept {
    using Member = Policy::Member;
    const auto any = [&](std::string_view value) {
      return RuleLogic::any_matches(condition.patterns, value);
    };
    switch (condition.member) {
      case Member::principal: return any(request_.principal);
      case Member::tool: return any(request_.tool);
      case Member::bank: return !request_.bank.empty() && any(request_.bank);
      case Member::source: return !request_.source.empty() && any(request_.source);
      case Member::key: return request_.key.has_value() && any(*request_.key);
      case Member::tags: return std::any_of(request_.tags.begin(), request_.tags.end(), any);
    }
    return false;
  }

  const Policy& policy_;
  const Request& request_;
  std::uint8_t class_bit_;
  std::array<Known, 128> known_{};
};

void Policy::compile() {
  const auto intern = [this](Member member, const Patterns& patterns) {
    const auto same = [&](const Condition& condition) {
      return condition.member == member &&
             std::equal(condition.patterns.begin(), condition.patterns.end(), patterns.begin(),
                        patterns.end(),
                        [](const Pattern& a, const Pattern& b) { return a.text == b.text; });
    };
    auto found = std::find_if(conditions_.begin(), conditions_.end(), same);
    if (found == conditions_.end()) found = conditions_.insert(found, Condition{member, patterns});
    return static_cast<std::uint16_t>(found - conditions_.begin());
  };
  for (const Rule& rule : rules_) {
    Step step{rule.effect, rule.classes, 0, {}};
    const auto add = [&](Member member, const Patterns& patterns) {
      if (!patterns.empty()) step.conditions[step.count++] = intern(member, patterns);
    };
    // The key first: it differs from rule to rule, and so rejects soonest.
    add(Member::key, rule.key);
    add(Member::principal, rule.principal);
    add(Member::tool, rule.tool);
    add(Member::bank, rule.bank);
    add(Member::source, rule.source);
    add(Member::tags, rule.tags);
    steps_.push_back(step);
  }
}

std::string Decision::text() const {
  const std::string by = " (rule: " + rule + ")";
  return permitted ? "Policy Permitted" + by : "Policy Denied: " + reason + by;
}

Policy Policy::deny_all(std::string reason) {
  Policy policy;
  policy.deny_all_reason_ = std::move(reason);
  return policy;
}

const std::string* Policy::permitting_rule(const Request& request) const noexcept {
  Evaluation evaluation(*this, request);
  if (evaluation.first(Effect::forbid) != nullptr) return nullptr;
  const Rule* const rule = evaluation.first(Effect::permit);
  return rule == nullptr ? nullptr : &rule->id;
}

bool Policy::permits(const Request& request) const noexcept {
  return permitting_rule(request) != nullptr;
}

Decision Policy::decide(const Request& request) const {
  if (!deny_all_reason_.empty()) return {false, std::string(kDefaultDeny), deny_all_reason_};
  Evaluation evaluation(*this, request);
  if (const Rule* rule = evaluation.first(Effect::forbid))
    return {false, rule->id, "a rule forbids " + describe(request, true)};
  if (const Rule* rule = evaluation.first(Effect::permit)) return {true, rule->id, {}};
  return {false, std::string(kDefaultDeny), "no rule permits " + describe(request, true)};
}

std::vector<Policy::Named> Policy::literal_names() const {
  std::vector<Named> names;
  const auto add = [&](const Rule& rule, const char* member, const Patterns& patterns) {
    for (const Pattern& pattern : patterns)
      if (pattern.form == Pattern::Form::exact) names.push_back({rule.id, member, pattern.text});
  };
  for (const Rule& rule : rules_) {
    add(rule, "tool", rule.tool);
    add(rule, "principal", rule.principal);
    add(rule, "source", rule.source);
  }
  return names;
}

bool Policy::narrows_listing(const Request& request) const {
  const std::uint8_t listed = class_bit(ValueClass::normal);
  bool all_permitted = false;
  for (const Rule& rule : rules_) {
    if ((rule.classes & listed) == 0 || !RuleLogic::matches_scope(rule, request)) continue;
    const bool by_name = !rule.key.empty() || !rule.tags.empty();
    if (rule.effect == Effect::forbid && by_name) return true;
    if (rule.effect == Effect::permit && !by_name) all_permitted = true;
  }
  return !all_permitted;
}

bool Policy::narrows_memories(const Request& request) const {
  const std::uint8_t listed = class_bit(ValueClass::normal);
  bool all_permitted = false;
  for (const Rule& rule : rules_) {
    // A memory has no key, so a rule with one says nothing about it.
    if (!rule.key.empty() || (rule.classes & listed) == 0) continue;
    if (!RuleLogic::matches_scope(rule, request)) continue;
    if (rule.effect == Effect::forbid) return true;
    if (rule.tags.empty()) all_permitted = true;
  }
  return !all_permitted;
}

Decision Policy::decide_scope(const Request& request) const {
  if (!deny_all_reason_.empty()) return {false, std::string(kDefaultDeny), deny_all_reason_};
  std::uint8_t closed = 0;
  for (const Rule& rule : rules_)
    if (rule.effect == Effect::forbid && rule.key.empty() && rule.tags.empty() &&
        RuleLogic::matches_scope(rule, request))
      closed |= rule.classes;

  std::uint8_t wanted = 0;
  for (const Rule& rule : rules_) {
    if (rule.effect != Effect::permit || !RuleLogic::matches_scope(rule, request)) continue;
    if ((rule.classes & ~closed) != 0) return {true, rule.id, {}};
    wanted |= rule.classes;
  }

  // Name the forbid that stands in the way: of what a permit would have opened, or of everything.
  if (wanted == 0 && closed == kAllClasses) wanted = kAllClasses;
  for (const Rule& rule : rules_)
    if (rule.effect == Effect::forbid && rule.key.empty() && rule.tags.empty() &&
        (rule.classes & wanted) != 0 && RuleLogic::matches_scope(rule, request))
      return {false, rule.id, "a rule forbids " + describe(request, false)};
  return {false, std::string(kDefaultDeny), "no rule permits " + describe(request, false)};
}

std::vector<RuleTrace> Policy::explain(const Request& request) const {
  std::vector<RuleTrace> trace;
  trace.reserve(rules_.size());
  for (const Rule& rule : rules_)
    trace.push_back(
        {rule.id, rule.effect, RuleLogic::matches(rule, request), RuleLogic::why(rule, request)});
  return trace;
}

std::string RuleLogic::shadow_warning(const std::vector<Rule>& rules, std::size_t index) {
  const Rule& rule = rules[index];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (i == index || !covers(rules[i], rule)) continue;
    if (rule.effect == Effect::permit && rules[i].effect == Effect::forbid)
      return "Rule " + rule.id + " can never act: rule " + rules[i].id +
             " forbids everything that it permits.";
    if (rule.effect == rules[i].effect && i < index)
      return "Rule " + rule.id + " can never act: rule " + rules[i].id +
             " before it already decides everything that it matches.";
  }
  return {};
}

std::string RuleLogic::label_warning(const Rule& rule, const std::vector<Rule>& defaults) {
  const Patterns everyone{Policy::Pattern("*")};
  for (const auto& principal : rule.principal.empty() ? everyone : rule.principal) {
    const std::string_view literal = std::string_view(principal.text).substr(0, principal.literal);
    const bool only_labels = literal.starts_with(kLabelPrefix);
    const bool some_labels = only_labels || (literal.size() < principal.text.size() &&
                                             kLabelPrefix.starts_with(literal));
    if (!some_labels) continue;
    const std::string label = only_labels ? principal.text : std::string(kLabelPrefix) + "*";
    for (const auto& tool : rule.tool.empty() ? everyone : rule.tool) {
      for (const ValueClass value_class : kClasses) {
        if ((rule.classes & class_bit(value_class)) == 0) continue;
        Rule given = rule;
        given.principal = {Policy::Pattern(label)};
        given.tool = {tool};
        given.classes = class_bit(value_class);
        if (std::any_of(defaults.begin(), defaults.end(),
                        [&](const Rule& usual) { return covers(usual, given); }))
          continue;
        const char* name = value_class == ValueClass::secret ? "secret" : "normal";
        return "Rule " + rule.id + " gives " + escape_for_display(label) +
               " more than the default policy does (tool " + escape_for_display(tool.text) +
               ", class " + name +
               "): a name that is only configured is a label that any process "
               "of this user can take, not a grant.";
      }
    }
  }
  return {};
}

std::vector<std::string> Policy::warnings() const {
  std::vector<std::string> found;
  if (!deny_all_reason_.empty()) return {"Everything is denied: " + deny_all_reason_ + "."};
  if (rules_.empty()) found.emplace_back("The policy has no rules: everything is denied.");
  const Policy defaults = parse(default_text());
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (auto text = RuleLogic::shadow_warning(rules_, i); !text.empty()) {
      found.push_back(std::move(text));
    } else if (rules_[i].effect == Effect::permit) {
      text = RuleLogic::label_warning(rules_[i], defaults.rules_);
      if (!text.empty()) found.push_back(std::move(text));
    }
  }
  return found;
}

}  // namespace strongroom::policy
