// memory_get and memory_link: what is shown, in parts, and what is not told.
#include "memory_fixture.h"

namespace strongroom::service {

// ---- get

TEST_CASE("a long memory comes in parts on character borders", "[get]") {
  const TestHome home;
  const auto service = home.mcp();
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "\xE2\x82\xAC";
  const std::string id = keep(*service, text);
  GetMemoryRequest request;
  request.id = id;
  request.max_bytes = 1000;
  std::string together;
  for (;;) {
    const MemoryDetail part = service->get_memory(request);
    CHECK(part.bytes == text.size());
    CHECK(part.text.size() <= 1000);
    together += part.text;
    if (!part.next_offset) break;
    request.offset = *part.next_offset;
  }
  CHECK(together == text);
  request.offset = 1;
  CHECK(failure_of([&] { service->get_memory(request); }).text ==
        "Invalid: offset is inside a character. [invalid]");
  request.offset = text.size() + 10;
  CHECK(service->get_memory(request).text.empty());
  request.offset = 0;
  request.max_bytes = 0;
  CHECK(service->get_memory(request).text == "\xE2\x82\xAC");
}

TEST_CASE("exactly one of id and document_id", "[get]") {
  const TestHome home;
  const auto service = home.mcp();
  GetMemoryRequest request;
  CHECK(failure_of([&] { service->get_memory(request); }).code == Code::invalid);
  request.id = "abcde-1";
  request.document_id = "d";
  CHECK(failure_of([&] { service->get_memory(request); }).code == Code::invalid);
  request.id.clear();
  const Failure absent = failure_of([&] { service->get_memory(request); });
  CHECK(absent.code == Code::not_found);
  CHECK(absent.text == "No document found with id \"d\". [not_found]");
}

TEST_CASE("a document shows only the parts that the policy shows", "[get]") {
  const TestHome home;
  home.seal(2, R"({"id": "hidden", "effect": "forbid", "tool": "memory_get", "tags": "private",
    "principal": "local:mcp"})");
  const auto owner = home.cli();
  const auto agent = home.mcp();
  RetainItem closed = turn("Closed words.", "chat", 2);
  closed.tags = {"private"};
  retain(*owner, {turn("Open words.", "chat", 1), closed});
  const MemoryDetail seen = get_document(*agent, "chat");
  CHECK(seen.text == "Open words.\n[removed]");
  CHECK(seen.notes.size() >= 1);
  CHECK(seen.memory.tags.empty());
  RetainItem all = in_document("Only closed words.", "secret");
  all.tags = {"private"};
  retain(*owner, {all});
  const Failure denied = failure_of([&] { get_document(*agent, "secret"); });
  CHECK(denied.code == Code::denied);
  CHECK(get_document(*owner, "chat").text == "Open words.\nClosed words.");
}

TEST_CASE("a document of the shared bank is found from a project", "[get]") {
  const TestHome home;
  const auto shared = home.mcp();
  retain(*shared, {in_document("Shared text.", "guide")});
  const auto project = home.in_bank("project");
  keep(*project, "Something of the project.");
  const MemoryDetail found = get_document(*project, "guide");
  CHECK(found.text == "Shared text.");
  CHECK(found.bank == "global");
}

// ---- links

TEST_CASE("links are made, changed, shown and removed", "[link]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string a = keep(*service, "A."), b = keep(*service, "B.");
  CHECK(link(*service, a, b, "causes").status == "linked");
  CHECK(link(*service, a, b, "causes").status == "updated");
  CHECK(link(*service, a, "redis-7", "is about").status == "linked");
  LinkRequest timed;
  timed.from = "Alice";
  timed.to = a;
  timed.relation = "said";
  timed.valid_from = 1000;
  timed.valid_until = 2000;
  const LinkResult made = service->link_memories(timed);
  CHECK(made.bank == "global");
  const MemoryDetail found = get(*service, a);
  REQUIRE(found.links.size() == 3);
  CHECK(found.links_total == 3);
  CHECK(found.links[0].from == "Alice");
  CHECK(found.links[0].valid_until == TimeMs{2000});
  CHECK(found.links[1].to == "redis-7");
  CHECK(found.links[2].to == b);
  CHECK(link(*service, a, b, "causes", true).status == "removed");
  CHECK(failure_of([&] { link(*service, a, b, "causes", true); }).code == Code::not_found);
  CHECK(get(*service, b).links.empty());
  home.check_whole();
}

TEST_CASE("links that are refused", "[link]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string a = keep(*service, "A.");
  const std::string other = other_bank_id(*service);
  const auto code = [&](const std::string& from, const std::string& to,
                        const std::string& relation) {
    return failure_of([&] { link(*service, from, to, relation); }).code;
  };
  CHECK(code("", a, "r") == Code::invalid);
  CHECK(code(a, "", "r") == Code::invalid);
  CHECK(code(a, "x", "") == Code::invalid);
  CHECK(code(a, a, "r") == Code::invalid);
  CHECK(code(a, kBadText, "r") == Code::invalid);
  CHECK(code(a, "x", std::string(257, 'r')) == Code::too_large);
  CHECK(code(a, credential(), "r") == Code::secret_detected);
  CHECK(code(a, other, "r") == Code::invalid);
  CHECK(failure_of([&] { link(*service, a, a.substr(0, 6) + "zz", "r"); }).text ==
        no_memory(a.substr(0, 6) + "zz"));
  LinkRequest backwards;
  backwards.from = a;
  backwards.to = "x";
  backwards.relation = "r";
  backwards.valid_from = 2;
  backwards.valid_until = 1;
  CHECK(failure_of([&] { service->link_memories(backwards); }).code == Code::invalid);
  CHECK(get(*service, a).links.empty());
  home.check_whole();
}

TEST_CASE("a link to what may not be read is not shown", "[link]") {
  const TestHome home;
  home.seal(2, R"({"id": "hidden", "effect": "forbid", "tool": ["memory_get", "memory_link"],
    "tags": "private", "principal": "local:mcp"})");
  const auto owner = home.cli();
  const auto agent = home.mcp();
  const std::string open = keep(*owner, "Open.");
  const std::string hidden = keep(*owner, tagged("Hidden.", {"private"}));
  link(*owner, open, hidden, "explains");
  CHECK(get(*owner, open).links.size() == 1);
  CHECK(get(*agent, open).links.empty());
  CHECK(get(*agent, open).links_total == 0);
  CHECK(failure_of([&] { link(*agent, open, hidden, "r"); }).code == Code::denied);
}

}  // namespace strongroom::service
