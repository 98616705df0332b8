#include "policy/policy.h"

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/json.h"

namespace strongroom::policy {
namespace {

Policy with_rules(const std::string& rules) {
  return Policy::parse("{\"version\": 1, \"rules\": [" + rules + "]}");
}

Request request(std::string_view principal, std::string_view tool, std::string_view bank = "",
                std::optional<std::string_view> key = std::nullopt,
                ValueClass value_class = ValueClass::normal) {
  Request asked;
  asked.principal = principal;
  asked.tool = tool;
  asked.bank = bank;
  asked.key = key;
  asked.value_class = value_class;
  return asked;
}

struct Refusal {
  Code code;
  std::string text;
};

template <class Call>
Refusal refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.text()};
  }
  return {Code::internal, "nothing was refused"};
}

std::string data_path(const std::string& name) {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind('/') + 1) + name;
}

}  // namespace

TEST_CASE("globs", "[policy]") {
  struct Row {
    std::string_view pattern, text;
    bool matches;
  };
  const std::vector<Row> rows = {{"", "", true},
                                 {"", "a", false},
                                 {"*", "", true},
                                 {"*", "a/b\nc", true},
                                 {"**", "", true},
                                 {"a", "a", true},
                                 {"a", "A", false},
                                 {"a*", "a", true},
                                 {"a*", "abc/d", true},
                                 {"a*", "ba", false},
                                 {"*a", "ba", true},
                                 {"*a", "ab", false},
                                 {"a*b", "ab", true},
                                 {"a*b", "aXbXb", true},
                                 {"a*b", "aXbX", false},
                                 {"a*b*c", "abbc", true},
                                 {"a*b*c", "acb", false},
                                 {"*ab*ab*", "aab", false},
                                 {"*ab*ab*", "abab", true},
                                 {"?", "a", false},
                                 {"?", "?", true},
                                 {"[a]", "a", false},
                                 {"a\\*", "a\\x", true},
                                 {"*.key", "x.key.key", true},
                                 {"local:*", "local:", true},
                                 {"local:*", "local", false}};
  for (const Row& row : rows) {
    INFO(row.pattern << " on " << row.text);
    CHECK(glob_match(row.pattern, row.text) == row.matches);
  }
  // The worst case of a naive matcher: exponential there, product of the lengths here.
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "a*";
  CHECK_FALSE(glob_match(stars + "b", std::string(1024, 'a')));
}

TEST_CASE("the default policy", "[policy]") {
  const std::string text = Policy::default_text();
  JsonWriter writer(JsonWriter::Style::indented);
  writer.raw(text);
  CHECK(text == writer.text() + "\n");

  const Policy policy = Policy::parse(text);
  CHECK(policy.version() == 1);
  CHECK(policy.rule_count() == 3);
  CHECK(policy.warnings().empty());

  const auto secret =
      policy.decide(request("local:mcp", "agent_recall", "", "k", ValueClass::secret));
  CHECK(secret.text() ==
        "Policy Denied: no rule permits agent_recall on class secret for local:mcp (rule: "
        "default-deny)");
  CHECK(policy.decide_scope(request("local:mcp", "agent_recall", "global")).rule == "default");
  CHECK(policy.decide_scope(request("agent:x", "agent_recall", "global")).text() ==
        "Policy Denied: no rule permits agent_recall in bank \"global\" for agent:x (rule: "
        "default-deny)");
}

TEST_CASE("the data file of policy test lines", "[policy]") {
  const Policy policy = Policy::parse(Policy::default_text());
  std::ifstream file(data_path("policy_cases.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    INFO(line);
    const TestCase test = run_test_line(policy, line);
    CHECK(test.passed);
  }
  CHECK(count >= 13);
}

TEST_CASE("one permit more opens secrets, one forbid closes no more than it says", "[policy]") {
  std::string text = Policy::default_text();
  text.insert(text.rfind(']'), R"(,
    {"id": "open", "effect": "permit", "principal": "local:mcp", "tool": "agent_recall", "class": "secret", "key": "ci/*"},
    {"id": "closed", "effect": "forbid", "key": ["prod/*", "*.pem"]})");
  const Policy policy = Policy::parse(text);
  const auto ask = [&](std::string_view key, ValueClass value_class) {
    return policy.decide(request("local:mcp", "agent_recall", "b", key, value_class));
  };
  CHECK(ask("ci/token", ValueClass::secret).rule == "open");
  CHECK(ask("other", ValueClass::secret).rule == "default-deny");
  CHECK(ask("ci/x.pem", ValueClass::secret).rule == "closed");
  CHECK(ask("prod/db", ValueClass::normal).text() ==
        "Policy Denied: a rule forbids agent_recall in bank \"b\" for local:mcp (rule: closed)");
  CHECK(ask("dev/db", ValueClass::normal).permitted);
}

TEST_CASE("the first rule in file order is named", "[policy]") {
  const Policy policy = with_rules(
      R"({"id":"p1","effect":"permit","tool":"x"},{"id":"p2","effect":"permit"},
         {"id":"f1","effect":"forbid","bank":"b"},{"id":"f2","effect":"forbid","tool":"x"})");
  CHECK(policy.decide(request("a", "y")).rule == "p2");
  CHECK(policy.decide(request("a", "x")).rule == "f2");
  CHECK(policy.decide(request("a", "x", "b")).rule == "f1");
  CHECK(policy.decide(request("a", "y", "b")).rule == "f1");
}

TEST_CASE("a member without a value in the request does not match", "[policy]") {
  for (const std::string member : {"bank", "key", "tags", "source"}) {
    INFO(member);
    const Policy policy =
        with_rules("{\"id\":\"p\",\"effect\":\"permit\",\"" + member + "\":\"*\"}");
    Request asked = request("p", "t");
    CHECK_FALSE(policy.permits(asked));
    CHECK(policy.explain(asked).front().why == "the request has no " + member);
    asked.bank = "b";
    asked.key = "";
    asked.tags = {"t"};
    asked.source = "cli";
    CHECK(policy.permits(asked));
    CHECK(policy.explain(asked).front().why == "matches");
  }
}

TEST_CASE("explain names the member that did not match", "[policy]") {
  const Policy policy = with_rules(
      R"({"id":"a","effect":"permit","principal":"p"},{"id":"b","effect":"forbid","tool":"x"},
         {"id":"c","effect":"permit","key":"x*"},{"id":"d","effect":"permit","tags":"x"},
         {"id":"e","effect":"permit","class":"secret"},{"id":"f","effect":"permit"})");
  Request asked = request("q", "t", "b", "k");
  asked.tags = {"y"};
  const auto trace = policy.explain(asked);
  const std::vector<std::string> expected = {"principal does not match", "tool does not match",
                                             "key does not match",       "tags do not match",
                                             "class does not match",     "matches"};
  REQUIRE(trace.size() == expected.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    CHECK(trace[i].why == expected[i]);
    CHECK(trace[i].matched == (expected[i] == "matches"));
  }
  CHECK(trace[1].effect == Effect::forbid);
}

TEST_CASE("a listing is decided by what is known", "[policy]") {
  const auto scope = [](const std::string& rules) {
    return with_rules(rules).decide_scope(request("p", "list", "b"));
  };
  CHECK(scope(R"({"id":"a","effect":"permit","key":"x/*"})").rule == "a");
  CHECK(scope(R"({"id":"a","effect":"permit","tags":"x","class":"secret"})").permitted);
  CHECK(scope(R"({"id":"a","effect":"permit"},{"id":"f","effect":"forbid","key":"*"})").permitted);
  CHECK(scope(R"({"id":"a","effect":"permit"},{"id":"f","effect":"forbid","bank":"b"})").rule ==
        "f");
  CHECK(scope(R"({"id":"a","effect":"permit"},{"id":"f","effect":"forbid","class":"secret"})")
            .permitted);
  CHECK(scope(R"({"id":"a","effect":"permit","class":"secret"},
                 {"id":"f","effect":"forbid","class":"secret"})")
            .rule == "f");
  CHECK(scope(R"({"id":"f","effect":"forbid","class":"secret"})").rule == "default-deny");
  CHECK(scope(R"({"id":"f","effect":"forbid"})").rule == "f");
  CHECK(scope(R"({"id":"a","effect":"permit"},{"id":"f","effect":"forbid","class":"secret"},
                 {"id":"g","effect":"forbid","class":"normal"})")
            .rule == "f");
}

TEST_CASE("a policy that cannot be trusted denies all and says why", "[policy]") {
  const Policy policy = Policy::deny_all("the policy is not signed");
  const Request asked = request("local:cli", "agent_recall", "b", "k");
  CHECK_FALSE(policy.permits(asked));
  CHECK(policy.decide(asked).text() ==
        "Policy Denied: the policy is not signed (rule: default-deny)");
  CHECK(policy.decide_scope(asked).text() == policy.decide(asked).text());
  CHECK(policy.warnings().front() == "Everything is denied: the policy is not signed.");
}

TEST_CASE("malformed text names the member", "[policy]") {
  struct Row {
    std::string text, field;
  };
  const std::string long_pattern(1101, 'a');
  const auto rule = [](const std::string& members) {
    return R"({"version":1,"rules":[{"id":"a","effect":"permit"},{)" + members + "}]}";
  };
  const std::vector<Row> rows = {
      {"[]", "policy"},
      {R"({"rules":[]})", "version"},
      {R"({"version":0,"rules":[]})", "version"},
      {R"({"version":1.5,"rules":[]})", "version"},
      {R"({"version":"1","rules":[]})", "version"},
      {R"({"version":1})", "rules"},
      {R"({"version":1,"rules":{}})", "rules"},
      {R"({"version":1,"rules":[],"extra":1})", "extra"},
      {R"({"version":1,"rules":[1]})", "rules[0]"},
      {rule(R"("effect":"permit")"), "rules[1].id"},
      {rule(R"("id":"b")"), "rules[1].effect"},
      {rule(R"("id":"a","effect":"permit")"), "rules[1].id"},
      {rule(R"("id":"","effect":"permit")"), "rules[1].id"},
      {rule(R"("id":"b c","effect":"permit")"), "rules[1].id"},
      {rule(R"("id":")" + std::string(65, 'x') + R"(","effect":"permit")"), "rules[1].id"},
      {rule(R"("id":"default-deny","effect":"permit")"), "rules[1].id"},
      {rule(R"("id":"grant","effect":"permit")"), "rules[1].id"},
      {rule(R"("id":"b","effect":"allow")"), "rules[1].effect"},
      {rule(R"("id":"b","effect":null)"), "rules[1].effect"},
      {rule(R"("id":"b","effect":"permit","toool":"x")"), "rules[1].toool"},
      {rule(R"("id":"b","effect":"permit","tool":[])"), "rules[1].tool"},
      {rule(R"("id":"b","effect":"permit","tool":"")"), "rules[1].tool"},
      {rule(R"("id":"b","effect":"permit","tool":["x",1])"), "rules[1].tool[1]"},
      {rule(R"("id":"b","effect":"permit","bank":{})"), "rules[1].bank"},
      {rule(R"("id":"b","effect":"permit","key":null)"), "rules[1].key"},
      {rule(R"("id":"b","effect":"permit","key":")" + long_pattern + "\""), "rules[1].key"},
      {rule(R"("id":"b","effect":"permit","class":"Secret")"), "rules[1].class"},
      {rule(R"("id":"b","effect":"permit","class":["normal","*"])"), "rules[1].class[1]"},
      {rule(R"("id":"b","effect":"permit","class":[])"), "rules[1].class"},
  };
  for (const Row& row : rows) {
    const Refusal refused = refusal([&] { Policy::parse(row.text); });
    INFO(row.text.substr(0, 120) << " -> " << refused.text);
    CHECK(refused.code == Code::invalid);
    CHECK(refused.text.starts_with("Invalid: " + row.field + " "));
  }
  CHECK(refusal([] { Policy::parse("{"); }).code == Code::invalid);
  CHECK(refusal([] { Policy::parse(R"({"version":1,"version":2,"rules":[]})"); }).code ==
        Code::invalid);
  CHECK(refusal([] { Policy::parse(std::string(Policy::kMaxText + 1, ' ')); }).code ==
        Code::too_large);
}

TEST_CASE("the limits of the text", "[policy]") {
  const auto many = [](std::size_t count, std::size_t patterns) {
    std::string rules;
    for (std::size_t i = 0; i < count; ++i) {
      rules +=
          (i == 0 ? "" : ",") + ("{\"id\":\"r" + std::to_string(i)) + "\",\"effect\":\"permit\"";
      rules += ",\"key\":[\"a\"";
      for (std::size_t k = 1; k < patterns; ++k) rules += ",\"a\"";
      rules += "]}";
    }
    return rules;
  };
  CHECK(with_rules(many(1000, 1)).rule_count() == 1000);
  CHECK(with_rules(many(1, 256)).rule_count() == 1);
  CHECK(refusal([&] { with_rules(many(1001, 1)); }).text.starts_with("Invalid: rules "));
  CHECK(refusal([&] { with_rules(many(1, 257)); }).text.starts_with("Invalid: rules[0].key "));
}

TEST_CASE("what later releases know is unsupported", "[policy]") {
  for (const std::string effect : {"ask", "redact", "quarantine"}) {
    const auto refused =
        refusal([&] { with_rules("{\"id\":\"a\",\"effect\":\"" + effect + "\"}"); });
    CHECK(refused.code == Code::unsupported);
    CHECK(refused.text ==
          "Unsupported: rules[0].effect " + effect + " needs a later release. [unsupported]");
  }
  const auto refused = refusal([] { with_rules(R"({"id":"a","effect":"permit","limits":{}})"); });
  CHECK(refused.code == Code::unsupported);
  CHECK(refused.text == "Unsupported: rules[0].limits needs a later release. [unsupported]");
}

TEST_CASE("warnings", "[policy]") {
  const auto warn = [](const std::string& rules) { return with_rules(rules).warnings(); };
  const auto one = [&](const std::string& rules, const std::string& part) {
    const auto found = warn(rules);
    INFO(rules << " -> " << (found.empty() ? "nothing" : found.front()));
    CHECK(found.size() == 1);
    CHECK((!found.empty() && found.front().find(part) != std::string::npos));
  };
  one("", "no rules");
  one(R"({"id":"a","effect":"permit","principal":"local:x","key":"k/*","class":"normal"},
         {"id":"f","effect":"forbid","key":"k*"})",
      "Rule a can never act: rule f forbids");
  one(R"({"id":"a","effect":"permit","principal":"agent:*"},
         {"id":"b","effect":"permit","principal":"agent:x*"})",
      "Rule b can never act: rule a before it");
  one(R"({"id":"a","effect":"permit"})", "Rule a gives local:* more than the default policy does");
  one(R"({"id":"a","effect":"permit","principal":"local:mcp","tool":"agent_recall","class":"secret"})",
      "Rule a gives local:mcp more");
  one(R"({"id":"a","effect":"permit","principal":"lo*","class":"secret"})", "Rule a gives local:*");
  one(R"({"id":"a","effect":"permit","principal":"local:*","tool":"agent_*","class":"secret"})",
      "tool agent_*, class secret");
  CHECK(warn(R"({"id":"a","effect":"permit","principal":"agent:*","class":"secret"})").empty());
  CHECK(warn(R"({"id":"a","effect":"permit","class":"normal"})").empty());
  CHECK(
      warn(R"({"id":"a","effect":"permit","principal":"local:x","tool":"agent_forget"})").empty());
  CHECK(warn(R"({"id":"a","effect":"permit","principal":"local:cli"})").empty());
  CHECK(warn(R"({"id":"a","effect":"permit","class":"normal","key":"*"},
                {"id":"b","effect":"permit","class":"normal"})")
            .empty());
}

TEST_CASE("policy test lines", "[policy]") {
  const Policy policy = Policy::parse(Policy::default_text());
  const std::string good = R"({"request":{"principal":"local:mcp","tool":"t"},"expect":"permit"})";
  CHECK(run_test_line(policy, good).passed);
  const TestCase wrong = run_test_line(
      policy, R"({"request":{"principal":"local:mcp","tool":"t"},"expect":"permit","rule":"x"})");
  CHECK_FALSE(wrong.passed);
  CHECK(wrong.got.rule == "default");
  CHECK(*wrong.rule == "x");
  CHECK_FALSE(run_test_line(policy, R"({"request":{"principal":"x","tool":"t"},"expect":"permit"})")
                  .passed);

  const std::vector<std::pair<std::string, std::string>> rows = {
      {"[]", "line"},
      {R"({"expect":"permit"})", "request"},
      {R"({"request":{"principal":"a","tool":"t"}})", "expect"},
      {R"({"request":{"principal":"a","tool":"t"},"expect":"yes"})", "expect"},
      {R"({"request":{"principal":"a","tool":"t"},"expect":"deny","x":1})", "x"},
      {R"({"request":{"tool":"t"},"expect":"deny"})", "request.principal"},
      {R"({"request":{"principal":"a"},"expect":"deny"})", "request.tool"},
      {R"({"request":{"principal":"a","tool":"t","keys":"x"},"expect":"deny"})", "request.keys"},
      {R"({"request":{"principal":"a","tool":"t","key":1},"expect":"deny"})", "request.key"},
      {R"({"request":{"principal":"a","tool":"t","tags":["x",1]},"expect":"deny"})",
       "request.tags[1]"},
      {R"({"request":{"principal":"a","tool":"t","class":"x"},"expect":"deny"})", "request.class"},
      {R"({"request":{"principal":"a","tool":"t"},"expect":"deny","rule":1})", "rule"}};
  for (const auto& [line, field] : rows) {
    const Refusal refused = refusal([&, text = line] { run_test_line(policy, text); });
    INFO(line << " -> " << refused.text);
    CHECK(refused.code == Code::invalid);
    CHECK(refused.text.starts_with("Invalid: " + field + " "));
  }
}

TEST_CASE("names in a reason cannot forge its words", "[policy]") {
  const Policy policy = with_rules("");
  const std::string text = policy.decide(request("local:mcp\n", "t", "a\nb\xe2\x80\xae")).text();
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);
}

}  // namespace strongroom::policy

TEST_CASE("whether a listing may be narrowed depends on the policy alone", "[policy]") {
  const auto narrows = [](const std::string& rules) {
    const std::string text = R"({"version":1,"rules":[)" + rules + "]}";
    strongroom::policy::Request request;
    request.principal = "local:mcp";
    request.tool = "agent_recall";
    request.bank = "b";
    return strongroom::policy::Policy::parse(text).narrows_listing(request);
  };
  const std::string all = R"({"id":"all","effect":"permit","class":"normal"})";
  CHECK_FALSE(narrows(all));
  CHECK(narrows(all + R"(,{"id":"f","effect":"forbid","key":"hidden/*"})"));
  CHECK(narrows(all + R"(,{"id":"f","effect":"forbid","tags":"frozen"})"));
  CHECK_FALSE(narrows(all + R"(,{"id":"f","effect":"forbid","key":"x","principal":"local:cli"})"));
  CHECK_FALSE(narrows(all + R"(,{"id":"f","effect":"forbid","key":"x","class":"secret"})"));
  CHECK(narrows(R"({"id":"some","effect":"permit","key":"app/*"})"));
}

TEST_CASE("a policy narrows memories by tags alone: they have no key") {
  const auto narrows = [](const std::string& rules) {
    const auto policy = strongroom::policy::Policy::parse(
        R"({"version": 1, "rules": [{"id": "all", "effect": "permit"})" + rules + "]}");
    strongroom::policy::Request request;
    request.principal = "local:mcp";
    request.tool = "recall";
    request.bank = "b";
    return policy.narrows_memories(request);
  };
  CHECK_FALSE(narrows(""));
  CHECK_FALSE(narrows(R"(, {"id": "k", "effect": "forbid", "key": "deploy/*"})"));
  CHECK(narrows(R"(, {"id": "t", "effect": "forbid", "tags": "private"})"));
  CHECK_FALSE(narrows(R"(, {"id": "o", "effect": "forbid", "tags": "private", "bank": "other"})"));
  CHECK(narrows(R"(, {"id": "f", "effect": "forbid", "tool": "recall"})"));
}
