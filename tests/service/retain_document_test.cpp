// Documents through retain: replaced, appended to, recognised, and kept byte for byte.
#include "memory_fixture.h"

namespace strongroom::service {

TEST_CASE("a document is kept byte for byte and cut into memories", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string text = "\n  # Title\n\n" + long_text(900) + "\n\n\n## Second\n\n```\ncode  \n" +
                           "```\n" + long_text(900, "other") + " \n\t\n";
  const RetainResult result = retain(*service, {in_document(text, "notes/readme.md")});
  CHECK(result.items[0].document_id == "notes/readme.md");
  CHECK(result.items[0].memories > 4);
  const MemoryDetail found = get_document(*service, "notes/readme.md", ~0ull);
  CHECK(found.text == text);
  CHECK(found.bytes == text.size());
  CHECK(found.parts.size() == result.items[0].memories);
  CHECK(found.parts[0].id == result.items[0].id);
  CHECK_FALSE(found.forgotten_parts);
  const MemoryDetail chunk = get(*service, found.parts[1].id);
  CHECK(chunk.document_id == "notes/readme.md");
  CHECK(chunk.memory.chunk_index == 1);
  CHECK(count_tokens(chunk.text) <= 256);

  // Part by part it is the same.
  std::string together;
  GetMemoryRequest request;
  request.document_id = "notes/readme.md";
  request.max_bytes = 777;
  for (;;) {
    const MemoryDetail part = service->get_memory(request);
    together += part.text;
    if (!part.next_offset) break;
    request.offset = *part.next_offset;
  }
  CHECK(together == text);
  home.check_whole();
}

TEST_CASE("a document is replaced only when its text has changed", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string old = long_text(800), fresh = long_text(700, "fresh");
  const RetainResult first = retain(*service, {in_document(old, "d")});
  const RetainResult same = retain(*service, {in_document(old, "d")});
  CHECK(statuses(same) == Strings{"duplicate"});
  CHECK(same.items[0].id == first.items[0].id);
  CHECK(same.items[0].memories == first.items[0].memories);
  CHECK(get_document(*service, "d").revision == 1);

  const RetainResult changed = retain(*service, {in_document(fresh, "d")});
  CHECK(statuses(changed) == Strings{"stored"});
  const MemoryDetail found = get_document(*service, "d", ~0ull);
  CHECK(found.text == fresh);
  CHECK(found.revision == 2);
  const MemoryDetail replaced = get(*service, first.items[0].id);
  CHECK_FALSE(replaced.memory.valid);
  CHECK(replaced.invalidated_at);
  for (const std::string& text : texts(*service)) CHECK(text.find("fresh") != std::string::npos);
  // Back again: the old memories are not current, so this is new.
  CHECK(statuses(retain(*service, {in_document(old, "d")})) == Strings{"stored"});
  home.check_whole();
}

TEST_CASE("all items of a call with one document are one replacement", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  retain(*service, {in_document("old", "d")});
  const std::vector<RetainItem> items = {in_document("First part.", "d"), item("Unrelated."),
                                         in_document("Second part.\n", "d"),
                                         in_document("Third part.", "d")};
  const RetainResult result = retain(*service, items);
  CHECK(statuses(result) == Strings{"stored", "stored", "stored", "stored"});
  CHECK(get_document(*service, "d").text == "First part.\nSecond part.\n\nThird part.");
  const RetainResult again = retain(*service, items);
  CHECK(statuses(again) == Strings{"duplicate", "duplicate", "duplicate", "duplicate"});
  for (std::size_t i = 0; i < items.size(); ++i) CHECK(again.items[i].id == result.items[i].id);
  home.check_whole();
}

TEST_CASE("an append adds memories of their own in order of position", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  const RetainResult first =
      retain(*service, {turn("Third.", "chat", 3, "Ann"), turn("First.", "chat", 1, "Ann"),
                        turn("Second.", "chat", 2, "Ben")});
  CHECK(first.count == 3);
  CHECK(get_document(*service, "chat").text == "First.\nSecond.\nThird.");
  retain(*service, {turn("Fourth.", "chat", 4, "Ben")});
  CHECK(get_document(*service, "chat").text == "First.\nSecond.\nThird.\nFourth.");
  const MemoryDetail second = get(*service, first.items[2].id);
  CHECK(second.memory.speaker == "Ben");
  CHECK(second.memory.type == MemoryType::experience);
  home.check_whole();
}

TEST_CASE("a turn is a repeat with its text, document and position", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::vector<RetainItem> turns = {turn("Yes.", "chat", 1), turn("Yes.", "chat", 2),
                                         turn("No.", "chat", 3), turn("Yes.", "other", 1)};
  const RetainResult first = retain(*service, turns);
  CHECK(statuses(first) == Strings{"stored", "stored", "stored", "stored"});
  const RetainResult again = retain(*service, turns);
  CHECK(statuses(again) == Strings{"duplicate", "duplicate", "duplicate", "duplicate"});
  for (std::size_t i = 0; i < turns.size(); ++i) CHECK(again.items[i].id == first.items[i].id);
  CHECK(statuses(retain(*service, {turn("No.", "chat", 2), turn("Yes.", "chat", 4),
                                   turn("Yes.", "chat", 4), item("yes.")})) ==
        Strings{"stored", "stored", "duplicate", "duplicate"});
  CHECK(statuses(retain(*service, {in_document("Note.", "log", true)})) == Strings{"stored"});
  CHECK(statuses(retain(*service, {in_document("Note.", "log", true)})) == Strings{"duplicate"});
  home.check_whole();
}

TEST_CASE("a long item of an append is cut into several", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string whole = long_text(400), cut = long_text(2500, "cut");
  const RetainResult result =
      retain(*service, {in_document(whole, "log", true), in_document(cut, "log", true)});
  CHECK(result.items[0].memories == 1);
  CHECK(result.items[1].memories > 8);
  CHECK(get_document(*service, "log", ~0ull).text == whole + "\n" + cut);
  const RetainResult again = retain(*service, {in_document(cut, "log", true)});
  CHECK(statuses(again) == Strings{"duplicate"});
  CHECK(again.items[0].id == result.items[1].id);
  home.check_whole();
}

TEST_CASE("long content without a name is a document that is named for it", "[retain][document]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string text = "  " + long_text(2500) + "  ";
  const RetainResult result = retain(*service, {item(text)});
  CHECK(result.items[0].document_id == "doc-" + result.items[0].id);
  CHECK(result.items[0].memories > 8);
  CHECK(get_document(*service, result.items[0].document_id, ~0ull).text == text);
  const RetainResult again = retain(*service, {item(text)});
  CHECK(statuses(again) == Strings{"duplicate"});
  CHECK(again.items[0].id == result.items[0].id);
  CHECK(again.items[0].document_id == result.items[0].document_id);
  const RetainResult longer = retain(*service, {item(text + " and an end")});
  CHECK(statuses(longer) == Strings{"stored"});
  CHECK(longer.items[0].document_id != result.items[0].document_id);
  const std::string edge(8000, 'x');  // 2,000 tokens
  CHECK(retain(*service, {item(edge)}).items[0].document_id.empty());
  home.check_whole();
}

TEST_CASE("a replacement respects the tags of what it would replace", "[retain][document]") {
  const TestHome home;
  home.seal(2, R"({"id": "locked", "effect": "forbid", "tool": "retain", "tags": "locked",
    "principal": "local:mcp"})");
  const auto owner = home.cli();
  const auto agent = home.mcp();
  RetainItem kept = in_document("The agreed text.", "contract");
  kept.tags = {"locked"};
  keep(*owner, kept);
  const RetainResult result = retain(*agent, {in_document("Another text.", "contract"), item("x")});
  CHECK(statuses(result) == Strings{"rejected", "stored"});
  CHECK(result.items[0].reason.find("(rule: locked)") != std::string::npos);
  CHECK(get_document(*owner, "contract").text == "The agreed text.");
}

}  // namespace strongroom::service
