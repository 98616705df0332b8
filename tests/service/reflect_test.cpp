// reflect: themes, timeline, what disagrees, what was replaced, what is missing; and that the
// policy hides from all of them what it hides from recall.
#include <algorithm>

#include "memory_fixture.h"
#include "service/reflect_claims.h"

namespace strongroom::service {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

ReflectResult reflect(MemoryService& service, const std::string& query,
                      const std::string& context = {}) {
  ReflectRequest request;
  request.query = query;
  request.context = context;
  return service.reflect(request);
}

Pairs pairs(const ReflectResult& result) {
  Pairs all;
  for (const Contradiction& one : result.contradictions) all.emplace_back(one.newer, one.older);
  return all;
}

Strings ids_of(const std::vector<FoundMemory>& all) {
  Strings ids;
  for (const FoundMemory& found : all) ids.push_back(found.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Strings in_order(Strings ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The ids of the theme that a memory is in.
Strings theme_of(const ReflectResult& result, const std::string& id, std::string* label = nullptr) {
  for (const ReflectTheme& theme : result.themes) {
    const Strings ids = ids_of(theme.results);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) continue;
    if (label != nullptr) *label = theme.label;
    return ids;
  }
  return {};
}

bool has_gap(const ReflectResult& result, const std::string& words) {
  return std::any_of(result.gaps.begin(), result.gaps.end(),
                     [&](const std::string& gap) { return gap.find(words) != std::string::npos; });
}

RetainItem at(std::string content, const std::string& time) {
  RetainItem made = item(std::move(content));
  made.timestamp = parse_time(time, "timestamp");
  return made;
}

std::string rule(const std::string& a, const std::string& b) {
  recall::Analyzer analyzer;
  ClaimReader reader(analyzer);
  return std::string(disagreement(reader.read(a), reader.read(b)));
}

}  // namespace

TEST_CASE("memories that share rare words, an entity, a document or a link are one theme",
          "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  const std::string night = keep(*service, "The zephyr gateway takes nightly snapshots to tape.");
  const std::string tape = keep(*service, "Zephyr snapshots leave for the tape vault on Fridays.");
  RetainItem named = item("Ana picked the colour of the zephyr logo.");
  named.entities = {"Ana Torres"};
  const std::string logo = keep(*service, named);
  named.content = "Zephyr budgets were signed.";
  const std::string budget = keep(*service, named);
  const std::string page = keep(*service, in_document("Zephyr manual, page one.", "manual.md"));
  retain(*service, {in_document("Zephyr appendix.", "manual.md", true)});
  const std::string sold = keep(*service, "Zephyr licences are sold.");
  const std::string lawyer = keep(*service, "A lawyer read about zephyr.");
  link(*service, sold, lawyer, "because");
  const std::string lone = keep(*service, "Zephyr means wind.");

  const ReflectResult result = reflect(*service, "zephyr");
  std::string label;
  CHECK(theme_of(result, night, &label) == in_order({night, tape}));
  CHECK(label.find("snapshots") != std::string::npos);
  CHECK(label.find("tape") != std::string::npos);
  CHECK(theme_of(result, logo, &label) == in_order({logo, budget}));
  CHECK(label == "Ana Torres");
  CHECK(theme_of(result, page, &label).size() == 2);
  CHECK(label == "manual.md");
  CHECK(theme_of(result, sold) == in_order({sold, lawyer}));
  CHECK(theme_of(result, lone, &label) == Strings{lone});
  CHECK(label == "other");
  CHECK(result.themes.back().label == "other");
  CHECK(result.ids.size() == 9);
  CHECK(result.timeline.size() == 9);

  link(*service, sold, lawyer, "because", true);
  CHECK(theme_of(reflect(*service, "zephyr"), sold) != theme_of(result, sold));
}

TEST_CASE("the timeline goes by when it happened, else by when it was said", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  RetainItem happened = at("The walrus moved in.", "2026-05-01");
  happened.occurred_start = parse_time("2020-01-01", "t");
  happened.occurred_end = parse_time("2020-01-09", "t");
  const std::string second = keep(*service, at("The walrus got a bath.", "2021-02-03"));
  const std::string first = keep(*service, happened);
  const ReflectResult result = reflect(*service, "walrus");
  REQUIRE(result.timeline.size() == 2);
  CHECK(result.timeline[0].id == first);
  CHECK(result.timeline[0].occurred);
  CHECK(result.timeline[0].time == parse_time("2020-01-01", "t"));
  CHECK(result.timeline[0].end == parse_time("2020-01-09", "t"));
  CHECK(result.timeline[1].id == second);
  CHECK_FALSE(result.timeline[1].occurred);
  CHECK_FALSE(result.timeline[1].end);
}

TEST_CASE("texts that are alike disagree by a rule that has a name", "[reflect]") {
  CHECK(rule("The staging port is 5432", "The staging port is 5433") == "number");
  CHECK(rule("Retries happen three times a job", "Retries happen five times a job") == "number");
  CHECK(rule("The pool holds 1,000 open sockets", "The pool holds 1000 open sockets").empty());
  CHECK(rule("max_connections=100 for billing", "max_connections=200 for billing") == "number");
  CHECK(rule("Billing runs on Zephyr v1.2", "Billing runs on Zephyr v1.3") == "version");
  CHECK(rule("Billing runs Zephyr 1.2.3 now", "Billing runs Zephyr 1.2.4 now") == "version");
  CHECK(rule("The audit begins on 3 May 2026", "The audit begins on 5 May 2026") == "date");
  CHECK(rule("The audit begins on May 3rd", "The audit begins on 3 May").empty());
  CHECK(rule("The audit begins 2026-05-03", "The audit begins 2026-06-03") == "date");
  CHECK(rule("The audit team meets on Monday", "The audit team meets on Friday") == "date");
  CHECK(rule("The backup is encrypted at rest", "The backup is not encrypted at rest") ==
        "negation");
  CHECK(rule("Ana works for the billing team", "Ana no longer works for the billing team") ==
        "negation");
  CHECK(rule("The backup is encrypted at rest", "The backup isn't encrypted at rest") ==
        "negation");
  CHECK(rule("The backup is encrypted at rest", "The backup isn\u2019t encrypted at rest") ==
        "negation");
  CHECK(rule("Telemetry is enabled in production", "Telemetry is disabled in production") ==
        "opposite");
  CHECK(rule("The cache flag is on in staging", "The cache flag is off in staging") == "opposite");
}

TEST_CASE("texts that say more, something else, or the same do not disagree", "[reflect]") {
  CHECK(rule("The backup is encrypted at rest", "The backup is encrypted at rest").empty());
  // One more detail is none less.
  CHECK(rule("Ana moved to Berlin for work", "Ana moved to Berlin for work in 2021").empty());
  CHECK(rule("Release notes list 3 fixes", "Release notes list 3 fixes and 2 features").empty());
  // Other subjects.
  CHECK(rule("Billing listens on port 5432", "Search indexes 90 shards nightly").empty());
  CHECK(rule("The backup is not encrypted", "Lunch is served in the garden").empty());
  // A digit in a name is part of the name.
  CHECK(rule("Host db1 runs Debian stable", "Host db2 runs Debian stable").empty());
  // One word in common is not alike.
  CHECK(rule("Room 12", "Room 13").empty());
  // Both sides of a pair in one text.
  CHECK(rule("Alerts go on and off at night", "Alerts go off at night").empty());
}

TEST_CASE("contradictions name the newer first, and a link is enough", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  const std::string newer = keep(*service, at("The kazoo port is 5433.", "2026-05-01"));
  const std::string older = keep(*service, at("The kazoo port is 5432.", "2026-04-01"));
  const std::string tuned = keep(*service, at("Kazoos are tuned by ear alone.", "2026-01-01"));
  const std::string fork = keep(*service, at("A kazoo needs a fork.", "2026-02-01"));
  CHECK(pairs(reflect(*service, "kazoo")) == Pairs{{newer, older}});
  link(*service, tuned, fork, "contradicts");
  const ReflectResult result = reflect(*service, "kazoo");
  CHECK(pairs(result) == Pairs{{fork, tuned}, {newer, older}});
  CHECK(result.contradictions[0].rule == "link");
  CHECK(result.contradictions[1].rule == "number");
  link(*service, tuned, fork, "contradicts", true);
  CHECK(pairs(reflect(*service, "kazoo")).size() == 1);
}

TEST_CASE("what was replaced stands apart, with what replaces it", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  const std::string old_port = keep(*service, "The bassoon port is 5432.");
  const std::string new_port = keep(*service, "The bassoon port is 5433.");
  EditRequest invalid = edit(EditOp::invalidate, old_port);
  invalid.replacement_id = new_port;
  service->edit_memory(invalid);
  const std::string gone = keep(*service, "The bassoon is red, red and red.");
  update_text(*service, gone, "The bassoon is blue.");
  service->edit_memory(edit(EditOp::invalidate, gone));
  // An older text of a memory that is right is not replaced.
  const std::string typo = keep(*service, "Bassoon, bassoon.");
  update_text(*service, typo, "Somebody has counted the ten or eleven keys of a bassoon.");
  const std::string forgotten = keep(*service, "The bassoon was stolen.");
  service->edit_memory(edit(EditOp::forget, forgotten));

  const ReflectResult result = reflect(*service, "bassoon");
  CHECK(ids_of(result.superseded) == in_order({old_port, gone}));
  for (const FoundMemory& found : result.superseded) {
    CHECK(found.superseded_by == (found.id == old_port ? new_port : ""));
    CHECK(found.text == (found.id == gone ? "The bassoon is blue." : "The bassoon port is 5432."));
    CHECK(theme_of(result, found.id).empty());
  }
  CHECK(result.contradictions.empty());
  CHECK(result.timeline.size() == 2);
  CHECK(in_order(result.ids) == in_order({new_port, typo, old_port, gone}));
}

TEST_CASE("context is searched with the query", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  const std::string asked = keep(*service, "The oboe was bought in Lisbon.");
  const std::string around = keep(*service, "Invoices for plumbing are paid in March.");
  CHECK(reflect(*service, "oboe").ids == Strings{asked});
  const ReflectResult result = reflect(*service, "oboe", "plumbing invoices");
  CHECK(result.ids.size() == 2);
  CHECK_FALSE(theme_of(result, around).empty());
}

TEST_CASE("gaps say which words of the question nothing has, and what was cut", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  RetainItem one = item("The trombone was deployed to Frankfurt.");
  one.context = "standup";
  keep(*service, one);
  ReflectResult result = reflect(*service, "trombone deploying standup Pricing");
  CHECK(has_gap(result, "No result has \"Pricing\"."));
  for (const char* there : {"trombone", "deploying", "standup"})
    CHECK_FALSE(has_gap(result, there));

  for (int i = 0; i < 9; ++i)
    keep(*service, "The trombone was deployed to room " + std::to_string(i) + ".");
  ReflectRequest few;
  few.query = "trombone";
  few.max_tokens = 60;
  result = service->reflect(few);
  CHECK(result.tokens <= 60);
  CHECK(result.cut_results > 0);
  CHECK(has_gap(result, " more results did not fit into max_tokens."));
  few.max_tokens = 100'000;
  CHECK_FALSE(has_gap(service->reflect(few), "max_tokens"));
}

TEST_CASE("with nothing found there is nothing to reflect on, and it says so", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  CHECK(reflect(*service, "anything at all?").ids.empty());
  keep(*service, "The piccolo is small.");
  const ReflectResult result = reflect(*service, "quantum weather");
  CHECK(result.themes.empty());
  CHECK(result.timeline.empty());
  CHECK(result.ids.empty());
  CHECK(result.abstained);
  CHECK(has_gap(result, "\"quantum\", \"weather\""));
}

TEST_CASE("what the policy hides is in no part of a reflection", "[reflect][policy]") {
  const TestHome home;
  const auto owner = home.cli();
  const std::string open = keep(*owner, at("The kazoo port is 5432.", "2026-01-01"));
  const std::string hidden = keep(*owner, [] {
    RetainItem made = at("The kazoo port is 5433.", "2026-02-01");
    made.tags = {"private"};
    return made;
  }());
  const std::string old_port = keep(*owner, at("The kazoo port was once closed.", "2025-01-01"));
  EditRequest invalid = edit(EditOp::invalidate, old_port);
  invalid.replacement_id = hidden;
  owner->edit_memory(invalid);
  // Invalid and hidden, too.
  const std::string hidden_old = keep(*owner, tagged("A kazoo was stolen.", {"private"}));
  owner->edit_memory(edit(EditOp::invalidate, hidden_old));
  const std::string bridge = keep(*owner, "A kazoo in the hall.");
  const std::string far = keep(*owner, "Somebody plays kazoo.");
  link(*owner, bridge, hidden, "near");
  link(*owner, hidden, far, "contradicts");
  CHECK(pairs(reflect(*owner, "kazoo")).size() == 2);
  CHECK(theme_of(reflect(*owner, "kazoo"), bridge).size() == 3);

  home.seal(2, R"({"id": "no-private", "effect": "forbid", "principal": "local:mcp",
    "tool": "reflect", "tags": "private"})");
  const auto agent = home.mcp();
  const ReflectResult result = reflect(*agent, "kazoo 5433 hidden");
  CHECK(std::count(result.ids.begin(), result.ids.end(), hidden) == 0);
  CHECK(std::count(result.ids.begin(), result.ids.end(), hidden_old) == 0);
  CHECK(result.contradictions.empty());
  CHECK(has_gap(result, "\"5433\""));
  for (const ReflectMoment& moment : result.timeline) CHECK(moment.id != hidden);
  CHECK(theme_of(result, bridge) == theme_of(result, open));
  REQUIRE(result.superseded.size() == 1);
  CHECK(result.superseded[0].id == old_port);
  CHECK(result.superseded[0].superseded_by.empty());
  for (const ReflectTheme& theme : result.themes) {
    for (const FoundMemory& found : theme.results) CHECK(found.superseded_by.empty());
  }
}

TEST_CASE("the policy knows reflect by its own name, and each call leaves one record",
          "[reflect][policy]") {
  const TestHome home;
  const auto owner = home.cli();
  const std::string id = keep(*owner, "A single euphonium.");
  CHECK(reflect(*owner, "euphonium", "of brass").ids == Strings{id});
  owner->flush_audit();
  auto log = home.log_of("reflect");
  REQUIRE(log.size() == 1);
  CHECK(log[0].count == 1);
  CHECK(log[0].record != 0);
  CHECK(home.log_of("recall").empty());
  CHECK(reflect(*owner, "quantum").ids.empty());
  owner->flush_audit();
  log = home.log_of("reflect");
  REQUIRE(log.size() == 2);
  CHECK(log[1].record == 0);

  home.seal(2, R"({"id": "none", "effect": "forbid", "principal": "local:mcp",
    "tool": "reflect"})");
  const auto agent = home.mcp();
  CHECK(failure_of([&] { reflect(*agent, "euphonium"); }).code == Code::denied);
  SearchRequest plain;
  plain.query = "euphonium";
  CHECK(agent->search(plain).results.size() == 1);
}

TEST_CASE("a reflection refuses what recall refuses", "[reflect]") {
  const TestHome home;
  const auto service = home.cli();
  CHECK(failure_of([&] { reflect(*service, " "); }).code == Code::invalid);
  CHECK(failure_of([&] { reflect(*service, kBadText); }).code == Code::invalid);
  CHECK(failure_of([&] { reflect(*service, "q", kBadText); }).code == Code::invalid);
  const Failure both = failure_of([&] { reflect(*service, long_text(60), long_text(400)); });
  CHECK(both.code == Code::invalid);
  CHECK(both.text.find("context") != std::string::npos);
}

TEST_CASE("what is left out of a reflection is left out everywhere", "[reflect]") {
  ReflectResult result;
  FoundMemory found;
  for (const char* id : {"a", "b", "c"}) {
    found.id = id;
    found.text = "12345678";
    result.themes.push_back({id, {found}});
    result.timeline.push_back({id, 0, {}, false});
    result.ids.emplace_back(id);
  }
  result.tokens = 6;
  result.contradictions = {{"a", "b", "number"}, {"c", "a", "number"}};
  result.superseded = {found};
  leave_out(result, {"b"});
  CHECK(result.themes.size() == 2);
  CHECK(result.timeline.size() == 2);
  CHECK(pairs(result) == Pairs{{"c", "a"}});
  CHECK(result.ids == Strings{"a", "c"});
  CHECK(result.tokens == 4);
  leave_out(result, {"c"});
  CHECK(result.superseded.empty());
  CHECK(pairs(result).empty());
}

}  // namespace strongroom::service
