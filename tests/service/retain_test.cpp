// What retain stores, recognises, refuses and remembers.
#include <chrono>
#include <cmath>
#include <limits>

#include "memory_fixture.h"

namespace strongroom::service {
namespace {

std::string refused(MemoryService& service, const std::function<void(RetainItem&)>& change) {
  RetainItem bad = item("text-of-the-caller");
  change(bad);
  const Failure failure = failure_of([&] {
    retain(service, {item("a good one"), std::move(bad)});
  });
  CHECK(failure.text.find("text-of-the-caller") == std::string::npos);
  CHECK(texts(service).empty());
  return failure.text;
}

}  // namespace

// ---- what is stored

TEST_CASE("a memory comes back with everything that was said of it", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem one = item("  Alice moved to Berlin \xF0\x9F\x8F\x99 on Monday.\n");
  one.context = "small talk";
  one.speaker = "Bob";
  one.tags = {"people", "moves", "people"};
  one.entities = {"Alice", "Berlin"};
  one.metadata = {{"channel", "chat"}, {"empty", ""}};
  one.timestamp = parse_time("2023-05-08T13:56:00Z", "t");
  one.occurred_start = parse_time("2023-05-01", "t");
  one.occurred_end = parse_time("2023-05-02", "t");
  one.importance = 0.75;
  RetainRequest request;
  request.items = {one};
  request.source = "diary";
  const RetainResult result = service->retain(request);
  CHECK(result.count == 1);
  CHECK(result.bank == "global");
  CHECK_FALSE(result.repeated);
  CHECK(result.items[0].memories == 1);

  const MemoryDetail found = get(*service, result.items[0].id);
  CHECK(found.text == one.content);
  CHECK(found.bytes == one.content.size());
  CHECK_FALSE(found.next_offset);
  CHECK(found.memory.type == MemoryType::experience);  // it has a speaker
  CHECK(found.memory.tags == Strings{"people", "moves"});
  CHECK(found.memory.entities == one.entities);
  CHECK(found.memory.metadata == one.metadata);
  CHECK(found.memory.context == "small talk");
  CHECK(found.memory.speaker == "Bob");
  CHECK(found.memory.mentioned_at == *one.timestamp);
  CHECK(found.memory.occurred_start == one.occurred_start);
  CHECK(found.memory.occurred_end == one.occurred_end);
  CHECK(found.memory.importance == 0.75);
  CHECK(found.memory.trust == "agent");
  CHECK(found.memory.valid);
  CHECK(found.memory.source == "diary");
  CHECK(found.source_label == "diary");
  CHECK(found.source_kind == "mcp");
  CHECK(found.principal == "local:mcp");
  CHECK(found.tool == "retain");
  CHECK(found.revision == 1);
  CHECK(found.history.size() == 1);
  home.check_whole();
}

TEST_CASE("defaults: world, now, .5, and the owner's trust for the command line", "[retain]") {
  const TestHome home;
  const auto service = home.cli();
  const TimeMs before = now_ms();
  const MemoryDetail found = get(*service, keep(*service, "Water is wet."));
  CHECK(found.memory.type == MemoryType::world);
  CHECK(found.memory.importance == 0.5);
  CHECK(found.memory.mentioned_at >= before);
  CHECK(found.memory.trust == "owner");
  CHECK(found.memory.tags.empty());
  CHECK(found.document_id.empty());
}

TEST_CASE("nothing of a memory is readable in any file", "[retain]") {
  const TestHome home;
  {
    const auto service = home.mcp();
    RetainItem one = tagged("marker-text-alpha and more", {"marker-tag-beta"});
    one.speaker = "marker-speaker-gamma";
    one.document_id = "marker-document-delta";
    keep(*service, one);
  }
  for (const char* marker : {"marker-text", "marker-tag", "marker-speaker", "marker-document"}) {
    CHECK_FALSE(home.holds(marker));
  }
}

// ---- what is refused as a whole

TEST_CASE("a schema error refuses the whole call and names the item's field", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const auto bad = [&](const std::function<void(RetainItem&)>& change) {
    return refused(*service, change);
  };
  const std::string at = "Invalid: items[1].";
  CHECK(bad([](auto& i) { i.content = ""; }) == at + "content must not be empty. [invalid]");
  CHECK(bad([](auto& i) { i.content = " \n\t\xC2\xA0\xE3\x80\x80\xE2\x80\x83"; }) ==
        at + "content must not be empty. [invalid]");
  CHECK(bad([](auto& i) { i.content = kBadText; }) == at + "content is not valid UTF-8. [invalid]");
  CHECK(bad([](auto& i) { i.importance = std::nan(""); }) ==
        at + "importance must be from 0 to 1. [invalid]");
  CHECK(bad([](auto& i) { i.importance = 1.0001; }).find(at + "importance") == 0);
  CHECK(bad([](auto& i) { i.importance = -0.1; }).find(at + "importance") == 0);
  CHECK(bad([](auto& i) {
          i.importance = std::numeric_limits<double>::infinity();
        }).find(at + "importance") == 0);
  CHECK(bad([](auto& i) { i.tags = Strings(65, "t"); }) ==
        at + "tags has more than 64 tags. [invalid]");
  CHECK(bad([](auto& i) { i.tags = {"a", ""}; }) == at + "tags[1] must not be empty. [invalid]");
  CHECK(bad([](auto& i) { i.tags = {std::string(257, 't')}; }) ==
        "Too large: items[1].tags[0] is 257 bytes, limit 256. [too_large]");
  CHECK(bad([](auto& i) { i.entities = Strings(65, "e"); }).find(at + "entities") == 0);
  CHECK(bad([](auto& i) { i.entities = {kBadText}; }) ==
        at + "entities[0] is not valid UTF-8. [invalid]");
  CHECK(bad([](auto& i) { i.speaker = std::string(257, 's'); }) ==
        "Too large: items[1].speaker is 257 bytes, limit 256. [too_large]");
  CHECK(bad([](auto& i) { i.document_id = std::string(257, 'd'); }) ==
        "Too large: items[1].document_id is 257 bytes, limit 256. [too_large]");
  CHECK(bad([](auto& i) { i.context = std::string(4097, 'c'); }) ==
        "Too large: items[1].context is 4097 bytes, limit 4096. [too_large]");
  CHECK(bad([](auto& i) { i.metadata.assign(65, {"k", "v"}); }).find(at + "metadata") == 0);
  CHECK(bad([](auto& i) {
          i.metadata = {{"k", "v"}, {"k", "w"}};
        }) == at + "metadata has a name twice. [invalid]");
  CHECK(bad([](auto& i) { i.metadata = {{"", "v"}}; }).find(at + "metadata") == 0);
  CHECK(bad([](auto& i) {
          i.metadata = {{"k", std::string(4097, 'v')}};
        }) == "Too large: items[1].metadata.k is 4097 bytes, limit 4096. [too_large]");
  CHECK(bad([](auto& i) {
          i.occurred_start = 10;
          i.occurred_end = 9;
        }) == at + "occurred_end is before occurred_start. [invalid]");
  CHECK(bad([](auto& i) { i.timestamp = INT64_MAX; }).find(at + "timestamp") == 0);
  CHECK(bad([](auto& i) { i.expires_at = INT64_MIN; }).find(at + "expires_at") == 0);
  CHECK(bad([](auto& i) { i.append = true; }) == at + "update_mode needs a document_id. [invalid]");
  CHECK(bad([](auto& i) { i.position = 3; }) == at + "position needs a document_id. [invalid]");
  CHECK(bad([](auto& i) { i.content = std::string((1u << 20) + 1, 'x'); }) ==
        "Too large: items[1].content is 1048577 bytes, limit 1048576. [too_large]");
  CHECK(bad([](auto& i) {
          i.document_id = "d";
          i.content = std::string((16u << 20) + 1, 'x');
        }) == "Too large: items[1].content is 16777217 bytes, limit 16777216. [too_large]");
  home.check_whole();
}

TEST_CASE("limits of the whole call", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  CHECK(failure_of([&] { retain(*service, {}); }).text ==
        "Invalid: items must have at least one item. [invalid]");
  CHECK(failure_of([&] { retain(*service, std::vector<RetainItem>(10'001, item("x"))); }).text ==
        "Invalid: items has more than 10000 items. [invalid]");
  CHECK(failure_of([&] {
          retain(*service,
                 std::vector<RetainItem>(5, in_document(std::string(15u << 20, 'x'), "d")));
        }).code == Code::too_large);
  CHECK(failure_of([&] { retain(*service, {item("x")}, std::string(257, 'o')); }).code ==
        Code::too_large);
  CHECK(failure_of([&] {
          retain(*service, {in_document("a", "d"), in_document("b", "d", true)});
        }).text ==
        "Invalid: items[1].update_mode must be the same for all items of a document. "
        "[invalid]");
  RetainRequest request;
  request.items = {item("x")};
  request.source = std::string(257, 's');
  CHECK(failure_of([&] { service->retain(request); }).code == Code::too_large);
  request.source.clear();
  request.bank = "nowhere";
  CHECK(failure_of([&] { service->retain(request); }).code == Code::not_found);
  CHECK(texts(*service).empty());
}

// ---- repeats

TEST_CASE("the same text again is a duplicate of the first", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "The build uses CMake.");
  const RetainResult again =
      retain(*service,
             {item("The build uses CMake."), item("  the BUILD uses   cmake.\n"),
              item("- The build uses CMake. [world] (2026-01-01T00:00:00.000Z) (id: " + id + ")"),
              item("The build uses Ninja."), item("The build uses ninja.")});
  CHECK(statuses(again) == Strings{"duplicate", "duplicate", "duplicate", "stored", "duplicate"});
  CHECK(again.count == 5);
  for (int i = 0; i < 3; ++i) CHECK(again.items[static_cast<std::size_t>(i)].id == id);
  CHECK(again.items[4].id == again.items[3].id);
  CHECK(texts(*service).size() == 2);
  home.check_whole();
}

TEST_CASE("what is not current any more does not make a duplicate", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string gone = keep(*service, "Deploys happen on Friday.");
  service->edit_memory(edit(EditOp::invalidate, gone));
  const std::string second = keep(*service, "Deploys happen on Friday.");
  CHECK(second != gone);
  service->edit_memory(edit(EditOp::forget, second));
  const std::string third = keep(*service, "Deploys happen on Friday.");
  CHECK(third != second);
  RetainItem brief = item("Only for a moment.");
  brief.expires_at = now_ms() - 1;
  keep(*service, brief);
  keep(*service, "Only for a moment.");
  update_text(*service, third, "Deploys happen on Monday.");
  keep(*service, "Deploys happen on Friday.");
  CHECK(retain(*service, {item("Deploys happen on Monday.")}).items[0].id == third);
  home.check_whole();
}

TEST_CASE("an answer of recall is not retained again", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string first = keep(*service, "Alice likes tea.");
  const std::string second = keep(*service, "Bob likes coffee.");
  const auto bullets = [](const Strings& lines) {
    std::string text = "Found " + std::to_string(lines.size()) +
                       " relevant memories (as of 2026-11-21 21:40 UTC):\n\n";
    for (const std::string& line : lines) text += "- " + line + "\n";
    return text;
  };
  const std::string a = "Alice likes tea. [world] (2026-11-21T10:00:00.000Z) (id: " + first + ")";
  const std::string b = "Bob likes coffee. [world] (2026-11-21T10:00:00.000Z) (id: " + second + ")";
  const RetainResult all = retain(*service, {item(bullets({a, b}))});
  CHECK(statuses(all) == Strings{"duplicate"});
  CHECK(all.items[0].id == first);
  const RetainResult some =
      retain(*service, {item(bullets({a, "Carol likes juice. [world]"})), item("Dora eats cake.")});
  CHECK(statuses(some) == Strings{"rejected", "stored"});
  CHECK(some.items[0].reason.find("Retain the new facts alone") != std::string::npos);
  CHECK(some.count == 1);
  CHECK(texts(*service) == Strings{"Dora eats cake.", "Bob likes coffee.", "Alice likes tea."});
}

// ---- credentials

TEST_CASE("an item with a credential is rejected, and no part of it is kept", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem in_tags = tagged("about tags", {"ok", credential()});
  RetainItem in_context = item("about context");
  in_context.context = "key " + credential();
  RetainItem in_metadata = item("about metadata");
  in_metadata.metadata = {{"k", credential()}};
  RetainItem in_entities = item("about entities");
  in_entities.entities = {credential()};
  RetainItem in_speaker = item("about a speaker");
  in_speaker.speaker = credential();
  RetainItem in_name = in_document("about a document", credential());
  const RetainResult result =
      retain(*service,
             {item("the key is " + credential()), item("a good one"), in_tags, in_context,
              in_metadata, in_entities, in_speaker, in_name},
             "op-1");
  CHECK(statuses(result) == Strings{"rejected", "stored", "rejected", "rejected", "rejected",
                                    "rejected", "rejected", "rejected"});
  CHECK(result.count == 1);
  CHECK(result.items[0].reason.find("Refused: items[0].content looks like a credential (") == 0);
  CHECK(result.items[0].reason.find("store it with agent_remember and class \"secret\"") !=
        std::string::npos);
  CHECK(result.items[2].reason.find("Refused: items[2].tags[1] ") == 0);
  CHECK(result.items[3].reason.find("Refused: items[3].context ") == 0);
  CHECK(result.items[4].reason.find("Refused: items[4].metadata ") == 0);
  CHECK(result.items[0].id.empty());
  CHECK(texts(*service) == Strings{"a good one"});
  for (const RetainedItem& one : result.items) {
    CHECK(one.reason.find(credential()) == std::string::npos);
  }
  service->close();
  CHECK_FALSE(home.holds(credential()));
  home.check_whole();
}

TEST_CASE("a call of which nothing may be stored makes no bank and is logged", "[retain]") {
  const TestHome home;
  const auto service = home.in_bank("fresh");
  const RetainResult result = retain(*service, {item("password: " + credential())});
  CHECK(result.count == 0);
  CHECK(statuses(result) == Strings{"rejected"});
  service->close();
  CHECK(service->visible_banks().size() == 1);
  const auto lines = home.log_of("retain");
  REQUIRE(lines.size() == 1);
}

TEST_CASE("the owner may store flagged text on purpose", "[retain]") {
  const TestHome home;
  const auto service = home.cli();
  RetainRequest request;
  request.items = {item("the key is " + credential())};
  request.allow_secret = true;
  CHECK(service->retain(request).count == 1);
  CHECK(texts(*service).size() == 1);
}

// ---- policy

TEST_CASE("each item is decided by its own tags", "[retain]") {
  const TestHome home;
  home.seal(2, R"({"id": "no-private", "effect": "forbid", "tool": ["retain", "memory_edit",
    "memory_get", "list_memories"], "tags": "private*", "principal": "local:mcp"})");
  const auto agent = home.mcp();
  const auto owner = home.cli();
  const RetainResult mixed = retain(*agent, {item("open"), tagged("closed", {"a", "private-1"})});
  CHECK(statuses(mixed) == Strings{"stored", "rejected"});
  CHECK(mixed.items[1].reason.find("Policy Denied: ") == 0);
  CHECK(mixed.items[1].reason.find("(rule: no-private)") != std::string::npos);
  const Failure all = failure_of([&] { retain(*agent, {tagged("closed", {"private-1"})}); });
  CHECK(all.code == Code::denied);
  CHECK(all.text.find("(rule: no-private)") != std::string::npos);

  // What the agent may not touch does not show through a repeat either.
  const std::string hidden = keep(*owner, tagged("The plan is secret.", {"private"}));
  const RetainResult blind = retain(*agent, {item("The plan is secret.")});
  CHECK(statuses(blind) == Strings{"stored"});
  CHECK(blind.items[0].id != hidden);
  home.check_whole();
}

TEST_CASE("a process that was started read-only retains nothing", "[retain]") {
  const TestHome home;
  ServiceOptions options = home.options();
  options.read_only = true;
  const auto service = home.open(options);
  const Failure failure = failure_of([&] { retain(*service, {item("x")}); });
  CHECK(failure.code == Code::denied);
  CHECK(failure.text.find("(rule: read-only)") != std::string::npos);
}

// ---- operations

TEST_CASE("an operation id answers again and refuses another payload", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::vector<RetainItem> items = {item("One."), item("Two: " + credential()),
                                         in_document("Three.", "d"), item(long_text(2500))};
  const RetainResult first = retain(*service, items, "op");
  const RetainResult again = retain(*service, items, "op");
  CHECK(again.repeated);
  CHECK(again.count == first.count);
  CHECK(statuses(again) == statuses(first));
  for (std::size_t i = 0; i < items.size(); ++i) {
    CHECK(again.items[i].id == first.items[i].id);
    CHECK(again.items[i].reason == first.items[i].reason);
    CHECK(again.items[i].memories == first.items[i].memories);
    CHECK(again.items[i].document_id == first.items[i].document_id);
  }
  std::vector<RetainItem> other = items;
  other[0].importance = 0.6;
  CHECK(failure_of([&] { retain(*service, other, "op"); }).text ==
        "Conflict: operation_id was used for another write. [conflict]");
  // Another principal has operations of its own.
  const auto owner = home.cli();
  CHECK_FALSE(retain(*owner, other, "op").repeated);
  home.check_whole();
}

TEST_CASE("one event a call, also when nothing changes", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  retain(*service, {item("One."), item("Two.")});
  retain(*service, {item("One.")});
  service->close();
  CHECK(home.log_of("retain").size() == 2);
}

TEST_CASE("hostile texts are stored as they are", "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const Strings hostile = {std::string("nul \0 inside", 12),
                           "\xE2\x80\xAE reversed",
                           std::string(7000, 'a'),
                           "- [world]",
                           "(id: k7q2m-1f)",
                           "Found 2 relevant memories (as of 2026-11-21 21:40 UTC):\n\n",
                           std::string(900, '\n') + "x",
                           "\xF0\x9F\x94\x91",
                           "{\"content\": \"json\"}",
                           "%s%n$(rm -rf)"};
  for (const std::string& text : hostile) CHECK(text_of(*service, keep(*service, text)) == text);
  std::string marks = "a";
  for (int i = 0; i < 1500; ++i) marks += "\xCC\x81";
  CHECK(text_of(*service, keep(*service, marks)) == marks);
  home.check_whole();
}

TEST_CASE("memories survive a restart and are seen by another process's writer", "[retain]") {
  const TestHome home;
  const auto one = home.mcp();
  const auto two = home.mcp();
  Strings ids;
  for (int i = 0; i < 300; ++i) {
    ids.push_back(keep(i % 2 == 0 ? *one : *two, "Fact number " + std::to_string(i) + "."));
  }
  CHECK(retain(*two, {item("Fact number 0.")}).items[0].id == ids[0]);
  CHECK(retain(*one, {item("Fact number 299.")}).items[0].id == ids[299]);
  one->close();
  two->close();
  const auto later = home.mcp();
  CHECK(text_of(*later, ids[123]) == "Fact number 123.");
  CHECK(retain(*later, {item("Fact number 123.")}).items[0].id == ids[123]);
  home.check_whole();
}

// Not run by default: says how fast retain is, for what it does most and for its hard cases.
TEST_CASE("the speed of retain", "[.][retain-speed]") {
  const TestHome home;
  const auto service = home.mcp();
  const auto run = [&](const char* what, const std::function<RetainItem(std::size_t)>& make) {
    std::chrono::duration<double> took{};
    std::size_t number = 0;
    for (int round = 0; round < 10; ++round) {
      std::vector<RetainItem> items;
      for (int i = 0; i < 1000; ++i) items.push_back(make(++number));
      const auto start = std::chrono::steady_clock::now();
      retain(*service, std::move(items));
      took += std::chrono::steady_clock::now() - start;
    }
    WARN(what << ", items a second: " << static_cast<long>(10'000 / took.count()));
  };
  const auto sentence = [](std::size_t n) {
    return "Fact " + std::to_string(n) + ": we met at the old station " + std::to_string(n * 7919) +
           " and talked about gardening.";
  };
  run("plain", [&](std::size_t n) { return item(sentence(n)); });
  run("repeats", [&](std::size_t n) { return item(sentence(n)); });
  run("turns", [&](std::size_t n) {
    return turn(sentence(n), "chat", static_cast<std::int64_t>(n), n % 2 == 0 ? "Ann" : "Ben");
  });
  const auto yes = [](std::size_t n) {
    return turn("Yes.", "short", static_cast<std::int64_t>(n), "Ann");
  };
  run("one short turn", yes);
  run("one short turn again", yes);
  const auto start = std::chrono::steady_clock::now();
  retain(*service, {in_document(long_text(1'200'000), "big")});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  WARN("a document of 12 MiB: " << took.count() << " s");
}

TEST_CASE("an answer of recall with a changed text is news, with a shortened one it is not",
          "[retain]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "the gate opens at seven in the morning");
  const auto answer = [&](const std::string& text) {
    return item("Found 1 relevant memory (as of 2026-11-21 21:40 UTC):\n\n- " + text +
                " [world] (id: " + id + ")");
  };
  CHECK(statuses(retain(*service, {answer("the gate opens at nine in the evening")})) ==
        Strings{"stored"});
  CHECK(statuses(retain(*service, {answer("the gate opens at seven")})) == Strings{"duplicate"});
}

}  // namespace strongroom::service
