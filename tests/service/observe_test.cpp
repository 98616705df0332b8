// Observations: what they rest on, when they no longer do, and who may make them.
#include <algorithm>

#include "memory_fixture.h"
#include "service/observations.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kDay = TimeMs{24} * 3600 * 1000;

ObserveRequest observation(const std::string& text, std::vector<ObservedSource> sources) {
  ObserveRequest request;
  request.text = text;
  request.sources = std::move(sources);
  return request;
}

std::string invalid_text(MemoryService& service, const ObserveRequest& request) {
  const Failure failure = failure_of([&] { service.observe(request); });
  CHECK(failure.code == Code::invalid);
  return failure.text;
}

RetainItem said(const std::string& content, TimeMs ago) {
  RetainItem made = item(content);
  made.timestamp = now_ms() - ago;
  return made;
}

FoundMemory found(MemoryService& service, const std::string& query, const std::string& id,
                  SearchResult* whole = nullptr) {
  SearchRequest request;
  request.query = query;
  request.min_score = 0;
  request.include_source_facts = 4096;
  SearchResult result = service.search(request);
  for (const FoundMemory& one : result.results) {
    if (one.id != id) continue;
    const FoundMemory copy = one;
    if (whole != nullptr) *whole = std::move(result);
    return copy;
  }
  FAIL("not found: " << id);
  return {};
}

}  // namespace

TEST_CASE("an observation knows what it rests on", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string first = keep(*service, "Ana ships on Monday.");
  const std::string second = keep(*service, "Ana shipped again this Monday, in small steps.");
  ObserveRequest request = observation(
      "Ana likes weekly releases.",
      {{second, "small steps"}, {first, "ships on Monday"}, {second, "again this Monday"}});
  request.tags = {"habits", "habits"};
  request.importance = 0.75;
  const ObserveResult made = service->observe(request);
  CHECK(made.status == "stored");
  CHECK(made.bank == "global");
  CHECK(made.trend == "new");
  CHECK(made.affected.empty());
  const MemoryDetail detail = get(*service, made.id);
  CHECK(detail.text == request.text);
  CHECK(detail.memory.type == MemoryType::observation);
  CHECK(detail.memory.tags == Strings{"habits"});
  CHECK(detail.memory.importance == 0.75);
  CHECK(detail.memory.trend == "new");
  CHECK(detail.memory.trust == "agent");
  CHECK(detail.tool == "observe");
  CHECK(detail.memory.source_fact_ids == Strings{second, first});
  REQUIRE(detail.sources.size() == 2);
  CHECK(detail.sources[0].quotes == Strings{"small steps", "again this Monday"});
  CHECK(detail.links_total == 2);

  SearchResult whole;
  const FoundMemory shown = found(*service, "weekly releases", made.id, &whole);
  CHECK(shown.trend == "new");
  CHECK(shown.source_fact_ids == Strings{second, first});
  REQUIRE(whole.source_facts.size() == 2);
  CHECK(whole.source_facts[0].id == second);
  CHECK(whole.source_facts[0].text == "Ana shipped again this Monday, in small steps.");
  CHECK(whole.source_facts[1].quotes == Strings{"ships on Monday"});
  SearchRequest few;
  few.query = "weekly releases";
  few.include_source_facts = 3;
  const SearchResult cut = service->search(few);
  REQUIRE(cut.source_facts.size() == 1);
  CHECK(cut.source_facts[0].truncated);
  CHECK(count_tokens(cut.source_facts[0].text) <= 3);
  few.include_source_facts.reset();
  CHECK(service->search(few).source_facts.empty());
  // What is no observation has neither.
  CHECK(get(*service, first).memory.trend.empty());
  CHECK(get(*service, first).memory.source_fact_ids.empty());
  home.check_whole();
}

TEST_CASE("an observation is checked before anything is stored", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "The port is 5433.");
  const ObserveRequest good = observation("Ports differ.", {{id, "5433"}});
  const auto bad = [&](const auto& change) {
    ObserveRequest request = good;
    change(request);
    return invalid_text(*service, request);
  };
  CHECK(bad([](auto& r) { r.sources.clear(); }) ==
        "Invalid: sources must have at least one source. [invalid]");
  CHECK(bad([&](auto& r) {
          r.sources.assign(33, {id, "5433"});
        }) == "Invalid: sources has more than 32 sources. [invalid]");
  CHECK(bad([&](auto& r) {
          r.sources.push_back({id, "5432"});
        }) ==
        "Invalid: sources[1].quote is not in the text of that memory, word for word. [invalid]");
  CHECK(bad([&](auto& r) { r.sources[0].quote = "the port"; }).find("sources[0].quote is not") !=
        std::string::npos);  // another case
  CHECK(bad([](auto& r) { r.sources[0].quote = " "; }).find("sources[0].quote") !=
        std::string::npos);
  CHECK(bad([](auto& r) { r.sources[0].id.clear(); }).find("sources[0].id") != std::string::npos);
  CHECK(bad([](auto& r) { r.text = "\n"; }).find("text") != std::string::npos);
  CHECK(bad([](auto& r) { r.text = kBadText; }).find("text") != std::string::npos);
  CHECK(bad([](auto& r) { r.text = long_text(2500); }).find("text has more than 2000 tokens") !=
        std::string::npos);
  CHECK(bad([](auto& r) { r.importance = 2; }).find("importance") != std::string::npos);
  CHECK(bad([](auto& r) { r.tags = Strings(65, "t"); }).find("tags") != std::string::npos);
  CHECK(bad([&](auto& r) { r.refines = id; }) ==
        "Invalid: refines names a memory that is no observation. [invalid]");
  CHECK(bad([](auto& r) { r.bank = "other"; }).find("bank is not the one") != std::string::npos);
  const auto failure = [&](const auto& change) {
    ObserveRequest request = good;
    change(request);
    return failure_of([&] { service->observe(request); });
  };
  CHECK(failure([&](auto& r) { r.text = "key " + credential(); }).code == Code::secret_detected);
  CHECK(failure([&](auto& r) { r.sources[0].id = id + "zz"; }).text == no_memory(id + "zz"));
  CHECK(failure([&](auto& r) { r.refines = id + "zz"; }).text == no_memory(id + "zz"));
  CHECK(failure([&](auto& r) { r.sources[0].id = "nonsense"; }).text == no_memory("nonsense"));
  const std::string elsewhere = other_bank_id(*service);
  CHECK(bad([&](auto& r) {
          r.sources.push_back({elsewhere, "other"});
        }) == "Invalid: sources[1].id is not of the same bank. [invalid]");
  service->edit_memory(edit(EditOp::invalidate, id));
  CHECK(invalid_text(*service, good) ==
        "Invalid: sources[0].id names a memory that is not valid. [invalid]");
  CHECK(texts(*service, true) == Strings{"The port is 5433."});
  home.check_whole();
}

TEST_CASE("an observation is made in the bank of its sources", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string elsewhere = other_bank_id(*service);
  CHECK(service->observe(observation("Elsewhere.", {{elsewhere, "other bank"}})).bank == "other");
}

TEST_CASE("the same observation is recognised", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "The port is 5433.");
  ObserveRequest request = observation("Ports differ.", {{id, "5433"}});
  request.operation_id = "one";
  const ObserveResult made = service->observe(request);
  const ObserveResult again = service->observe(request);
  CHECK(again.repeated);
  CHECK(again.id == made.id);
  CHECK(again.trend == made.trend);
  request.sources[0].quote = "port";
  CHECK(failure_of([&] { service->observe(request); }).code == Code::conflict);
  request.operation_id.clear();
  request.text = " ports DIFFER. ";
  const ObserveResult known = service->observe(request);
  CHECK(known.status == "duplicate");
  CHECK(known.id == made.id);
  CHECK(get(*service, made.id).revision == 1);
  CHECK(texts(*service).size() == 2);
  home.check_whole();
}

TEST_CASE("refining writes anew and never over", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "The port is 5433.");
  const std::string old = service->observe(observation("Ports differ.", {{id, "5433"}})).id;
  ObserveRequest request = observation("Ports differ by host.", {{id, "port"}});
  request.refines = old;
  request.operation_id = "two";
  const ObserveResult made = service->observe(request);
  CHECK(made.trend == "stable");
  CHECK(made.affected == Strings{old});
  CHECK(service->observe(request).affected == Strings{old});
  CHECK(get(*service, made.id).memory.trend == "stable");
  const MemoryDetail before = get(*service, old);
  CHECK(before.text == "Ports differ.");
  CHECK_FALSE(before.memory.valid);
  CHECK(before.memory.superseded_by == made.id);
  CHECK(before.memory.source_fact_ids == Strings{id});
  request.operation_id.clear();
  request.text = "Ports differ still.";
  CHECK(invalid_text(*service, request).find("has been replaced") != std::string::npos);
  // The same words over more sources.
  ObserveRequest more = observation("Ports differ by host.", {{id, "5433"}});
  more.refines = made.id;
  CHECK(service->observe(more).status == "stored");
  ObserveRequest circle = observation("Of itself.", {{made.id, "Ports"}});
  CHECK(invalid_text(*service, circle).find("sources[0].id") != std::string::npos);
  home.check_whole();
}

TEST_CASE("the trend of an observation follows one rule", "[observe]") {
  const TimeMs now = now_ms();
  const auto trend = [&](std::vector<SourceState> sources, bool refines, TimeMs age) {
    return std::string(observation_trend(sources, refines, now - age, now));
  };
  const SourceState fresh{true, now - kDay}, older{true, now - 9 * kDay};
  CHECK(trend({fresh}, false, 0) == "new");
  CHECK(trend({fresh}, false, 7 * kDay - 1) == "new");
  CHECK(trend({fresh}, false, 7 * kDay) == "stable");
  CHECK(trend({fresh}, true, 0) == "stable");
  CHECK(trend({fresh, older}, false, 0) == "stable");
  CHECK(trend({fresh, {true, now - 8 * kDay}}, false, 0) == "new");  // seven days and no more
  CHECK(trend({fresh, {false, now}}, true, 0) == "stale");
  CHECK(trend({{true, now - 90 * kDay}}, false, 0) == "new");
  CHECK(trend({{true, now - 90 * kDay - 1}}, false, 0) == "stale");
  CHECK(trend({{true, now - 100 * kDay}, fresh}, false, 0) == "stable");
  CHECK(trend({}, false, 0) == "new");
}

TEST_CASE("what no longer holds makes an observation stale", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string one = keep(*service, said("Ana ships on Monday.", 20 * kDay));
  const std::string two = keep(*service, said("Ben ships on Friday.", kDay));
  const std::string id =
      service->observe(observation("Each ships weekly.", {{one, "Monday"}, {two, "Friday"}})).id;
  const auto trend = [&] { return get(*service, id).memory.trend; };
  CHECK(trend() == "stable");
  service->edit_memory(edit(EditOp::invalidate, one));
  CHECK(trend() == "stale");
  CHECK(get(*service, id).memory.valid);
  CHECK(found(*service, "ships weekly", id).trend == "stale");
  service->edit_memory(edit(EditOp::restore, one));
  CHECK(trend() == "stable");
  update_text(*service, one, "Ana ships on Tuesday.");
  CHECK(trend() == "stale");
  update_text(*service, one, "Ana ships on Monday mornings.");
  CHECK(trend() == "stable");
  const std::string past =
      service->observe(observation("Long ago.", {{keep(*service, said("Old.", 99 * kDay)), "Old"}}))
          .id;
  CHECK(get(*service, past).memory.trend == "stale");
  home.check_whole();
}

TEST_CASE("forgetting a source takes its quotes along", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string one = keep(*service, "The zanzibar code is on the door.");
  const std::string two = keep(*service, "The door is blue.");
  const std::string id =
      service->observe(observation("Doors matter.", {{one, "zanzibar code"}, {two, "blue"}})).id;
  update_text(*service, id, "Doors matter a lot.");
  const std::string above = service->observe(observation("It all follows.", {{id, "matter"}})).id;
  const EditResult gone = service->edit_memory(edit(EditOp::forget, one));
  CHECK(gone.affected == Strings{id});
  const MemoryDetail left = get(*service, id);
  CHECK_FALSE(left.memory.valid);
  CHECK(left.memory.trend == "stale");
  CHECK(left.memory.source_fact_ids == Strings{two});
  REQUIRE(left.sources.size() == 1);
  CHECK(left.sources[0].quotes == Strings{"blue"});
  // What rests on the observation is stale, and no more than that.
  CHECK(get(*service, above).memory.trend == "stale");
  CHECK(get(*service, above).memory.valid);
  service->edit_memory(edit(EditOp::restore, id));
  CHECK(get(*service, id).memory.valid);
  CHECK(get(*service, id).memory.trend == "stale");
  // An observation that lost a source can still be refined.
  ObserveRequest request = observation("Doors matter because they are blue.", {{two, "blue"}});
  request.refines = id;
  CHECK(service->observe(request).status == "stored");
  // Forgetting the observation leaves its sources alone.
  CHECK(service->edit_memory(edit(EditOp::forget, above)).affected.empty());
  CHECK(get(*service, two).memory.valid);
  home.check_whole();
}

TEST_CASE("a purge and a deleted document invalidate what quotes them", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string one = keep(*service, tagged("Purged soon.", {"draft"}));
  const std::string two = retain(*service, {in_document("A page of notes.", "notes")}).items[0].id;
  const std::string first = service->observe(observation("First.", {{one, "soon"}})).id;
  const std::string second = service->observe(observation("Second.", {{two, "notes"}})).id;
  PurgeRequest purge;
  purge.tags = {"draft"};
  purge.dry_run = false;
  service->purge_memories(purge);
  service->delete_document("notes", {});
  CHECK_FALSE(get(*service, first).memory.valid);
  CHECK_FALSE(get(*service, second).memory.valid);
  CHECK(get(*service, second).links_total == 0);
  home.check_whole();
}

TEST_CASE("the link to a source is not a caller's to remove", "[observe]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string one = keep(*service, "The door is blue.");
  const std::string id = service->observe(observation("Doors.", {{one, "blue"}})).id;
  CHECK(failure_of([&] { link(*service, id, one, "quotes", true); }).code == Code::invalid);
  CHECK(link(*service, id, one, "quotes").status == "updated");
  CHECK(get(*service, id).sources.size() == 1);
  // One that a caller made is an ordinary link.
  CHECK(link(*service, one, id, "quotes").status == "linked");
  CHECK(service->edit_memory(edit(EditOp::forget, id)).affected.empty());
  CHECK(get(*service, one).memory.valid);
}

TEST_CASE("what may not be read may not be quoted", "[observe][policy]") {
  const TestHome home;
  const auto owner = home.cli();
  const std::string open = keep(*owner, "The door is blue.");
  const std::string closed = keep(*owner, tagged("The safe is red.", {"private"}));
  const std::string both =
      owner->observe(observation("Colours.", {{open, "blue"}, {closed, "red"}})).id;
  CHECK(get(*owner, both).memory.trust == "owner");
  home.seal(2, R"({"id": "no-reading", "effect": "forbid", "principal": "local:mcp",
    "tool": ["recall", "memory_get"], "tags": "private"},
    {"id": "no-drafts", "effect": "forbid", "principal": "local:mcp", "tool": "observe",
    "tags": "draft"})");
  const auto agent = home.mcp();
  for (const char* const quote : {"red", "green"}) {
    const Failure denied = failure_of([&] {
      agent->observe(observation("Red.", {{open, "blue"}, {closed, quote}}));
    });
    CHECK(denied.code == Code::denied);
    CHECK(denied.text.find("no-reading") != std::string::npos);
  }
  ObserveRequest draft = observation("Blue.", {{open, "blue"}});
  draft.tags = {"draft"};
  CHECK(failure_of([&] { agent->observe(draft); }).text.find("no-drafts") != std::string::npos);
  CHECK(agent->observe(observation("Blue.", {{open, "blue"}})).status == "stored");
  // Its hidden source is not named, and what becomes of it does not show.
  CHECK(get(*agent, both).memory.source_fact_ids == Strings{open});
  CHECK(get(*agent, both).sources.size() == 1);
  SearchResult whole;
  found(*agent, "colours", both, &whole);
  REQUIRE(whole.source_facts.size() == 1);
  CHECK(whole.source_facts[0].id == open);
  owner->edit_memory(edit(EditOp::invalidate, closed));
  CHECK(get(*agent, both).memory.trend == "new");
  CHECK(get(*owner, both).memory.trend == "stale");
  // The trust of an agent's observation is no more than its own, an owner's no more than its
  // sources'.
  const std::string told = keep(*agent, "The roof is green.");
  CHECK(get(*owner, owner->observe(observation("Green.", {{told, "green"}})).id).memory.trust ==
        "agent");
}

TEST_CASE("a read-only process observes nothing", "[observe]") {
  const TestHome home;
  const std::string id = keep(*home.mcp(), "The door is blue.");
  ServiceOptions options = home.options();
  options.read_only = true;
  const auto service = home.open(options);
  CHECK(failure_of([&] {
          service->observe(observation("Blue.", {{id, "blue"}}));
        }).code == Code::denied);
}

}  // namespace strongroom::service
