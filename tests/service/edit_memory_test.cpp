// memory_edit: what changes, what stays, and what is not told.
#include "memory_fixture.h"

namespace strongroom::service {
namespace {

EditRequest replace_by(const std::string& id, const std::string& replacement) {
  EditRequest request = edit(EditOp::invalidate, id);
  request.replacement_id = replacement;
  return request;
}

Failure refused(MemoryService& service, const EditRequest& request) {
  return failure_of([&] { service.edit_memory(request); });
}

}  // namespace

// ---- update

TEST_CASE("an update makes a revision and keeps the history", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, tagged("The door is blue.", {"house"}));
  const EditResult result = update_text(*service, id, "The door is green.");
  CHECK(result.status == "updated");
  CHECK(result.id == id);
  CHECK(result.bank == "global");
  CHECK(result.revision == 2);
  EditRequest labels = edit(EditOp::update, id);
  labels.importance = 1;
  labels.tags = Strings{"house", "door", "house"};
  labels.metadata.emplace();
  labels.metadata->emplace_back("colour", "green");
  CHECK(service->edit_memory(labels).revision == 3);
  const MemoryDetail found = get(*service, id);
  CHECK(found.text == "The door is green.");
  CHECK(found.revision == 3);
  CHECK(found.memory.importance == 1);
  CHECK(found.memory.tags == Strings{"house", "door"});
  CHECK(found.memory.metadata == *labels.metadata);
  REQUIRE(found.history.size() == 3);
  CHECK(found.history[0].revision == 3);
  CHECK(found.history[2].bytes == 17);
  CHECK(found.tool == "memory_edit");
  CHECK(texts(*service) == Strings{"The door is green."});
  home.check_whole();
}

TEST_CASE("an update that changes nothing makes no revision", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "Same.");
  CHECK(update_text(*service, id, "Same.").revision == 1);
  EditRequest request = edit(EditOp::update, id);
  request.importance = 0.5;
  CHECK(service->edit_memory(request).revision == 1);
  CHECK(get(*service, id).history.size() == 1);
}

TEST_CASE("updates that are refused", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "Kept.");
  EditRequest request = edit(EditOp::update, id);
  CHECK(refused(*service, request).text ==
        "Invalid: op update needs content, importance, tags or metadata. [invalid]");
  request.content = " \n ";
  CHECK(refused(*service, request).text == "Invalid: content must not be empty. [invalid]");
  request.content = kBadText;
  CHECK(refused(*service, request).code == Code::invalid);
  request.content = std::string(8001, 'x');
  CHECK(refused(*service, request).text ==
        "Invalid: content has more than 2000 tokens; retain it as a document instead. [invalid]");
  request.content = "the key is " + credential();
  const Failure secret = refused(*service, request);
  CHECK(secret.code == Code::secret_detected);
  CHECK(secret.text.find("Refused: content looks like a credential (") == 0);
  CHECK(secret.text.find(credential()) == std::string::npos);
  request.content = "Fine.";
  request.importance = 2;
  CHECK(refused(*service, request).code == Code::invalid);
  request.importance.reset();
  request.tags = Strings{""};
  CHECK(refused(*service, request).code == Code::invalid);
  request.tags = Strings{credential()};
  CHECK(refused(*service, request).text.find("Refused: tags[0] ") == 0);
  request.tags.reset();
  request.op = EditOp::forget;
  CHECK(refused(*service, request).text == "Invalid: content belongs to op update. [invalid]");
  request = edit(EditOp::restore, id);
  request.replacement_id = id;
  CHECK(refused(*service, request).text ==
        "Invalid: replacement_id belongs to op invalidate. [invalid]");
  CHECK(text_of(*service, id) == "Kept.");
  CHECK(get(*service, id).revision == 1);
  service->close();
  CHECK_FALSE(home.holds(credential()));
  home.check_whole();
}

TEST_CASE("if_revision guards every op", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "One.");
  for (const EditOp op : {EditOp::update, EditOp::forget, EditOp::invalidate, EditOp::restore}) {
    EditRequest request = edit(op, id);
    if (op == EditOp::update) request.content = "Two.";
    request.if_revision = 7;
    const Failure failure = refused(*service, request);
    CHECK(failure.code == Code::conflict);
    CHECK(failure.text == "Conflict: \"" + id +
                              "\" is at revision 1, you sent 7. Read it again. "
                              "[conflict]");
  }
  EditRequest right = edit(EditOp::update, id);
  right.content = "Two.";
  right.if_revision = 1;
  CHECK(service->edit_memory(right).revision == 2);
}

TEST_CASE("text of several passages is replaced whole, shorter and longer", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  for (int i = 0; i < 4; ++i) retain(*service, {turn("Turn " + std::to_string(i), "chat", i)});
  const std::string id = get_document(*service, "chat").parts[1].id;
  const std::string last = get_document(*service, "chat").parts[3].id;
  for (const std::size_t words : {700u, 3u, 300u, 1u, 600u}) {
    const std::string text = long_text(words, "w" + std::to_string(words) + "x");
    update_text(*service, id, text);
    update_text(*service, last, text + "!");
    CHECK(text_of(*service, id) == text);
    retain(*service, {turn("After " + std::to_string(words), "chat", 1000 + std::int64_t(words))});
    CHECK(retain(*service, {item(text)}).items[0].id == id);
  }
  CHECK(get_document(*service, "chat", ~0ull).text.find("Turn 0\nw600x0") == 0);
  home.check_whole();
}

TEST_CASE("the trust of a memory is that of who wrote its text", "[edit]") {
  const TestHome home;
  const auto agent = home.mcp();
  const auto owner = home.cli();
  const std::string id = keep(*owner, "Written by the owner.");
  EditRequest label = edit(EditOp::update, id);
  label.importance = 0.9;
  agent->edit_memory(label);
  CHECK(get(*agent, id).memory.trust == "owner");
  update_text(*agent, id, "Written by the agent.");
  CHECK(get(*agent, id).memory.trust == "agent");
  label.importance = 0.1;
  owner->edit_memory(label);
  CHECK(get(*agent, id).memory.trust == "agent");
}

// ---- ids

TEST_CASE("an id that is not there is told apart from nothing else", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "Here.");
  const std::string tag = id.substr(0, 5);
  for (const std::string& wrong :
       {std::string("nope"), std::string("zzzzz-1"), tag + "-zz", tag + "-0", tag + "-",
        tag + "-1\n", std::string("\"quoted\""), tag + "-zzzzzzzzzzzzzzzzzzzz"}) {
    INFO(wrong);
    const Failure edited = refused(*service, edit(EditOp::forget, wrong));
    CHECK(edited.code == Code::not_found);
    CHECK(edited.text.find("No memory found with id \"") == 0);
    CHECK(failure_of([&] { get(*service, wrong); }).text == edited.text);
  }
  CHECK(refused(*service, edit(EditOp::forget, "nope")).text == no_memory("nope"));
  CHECK(refused(*service, edit(EditOp::forget, "")).code == Code::invalid);
  CHECK(refused(*service, edit(EditOp::forget, std::string(257, 'i'))).code == Code::too_large);
  CHECK(refused(*service, edit(EditOp::forget, kBadText)).code == Code::invalid);
  CHECK(text_of(*service, id) == "Here.");
}

TEST_CASE("the id names the bank, and a bank that contradicts it is invalid", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = other_bank_id(*service);
  EditRequest request = edit(EditOp::update, id);
  request.content = "Changed.";
  request.bank = "global";
  CHECK(refused(*service, request).text ==
        "Invalid: bank is not the one that the id names. [invalid]");
  request.bank = "other";
  CHECK(service->edit_memory(request).bank == "other");
  request.bank.clear();
  request.content = "Again.";
  CHECK(service->edit_memory(request).bank == "other");
  CHECK(text_of(*service, id) == "Again.");
}

TEST_CASE("a bank that may not be read looks as if it were not there", "[edit]") {
  const TestHome home;
  const auto owner = home.cli();
  const std::string id = other_bank_id(*owner);
  home.seal(2, R"({"id": "closed", "effect": "forbid", "bank": "other",
    "principal": "local:mcp"})");
  const auto agent = home.mcp();
  CHECK(refused(*agent, edit(EditOp::forget, id)).text == no_memory(id));
  CHECK(failure_of([&] { get(*agent, id); }).text == no_memory(id));
  CHECK(text_of(*owner, id) == "In the other bank.");
  home.seal(3, R"({"id": "no-edit", "effect": "forbid", "bank": "other", "tool": "memory_edit",
    "principal": "local:mcp"})");
  CHECK(refused(*agent, edit(EditOp::forget, id)).text.find("(rule: no-edit)") !=
        std::string::npos);
  CHECK(text_of(*agent, id) == "In the other bank.");
}

TEST_CASE("edits and reads are decided by the memory's tags, old and new", "[edit]") {
  const TestHome home;
  home.seal(2, R"({"id": "hands-off", "effect": "forbid", "tool": ["memory_edit", "memory_get"],
    "tags": "private", "principal": "local:mcp"})");
  const auto owner = home.cli();
  const auto agent = home.mcp();
  const std::string hidden = keep(*owner, tagged("Hidden.", {"private"}));
  const std::string open = keep(*agent, "Open.");
  for (const EditOp op : {EditOp::forget, EditOp::invalidate, EditOp::restore}) {
    CHECK(refused(*agent, edit(op, hidden)).text.find("(rule: hands-off)") != std::string::npos);
  }
  EditRequest mark = edit(EditOp::update, open);
  mark.tags = Strings{"private"};
  CHECK(refused(*agent, mark).code == Code::denied);
  const Failure read = failure_of([&] { get(*agent, hidden); });
  CHECK(read.code == Code::denied);
  CHECK(read.text.find("Hidden") == std::string::npos);
  CHECK(refused(*agent, replace_by(open, hidden)).code == Code::denied);
  CHECK(get(*agent, open).memory.valid);
  home.check_whole();
}

// ---- invalidate and restore

TEST_CASE("an invalidated memory is kept, not listed, and comes back with restore", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "The office is in Bonn.");
  const std::string next = keep(*service, "The office is in Cologne.");
  const EditResult result = service->edit_memory(replace_by(id, next));
  CHECK(result.status == "invalidated");
  CHECK(result.revision == 2);
  const MemoryDetail gone = get(*service, id);
  CHECK_FALSE(gone.memory.valid);
  CHECK(gone.invalidated_at);
  CHECK(gone.memory.superseded_by == next);
  REQUIRE(gone.links.size() == 1);
  CHECK(gone.links[0].from == next);
  CHECK(gone.links[0].to == id);
  CHECK(gone.links[0].relation == "supersedes");
  CHECK(texts(*service) == Strings{"The office is in Cologne."});
  CHECK(texts(*service, true).size() == 2);
  // The same again changes nothing.
  CHECK(service->edit_memory(replace_by(id, next)).revision == 2);
  CHECK(service->edit_memory(edit(EditOp::invalidate, id)).revision == 2);

  CHECK(service->edit_memory(edit(EditOp::restore, id)).status == "restored");
  CHECK(service->edit_memory(edit(EditOp::restore, id)).revision == 3);
  const MemoryDetail back = get(*service, id);
  CHECK(back.memory.valid);
  CHECK(back.memory.superseded_by.empty());
  CHECK(back.links.empty());
  CHECK(texts(*service).size() == 2);
  CHECK(retain(*service, {item("The office is in Bonn.")}).items[0].id == id);
  home.check_whole();
}

TEST_CASE("what replaces a memory can be named later and be changed", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "One."), two = keep(*service, "Two."),
                    three = keep(*service, "Three.");
  service->edit_memory(edit(EditOp::invalidate, id));
  service->edit_memory(replace_by(id, two));
  CHECK(get(*service, id).memory.superseded_by == two);
  service->edit_memory(replace_by(id, three));
  CHECK(get(*service, id).memory.superseded_by == three);
  CHECK(get(*service, two).links.empty());
  CHECK(get(*service, three).links.size() == 1);
  home.check_whole();
}

TEST_CASE("replacements that are refused", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "One."), two = keep(*service, "Two.");
  const std::string other = other_bank_id(*service);
  CHECK(refused(*service, replace_by(id, id)).text ==
        "Invalid: replacement_id is the memory itself. [invalid]");
  CHECK(refused(*service, replace_by(id, "nope")).text == no_memory("nope"));
  CHECK(refused(*service, replace_by(id, other)).text ==
        "Invalid: replacement_id is not of the same bank. [invalid]");
  const std::string absent = id.substr(0, 6) + "zz";
  CHECK(refused(*service, replace_by(id, absent)).text == no_memory(absent));
  service->edit_memory(edit(EditOp::invalidate, two));
  CHECK(refused(*service, replace_by(id, two)).text ==
        "Invalid: replacement_id names a memory that is not valid itself. [invalid]");
  EditRequest update = edit(EditOp::update, two);
  update.content = "Two again.";
  CHECK(refused(*service, update).text ==
        "Invalid: id names a memory that is not valid; restore it first. [invalid]");
  CHECK(get(*service, id).memory.valid);
}

TEST_CASE("an expired memory is absent for every call but forget", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  RetainItem brief = item("For a moment.");
  brief.expires_at = now_ms() - 1;
  const std::string id = keep(*service, brief);
  CHECK(text_of(*service, id) == no_memory(id));
  for (const EditOp op : {EditOp::invalidate, EditOp::restore}) {
    CHECK(refused(*service, edit(op, id)).text == no_memory(id));
  }
  CHECK(service->edit_memory(edit(EditOp::forget, id)).status == "deleted");
  CHECK(texts(*service, true).empty());
  home.check_whole();
}

// ---- forget

TEST_CASE("a forgotten memory is gone with its history and links", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string old = keep(*service, "The cat is black.");
  const std::string id = keep(*service, "The cat is white.");
  update_text(*service, id, "The cat is grey.");
  EditRequest label = edit(EditOp::update, id);
  label.importance = 1;
  service->edit_memory(label);
  service->edit_memory(replace_by(old, id));
  link(*service, id, "Whiskers", "is about");
  const EditResult result = service->edit_memory(edit(EditOp::forget, id));
  CHECK(result.status == "deleted");
  CHECK(result.affected == Strings{old});
  CHECK(text_of(*service, id) == no_memory(id));
  const MemoryDetail left = get(*service, old);
  CHECK_FALSE(left.memory.valid);
  CHECK(left.memory.superseded_by.empty());
  CHECK(left.links.empty());
  CHECK(refused(*service, edit(EditOp::forget, id)).text == no_memory(id));
  CHECK(refused(*service, edit(EditOp::restore, id)).text == no_memory(id));
  CHECK(texts(*service, true) == Strings{"The cat is black."});
  keep(*service, "The cat is white.");
  home.check_whole();
}

TEST_CASE("a document shows what was forgotten as removed", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const RetainResult turns = retain(
      *service, {turn("One.", "chat", 1), turn("Two.", "chat", 2), turn("Three.", "chat", 3)});
  const EditResult result = service->edit_memory(edit(EditOp::forget, turns.items[1].id));
  CHECK(result.notes.size() == 1);
  service->edit_memory(edit(EditOp::forget, turns.items[2].id));
  retain(*service, {turn("Four.", "chat", 4)});
  const MemoryDetail found = get_document(*service, "chat");
  CHECK(found.text == "One.\n[removed]\n[removed]\nFour.");
  CHECK(found.forgotten_parts);
  CHECK(found.parts[1].removed);
  CHECK_FALSE(found.parts[3].removed);
  home.check_whole();
}

TEST_CASE("edits are logged, and a read-only process makes none", "[edit]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "One.");
  update_text(*service, id, "Two.");
  service->edit_memory(edit(EditOp::invalidate, id));
  service->edit_memory(edit(EditOp::invalidate, id));
  service->close();
  CHECK(home.log_of("memory_edit").size() == 3);
  ServiceOptions options = home.options();
  options.read_only = true;
  const auto reader = home.open(options);
  CHECK(refused(*reader, edit(EditOp::forget, id)).text.find("(rule: read-only)") !=
        std::string::npos);
  CHECK(text_of(*reader, id) == "Two.");
}

}  // namespace strongroom::service
