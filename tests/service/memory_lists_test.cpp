// Lists, counts, banks and removal in bulk; and the words and times that callers write.
#include <algorithm>

#include "memory_fixture.h"
#include "service/memory_words.h"

namespace strongroom::service {
namespace {

Strings texts_of(const ListMemoriesResult& result) {
  Strings all;
  for (const ListedMemory& memory : result.memories) all.push_back(memory.text);
  return all;
}

Strings listed(MemoryService& service, const Strings& tags, TagMatch match) {
  ListMemoriesRequest request;
  request.tags = tags;
  request.tags_match = match;
  Strings all = texts_of(service.list_memories(request));
  std::reverse(all.begin(), all.end());
  return all;
}

PurgeRequest purge_of(const Strings& tags, bool dry_run) {
  PurgeRequest request;
  request.tags = tags;
  request.dry_run = dry_run;
  return request;
}

}  // namespace

// ---- memories

TEST_CASE("memories are listed newest first, page by page", "[lists]") {
  const TestHome home;
  const auto service = home.mcp();
  Strings all;
  for (int i = 0; i < 25; ++i) {
    all.insert(all.begin(), "Fact " + std::to_string(i) + ".");
    keep(*service, all.front());
  }
  ListMemoriesRequest request;
  request.limit = 7;
  Strings seen;
  for (int pages = 1;; ++pages) {
    const ListMemoriesResult page = service->list_memories(request);
    for (const std::string& text : texts_of(page)) seen.push_back(text);
    CHECK(page.bank == "global");
    if (!page.cursor) {
      CHECK(pages == 4);
      break;
    }
    CHECK(page.memories.size() == 7);
    request.cursor = *page.cursor;
  }
  CHECK(seen == all);
  request.limit = 25;
  request.cursor.clear();
  CHECK_FALSE(service->list_memories(request).cursor);
  // An edit does not move a memory to another page.
  const std::string oldest = service->list_memories(request).memories.back().id;
  update_text(*service, oldest, "Fact zero.");
  CHECK(texts_of(service->list_memories(request)).back() == "Fact zero.");
  for (const char* wrong : {"x", "m", "m0", "m-1", "m1x", "k61", "m99999999999999999999999"}) {
    request.cursor = wrong;
    CHECK(failure_of([&] { service->list_memories(request); }).text ==
          "Invalid: cursor is not one that an earlier page gave. [invalid]");
  }
  home.check_whole();
}

TEST_CASE("lists are filtered by type, tags and validity", "[lists]") {
  const TestHome home;
  const auto service = home.mcp();
  keep(*service, "none");
  keep(*service, tagged("a", {"a"}));
  keep(*service, tagged("ab", {"b", "a"}));
  keep(*service, tagged("c", {"c"}));
  using Match = TagMatch;
  CHECK(listed(*service, {"a", "b"}, Match::any) == Strings{"none", "a", "ab"});
  CHECK(listed(*service, {"a", "b"}, Match::any_strict) == Strings{"a", "ab"});
  CHECK(listed(*service, {"a", "b"}, Match::all) == Strings{"none", "ab"});
  CHECK(listed(*service, {"a", "b"}, Match::all_strict) == Strings{"ab"});
  CHECK(listed(*service, {"a", "b"}, Match::exact) == Strings{"ab"});
  CHECK(listed(*service, {"a"}, Match::exact) == Strings{"a"});
  CHECK(listed(*service, {}, Match::any_strict).size() == 4);
  ListMemoriesRequest request;
  request.types = {MemoryType::experience};
  CHECK(service->list_memories(request).memories.empty());
  RetainItem spoken = item("spoken");
  spoken.speaker = "Ann";
  const std::string id = keep(*service, spoken);
  CHECK(texts_of(service->list_memories(request)) == Strings{"spoken"});
  service->edit_memory(edit(EditOp::invalidate, id));
  CHECK(service->list_memories(request).memories.empty());
  request.include_invalid = true;
  const ListMemoriesResult invalid = service->list_memories(request);
  REQUIRE(invalid.memories.size() == 1);
  CHECK_FALSE(invalid.memories[0].valid);
}

TEST_CASE("lists leave out what the policy hides, and say that they may", "[lists]") {
  const TestHome home;
  home.seal(2, R"({"id": "hidden", "effect": "forbid", "tool": ["list_*", "purge_memories",
    "delete_document"], "tags": "private", "principal": "local:mcp"})");
  const auto owner = home.cli();
  const auto agent = home.mcp();
  keep(*owner, tagged("open", {"open"}));
  keep(*owner, tagged("closed", {"private", "open"}));
  RetainItem document = in_document("closed document", "plans");
  document.tags = {"private"};
  keep(*owner, document);
  ListMemoriesRequest request;
  const ListMemoriesResult seen = agent->list_memories(request);
  CHECK(texts_of(seen) == Strings{"open"});
  CHECK(seen.notes.back() == "The policy may leave some out of this list.");
  CHECK(agent->list_documents({}).documents.empty());
  CHECK(owner->list_documents({}).documents.size() == 1);
  const ListTagsResult tags = agent->list_tags({});
  REQUIRE(tags.tags.size() == 1);
  CHECK(tags.tags[0].tag == "open");
  CHECK(tags.tags[0].memories == 1);
  CHECK(agent->purge_memories(purge_of({"open"}, false)).removed == 1);
  CHECK(failure_of([&] { agent->delete_document("plans", {}); }).code == Code::denied);
  CHECK(texts(*owner).size() == 2);
  home.check_whole();
}

TEST_CASE("an unknown bank is not found, and one not made yet is empty", "[lists]") {
  const TestHome home;
  const auto service = home.in_bank("fresh");
  CHECK(texts(*service).empty());
  CHECK(service->list_tags({}).tags.empty());
  CHECK(service->list_documents({}).documents.empty());
  CHECK(service->bank_stats({}).memories == 0);
  CHECK_FALSE(service->delete_document("d", {}).found);
  CHECK(service->purge_memories(purge_of({"t"}, false)).matched == 0);
  CHECK(failure_of([&] { service->list_tags("nowhere"); }).code == Code::not_found);
  CHECK(service->visible_banks().size() == 1);
}

// ---- documents, tags, numbers

TEST_CASE("documents are listed by name with their parts and tags", "[lists]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem one = in_document(long_text(900), "b.md");
  one.tags = {"z", "a"};
  retain(*service, {one, in_document("Short.", "a.md")});
  const ListDocumentsResult result = service->list_documents({});
  REQUIRE(result.documents.size() == 2);
  CHECK(result.documents[0].document_id == "a.md");
  CHECK(result.documents[0].memories == 1);
  CHECK(result.documents[1].memories > 3);
  CHECK(result.documents[1].tags == Strings{"a", "z"});
}

TEST_CASE("tags are counted a memory, over what is current", "[lists]") {
  const TestHome home;
  const auto service = home.mcp();
  keep(*service, tagged("one " + long_text(600), {"big", "all"}));  // several rows, one memory
  const std::string two = keep(*service, tagged("two", {"all"}));
  const std::string three = keep(*service, tagged("three", {"all", "z"}));
  RetainItem gone = tagged("gone", {"gone"});
  gone.expires_at = now_ms() - 1;
  keep(*service, gone);
  const auto counts = [&] {
    std::string text;
    for (const ListedTag& tag : service->list_tags({}).tags) {
      text += tag.tag + "=" + std::to_string(tag.memories) + " ";
    }
    return text;
  };
  CHECK(counts() == "all=3 big=1 z=1 ");
  EditRequest retag = edit(EditOp::update, two);
  retag.tags = Strings{"z"};
  service->edit_memory(retag);
  CHECK(counts() == "all=2 z=2 big=1 ");
  service->edit_memory(edit(EditOp::invalidate, three));
  CHECK(counts() == "all=1 big=1 z=1 ");
  service->edit_memory(edit(EditOp::restore, three));
  CHECK(counts() == "all=2 z=2 big=1 ");
  service->edit_memory(edit(EditOp::forget, three));
  CHECK(counts() == "all=1 big=1 z=1 ");
  home.check_whole();
}

TEST_CASE("a bank's statistics", "[lists]") {
  const TestHome home;
  const auto service = home.mcp();
  remember(*service, "key", "value");
  const std::string a = keep(*service, "A."), b = keep(*service, "B.");
  keep(*service, turn("Spoken.", "chat", 1, "Ann"));
  service->edit_memory(edit(EditOp::invalidate, a));
  service->edit_memory(edit(EditOp::forget, b));
  const MemoryBankStats stats = service->bank_stats({});
  CHECK(stats.bank == "global");
  CHECK(stats.tag == a.substr(0, 5));
  CHECK(stats.entries == 1);
  CHECK(stats.memories == 1);
  CHECK(stats.documents == 1);
  CHECK(stats.rows == 3);
  CHECK(stats.live_rows == 1);
  CHECK(stats.speakers == 1);
  CHECK(stats.by_type == std::map<std::string, std::uint64_t>{{"experience", 1}});
}

// ---- removal in bulk

TEST_CASE("a purge shows first, and forgets what matches every filter", "[purge]") {
  const TestHome home;
  const auto service = home.mcp();
  for (int i = 0; i < 30; ++i) {
    RetainItem one = tagged("Fact " + std::to_string(i), {i % 2 == 0 ? "even" : "odd", "all"});
    one.timestamp = TimeMs{1'000'000} + i;
    keep(*service, one);
  }
  PurgeRequest request = purge_of({"even", "all"}, true);
  request.before = TimeMs{1'000'010};
  PurgeResult result = service->purge_memories(request);
  CHECK(result.matched == 5);
  CHECK(result.removed == 0);
  CHECK(result.ids.size() == 5);
  CHECK(texts(*service).size() == 30);
  request.dry_run = false;
  result = service->purge_memories(request);
  CHECK(result.removed == 5);
  CHECK(texts(*service).size() == 25);
  CHECK(text_of(*service, result.ids[0]) == no_memory(result.ids[0]));
  CHECK(service->purge_memories(request).matched == 0);

  PurgeRequest invalid;
  invalid.invalid_only = true;
  invalid.dry_run = false;
  CHECK(service->purge_memories(invalid).matched == 0);
  ListMemoriesRequest list;
  service->edit_memory(edit(EditOp::invalidate, service->list_memories(list).memories[0].id));
  CHECK(service->purge_memories(invalid).removed == 1);
  CHECK(texts(*service, true).size() == 24);
  PurgeRequest typed;
  typed.types = {MemoryType::observation};
  CHECK(service->purge_memories(typed).matched == 0);
  CHECK(failure_of([&] { service->purge_memories(PurgeRequest{}); }).code == Code::invalid);
  home.check_whole();
}

TEST_CASE("a purge of more than a batch", "[purge]") {
  const TestHome home;
  const auto service = home.mcp();
  std::vector<RetainItem> items;
  for (int i = 0; i < 2300; ++i) items.push_back(tagged("Fact " + std::to_string(i), {"t"}));
  items.push_back(item("Kept."));
  retain(*service, std::move(items));
  const PurgeResult result = service->purge_memories(purge_of({"t"}, false));
  CHECK(result.removed == 2300);
  CHECK(result.ids.size() == 1000);
  CHECK(texts(*service) == Strings{"Kept."});
  home.check_whole();
}

TEST_CASE("a deleted document takes the memories of its earlier texts along", "[purge]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string old = retain(*service, {in_document("Old text.", "d")}).items[0].id;
  const std::string fresh = retain(*service, {in_document("New text.", "d")}).items[0].id;
  retain(*service, {in_document(long_text(3000), "e"), item("Kept.")});
  const DeleteDocumentResult result = service->delete_document("d", {});
  CHECK(result.found);
  CHECK(result.memories == 2);
  CHECK(text_of(*service, old) == no_memory(old));
  CHECK(text_of(*service, fresh) == no_memory(fresh));
  CHECK(service->list_documents({}).documents.size() == 1);
  CHECK_FALSE(service->delete_document("d", {}).found);
  CHECK(service->delete_document("e", {}).memories > 10);
  CHECK(texts(*service, true) == Strings{"Kept."});
  // The name is free again, and is another document.
  retain(*service, {in_document("New text.", "d")});
  CHECK(get_document(*service, "d").revision == 1);
  home.check_whole();
}

// ---- banks

TEST_CASE("banks that may be read are listed, and new ones made where permitted", "[banks]") {
  const TestHome home;
  const auto owner = home.cli();
  const auto project = home.in_bank("project");
  keep(*project, "Of the project.");
  const VisibleBank made = owner->create_bank("research");
  CHECK(made.name == "research");
  CHECK(made.tag.size() == 5);
  CHECK(failure_of([&] { owner->create_bank("research"); }).code == Code::conflict);
  CHECK(failure_of([&] { owner->create_bank("a\nb"); }).code == Code::invalid);
  const auto names_of = [](const std::vector<VisibleBank>& banks) {
    Strings all;
    for (const VisibleBank& bank : banks) all.push_back(bank.name + (bank.is_default ? "*" : ""));
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(names_of(project->visible_banks()) == Strings{"global", "project*", "research"});
  home.seal(2, R"({"id": "closed", "effect": "forbid", "bank": "research",
    "principal": "local:mcp"}, {"id": "no-banks", "effect": "forbid", "tool": "create_bank",
    "principal": "local:mcp"})");
  const auto agent = home.mcp();
  CHECK(names_of(agent->visible_banks()) == Strings{"global*", "project"});
  const Failure denied = failure_of([&] { agent->create_bank("mine"); });
  CHECK(denied.text.find("(rule: no-banks)") != std::string::npos);
  CHECK(failure_of([&] { agent->create_bank("research"); }).code == Code::denied);
  home.check_whole();
}

// ---- words and times

TEST_CASE("times are RFC 3339, dates, and nothing else", "[words]") {
  const auto time = [](const char* text) { return parse_time(text, "t"); };
  CHECK(time("1970-01-01") == 0);
  CHECK(time("1970-01-01T00:00:01") == 1000);
  CHECK(time("1970-01-01t00:00:01z") == 1000);
  CHECK(time("1970-01-01 01:00:00.1239+01:00") == 123);
  CHECK(time("2026-11-21T21:40:05.123Z") == 1'795'297'205'123);
  CHECK(time("2024-02-29") == 1'709'164'800'000);
  CHECK(time("0001-01-01") == -62'135'596'800'000);
  CHECK(time("9999-12-31T23:59:59.999Z") == 253'402'300'799'999);
  CHECK(time("2016-12-31T23:59:60Z") == time("2016-12-31T23:59:59Z"));
  for (const char* wrong : {"",
                            "now",
                            "2026",
                            "2026-02-30",
                            "2023-02-29",
                            "2026-13-01",
                            "2026-00-10",
                            "0000-01-01",
                            "10000-01-01",
                            "2026-1-1",
                            "2026-11-21T24:00:00Z",
                            "2026-11-21T21:60:00Z",
                            "2026-11-21T21:40:61Z",
                            "2026-11-21T21:40:05.Z",
                            "2026-11-21T21:40:05+0100",
                            "2026-11-21T21:40:05Z ",
                            " 2026-11-21",
                            "2026-11-21T",
                            "2026-11-21T21",
                            "0001-01-01T00:00:00+00:01",
                            "9999-12-31T23:59:59-00:01",
                            "2026-11-21T21:40:05+24:00",
                            "20\xD9\xA2\xD9\xA6-11-21",
                            "-2026-11-21"}) {
    INFO(wrong);
    CHECK(failure_of([&] { parse_time(wrong, "items[0].timestamp"); }).text ==
          "Invalid: items[0].timestamp must be a time such as 2026-11-21T21:40:05Z, or a date. "
          "[invalid]");
  }
}

TEST_CASE("types, tag matches and statuses by name", "[words]") {
  CHECK(parse_memory_type("fact") == MemoryType::world);
  CHECK(parse_memory_type("semantic") == MemoryType::world);
  CHECK(parse_memory_type("episode") == MemoryType::experience);
  CHECK(parse_memory_type("episodic") == MemoryType::experience);
  CHECK_FALSE(parse_memory_type("permanent"));
  CHECK_FALSE(parse_memory_type(""));
  for (const MemoryType type :
       {MemoryType::world, MemoryType::experience, MemoryType::observation}) {
    CHECK(parse_memory_type(memory_type_name(type)) == type);
  }
  CHECK(parse_tag_match("all_strict") == TagMatch::all_strict);
  CHECK_FALSE(parse_tag_match("ANY"));
  CHECK(item_status_name(ItemStatus::quarantined) == "quarantined");
  CHECK(tags_match({}, {}, TagMatch::exact));
  CHECK_FALSE(tags_match({"a"}, {}, TagMatch::exact));
}

}  // namespace strongroom::service
