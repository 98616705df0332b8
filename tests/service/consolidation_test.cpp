// What needs a look, what might be put together, what memories are about.
#include <algorithm>
#include <functional>

#include "memory_fixture.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kDay = TimeMs{24} * 3600 * 1000;

std::string observe(MemoryService& service, const std::string& text, const std::string& source,
                    const std::string& quote) {
  ObserveRequest request;
  request.text = text;
  request.sources = {{source, quote}};
  return service.observe(request).id;
}

RetainItem expiring(const std::string& content, TimeMs in) {
  RetainItem made = item(content);
  made.expires_at = now_ms() + in;
  return made;
}

Strings ids_of(const std::vector<ReviewedMemory>& all) {
  Strings ids;
  for (const ReviewedMemory& memory : all) ids.push_back(memory.id);
  return ids;
}

std::vector<Candidate> candidates(MemoryService& service, CandidateAction action,
                                  std::int64_t older_than_days = 0) {
  CandidatesRequest request;
  request.actions = {action};
  request.older_than_days = older_than_days;
  return service.consolidation_candidates(request).candidates;
}

std::optional<ListedEntity> entity(MemoryService& service, const std::string& name) {
  for (const ListedEntity& one : service.list_entities({}).entities) {
    if (one.name == name) return one;
  }
  return std::nullopt;
}

const char* const kNoPrivate =
    R"({"id": "no-private", "effect": "forbid", "principal": "local:mcp", "tags": "private"})";

}  // namespace

TEST_CASE("a review names what needs a look", "[review]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string old = keep(*service, "The weasel port is 5432.");
  for (int i = 0; i < 5; ++i) keep(*service, "Harpsichord " + std::to_string(i) + " is in tune.");
  const std::string source = keep(*service, "Ferrets sleep all day.");
  const std::string stale = observe(*service, "Ferrets are lazy.", source, "sleep");
  observe(*service, "Ports are numbers.", old, "5432");
  service->edit_memory(edit(EditOp::invalidate, source));
  const std::string later = keep(*service, expiring("Ends in a week.", 7 * kDay));
  const std::string soon = keep(*service, expiring("Ends tomorrow.", kDay));
  keep(*service, expiring("Ends next year.", 365 * kDay));
  const std::string newer = keep(*service, "The weasel port is 5433.");
  ReviewRequest request;
  const ReviewResult all = service->review(request);
  const auto has = [](const ReviewResult& result, const std::string& a, const std::string& b) {
    return std::any_of(
        result.contradictions.begin(), result.contradictions.end(),
        [&](const Contradiction& pair) { return pair.newer == a && pair.older == b; });
  };
  CHECK(has(all, newer, old));
  CHECK(ids_of(all.expiring) == Strings{soon, later});
  CHECK(ids_of(all.stale) == Strings{stale});
  CHECK(all.stale[0].source_fact_ids == Strings{source});
  CHECK(all.quarantined.empty());
  CHECK(all.all_compared);
  CHECK(all.observations == 2);
  // Older ones are found by their words.
  request.newest = 1;
  request.days = 2;
  const ReviewResult newest = service->review(request);
  CHECK(newest.compared == 1);
  CHECK_FALSE(newest.all_compared);
  CHECK(has(newest, newer, old));
  CHECK(ids_of(newest.expiring) == Strings{soon});
  request = {};
  request.limit = 1;
  const ReviewResult cut = service->review(request);
  CHECK(cut.expiring.size() == 1);
  CHECK(cut.expiring_cut == 1);
  // A link says it too.
  link(*service, stale, newer, "contradicts");
  CHECK(service->review({}).contradictions.size() == all.contradictions.size() + 1);
  for (const auto& change : std::vector<std::function<void(ReviewRequest&)>>{
           [](auto& r) { r.days = 0; }, [](auto& r) { r.newest = 1001; },
           [](auto& r) { r.limit = 0; }}) {
    ReviewRequest wrong;
    change(wrong);
    CHECK(failure_of([&] { service->review(wrong); }).code == Code::invalid);
  }
  home.check_whole();
}

TEST_CASE("similar memories are proposed to be merged", "[consolidation]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string text = long_text(60);
  const std::string one = keep(*service, text), two = keep(*service, text + " more");
  keep(*service, "Something else.");
  const auto found = candidates(*service, CandidateAction::merge);
  REQUIRE(found.size() == 1);
  CHECK(found[0].ids == Strings{two, one});
  CHECK(found[0].prompt.find("replacement_id") != std::string::npos);
  service->edit_memory(edit(EditOp::invalidate, one));
  CHECK(candidates(*service, CandidateAction::merge).empty());
}

TEST_CASE("a document is proposed until an observation rests on it", "[consolidation]") {
  const TestHome home;
  const auto service = home.mcp();
  const auto turns = retain(
      *service, {turn("I ship weekly.", "talk", 1, "Ana"), turn("So do I.", "talk", 2, "Ben")});
  const auto found = candidates(*service, CandidateAction::extract);
  REQUIRE(found.size() == 1);
  CHECK(found[0].document_id == "talk");
  CHECK(found[0].ids == Strings{turns.items[1].id, turns.items[0].id});
  const std::string made = observe(*service, "Both ship weekly.", turns.items[0].id, "weekly");
  CHECK(candidates(*service, CandidateAction::extract).empty());
  service->edit_memory(edit(EditOp::invalidate, made));
  CHECK(candidates(*service, CandidateAction::extract).size() == 1);
}

TEST_CASE("what matters little and is old may be archived", "[consolidation]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem little = item("The lift was slow.");
  little.importance = 0.2;
  const std::string id = keep(*service, little);
  keep(*service, "The port is 5433.");
  little.content = "The tea was cold.";
  const std::string linked = keep(*service, little);
  link(*service, linked, "Tea", "about");
  const auto found = candidates(*service, CandidateAction::archive);
  REQUIRE(found.size() == 1);
  CHECK(found[0].ids == Strings{id});
  CHECK(candidates(*service, CandidateAction::archive, 90).empty());
}

TEST_CASE("candidates come page by page", "[consolidation]") {
  const TestHome home;
  const auto service = home.mcp();
  for (int i = 0; i < 5; ++i) {
    const std::string name = "talk" + std::to_string(i);
    retain(*service, {turn("First of " + name, name, 1), turn("Second of " + name, name, 2)});
  }
  CandidatesRequest request;
  request.limit = 2;
  Strings seen;
  for (int pages = 1;; ++pages) {
    const CandidatesResult page = service->consolidation_candidates(request);
    for (const Candidate& one : page.candidates) seen.push_back(one.document_id);
    if (!page.cursor) break;
    REQUIRE(pages < 10);
    request.cursor = *page.cursor;
  }
  CHECK(seen == Strings{"talk4", "talk3", "talk2", "talk1", "talk0"});
  request.cursor = "x";
  CHECK(failure_of([&] { service->consolidation_candidates(request); }).code == Code::invalid);
  request = {};
  request.older_than_days = -1;
  CHECK(failure_of([&] { service->consolidation_candidates(request); }).code == Code::invalid);
}

TEST_CASE("entities are counted from texts and from what was given", "[entities]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem given = item("She prefers small releases.");
  given.entities = {"Caroline Smith"};
  given.timestamp = 1'700'000'000'000;
  keep(*service, given);
  const std::string id = keep(*service, "We met Caroline Smith near src/main.cpp.");
  const auto caroline = entity(*service, "caroline smith");
  REQUIRE(caroline);
  CHECK(caroline->display == "Caroline Smith");
  CHECK(caroline->kind == "name");
  CHECK(caroline->memories == 2);
  CHECK(caroline->last_mentioned > given.timestamp);
  REQUIRE(entity(*service, "src/main.cpp"));
  CHECK(entity(*service, "src/main.cpp")->kind == "path");
  // The count follows every change.
  service->edit_memory(edit(EditOp::forget, id));
  CHECK(entity(*service, "caroline smith")->memories == 1);
  CHECK(entity(*service, "caroline smith")->kind == "given");
  CHECK_FALSE(entity(*service, "src/main.cpp"));
}

TEST_CASE("entities come page by page and by prefix", "[entities]") {
  const TestHome home;
  const auto service = home.mcp();
  for (int i = 0; i < 5; ++i) {
    RetainItem made = item("fact number " + std::to_string(i));
    made.entities = {"Common", "Own" + std::to_string(i)};
    keep(*service, made);
  }
  ListEntitiesRequest request;
  request.limit = 4;
  const ListEntitiesResult first = service->list_entities(request);
  CHECK(first.total == 6);
  REQUIRE(first.cursor);
  CHECK(first.entities[0].name == "common");
  CHECK(first.entities[0].memories == 5);
  request.cursor = *first.cursor;
  const ListEntitiesResult second = service->list_entities(request);
  REQUIRE(second.entities.size() == 2);
  CHECK(second.entities[1].name == "own4");
  CHECK_FALSE(second.cursor);
  request = {};
  request.prefix = "OWN";
  CHECK(service->list_entities(request).total == 5);
  for (const char* const wrong : {"x", "n", "n1", "n1:", "n:a", "1:a"}) {
    request.cursor = wrong;
    CHECK(failure_of([&] { service->list_entities(request); }).code == Code::invalid);
  }
  request = {};
  request.limit = 1001;
  CHECK(failure_of([&] { service->list_entities(request); }).code == Code::invalid);
}

TEST_CASE("what the policy hides is not reviewed, proposed or counted", "[policy]") {
  const TestHome home;
  const auto owner = home.cli();
  RetainItem hidden = tagged("The weasel port is 5432.", {"private"});
  hidden.entities = {"Hidden Name"};
  hidden.expires_at = now_ms() + kDay;
  hidden.importance = 0.1;
  keep(*owner, hidden);
  keep(*owner, "The weasel port is 5433.");
  REQUIRE(owner->review({}).contradictions.size() == 1);
  home.seal(2, kNoPrivate);
  const auto agent = home.mcp();
  const ReviewResult review = agent->review({});
  CHECK(review.contradictions.empty());
  CHECK(review.expiring.empty());
  CHECK(review.compared == 1);
  CHECK(candidates(*agent, CandidateAction::archive).empty());
  CHECK_FALSE(entity(*agent, "hidden name"));
  CHECK(entity(*owner, "hidden name"));
}

TEST_CASE("recall names what its results are about", "[entities]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem made = item("We met Caroline Smith near src/main.cpp.");
  made.entities = {"Apollo", "caroline smith"};
  keep(*service, made);
  SearchRequest request;
  request.query = "who was met near main?";
  request.min_score = 0;
  Strings names;
  CHECK(service->search(request).entities.size() == 2);  // those that were given
  request.find_entities = true;
  for (const FoundEntity& one : service->search(request).entities) {
    names.push_back(one.canonical_name);
  }
  CHECK(names == Strings{"Apollo", "caroline smith", "src/main.cpp"});
  request.include_entities = 2;
  CHECK(service->search(request).entities.size() == 1);
}

}  // namespace strongroom::service
