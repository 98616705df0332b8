// What is erased is in no byte of the vault's files, for somebody who has every key.
#include <cstring>

#include "opened_rows.h"
#include "recall/columns.h"
#include "recall/index_impl.h"

namespace strongroom::service {
namespace {

constexpr const char* kWord = "quixotrandian";  // in every text that is erased
constexpr const char* kForm = "zarvoplexings";  // a form that an erased text alone has
constexpr const char* kOther = "zarvoplexing";  // and one of the same stem that stays
constexpr const char* kTag = "markertaghaus";
constexpr const char* kSpeaker = "Marvelquist";
constexpr const char* kMetadata = "markermetavalue";
constexpr const char* kContext = "contextualmarker";

using Needles = std::map<std::string, std::string>;  // what it is -> bytes

CompactLine compact(const TestHome& home, const std::string& bank = "global") {
  const std::vector<CompactLine> lines = home.admin()->compact(bank);
  REQUIRE(lines.size() == 1);
  INFO(lines[0].problem);
  REQUIRE_FALSE(lines[0].failed);
  return lines[0];
}

RetainItem filler(int number) {
  RetainItem made = item("plain note " + std::to_string(number) + " about topic" +
                         std::to_string(number % 50) + " and word" + std::to_string(number));
  made.tags = {"t" + std::to_string(number % 7)};
  return made;
}

void fill(MemoryService& service, int from, int to) {
  std::vector<RetainItem> items;
  for (int i = from; i < to; ++i) items.push_back(filler(i));
  retain(service, std::move(items));
}

RetainItem marked(const std::string& text) {
  RetainItem made = tagged(text, {kTag, "kept"});
  made.speaker = kSpeaker;
  made.context = kContext;
  made.metadata = {{"m", kMetadata}};
  made.entities = {"Entitymarkus"};
  return made;
}

// Numbers that stand for the texts: terms, words, fingerprints; and the vectors of all their rows.
Needles numbers_of(const TestHome& home, const Strings& texts) {
  Needles needles;
  KeySource key;
  key.keyfile = home.keyfile();
  vault::Unlocker unlocker = make_unlocker(key);
  vault::VaultOptions options;
  options.path = home.vault_path();
  options.session = vault::random_id();
  const auto opened = vault::Vault::open(options, unlocker);
  const auto bank = opened->open_bank("global");
  const auto add = [&](const std::string& what, recall::TermId id) {
    needles[what] = std::string(reinterpret_cast<const char*>(&id), sizeof id);
  };
  recall::Index::Impl numbers(*bank, {});
  recall::Analyzer analyzer;
  add("term", numbers.term_id(analyzer.stem(kWord)));
  add("word", numbers.word_id(kWord));
  add("form", numbers.word_id(kForm));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    add("fingerprint " + std::to_string(i), numbers.fingerprint_id(recall::normalized(texts[i])));
  }
  recall::Index index(*bank, {});
  vault::BankRead read = bank->read();
  recall::IndexView view(index, read);
  SecretBytes plain;
  for (recall::Row row = 1; row < view.row_end(); ++row) {
    const recall::RowAttributes a = view.attributes(row);
    if (a.dead) continue;
    const vault::Memory memory = vault::open_memory(read, a.record, plain);
    if (memory.text.find(kWord) == std::string_view::npos) continue;
    for (const recall::VectorSet& set : view.vector_sets()) {
      const char* const cell = view.vector(set, row);
      REQUIRE(cell != nullptr);
      const std::string at = std::to_string(row);
      needles["vector " + at] = std::string(cell, recall::vector_bytes(set.dimensions));
      if (row >= view.tail_start()) continue;  // the tail has no codes
      std::string code(recall::code_bytes(set.dimensions), '\0');
      recall::encode_code(cell, set.dimensions, code.data());
      needles["code " + at] = code;
    }
  }
  return needles;
}

Needles words() {
  return {{"text", kWord},           {"a form", kForm},       {"tag", kTag},
          {"speaker", kSpeaker},     {"metadata", kMetadata}, {"context", kContext},
          {"entity", "Entitymarkus"}};
}

// The nonces of all rows that hold one of them.
std::vector<std::string> nonces_with(const OpenedRows& rows, const Needles& needles) {
  std::vector<std::string> nonces;
  for (const auto& [what, bytes] : needles) {
    for (const OpenedRow* const row : rows.with(bytes)) {
      if (!row->nonce.empty()) nonces.push_back(row->nonce);
    }
  }
  return nonces;
}

void require_gone(const TestHome& home, const Needles& needles,
                  const std::vector<std::string>& nonces) {
  const OpenedRows rows(home);
  for (const auto& [what, bytes] : needles) {
    for (const OpenedRow* const row : rows.with(bytes)) {
      FAIL_CHECK(what << " is still in " << row->where);
    }
  }
  for (const auto& [path, bytes] : home.files()) {
    for (const std::string& nonce : nonces) {
      if (bytes.find(nonce) != std::string::npos) FAIL_CHECK("an old row is still in " << path);
    }
  }
}

struct Answer {
  std::string id;
  double score;
  friend bool operator==(const Answer&, const Answer&) = default;
};
std::vector<Answer> answers(MemoryService& service) {
  std::vector<Answer> all;
  for (const char* const query :
       {"note about topic7", "word321", "zarvoplexing", "zarvoplexin", "plain topic11 word11"}) {
    SearchRequest request;
    request.query = query;
    request.min_score = 0;
    request.query_timestamp = 1'900'000'000'000;
    for (const FoundMemory& found : service.search(request).results) {
      all.push_back({found.id, found.score});
    }
  }
  return all;
}

EraseReceipt erase(MemoryService& service, const std::string& id) {
  EditRequest request = edit(EditOp::forget, id);
  request.erase = true;
  const EditResult result = service.edit_memory(request);
  REQUIRE(result.status == "deleted");
  REQUIRE(result.receipt);
  CHECK(result.receipt->pending);
  return *result.receipt;
}

}  // namespace

TEST_CASE("an erased memory is in no byte of the files", "[erase]") {
  // In segments, with and without merges between the forget and the compaction; and in the tail.
  const bool merges = GENERATE(false, true);
  const TestHome home;
  auto service = home.cli();
  const std::string text = std::string("We saw ") + kWord + " twice, " + kForm + " and more.";
  const std::string changed = std::string("Later ") + kWord + " was seen a third time.";
  const std::string first = keep(*service, marked(text));
  const std::string stays = keep(*service, std::string("One ") + kOther + " is here to stay.");
  fill(*service, 0, 300);
  update_text(*service, first, changed);
  RetainItem in_talk = marked(std::string("Turn with ") + kWord + " in it.");
  in_talk.document_id = "talk";
  in_talk.append = true;
  const std::string turn_before = keep(*service, in_document("Opening words.", "talk", true));
  const std::string turn = keep(*service, std::move(in_talk));
  link(*service, first, stays, "causes");
  link(*service, first, "Somebody", "knows");
  ObserveRequest observe;
  observe.text = "An observation of its own words.";
  observe.sources.emplace_back();
  observe.sources[0].id = first;
  observe.sources[0].quote = std::string(kWord) + " was seen";
  service->observe(observe);
  retain(*service, {item("Stored with an operation id.")}, "operation-1");
  fill(*service, 300, 700);
  const std::string last = keep(*service, marked(std::string("In the tail: ") + kWord + "."));
  service->close();

  Needles needles = words();
  needles.merge(numbers_of(home, {text, changed, std::string("In the tail: ") + kWord + "."}));
  std::vector<std::string> nonces;
  {
    const OpenedRows rows(home);
    for (const auto& [what, bytes] : needles) {
      INFO(what);
      CHECK_FALSE(rows.with(bytes).empty());  // or this test would look for nothing
    }
    nonces = nonces_with(rows, needles);
  }
  for (const std::string& id : {first, turn, last}) {
    const EraseReceipt receipt = erase(*service, id);
    CHECK_FALSE(receipt.destroyed.empty());
    CHECK_FALSE(receipt.not_reached.empty());
  }
  CHECK(home.admin()->status().erase_pending == 3);
  if (merges) fill(*service, 700, 3000);
  const std::vector<Answer> before = answers(*service);
  service->close();
  {
    const OpenedRows rows(home);
    // A forget, and merges, leave these to the compaction.
    for (const char* const left : {kForm, kTag, kSpeaker}) CHECK_FALSE(rows.with(left).empty());
    for (std::string& nonce : nonces_with(rows, needles)) nonces.push_back(std::move(nonce));
  }

  const CompactLine line = compact(home);
  CHECK(line.erased == 3);
  CHECK(line.erase_pending == 0);
  CHECK(home.admin()->status().erase_pending == 0);
  require_gone(home, needles, nonces);
  home.check_whole();

  service = home.cli();
  CHECK(answers(*service) == before);
  CHECK(text_of(*service, stays) == std::string("One ") + kOther + " is here to stay.");
  CHECK(text_of(*service, turn_before) == "Opening words.");
  CHECK(text_of(*service, first) == no_memory(first));
  CHECK(get_document(*service, "talk").text.find("[removed]") != std::string::npos);
  CHECK(texts(*service).size() == (merges ? 3003 : 703));
  // Tags, speakers and words come again as new ones.
  const std::string again = keep(*service, marked(text));
  fill(*service, 3000, 3300);
  CHECK(get(*service, again).memory.tags == Strings{kTag, "kept"});
  service->close();
  home.check_whole();
  // Nothing is pending: this one leaves the index alone.
  CHECK(compact(home).erased == 0);
  home.check_whole();
}

TEST_CASE("an erased document is in no byte of the files", "[erase]") {
  const TestHome home;
  auto service = home.cli();
  fill(*service, 0, 250);
  const std::string name = std::string("report-") + kWord;
  RetainItem part = marked(long_text(2500) + kWord + " " + kForm);
  part.document_id = name;
  retain(*service, {part}, "operation-2");
  RetainItem next = marked(std::string("Another version of ") + kWord);
  next.document_id = name;
  retain(*service, {next}, "operation-3");
  service->close();
  Needles needles = words();
  needles["filler"] = "word2345 word";
  const auto nonces = nonces_with(OpenedRows(home), needles);
  CHECK(nonces.size() > 5);
  const DeleteDocumentResult result = service->delete_document(name, {}, true);
  CHECK(result.found);
  REQUIRE(result.receipt);
  CHECK(result.receipt->destroyed[0].find("the document") == 0);
  service->close();
  CHECK(compact(home).erased == 1);
  require_gone(home, needles, nonces);
  home.check_whole();
}

TEST_CASE("an erased entry is in no byte of the files", "[erase]") {
  const TestHome home;
  auto service = home.cli();
  const std::string name = std::string("name ") + kWord;
  std::string large;
  for (int i = 0; i < 20'000; ++i) large += kForm + std::to_string(i) + " ";
  for (const std::string& value : {std::string("small ") + kForm, large, std::string(kForm)}) {
    RememberRequest request;
    request.key = name;
    request.value = value;
    request.tags = Strings{kTag};
    request.operation_id = "operation " + std::to_string(value.size());
    service->remember(request);
  }
  remember_secret(*service, "s", kSpeaker);
  remember(*service, "kept", "kept value");
  service->close();
  const Needles needles = words();
  const auto nonces = nonces_with(OpenedRows(home), needles);
  CHECK(nonces.size() > 5);
  for (const std::string& key : {name, std::string("s")}) {
    ForgetRequest request;
    request.key = key;
    request.erase = true;
    const ForgetResult result = service->forget(request);
    CHECK(result.found);
    REQUIRE(result.receipt);
    CHECK(result.receipt->destroyed[0].find(key == "s" ? "1 revision of" : "3 revisions of") == 0);
    // The log names the same record.
    CHECK(vault::parse_memory_id(result.receipt->id)->first ==
          home.log_of("agent_forget").back().record);
    CHECK_FALSE(service->forget(request).receipt);
  }
  service->close();
  CHECK(compact(home).erased == 2);
  require_gone(home, needles, nonces);
  home.check_whole();
  CHECK(recall(*service, "kept") == "kept value");
  CHECK(remember(*service, name, "again").revision == 4);
}

TEST_CASE("an erasure is pending while somebody has the bank open", "[erase]") {
  const TestHome home;
  const auto server = home.mcp();
  const std::string id = keep(*server, "To be erased soon.");
  const std::string stays = keep(*server, "To stay.");
  erase(*server, id);
  std::vector<CompactLine> lines = home.admin()->compact({});
  REQUIRE(lines.size() == 2);
  for (const CompactLine& line : lines) CHECK(line.failed == Code::busy);
  CHECK(lines[0].bank == "global");
  CHECK(lines[0].erase_pending == 1);
  CHECK(lines[1].bank.empty());
  CHECK(home.admin()->status().erase_pending == 1);
  CHECK(server->project_context(1500, {}, {}).erase_pending == 1);
  CHECK(text_of(*server, stays) == "To stay.");
  server->close();
  lines = home.admin()->compact({});
  for (const CompactLine& line : lines) CHECK_FALSE(line.failed);
  CHECK(lines[0].erased == 1);
  CHECK(server->project_context(1500, {}, {}).erase_pending == 0);
  CHECK(text_of(*server, stays) == "To stay.");
  home.check_whole();
}

TEST_CASE("erase belongs to forget, and to who may forget", "[erase]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string id = keep(*service, "Here.");
  for (const EditOp op : {EditOp::update, EditOp::invalidate, EditOp::restore}) {
    EditRequest request = edit(op, id);
    request.erase = true;
    if (op == EditOp::update) request.content = "There.";
    CHECK(failure_of([&] { service->edit_memory(request); }).code == Code::invalid);
  }
  home.seal(2, R"({"id": "no", "effect": "forbid", "principal": "local:mcp",
    "tool": ["memory_edit", "agent_forget"]})");
  EditRequest request = edit(EditOp::forget, id);
  request.erase = true;
  CHECK(failure_of([&] { service->edit_memory(request); }).code == Code::denied);
  CHECK(home.admin()->status().erase_pending == 0);
  CHECK(text_of(*service, id) == "Here.");
}

TEST_CASE("too many pending erasures are refused, and nothing is forgotten", "[erase]") {
  const TestHome home;
  const auto service = home.cli();
  std::vector<RetainItem> items;
  for (int i = 0; i < 1030; ++i) items.push_back(filler(i));
  const RetainResult stored = retain(*service, std::move(items));
  std::size_t done = 0;
  for (const RetainedItem& one : stored.items) {
    EditRequest request = edit(EditOp::forget, one.id);
    request.erase = true;
    try {
      service->edit_memory(request);
      ++done;
    } catch (const Error& error) {
      CHECK(error.code() == Code::busy);
      CHECK(text_of(*service, one.id).find("plain note") == 0);
    }
  }
  CHECK(done == 1024);
  service->close();
  CHECK(compact(home).erased == 1024);
  home.check_whole();
  CHECK(texts(*service).size() == 6);
}

}  // namespace strongroom::service
