// Random rule sets and requests against a reference evaluator that shares nothing with the policy:
// it works on its own rules, matches globs by recursion, and collects the matching rules as sets.
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "policy/policy.h"

namespace strongroom::policy {
namespace {

using Members = std::map<std::string, std::vector<std::string>>;

struct ModelRule {
  std::string id;
  bool permit = false;
  Members members;
};

// The values that a request has, by member; a member without a value is not there.
using ModelRequest = std::map<std::string, std::vector<std::string>>;

bool model_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*')
    return !text.empty() && text[0] == pattern[0] && model_glob(pattern.substr(1), text.substr(1));
  for (std::size_t taken = 0; taken <= text.size(); ++taken)
    if (model_glob(pattern.substr(1), text.substr(taken))) return true;
  return false;
}

bool model_matches(const ModelRule& rule, const ModelRequest& request,
                   const std::set<std::string>& ignored = {}) {
  for (const auto& [member, globs] : rule.members) {
    if (ignored.count(member) != 0) continue;
    const auto values = request.find(member);
    if (values == request.end()) return false;
    bool any = false;
    for (const auto& value : values->second)
      for (const auto& glob : globs) any = any || model_glob(glob, value);
    if (!any) return false;
  }
  return true;
}

struct ModelDecision {
  bool permitted;
  std::string rule;
};

ModelDecision model_decide(const std::vector<ModelRule>& rules, const ModelRequest& request) {
  std::vector<std::string> permits, forbids;
  for (const auto& rule : rules)
    if (model_matches(rule, request)) (rule.permit ? permits : forbids).push_back(rule.id);
  if (!forbids.empty()) return {false, forbids.front()};
  if (!permits.empty()) return {true, permits.front()};
  return {false, "default-deny"};
}

// Is there a class left for which a permit may match and no forbid without key and tags does?
bool model_scope(const std::vector<ModelRule>& rules, ModelRequest request) {
  for (const char* value_class : {"normal", "secret"}) {
    request["class"] = {value_class};
    bool open = false;
    bool closed = false;
    for (const auto& rule : rules) {
      if (!model_matches(rule, request, {"key", "tags"})) continue;
      const bool whole = rule.members.count("key") == 0 && rule.members.count("tags") == 0;
      open = open || rule.permit;
      closed = closed || (!rule.permit && whole);
    }
    if (open && !closed) return true;
  }
  return false;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  bool chance(unsigned percent) { return below(100) < percent; }
  std::size_t below(std::size_t n) { return random_() % n; }
  std::string word(std::string_view alphabet, std::size_t most) {
    std::string text;
    const std::size_t length = 1 + below(most);
    for (std::size_t i = 0; i < length; ++i) text += alphabet[below(alphabet.size())];
    return text;
  }

  // Few letters, so that globs and values meet often.
  ModelRule rule(std::size_t index) {
    ModelRule made{"r" + std::to_string(index), chance(65), {}};
    for (const char* member : {"principal", "tool", "bank", "key", "tags", "source"}) {
      if (!chance(30)) continue;
      auto& globs = made.members[member];
      for (std::size_t n = 1 + below(3); n > 0; --n) globs.push_back(word("ab*", 4));
    }
    if (chance(30)) made.members["class"] = {chance(50) ? "secret" : "normal"};
    if (chance(5)) made.members["class"] = {"secret", "normal"};
    return made;
  }

  ModelRequest request() {
    ModelRequest made{{"principal", {word("ab", 3)}}, {"tool", {word("ab", 3)}}};
    for (const char* member : {"bank", "key", "source"})
      if (chance(75)) made[member] = {word("ab", 4)};
    for (std::size_t n = below(4); n > 0; --n) made["tags"].push_back(word("ab", 3));
    made["class"] = {chance(50) ? "secret" : "normal"};
    return made;
  }

 private:
  std::mt19937 random_;
};

std::string json_of(const std::vector<ModelRule>& rules, Generator& random) {
  JsonWriter out;
  out.begin_object().member("version", std::int64_t{1}).key("rules").begin_array();
  for (const auto& rule : rules) {
    out.begin_object().member("id", rule.id).member("effect", rule.permit ? "permit" : "forbid");
    for (const auto& [member, globs] : rule.members) {
      out.key(member);
      if (globs.size() == 1 && random.chance(50)) {
        out.string(globs.front());
        continue;
      }
      out.begin_array();
      for (const auto& glob : globs) out.string(glob);
      out.end_array();
    }
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

Request view(const ModelRequest& model) {
  Request request;
  const auto text = [&](const char* member) {
    const auto found = model.find(member);
    return found == model.end() ? std::string_view() : std::string_view(found->second.front());
  };
  request.principal = text("principal");
  request.tool = text("tool");
  request.bank = text("bank");
  request.source = text("source");
  if (model.count("key") != 0) request.key = text("key");
  if (model.count("tags") != 0)
    for (const auto& tag : model.at("tags")) request.tags.push_back(tag);
  request.value_class = text("class") == "secret" ? ValueClass::secret : ValueClass::normal;
  return request;
}

// What every decision must satisfy; false with the case described where one does not.
bool agrees(const Policy& policy, const std::vector<ModelRule>& rules, const ModelRequest& model) {
  const Request request = view(model);
  const ModelDecision expected = model_decide(rules, model);
  const Decision got = policy.decide(request);
  if (got.permitted != expected.permitted || got.rule != expected.rule) return false;
  if (policy.permits(request) != got.permitted) return false;
  const std::string* permitting = policy.permitting_rule(request);
  if ((permitting != nullptr) != got.permitted) return false;
  if (permitting != nullptr && *permitting != got.rule) return false;
  const Decision scope = policy.decide_scope(request);
  if (scope.permitted != model_scope(rules, model)) return false;
  if (got.permitted && !scope.permitted) return false;  // a listing never hides what may be read
  const auto trace = policy.explain(request);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (trace[i].matched != model_matches(rules[i], model)) return false;
    if (trace[i].matched != (trace[i].why == "matches")) return false;
  }
  return true;
}

// A rule that a warning calls dead decides nothing.
bool dead_rules_stay_silent(const Policy& policy, const Request& request) {
  const std::string rule = policy.decide(request).rule;
  for (const auto& warning : policy.warnings())
    if (warning.starts_with("Rule " + rule + " can never act")) return false;
  return true;
}

}  // namespace

TEST_CASE("random rule sets decide as the reference evaluator does", "[policy][property]") {
  const char* setting = std::getenv("STRONGROOM_LONG");
  const bool long_run = setting != nullptr && std::string_view(setting) == "1";
  const std::size_t wanted = long_run ? 1'000'000 : 200'000;
  constexpr std::size_t kRequestsASet = 20;
  Generator random(20261121);
  std::size_t cases = 0;
  std::size_t permitted = 0;
  std::size_t differences = 0;
  while (cases < wanted) {
    std::vector<ModelRule> rules;
    for (std::size_t n = random.below(9); n > 0; --n) rules.push_back(random.rule(rules.size()));
    const std::string text = json_of(rules, random);
    const Policy policy = Policy::parse(text);
    for (std::size_t i = 0; i < kRequestsASet; ++i, ++cases) {
      const ModelRequest model = random.request();
      if (policy.permits(view(model))) ++permitted;
      if (agrees(policy, rules, model) && (i != 0 || dead_rules_stay_silent(policy, view(model))))
        continue;
      if (++differences <= 3) UNSCOPED_INFO("differs: " << text);
    }
  }
  std::cout << "policy: " << cases << " random cases, " << permitted << " permitted, "
            << differences << " differences\n";
  CHECK(differences == 0);
  CHECK(permitted > cases / 10);
  CHECK(permitted < cases - cases / 10);
}

TEST_CASE("globs match as the recursive definition does", "[policy][property]") {
  Generator random(7);
  std::size_t differences = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = random.word("ab*", 8);
    const std::string text = random.word("ab", 10);
    if (glob_match(pattern, text) != model_glob(pattern, text)) ++differences;
  }
  CHECK(differences == 0);
}

}  // namespace strongroom::policy
