// What the policy hides stays hidden, whatever way is tried.
#include "memory_fixture.h"
#include "service_fixture.h"

namespace strongroom::service {
namespace {

const char* const kNoPrivate =
    R"({"id": "no-private", "effect": "forbid", "principal": "local:mcp", "tags": "private"})";

std::vector<std::string> found_ids(MemoryService& service, SearchRequest request) {
  request.min_score = 0;
  std::vector<std::string> ids;
  for (const FoundMemory& found : service.search(request).results) ids.push_back(found.id);
  return ids;
}

SearchRequest ask(const std::string& query) {
  SearchRequest request;
  request.query = query;
  return request;
}

}  // namespace

TEST_CASE("a memory that is closed today is closed in its past too", "[policy]") {
  const TestHome home;
  const auto owner = home.cli();
  RetainItem item;
  item.content = "the kazoo was open to all once";
  item.tags = {"open"};
  const std::string id = owner->retain({{item}, {}, {}, {}, false}).items[0].id;
  const TimeMs then = now_ms();
  while (now_ms() <= then) {
  }
  EditRequest edit;
  edit.id = id;
  edit.tags = std::vector<std::string>{"private"};
  owner->edit_memory(edit);
  home.seal(2, kNoPrivate);
  const auto agent = home.mcp();
  SearchRequest past = ask("kazoo");
  CHECK(found_ids(*agent, past).empty());
  past.as_of = then;
  CHECK(found_ids(*agent, past).empty());
  SearchRequest all = ask("kazoo");
  all.include_invalid = true;
  CHECK(found_ids(*agent, all).empty());
  CHECK(found_ids(*owner, past) == std::vector<std::string>{id});
}

TEST_CASE("who may not write a document's tags may not append to it", "[policy]") {
  const TestHome home;
  const auto owner = home.cli();
  RetainItem item;
  item.content = "the first page";
  item.document_id = "diary";
  item.tags = {"private"};
  owner->retain({{item}, {}, {}, {}, false});
  home.seal(2, kNoPrivate);
  const auto agent = home.mcp();
  item.content = "a page by another hand";
  item.append = true;
  item.tags = {};
  const RetainResult refused = agent->retain({{item}, {}, {}, {}, false});
  CHECK(refused.items[0].status == ItemStatus::rejected);
  CHECK(refused.items[0].reason.find("(rule: no-private)") != std::string::npos);
  CHECK(agent->list_documents({}).documents.empty());
  // The owner goes on, and the tags stay.
  owner->retain({{item}, {}, {}, {}, false});
  const ListDocumentsResult documents = owner->list_documents({});
  REQUIRE(documents.documents.size() == 1);
  CHECK(documents.documents[0].tags == std::vector<std::string>{"private"});
}

TEST_CASE("counts in a trace do not tell what the policy hides", "[policy]") {
  const TestHome home;
  const auto owner = home.cli();
  RetainItem item;
  item.content = "a hidden bassoon";
  item.tags = {"private"};
  owner->retain({{item}, {}, {}, {}, false});
  item.content = "an open oboe";
  item.tags = {};
  owner->retain({{item}, {}, {}, {}, false});
  home.seal(2, kNoPrivate);
  const auto agent = home.mcp();
  SearchRequest request = ask("bassoon oboe");
  request.trace = true;
  const SearchResult result = agent->search(request);
  REQUIRE(result.trace);
  CHECK(result.trace->terms.empty());
  CHECK(result.trace->postings == 0);
  for (const ArmReport& arm : result.arms) CHECK(arm.candidates <= 1);
}

TEST_CASE("what replaced a memory is not named to who may not see it", "[policy]") {
  const TestHome home;
  const auto owner = home.cli();
  RetainItem item;
  item.content = "the spinet stands in the hall";
  const std::string old = owner->retain({{item}, {}, {}, {}, false}).items[0].id;
  item.content = "the spinet was sold to a museum";
  item.tags = {"private"};
  const std::string fresh = owner->retain({{item}, {}, {}, {}, false}).items[0].id;
  EditRequest edit;
  edit.id = old;
  edit.op = EditOp::invalidate;
  edit.replacement_id = fresh;
  owner->edit_memory(edit);
  home.seal(2, kNoPrivate);
  SearchRequest all = ask("spinet hall");
  all.include_invalid = true;
  all.min_score = 0;
  GetMemoryRequest get;
  get.id = old;
  const auto agent = home.mcp();
  const SearchResult found = agent->search(all);
  REQUIRE(found.results.size() == 1);
  CHECK_FALSE(found.results[0].valid);
  CHECK(found.results[0].superseded_by.empty());
  CHECK(agent->get_memory(get).memory.superseded_by.empty());
  CHECK(owner->get_memory(get).memory.superseded_by == fresh);
  for (const FoundMemory& memory : owner->search(all).results) {
    CHECK(memory.superseded_by == (memory.id == old ? fresh : std::string()));
  }
}

TEST_CASE("chunks that are shown without results are logged", "[policy]") {
  const TestHome home;
  const auto owner = home.cli();
  RetainItem item;
  item.content = "a chunk about harpsichords";
  item.document_id = "music";
  owner->retain({{item}, {}, {}, {}, false});
  SearchRequest request = ask("harpsichords");
  request.max_tokens = 0;
  request.include_chunks = 100;
  const SearchResult result = owner->search(request);
  CHECK(result.results.empty());
  REQUIRE(result.chunks.size() == 1);
  owner->flush_audit();
  const auto log = home.log_of("recall");
  REQUIRE(log.size() == 1);
  CHECK(log[0].record != 0);
  CHECK(log[0].bytes == item.content.size());
}

}  // namespace strongroom::service
