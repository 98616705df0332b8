// The examples of docs/policy.md: each policy parses, and each line of cases below one passes.
#include <catch2/catch.hpp>

#include "markdown.h"
#include "policy/policy.h"

using namespace strongroom;

namespace {

const std::string& page() {
  static const std::string text = docs::read_text(docs::project_folder() / "docs/policy.md");
  return text;
}

struct Example {
  std::string policy;
  std::vector<std::string> cases;
};

// Fenced blocks in their order: json is a policy, jsonl are cases of the policy before.
std::vector<Example> examples() {
  std::vector<Example> found;
  std::string fence, block;
  for (const std::string& line : docs::lines_of(page())) {
    if (fence.empty()) {
      if (line.compare(0, 3, "```") == 0) fence = line;
      block.clear();
    } else if (line == "```") {
      if (fence == "```json") found.push_back({block, {}});
      if (fence == "```jsonl") {
        for (const std::string& one : docs::lines_of(block)) found.back().cases.push_back(one);
      }
      fence.clear();
    } else {
      block += line + "\n";
    }
  }
  return found;
}

}  // namespace

TEST_CASE("policy.md: every example parses and decides as it says", "[docs][policy]") {
  const std::vector<Example> all = examples();
  REQUIRE(all.size() == docs::fenced_blocks(page(), "json").size());
  REQUIRE(all.size() >= 4);
  std::size_t cases = 0;
  for (const Example& example : all) {
    INFO(example.policy);
    const policy::Policy policy = policy::Policy::parse(example.policy);
    for (const std::string& line : example.cases) {
      INFO(line);
      const policy::TestCase result = policy::run_test_line(policy, line);
      INFO(result.got.rule);
      REQUIRE(result.passed);
      ++cases;
    }
  }
  REQUIRE(cases >= 11);
}

TEST_CASE("policy.md: the default policy is the one that init seals", "[docs][policy]") {
  const policy::Policy documented = policy::Policy::parse(examples().at(0).policy);
  const policy::Policy sealed = policy::Policy::parse(policy::Policy::default_text());
  REQUIRE(documented.rule_count() == sealed.rule_count());
  REQUIRE(documented.version() == sealed.version());
  for (const char* principal : {"local:cli", "local:mcp", "local:x", "other"}) {
    for (const char* tool :
         {"agent_recall", "agent_remember", "agent_forget", "get_project_context"}) {
      for (const auto value_class : {policy::ValueClass::normal, policy::ValueClass::secret}) {
        policy::Request request;
        request.principal = principal;
        request.tool = tool;
        request.bank = "global";
        request.key = "k";
        request.value_class = value_class;
        INFO(principal << " " << tool);
        REQUIRE(documented.decide(request).rule == sealed.decide(request).rule);
        REQUIRE(documented.decide(request).permitted == sealed.decide(request).permitted);
      }
    }
  }
}

TEST_CASE("policy.md: the warning that it names is given", "[docs][policy]") {
  const auto warnings = policy::Policy::parse(examples().at(2).policy).warnings();
  REQUIRE(warnings.size() == 1);
  REQUIRE(warnings[0].find("deploy-secrets") != std::string::npos);
}

TEST_CASE("lmdb.md names tests that exist", "[docs][lmdb]") {
  const std::string text = docs::read_text(docs::project_folder() / "docs/lmdb.md");
  const auto rows = docs::table_below(text, "LMDB: hazards and what guards against them");
  REQUIRE(rows.size() > 20);
  for (const docs::Row& row : rows) {
    REQUIRE(row.size() == 5);
    INFO(row[0] << ": " << row[4]);
    if (row[4] == "none") continue;
    const std::size_t tick = row[4].find('`', 1);
    REQUIRE(tick != std::string::npos);
    const std::string file = row[4].substr(1, tick - 1);
    const std::string source = docs::read_text(docs::project_folder() / file);
    if (file.size() < 4 || file.substr(file.size() - 4) != ".cpp") continue;
    std::string name = row[4].substr(tick + 3);
    name = name.substr(0, name.find(" ("));
    REQUIRE(source.find("TEST_CASE(\"" + name + "\"") != std::string::npos);
  }
}
