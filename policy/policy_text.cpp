// The text forms: the policy itself and the lines of `policy test`.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "policy/policy.h"

namespace strongroom::policy {
namespace {

constexpr std::string_view kDefaultText = R"({
  "version": 1,
  "rules": [
    {
      "id": "default",
      "effect": "permit",
      "principal": "local:*",
      "class": "normal"
    },
    {
      "id": "default-secret-write",
      "effect": "permit",
      "principal": "local:*",
      "tool": [
        "agent_remember",
        "agent_forget"
      ],
      "class": "secret"
    },
    {
      "id": "owner-cli-secret",
      "effect": "permit",
      "principal": "local:cli",
      "class": "secret"
    }
  ]
}
)";

// A member name as it was written, short enough and safe to show.
std::string shown(std::string_view name) {
  return escape_for_display(utf8_prefix(name, 64));
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(Code::unsupported, "Unsupported: " + what + " needs a later release.");
}

const Json& required(const Json& object, std::string_view name, const std::string& path) {
  const Json* found = object.find(name);
  if (found == nullptr) throw Error::invalid(path + std::string(name), "is missing");
  return *found;
}

const std::string& string_value(const Json& value, const std::string& path) {
  if (!value.is_string()) throw Error::invalid(path, "must be a string");
  return value.as_string();
}

ValueClass class_value(const Json& value, const std::string& path) {
  const std::string& name = string_value(value, path);
  if (name == "normal") return ValueClass::normal;
  if (name == "secret") return ValueClass::secret;
  throw Error::invalid(path, "must be normal or secret");
}

}  // namespace

/// Turns the text form into rules; every error names the member by its path.
class PolicyReader {
 public:
  static Policy read(std::string_view text) {
    if (text.size() > Policy::kMaxText)
      throw Error::too_large("policy", text.size(), Policy::kMaxText);
    const Json root = Json::parse(text, "policy");
    if (!root.is_object()) throw Error::invalid("policy", "must be an object");
    for (const auto& member : root.members())
      if (member.name != "version" && member.name != "rules")
        throw Error::invalid(shown(member.name), "is unknown; a policy has version and rules");

    Policy policy;
    policy.version_ = version(required(root, "version", ""));
    const Json& rules = required(root, "rules", "");
    if (!rules.is_array()) throw Error::invalid("rules", "must be an array");
    if (rules.items().size() > Policy::kMaxRules)
      throw Error::invalid("rules", "has more than 1000 rules");
    std::unordered_set<std::string_view> ids;
    policy.rules_.reserve(rules.items().size());  // and so the ids stay where they are
    for (std::size_t i = 0; i < rules.items().size(); ++i) {
      const std::string path = "rules[" + std::to_string(i) + "]";
      policy.rules_.push_back(rule(rules.items()[i], path));
      if (!ids.insert(policy.rules_.back().id).second)
        throw Error::invalid(path + ".id", "is used by an earlier rule");
    }
    policy.compile();
    return policy;
  }

 private:
  static std::uint64_t version(const Json& value) {
    const auto number = value.as_int();
    if (!number || *number < 1) throw Error::invalid("version", "must be a whole number from 1");
    return static_cast<std::uint64_t>(*number);
  }

  static Policy::Rule rule(const Json& value, const std::string& path) {
    if (!value.is_object()) throw Error::invalid(path, "must be an object");
    required(value, "id", path + ".");
    required(value, "effect", path + ".");
    Policy::Rule rule;
    for (const auto& member : value.members()) read_member(rule, member, path);
    return rule;
  }

  static void read_member(Policy::Rule& rule, const Json::Member& member, const std::string& path) {
    const std::string here = path + "." + shown(member.name);
    if (member.name == "id") {
      rule.id = id(member.value, here);
    } else if (member.name == "effect") {
      rule.effect = effect(member.value, here);
    } else if (member.name == "class") {
      rule.classes = classes(member.value, here);
    } else if (member.name == "limits") {
      unsupported(here);
    } else if (Policy::Patterns* target = patterns_of(rule, member.name)) {
      *target = patterns(member.value, here);
    } else {
      throw Error::invalid(here,
                           "is unknown; a rule has id, effect, principal, tool, bank, key, tags, "
                           "class and source");
    }
  }

  static Policy::Patterns* patterns_of(Policy::Rule& rule, std::string_view name) {
    if (name == "principal") return &rule.principal;
    if (name == "tool") return &rule.tool;
    if (name == "bank") return &rule.bank;
    if (name == "key") return &rule.key;
    if (name == "tags") return &rule.tags;
    if (name == "source") return &rule.source;
    return nullptr;
  }

  static std::string id(const Json& value, const std::string& path) {
    const std::string& text = string_value(value, path);
    const auto allowed = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == ':' || c == '-';
    };
    if (text.empty() || text.size() > 64 || !std::all_of(text.begin(), text.end(), allowed))
      throw Error::invalid(path, "must be 1 to 64 characters of A-Z a-z 0-9 . _ : -");
    if (text == kDefaultDeny || text == "grant") throw Error::invalid(path, "is a reserved name");
    return text;
  }

  static Effect effect(const Json& value, const std::string& path) {
    const std::string& name = string_value(value, path);
    if (name == "permit") return Effect::permit;
    if (name == "forbid") return Effect::forbid;
    if (name == "ask" || name == "redact" || name == "quarantine") unsupported(path + " " + name);
    throw Error::invalid(path, "must be permit or forbid");
  }

  // Calls take(value, path) for a string, or for every string of an array.
  template <class Take>
  static void each_string(const Json& value, const std::string& path, Take take) {
    if (value.is_string()) return take(value, path);
    if (!value.is_array()) throw Error::invalid(path, "must be a string or an array of strings");
    const std::vector<Json>& items = value.items();
    if (items.empty()) throw Error::invalid(path, "must not be an empty array");
    if (items.size() > Policy::kMaxPatterns)
      throw Error::invalid(path, "has more than 256 strings");
    for (std::size_t i = 0; i < items.size(); ++i)
      take(items[i], path + "[" + std::to_string(i) + "]");
  }

  static std::uint8_t classes(const Json& value, const std::string& path) {
    std::uint8_t bits = 0;
    each_string(value, path, [&](const Json& item, const std::string& here) {
      bits |= class_bit(class_value(item, here));
    });
    return bits;
  }

  static Policy::Patterns patterns(const Json& value, const std::string& path) {
    Policy::Patterns found;
    each_string(value, path, [&](const Json& item, const std::string& here) {
      const std::string& text = string_value(item, here);
      if (text.empty()) throw Error::invalid(here, "must not be empty");
      if (text.size() > Policy::kMaxPatternBytes)
        throw Error::invalid(here, "is longer than 1100 bytes");
      found.emplace_back(text);
    });
    return found;
  }
};

std::string Policy::default_text() {
  return std::string(kDefaultText);
}

Policy Policy::parse(std::string_view json) {
  return PolicyReader::read(json);
}

namespace {

Request read_request(const Json& object) {
  if (!object.is_object()) throw Error::invalid("request", "must be an object");
  Request request;
  request.principal = string_value(required(object, "principal", "request."), "request.principal");
  request.tool = string_value(required(object, "tool", "request."), "request.tool");
  for (const auto& [name, value] : object.members()) {
    const std::string path = "request." + shown(name);
    if (name == "principal" || name == "tool") continue;
    if (name == "bank") {
      request.bank = string_value(value, path);
    } else if (name == "key") {
      request.key = string_value(value, path);
    } else if (name == "source") {
      request.source = string_value(value, path);
    } else if (name == "class") {
      request.value_class = class_value(value, path);
    } else if (name == "tags") {
      if (!value.is_array()) throw Error::invalid(path, "must be an array of strings");
      for (std::size_t i = 0; i < value.items().size(); ++i)
        request.tags.push_back(
            string_value(value.items()[i], path + "[" + std::to_string(i) + "]"));
    } else {
      throw Error::invalid(path,
                           "is unknown; a request has principal, tool, bank, key, tags, class and "
                           "source");
    }
  }
  return request;
}

}  // namespace

TestCase run_test_line(const Policy& policy, std::string_view line) {
  const Json root = Json::parse(line, "line");
  if (!root.is_object()) throw Error::invalid("line", "must be an object");
  for (const auto& member : root.members())
    if (member.name != "request" && member.name != "expect" && member.name != "rule")
      throw Error::invalid(shown(member.name), "is unknown; a line has request, expect and rule");

  const Request request = read_request(required(root, "request", ""));
  TestCase test{string_value(required(root, "expect", ""), "expect"), std::nullopt,
                policy.decide(request), false};
  if (test.expect != "permit" && test.expect != "deny")
    throw Error::invalid("expect", "must be permit or deny");
  if (const Json* rule = root.find("rule")) test.rule = string_value(*rule, "rule");
  test.passed = test.got.permitted == (test.expect == "permit") &&
                (!test.rule || *test.rule == test.got.rule);
  return test;
}

}  // namespace strongroom::policy
