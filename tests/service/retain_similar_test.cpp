// Memories that say nearly the same: stored, named in the reply, linked.
#include "memory_fixture.h"

namespace strongroom::service {
namespace {

// Long enough for any key: of sixty pairs of words all but one are in both, so that no band is
// shared once in 200,000 times.
std::string fact(const std::string& about) {
  return long_text(60, about);
}
const std::string kTrain = fact("train");
const std::string kTrainMoved = kTrain + "moved";
const std::string kOther = fact("harbour");

// Ends of a memory's links of the relation "similar", itself first, newest link first.
Strings similar(MemoryService& service, const std::string& id) {
  Strings ends;
  for (const MemoryLinkInfo& link : get(service, id).links) {
    if (link.relation == "similar") ends.push_back(link.from + " -> " + link.to);
  }
  return ends;
}

std::string reason_of(MemoryService& service, RetainItem one) {
  const RetainResult result = retain(service, {std::move(one)});
  REQUIRE(result.items.size() == 1);
  CHECK(result.items[0].status == ItemStatus::stored);
  CHECK(result.count == 1);
  return result.items[0].reason;
}

std::string to(const std::string& id) {
  return "similar to " + id;
}

}  // namespace

TEST_CASE("a memory that says nearly the same is stored and linked", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string old = keep(*service, kTrain);
  CHECK(similar(*service, old).empty());
  CHECK(reason_of(*service, item(kOther)).empty());

  const RetainResult moved = retain(*service, {item(kTrainMoved)});
  CHECK(moved.count == 1);
  CHECK(moved.items[0].status == ItemStatus::stored);
  CHECK(moved.items[0].reason == to(old));
  const std::string id = moved.items[0].id;
  CHECK(similar(*service, id) == Strings{id + " -> " + old});
  CHECK(similar(*service, old) == Strings{id + " -> " + old});

  // The same again is a duplicate: nothing is linked.
  const RetainResult again = retain(*service, {item(kTrainMoved)});
  CHECK(again.items[0].status == ItemStatus::duplicate);
  CHECK(again.items[0].id == id);
  CHECK(again.items[0].reason.empty());
  CHECK(similar(*service, old).size() == 1);

  // Each is forgotten by itself, and takes the link with it.
  service->edit_memory(edit(EditOp::forget, id));
  CHECK(similar(*service, old).empty());
  CHECK(get(*service, old).links_total == 0);
  home.check_whole();
}

TEST_CASE("what has a pattern in common is not similar", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  keep(*service, "The deployment of checkout to staging was rolled back on the third of May.");
  CHECK(reason_of(*service, item("The deployment of ledger to production was rolled back on the "
                                 "ninth of June."))
            .empty());
  // Short texts are alike by chance.
  keep(*service, "Yes, of course.");
  CHECK(reason_of(*service, item("Yes, of course!")).empty());
  keep(*service, "Ada likes tea.");
  CHECK(reason_of(*service, item("Ada likes tea")).empty());
}

TEST_CASE("items of one call are compared with one another", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  const RetainResult result =
      retain(*service, {item(kTrain), item(kOther), item(kTrainMoved)}, "op");
  CHECK(statuses(result) == Strings{"stored", "stored", "stored"});
  CHECK(result.items[0].reason.empty());
  CHECK(result.items[1].reason.empty());
  CHECK(result.items[2].reason == to(result.items[0].id));
  CHECK(similar(*service, result.items[0].id).size() == 1);
  // The repeat of a call says the same.
  const RetainResult repeated =
      retain(*service, {item(kTrain), item(kOther), item(kTrainMoved)}, "op");
  CHECK(repeated.repeated);
  CHECK(repeated.items[2].reason == to(result.items[0].id));
  home.check_whole();
}

TEST_CASE("of many that are similar the best three are linked", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string base = fact("backup");
  const std::string far = keep(*service, base + "one two three four five");
  const std::string best = keep(*service, base + "quietly now");
  for (const char* more : {"daily", "weekly", "monthly"}) keep(*service, base + more);
  const RetainResult last = retain(*service, {item(base + "quietly now then")});
  CHECK(last.items[0].reason == to(best));
  const Strings links = similar(*service, last.items[0].id);
  REQUIRE(links.size() == 3);
  CHECK(std::count(links.begin(), links.end(), last.items[0].id + " -> " + best) == 1);
  CHECK(std::count(links.begin(), links.end(), last.items[0].id + " -> " + far) == 0);
  home.check_whole();
}

TEST_CASE("large calls are imports: nothing is looked up", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, kTrain);
  std::vector<RetainItem> items;
  for (int i = 0; i < 31; ++i) items.push_back(item(fact("a" + std::to_string(i) + "x")));
  items.push_back(item(kTrainMoved));
  CHECK(retain(*service, items).items[31].reason == to(id));
  for (RetainItem& one : items) one.content += " again";
  items.push_back(item(kOther));
  const RetainResult large = retain(*service, items);
  CHECK(large.count == 33);
  for (const RetainedItem& one : large.items) CHECK(one.reason.empty());
  // They are found later.
  CHECK(reason_of(*service, item(kOther + "later")) == to(large.items[32].id));
  home.check_whole();
}

TEST_CASE("what is not current is not similar", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string forgotten = keep(*service, kTrain);
  service->edit_memory(edit(EditOp::forget, forgotten));
  CHECK(reason_of(*service, item(kTrainMoved)).empty());

  const std::string edited = keep(*service, kOther);
  update_text(*service, edited, fact("crane"));
  CHECK(reason_of(*service, item(kOther + "always")).empty());
  CHECK(reason_of(*service, item(fact("crane") + "always")) == to(edited));

  const std::string invalid = keep(*service, fact("kiln"));
  service->edit_memory(edit(EditOp::invalidate, invalid));
  const RetainResult stored = retain(*service, {item(fact("kiln") + "dawn")});
  CHECK(stored.items[0].reason.empty());
  // Restored, it is one again.
  service->edit_memory(edit(EditOp::restore, invalid));
  service->edit_memory(edit(EditOp::forget, stored.items[0].id));
  CHECK(reason_of(*service, item(fact("kiln") + "dawn")) == to(invalid));

  RetainItem brief = item(fact("tomato"));
  brief.expires_at = now_ms() + 30;
  const TimeMs gone = *brief.expires_at;
  keep(*service, brief);
  while (now_ms() <= gone) {
  }
  CHECK(reason_of(*service, item(fact("tomato") + "twice")).empty());
  home.check_whole();
}

TEST_CASE("parts of documents are neither looked for nor found", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  keep(*service, in_document(kTrain, "notes"));
  keep(*service, turn(kTrain + "mind", "chat", 1, "Bob"));
  const RetainResult plain = retain(*service, {item(kTrainMoved)});
  CHECK(plain.items[0].reason.empty());
  CHECK(reason_of(*service, turn(kTrainMoved + " mind", "chat", 2, "Ada")).empty());
  CHECK(reason_of(*service, in_document(kTrainMoved, "other notes")).empty());
}

TEST_CASE("texts of several passages are compared whole", "[retain][similar]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string text = long_text(500);
  const std::string id = keep(*service, text);
  CHECK(reason_of(*service, item(text + " And its end.")) == to(id));
  CHECK(reason_of(*service, item(long_text(500, "other") + text.substr(0, 1000))).empty());
}

TEST_CASE("a similar memory that the policy hides is not named", "[retain][similar][policy]") {
  const TestHome home;
  const auto owner = home.cli();
  const std::string hidden = keep(*owner, tagged(kTrain, {"private"}));
  home.seal(2, R"({"id": "no-private", "effect": "forbid", "principal": "local:mcp",
    "tags": "private"})");
  const auto agent = home.mcp();
  const RetainResult stored = retain(*agent, {item(kTrainMoved)});
  CHECK(stored.items[0].reason.empty());
  CHECK(get(*agent, stored.items[0].id).links_total == 0);
  CHECK(get(*owner, hidden).links_total == 0);
  // The owner's is linked to both; the agent sees the link to its own alone, and not from there.
  const RetainResult third = retain(*owner, {tagged(kTrainMoved + " mind", {"private"})});
  CHECK(third.items[0].reason == to(stored.items[0].id));
  CHECK(similar(*owner, third.items[0].id).size() == 2);
  CHECK(get(*agent, stored.items[0].id).links_total == 0);
  home.check_whole();
}

TEST_CASE("similar memories are found in segments and after a restart", "[retain][similar]") {
  const TestHome home;
  std::string id;
  {
    const auto service = home.mcp();
    id = keep(*service, kTrain);
    std::vector<RetainItem> items;
    for (int i = 0; i < 600; ++i) items.push_back(item(fact("a" + std::to_string(i) + "x")));
    retain(*service, items);
  }
  const auto service = home.mcp();
  CHECK(reason_of(*service, item(kTrainMoved)) == to(id));
  home.check_whole();
}

}  // namespace strongroom::service
