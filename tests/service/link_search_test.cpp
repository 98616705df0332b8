// What explicit links do to an answer, and near-copies.
#include "memory_fixture.h"
#include "recall/ranking.h"
#include "service/link_source.h"

namespace strongroom::service {
namespace {

namespace ranking = recall::ranking;

SearchResult search(MemoryService& service, const SearchRequest& request) {
  return service.search(request);
}
SearchRequest ask(const std::string& query) {
  SearchRequest request;
  request.query = query;
  return request;
}
const FoundMemory* found(const SearchResult& result, const std::string& id) {
  for (const FoundMemory& one : result.results) {
    if (one.id == id) return &one;
  }
  return nullptr;
}
const ArmReport& graph(const SearchResult& result) {
  for (const ArmReport& arm : result.arms) {
    if (arm.name == "graph") return arm;
  }
  FAIL("there is no graph arm");
  throw Error(Code::internal, "");
}

const std::string kOutage = "The warehouse scanner outage began after the firmware upgrade.";
const std::string kCause = "Zinc plating flakes off in humid rooms.";
const std::string kQuestion = "when did the warehouse scanner outage begin";

// A bank in which a memory matches the question and another one shares no word with it.
struct Linked {
  TestHome home;
  std::unique_ptr<MemoryService> service = home.mcp();
  std::string outage = keep(*service, kOutage), cause;

  explicit Linked(Strings tags = {}) {
    cause = keep(*service, tagged(kCause, std::move(tags)));
    for (int i = 0; i < 30; ++i) {
      keep(*service, "Note " + std::to_string(i) + " is about gardens and their fences.");
    }
  }
};

}  // namespace

TEST_CASE("a linked memory that no other arm finds is found", "[recall][graph]") {
  Linked bank;
  CHECK(found(search(*bank.service, ask(kQuestion)), bank.cause) == nullptr);
  link(*bank.service, bank.outage, bank.cause, "caused_by");

  const SearchResult result = search(*bank.service, ask(kQuestion));
  const FoundMemory *const a = found(result, bank.outage), *const b = found(result, bank.cause);
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  CHECK(result.results[0].id == bank.outage);
  CHECK(b->keyword.value() == 0);
  CHECK(b->graph.value() > 0);
  CHECK(b->score < a->score);
  CHECK(b->score >= 0.3);
  CHECK(graph(result).candidates > 0);
  CHECK_FALSE(graph(result).cut);
  // From either end.
  CHECK(found(search(*bank.service, ask("zinc plating in humid rooms")), bank.outage) != nullptr);

  SearchRequest without = ask(kQuestion);
  without.without = {"links"};
  CHECK(found(search(*bank.service, without), bank.cause) == nullptr);
  without = ask(kQuestion);
  without.arms = {"keyword", "semantic", "temporal"};
  CHECK(found(search(*bank.service, without), bank.cause) == nullptr);
  without = ask(kQuestion);
  without.without = {"gravity"};
  CHECK(failure_of([&] { search(*bank.service, without); }).code == Code::invalid);

  link(*bank.service, bank.outage, bank.cause, "caused_by", true);
  CHECK(found(search(*bank.service, ask(kQuestion)), bank.cause) == nullptr);
}

TEST_CASE("a question without an answer is not answered by a link", "[recall][graph]") {
  Linked bank;
  link(*bank.service, bank.outage, bank.cause, "caused_by");
  const SearchResult result = search(*bank.service, ask("who won the chess tournament upgrade"));
  CHECK(found(result, bank.cause) == nullptr);
}

TEST_CASE("a link counts while it holds", "[recall][graph]") {
  Linked bank;
  const TimeMs now = search(*bank.service, ask(kQuestion)).as_of;
  constexpr TimeMs kDay = 86'400'000;
  LinkRequest request;
  request.from = bank.outage;
  request.to = bank.cause;
  request.relation = "caused_by";
  const auto shown = [&](std::optional<TimeMs> as_of = {}) {
    SearchRequest search_request = ask(kQuestion);
    search_request.as_of = as_of;
    return found(search(*bank.service, search_request), bank.cause) != nullptr;
  };
  request.valid_from = now + kDay;
  bank.service->link_memories(request);
  CHECK_FALSE(shown());
  CHECK(shown(now + 2 * kDay));
  request.valid_from.reset();
  request.valid_until = now - kDay;
  bank.service->link_memories(request);
  CHECK_FALSE(shown());
  request.valid_until = now + kDay;
  bank.service->link_memories(request);
  CHECK(shown());
  CHECK_FALSE(shown(now + kDay));  // up to there, not at it
}

TEST_CASE("as_of follows a link to the text of then", "[recall][graph]") {
  Linked bank;
  link(*bank.service, bank.outage, bank.cause, "caused_by");
  const TimeMs linked = search(*bank.service, ask(kQuestion)).as_of;
  while (search(*bank.service, ask(kQuestion)).as_of == linked) {
  }
  update_text(*bank.service, bank.cause, "Brass fittings tarnish near the sea.");
  SearchRequest then = ask(kQuestion);
  then.as_of = linked;
  const SearchResult old = search(*bank.service, then);
  const FoundMemory* const b = found(old, bank.cause);
  REQUIRE(b != nullptr);
  CHECK(b->text == kCause);
  CHECK(found(search(*bank.service, ask(kQuestion)), bank.cause)->text ==
        "Brass fittings tarnish near the sea.");
  // Before there was a link.
  then.as_of = found(old, bank.outage)->mentioned_at;
  CHECK(found(search(*bank.service, then), bank.cause) == nullptr);
}

TEST_CASE("the filter decides about linked memories", "[recall][graph]") {
  Linked bank({"private"});
  link(*bank.service, bank.outage, bank.cause, "caused_by");
  SearchRequest request = ask(kQuestion);
  REQUIRE(found(search(*bank.service, request), bank.cause) != nullptr);
  request.tags = {"public"};  // or untagged
  CHECK(found(search(*bank.service, request), bank.cause) == nullptr);
  request = ask(kQuestion);
  request.types = {MemoryType::observation};
  CHECK(search(*bank.service, request).results.empty());
  bank.service->edit_memory(edit(EditOp::invalidate, bank.cause));
  CHECK(found(search(*bank.service, ask(kQuestion)), bank.cause) == nullptr);
  request = ask(kQuestion);
  request.include_invalid = true;
  CHECK(found(search(*bank.service, request), bank.cause) != nullptr);
  bank.service->edit_memory(edit(EditOp::forget, bank.cause));
  CHECK(found(search(*bank.service, request), bank.cause) == nullptr);
}

TEST_CASE("what the policy hides no link shows", "[recall][graph]") {
  Linked bank({"private"});
  link(*bank.service, bank.outage, bank.cause, "caused_by");
  REQUIRE(found(search(*bank.service, ask(kQuestion)), bank.cause) != nullptr);
  bank.service.reset();
  bank.home.seal(2, R"({"id": "hidden", "effect": "forbid", "principal": "local:mcp",
    "tags": "private"})");
  bank.service = bank.home.mcp();
  const SearchResult result = search(*bank.service, ask(kQuestion));
  CHECK(found(result, bank.outage) != nullptr);
  CHECK(found(result, bank.cause) == nullptr);
}

TEST_CASE("an entity that the query names leads to what is linked with it", "[recall][graph]") {
  Linked bank;
  link(*bank.service, bank.cause, "Orion 7", "affects");
  const SearchResult result = search(*bank.service, ask("what affects \"Orion 7\"?"));
  REQUIRE(found(result, bank.cause) != nullptr);
  CHECK(found(result, bank.cause)->graph.value() > 0);

  // And two memories with the same entity lead to each other, unless it has many.
  link(*bank.service, bank.outage, "Orion 7", "happened_at");
  SearchRequest request = ask(kQuestion);
  request.min_score = 0;
  REQUIRE(found(search(*bank.service, request), bank.cause) != nullptr);
  CHECK(found(search(*bank.service, request), bank.cause)->graph.value() > 0);
  for (std::size_t i = 0; i < ranking::kLinksAnEnd; ++i) {
    link(*bank.service, "Orion 7", "part " + std::to_string(i), "has");
  }
  const SearchResult hub = search(*bank.service, request);
  CHECK(found(hub, bank.cause) == nullptr);
  CHECK(graph(hub).cut);
  CHECK(graph(hub).reason.find("links") != std::string::npos);
}

TEST_CASE("links one behind another are followed by a deep search", "[recall][graph]") {
  Linked bank;
  const std::string third = keep(*bank.service, "Jasmine tea is kept on the upper shelf.");
  link(*bank.service, bank.outage, bank.cause, "caused_by");
  link(*bank.service, bank.cause, third, "caused_by");
  SearchRequest request = ask(kQuestion);
  request.min_score = 0;
  const auto shown = [&](Budget budget) {
    request.budget = budget;
    const FoundMemory* const one = found(search(*bank.service, request), third);
    return one != nullptr && one->graph.value() > 0;
  };
  CHECK_FALSE(shown(Budget::low));
  CHECK_FALSE(shown(Budget::mid));
  CHECK(shown(Budget::high));
}

TEST_CASE("of a hub of 100,000 links a bounded number is read", "[recall][graph]") {
  const vault::TestVault test(false);
  const auto vault = test.open();
  const auto bank = vault->open_bank(vault::kGlobalBank);
  constexpr std::uint64_t kLinks = 100'000;
  std::vector<vault::RecordId> memories;
  {
    vault::BankWrite write = bank->write(vault->stamp());
    for (std::uint32_t i = 0; i <= 100; ++i) {
      vault::MemoryDraft draft;
      const std::string text = "memory " + std::to_string(i);
      draft.text = text;
      draft.row = i + 1;
      draft.rows = 1;
      memories.push_back(vault::add_memory(write, draft, 1000));
    }
    write.commit();
  }
  for (std::uint64_t made = 0; made < kLinks;) {
    vault::BankWrite write = bank->write(vault->stamp());
    for (std::uint64_t i = 0; i < 10'000; ++i, ++made) {
      vault::Link link;
      link.from.memory = memories[0];
      link.to.memory = memories[1 + made % 100];
      link.relation = "r" + std::to_string(made);
      REQUIRE(vault::put_link(write, link, 1000));
    }
    write.commit();
  }
  vault::BankRead read = bank->read();
  REQUIRE(read.head().counts.links == kLinks);
  LinkReader links(read, {}, 2000);
  const recall::LinkSource* const source = links.source();
  REQUIRE(source != nullptr);
  const auto hub = source->of_memory(memories[0], 10'000);
  CHECK(hub.cut);
  CHECK(hub.memories.size() == ranking::kLinksAnEnd);
  CHECK(hub.read == 1 + 2 * ranking::kLinksAnEnd);
  // The newest of them.
  CHECK(hub.memories[0].row == 1 + 100);
  // Nor more than it was allowed.
  const auto little = source->of_memory(memories[0], 10);
  CHECK(little.cut);
  CHECK(little.read == 10);
  // Before there were links, and when they are all over.
  CHECK(LinkReader(read, 999, 2000).source()->of_memory(memories[1], 10'000).memories.empty());
}

TEST_CASE("near-copies leave room for what else there is", "[recall][copies]") {
  const TestHome home;
  const auto service = home.mcp();
  static const char* const kDays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"};
  for (int i = 0; i < 20; ++i) {
    keep(*service,
         "Backup of the ledger database runs at night with rsync to the vault in Oslo, "
         "checked on " +
             std::string(kDays[i % 5]) + " by operator " + std::to_string(i) + ".");
  }
  const Strings others = {
      keep(*service, "Backup of the photo archive is copied by courier every quarter."),
      keep(*service, "Backup of the mail server goes to tape on the first of a month."),
      keep(*service, "Backup of the build farm is skipped on purpose, it can be made anew.")};
  for (int i = 0; i < 40; ++i) keep(*service, "Garden note " + std::to_string(i) + " on roses.");
  SearchRequest request = ask("what are all the backups of the ledger database and others?");
  request.limit = 10;
  const auto shown = [&] {
    const SearchResult result = search(*service, request);
    double last = 1;
    for (const FoundMemory& one : result.results) {
      CHECK(one.score <= last);
      last = one.score;
    }
    return std::count_if(others.begin(), others.end(),
                         [&](const std::string& id) { return found(result, id) != nullptr; });
  };
  CHECK(shown() == 3);
  request.without = {"copies"};
  CHECK(shown() == 0);
  // They are moved, not dropped.
  request.without.clear();
  request.limit = 200;
  request.min_score = 0;
  CHECK(search(*service, request).results.size() >= 23);
}

}  // namespace strongroom::service
