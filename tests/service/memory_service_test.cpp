// What agents and the command line get from the one door: limits and words, revisions, expiry,
// classes, operation ids, listings, banks, policy, and a vault that is locked or missing.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "service_fixture.h"

namespace strongroom::service {
namespace {

using Tags = std::vector<std::string>;

const std::string kBadUtf8 = "a\xC3(";

std::string key_of(std::size_t bytes) {
  return std::string(bytes, 'k');
}

}  // namespace

// ---- keys, values and limits

TEST_CASE("values come back byte for byte with their form", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::string all_kinds("line\r\n\ttab \"quoted\" \xF0\x9F\x94\x91 \x01\x7F end\0nul", 31);
  const std::vector<std::string> texts = {"", "x", all_kinds, std::string(32 * 1024, 'i'),
                                          std::string(32 * 1024 + 1, 'c'),
                                          std::string(3 * 65473 + 7, 'm')};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string key = "t" + std::to_string(i);
    CHECK(remember(*service, key, texts[i]).revision == 1);
    const auto found = hit(*service, key);
    REQUIRE(found);
    CHECK(found->value.view() == texts[i]);
    CHECK(found->form == ValueForm::text);
    CHECK(found->total_bytes == texts[i].size());
    CHECK_FALSE(found->next_offset);
    CHECK(found->principal == "local:mcp");
    CHECK(found->source == "mcp");
    CHECK(found->place.bank == "global");
  }
  for (const std::string json : {"null", "{\"b\":1,\"a\":[1.50,-0,1e400]}", "\"text\"", "0.1"}) {
    RememberRequest request;
    request.key = "j";
    request.value = json;
    request.form = ValueForm::json;
    service->remember(request);
    const auto found = hit(*service, "j");
    REQUIRE(found);
    CHECK(found->value.view() == json);
    CHECK(found->form == ValueForm::json);
  }
}

TEST_CASE("any name of 1 to 1,024 bytes of UTF-8 is ordinary", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  const std::vector<std::string> keys = {"__proto__", " ", "\n", std::string("a\0b", 3), "../../x",
                                         "\xF0\x9F\x94\x91", "%00", key_of(1024), "*", "a", "A",
                                         "\xE2\x80\xAE", "key with spaces "};
  for (const std::string& key : keys) remember(*service, key, "value of " + key);
  for (const std::string& key : keys) CHECK(recall(*service, key) == "value of " + key);
  std::vector<std::string> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  CHECK(list(*service) == sorted);
  for (const std::string& key : keys) CHECK(forget(*service, key));
  CHECK(list(*service).empty());
}

TEST_CASE("keys that are refused, by every call", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  const struct {
    std::string key;
    Code code;
    std::string text;
  } table[] = {
      {"", Code::invalid, "Invalid: key must not be empty. [invalid]"},
      {key_of(1025), Code::too_large, "Too large: key is 1025 bytes, limit 1024. [too_large]"},
      {kBadUtf8, Code::invalid, "Invalid: key is not valid UTF-8. [invalid]"},
      {"\xED\xA0\x80", Code::invalid, "Invalid: key is not valid UTF-8. [invalid]"},
  };
  for (const auto& row : table) {
    const Failure failures[] = {
        failure_of([&] { remember(*service, row.key, "v"); }),
        failure_of([&] { hit(*service, row.key); }),
        failure_of([&] { forget(*service, row.key); }),
        failure_of([&] { service->history(row.key, {}); }),
    };
    for (const Failure& failure : failures) {
      CHECK(failure.code == row.code);
      CHECK(failure.text == row.text);
    }
  }
  CHECK(list(*service).empty());
}

TEST_CASE("fields of a write that are refused", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  const auto refused = [&](const auto& change) {
    RememberRequest request;
    request.key = "k";
    request.value = "value-of-the-caller";
    change(request);
    const Failure failure = failure_of([&] { service->remember(request); });
    CHECK(failure.text.find("value-of-the-caller") == std::string::npos);
    CHECK(recall(*service, "k") == "(none)");
    return failure.text;
  };
  const std::string max_ttl = std::to_string(kMaxTtlSeconds);

  CHECK(refused([&](auto& r) { r.value = kBadUtf8; }) ==
        "Invalid: value is not valid UTF-8. [invalid]");
  CHECK(refused([](auto& r) { r.tags = std::vector<std::string>(65, "t"); }) ==
        "Invalid: tags has more than 64 tags. [invalid]");
  CHECK(refused([](auto& r) { r.tags = Tags{"a", ""}; }) ==
        "Invalid: tags[1] must not be empty. [invalid]");
  CHECK(refused([](auto& r) { r.tags = Tags{std::string(257, 't')}; }) ==
        "Too large: tags[0] is 257 bytes, limit 256. [too_large]");
  CHECK(refused([&](auto& r) { r.tags = Tags{"a", "b", kBadUtf8}; }) ==
        "Invalid: tags[2] is not valid UTF-8. [invalid]");
  for (const std::int64_t ttl : {std::int64_t{0}, std::int64_t{-1},
                                 kMaxTtlSeconds + 1, std::int64_t{1} << 62}) {
    CHECK(refused([&](auto& r) { r.ttl_seconds = ttl; }) ==
          "Invalid: ttl_seconds must be from 1 to " + max_ttl + ". [invalid]");
  }
  CHECK(refused([](auto& r) { r.operation_id = std::string(257, 'o'); }) ==
        "Too large: operation_id is 257 bytes, limit 256. [too_large]");
  CHECK(refused([&](auto& r) { r.operation_id = kBadUtf8; }) ==
        "Invalid: operation_id is not valid UTF-8. [invalid]");
  for (const std::string& bank : {std::string(257, 'b'), std::string("a\nb"), std::string(" a")}) {
    CHECK(refused([&](auto& r) { r.bank = bank; }).find("Invalid: bank ") == 0);
  }
  const std::string deep = std::string(65, '[') + std::string(65, ']');
  for (const std::string& json : {std::string("NaN"), std::string("{\"a\":1,\"a\":2}"), deep,
                                 std::string("1 2"), std::string(), std::string("01"),
                                 std::string("\"\\ud800\"")}) {
    INFO(json);
    CHECK(refused([&](auto& r) {
            r.form = ValueForm::json;
            r.value = json;
          }).find("Invalid: value") == 0);
  }
  ListRequest request;
  CHECK(service->list(request).bank_empty);
}

TEST_CASE("the largest fields are accepted, one byte more is not", "[service]") {
  const TestHome home;
  const auto service = home.cli();
  RememberRequest request;
  const std::string key = key_of(1024), operation(256, 'o');
  request.key = key;
  request.tags.emplace(64, std::string(256, 't'));
  for (std::size_t i = 0; i < 64; ++i) (*request.tags)[i][0] = static_cast<char>('0' + i);
  request.operation_id = operation;
  request.ttl_seconds = kMaxTtlSeconds;
  std::string value(kMaxValueBytes, 'v');
  value.front() = '<';
  value.back() = '>';
  request.value = value;
  CHECK(service->remember(request).revision == 1);
  const auto found = hit(*service, key);
  REQUIRE(found);
  CHECK((found->value.view() == value));  // not printed when it fails
  CHECK(found->tags == *request.tags);
  REQUIRE(found->expires);
  CHECK(*found->expires == found->updated + *request.ttl_seconds * 1000);

  value.push_back('x');
  CHECK(failure_of([&] { remember(*service, "k", value); }).text ==
        "Too large: value is 67108865 bytes, limit 67108864. [too_large]");
}

TEST_CASE("a long value is read in parts that never split a character", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  std::string value;
  while (value.size() < 200'000) value += "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\x91";
  remember(*service, "long", value);
  for (const std::uint64_t step : {std::uint64_t{4}, std::uint64_t{1000}, std::uint64_t{65473},
                                   std::uint64_t{1} << 40}) {
    std::string whole;
    RecallRequest request;
    request.key = "long";
    request.max_bytes = step;
    for (std::size_t rounds = 0;; ++rounds) {
      const auto part = service->recall(request);
      REQUIRE(part);
      REQUIRE(part->total_bytes == value.size());
      REQUIRE(part->value.size() <= step);
      whole += part->value.view();
      if (!part->next_offset) break;
      REQUIRE(*part->next_offset == whole.size());
      request.offset = *part->next_offset;
      if (step == 4 && rounds == 200) {  // the small step proves itself on the beginning
        request.offset = value.size() - 10 * 5;
        whole = value.substr(0, value.size() - 10 * 5);
      }
    }
    CHECK((whole == value));
  }
  RecallRequest behind;
  behind.key = "long";
  behind.offset = value.size() + 5;
  const auto part = service->recall(behind);
  REQUIRE(part);
  CHECK(part->value.empty());
  CHECK_FALSE(part->next_offset);
}

// ---- revisions

TEST_CASE("revisions count up and survive a forget", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  CHECK(remember(*service, "k", "one").revision == 1);
  CHECK(remember(*service, "k", "two").revision == 2);
  const auto found = hit(*service, "k");
  REQUIRE(found);
  CHECK(found->revision == 2);
  CHECK(found->created <= found->updated);
  auto history = service->history("k", {});
  REQUIRE(history);
  REQUIRE(history->size() == 2);
  CHECK((*history)[0].revision == 2);
  CHECK((*history)[1].revision == 1);
  CHECK((*history)[0].bytes == 3);

  CHECK(forget(*service, "k"));
  CHECK_FALSE(forget(*service, "k"));
  CHECK(recall(*service, "k") == "(none)");
  CHECK_FALSE(service->history("k", {}));
  CHECK(remember(*service, "k", "three").revision == 3);
  history = service->history("k", {});
  REQUIRE(history);
  CHECK(history->size() == 1);
  home.check_whole();
}

TEST_CASE("compare and set", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  const auto set = [&](std::uint64_t revision) {
    RememberRequest request;
    request.key = "a \"b\"\n";
    request.value = "v";
    request.if_revision = revision;
    return service->remember(request).revision;
  };
  const auto text = [&](std::uint64_t revision) {
    const Failure failure = failure_of([&] { set(revision); });
    CHECK(failure.code == Code::conflict);
    return failure.text;
  };
  CHECK(text(1) ==
        "Conflict: \"a \\\"b\\\"\\n\" is at revision 0, you sent 1. Read it again. [conflict]");
  CHECK(set(0) == 1);
  CHECK(text(0) ==
        "Conflict: \"a \\\"b\\\"\\n\" is at revision 1, you sent 0. Read it again. [conflict]");
  CHECK(set(1) == 2);
  CHECK(text(1).find("is at revision 2, you sent 1") != std::string::npos);
  CHECK(forget(*service, "a \"b\"\n"));
  CHECK(text(2).find("is at revision 0, you sent 2") != std::string::npos);
  CHECK(set(0) == 3);  // 0 = must not exist; the number goes on
}

TEST_CASE("the newest twenty revisions are kept, or as many as the setting says", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  for (int i = 1; i <= 25; ++i) {
    remember(*service, "small", "v" + std::to_string(i));
    remember(*service, "large", std::string(40'000, static_cast<char>('a' + i)));
  }
  for (const char* key : {"small", "large"}) {
    const auto history = service->history(key, {});
    REQUIRE(history);
    CHECK(history->size() == 20);
    CHECK(history->front().revision == 25);
    CHECK(history->back().revision == 6);
  }
  home.admin()->set_setting("revisions", "3");
  remember(*service, "small", "v26");
  CHECK(service->history("small", {})->size() == 3);
  home.admin()->set_setting("revisions", "1");
  remember(*service, "small", "v27");
  CHECK(service->history("small", {})->size() == 1);
  CHECK(recall(*service, "small") == "v27");
  home.check_whole();
}

TEST_CASE("tags belong to a revision, and stay when a write names none", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  RememberRequest request;
  request.key = "k";
  request.value = "v";
  const Tags tags = {"b", "a"};
  request.tags = Tags{"b", "a", "b"};  // twice is once
  service->remember(request);
  CHECK(hit(*service, "k")->tags == tags);
  remember(*service, "k", "w");
  CHECK(hit(*service, "k")->tags == tags);
  request.tags.emplace();
  service->remember(request);
  CHECK(hit(*service, "k")->tags.empty());
  const auto history = service->history("k", {});
  REQUIRE(history);
  CHECK((*history)[0].tags.empty());
  CHECK((*history)[2].tags == tags);
}

// ---- expiry

TEST_CASE("what has expired is absent for every read, and its number goes on", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  RememberRequest request;
  request.key = "k";
  request.value = "gone soon";
  request.ttl_seconds = 1;
  service->remember(request);
  request.key = "k2";
  service->remember(request);
  request.ttl_seconds = 1000;
  request.key = "later";
  service->remember(request);
  CHECK(recall(*service, "k") == "gone soon");
  CHECK(list(*service) == std::vector<std::string>{"k", "k2", "later"});
  const TimeMs expires = *hit(*service, "k2")->expires;
  while (now_ms() <= expires) ::usleep(20'000);

  CHECK(recall(*service, "k") == "(none)");
  CHECK(list(*service) == std::vector<std::string>{"later"});
  CHECK_FALSE(service->history("k", {}));
  const ProjectContext context = service->project_context(1500, {}, {});
  REQUIRE(context.keys.size() == 1);
  CHECK(context.keys[0].key == "later");
  CHECK_FALSE(forget(*service, "k2"));
  request.key = "k";
  request.ttl_seconds.reset();
  request.if_revision = 0;
  CHECK(service->remember(request).revision == 2);
  CHECK_FALSE(hit(*service, "k")->expires);
  CHECK(service->history("k", {})->size() == 1);  // nothing of the expired one is left
  home.check_whole();
}

// ---- class secret

TEST_CASE("class secret: who reads, who lists, what an update keeps", "[service]") {
  const TestHome home;
  const auto agent = home.mcp(), owner = home.cli();
  CHECK(remember_secret(*agent, "aws", credential()).entry_class == EntryClass::secret);
  const Failure denied = failure_of([&] { hit(*agent, "aws"); });
  CHECK(denied.code == Code::denied);
  CHECK(denied.text ==
        "Policy Denied: no rule permits agent_recall on class secret in bank \"global\" for "
        "local:mcp (rule: default-deny)");
  CHECK(recall(*owner, "aws") == credential());
  CHECK(hit(*owner, "aws")->entry_class == EntryClass::secret);

  // Rotating it without naming a class must not open it, nor be refused for what it holds.
  CHECK(remember(*agent, "aws", credential() + "\n").entry_class == EntryClass::secret);
  CHECK(remember(*agent, "aws", "second value").entry_class == EntryClass::secret);
  CHECK(code_of([&] { hit(*agent, "aws"); }) == Code::denied);
  CHECK(recall(*owner, "aws") == "second value");

  remember(*agent, "plain", "x");
  CHECK(list(*agent) == std::vector<std::string>{"plain"});
  CHECK(list(*owner) == std::vector<std::string>{"plain"});
  ListRequest request;
  request.include_secret = true;
  CHECK(names(agent->list(request)) == std::vector<std::string>{"plain"});  // policy decides still
  CHECK(names(owner->list(request)) == std::vector<std::string>{"aws", "plain"});
  const ProjectContext context = agent->project_context(1500, {}, {});
  CHECK(context.secrets == 1);
  CHECK(context.entries == 1);
  REQUIRE(context.keys.size() == 1);
  CHECK(context.keys[0].key == "plain");

  // Later revisions keep the class, so opening it is as good as reading it.
  RememberRequest open;
  open.key = "aws";
  open.value = "an ordinary text";
  open.entry_class = EntryClass::normal;
  CHECK(code_of([&] { agent->remember(open); }) == Code::denied);
  CHECK(owner->remember(open).entry_class == EntryClass::normal);
  CHECK(recall(*agent, "aws") == "an ordinary text");
  CHECK(forget(*agent, "aws"));
  home.check_whole();
}

TEST_CASE("one more permit opens secrets to agents", "[service]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember_secret(*agent, "deploy/token", "s1");
  remember_secret(*agent, "other/token", "s2");
  home.seal(2, R"({"id": "deploy", "effect": "permit", "principal": "local:mcp",
    "tool": "agent_recall", "key": "deploy/*", "class": "secret"})");
  CHECK(recall(*agent, "deploy/token") == "s1");
  CHECK(code_of([&] { hit(*agent, "other/token"); }) == Code::denied);
  CHECK(list(*agent).empty());  // never listed for agents
}

TEST_CASE("a credential is refused and nothing of it is kept", "[service]") {
  const TestHome home;
  {
    const auto agent = home.mcp();
    const std::string text = "the id is " + credential() + " since May";
    const auto refused = [&](const auto& change) {
      RememberRequest request;
      request.key = "k";
      request.value = "v";
      change(request);
      const Failure failure = failure_of([&] { agent->remember(request); });
      CHECK(failure.code == Code::secret_detected);
      CHECK(failure.text.find(credential()) == std::string::npos);
      return failure.text;
    };
    const auto words = [](const std::string& field) {
      return "Refused: " + field +
             " looks like a credential (AWS access key). Remove it, or store it with "
             "agent_remember and class \"secret\". [secret_detected]";
    };
    CHECK(refused([&](auto& r) { r.value = text; }) == words("value"));
    CHECK(refused([&](auto& r) {
            r.value = text;
            r.entry_class = EntryClass::normal;
            r.operation_id = "op";
          }) == words("value"));
    CHECK(refused([&](auto& r) { r.key = text; }) == words("key"));
    CHECK(refused([&](auto& r) { r.tags = Tags{"fine", text}; }) == words("tags[1]"));
    // Names and tags are never secret, whatever the class of the value is.
    CHECK(refused([&](auto& r) {
            r.key = text;
            r.entry_class = EntryClass::secret;
          }) == words("key"));
    CHECK(list(*agent).empty());

    RememberRequest flagged;
    flagged.key = "k";
    flagged.value = text;
    flagged.operation_id = "op";  // of a refused call: still unused
    flagged.entry_class = EntryClass::secret;
    CHECK_FALSE(agent->remember(flagged).repeated);
  }
  CHECK_FALSE(home.holds(credential()));
  for (const AuditLine& line : home.log()) {
    CHECK(line.rule.find(credential()) == std::string::npos);
    CHECK(line.error.find(credential()) == std::string::npos);
  }
}

TEST_CASE("allow_secret stores flagged text as an ordinary value", "[service]") {
  const TestHome home;
  const auto owner = home.cli();
  RememberRequest request;
  request.key = "k";
  const std::string text = "example " + credential();
  request.value = text;
  request.allow_secret = true;
  CHECK(owner->remember(request).entry_class == EntryClass::normal);
  CHECK(recall(*home.mcp(), "k") == text);
}

// ---- operation ids

TEST_CASE("a repeated operation id gives the first answer", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  RememberRequest request;
  request.key = "k";
  request.value = "one";
  request.operation_id = "op-1";
  request.tags = Tags{"t"};
  const RememberResult first = service->remember(request);
  CHECK_FALSE(first.repeated);
  remember(*service, "k", "two");
  const RememberResult again = service->remember(request);
  CHECK(again.repeated);
  CHECK(again.revision == first.revision);
  CHECK(again.updated == first.updated);
  CHECK(recall(*service, "k") == "two");  // nothing was stored

  const auto conflicts = [&](const auto& change) {
    RememberRequest other = request;
    change(other);
    return failure_of([&] { service->remember(other); }).text ==
           "Conflict: operation_id was used for another write. [conflict]";
  };
  CHECK(conflicts([](auto& r) { r.value = "two"; }));
  CHECK(conflicts([](auto& r) { r.key = "k2"; }));
  CHECK(conflicts([](auto& r) { r.tags.reset(); }));
  CHECK(conflicts([](auto& r) { r.tags.emplace(); }));
  CHECK(conflicts([](auto& r) { r.ttl_seconds = 5; }));
  CHECK(conflicts([](auto& r) { r.entry_class = EntryClass::normal; }));
  CHECK(conflicts([](auto& r) { r.if_revision = 1; }));
  CHECK(conflicts([](auto& r) { r.form = ValueForm::json, r.value = "1"; }));

  // It is bound to its principal and bank.
  CHECK_FALSE(home.cli()->remember(request).repeated);
  CHECK_FALSE(home.in_bank("other")->remember(request).repeated);
  // Another process sees it as well.
  CHECK(home.mcp()->remember(request).repeated);
  home.check_whole();
}

// ---- listings

TEST_CASE("listings: prefix, order, limit, cursor, offset", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  ListRequest request;
  CHECK(service->list(request).bank_empty);
  std::vector<std::string> keys;
  for (int i = 0; i < 450; ++i) keys.push_back("n/" + std::to_string(i));
  keys.insert(keys.end(), {"a", "n", "n/", "o", "\xF0\x9F\x94\x91", "N/1"});
  for (const std::string& key : keys) remember(*service, key, "value");
  std::sort(keys.begin(), keys.end());

  std::vector<std::string> paged;
  request.limit = 7;
  for (;;) {
    const ListResult page = service->list(request);
    CHECK(page.entries.size() <= 7);
    for (const std::string& key : names(page)) paged.push_back(key);
    if (!page.cursor) break;
    request.cursor = *page.cursor;
  }
  CHECK(paged == keys);

  request = {};
  CHECK(service->list(request).entries.size() == kDefaultListLimit);
  request.limit = 0;
  CHECK(names(service->list(request)) == keys);
  request.offset = 450;
  CHECK(names(service->list(request)) == std::vector<std::string>(keys.begin() + 450, keys.end()));
  request.offset = 10'000;
  CHECK(service->list(request).entries.empty());
  CHECK_FALSE(service->list(request).bank_empty);

  CHECK(list(*service, "n/44").size() == 11);
  CHECK(list(*service, "o") == std::vector<std::string>{"o"});
  CHECK(list(*service, "zz").empty());
  request = {};
  request.prefix = "zz";
  CHECK_FALSE(service->list(request).bank_empty);

  request = {};
  request.prefix = "n/";
  request.limit = 5;
  const ListResult first = service->list(request);
  REQUIRE(first.cursor);
  request.cursor = *first.cursor;
  request.offset = 2;
  const ListResult second = service->list(request);
  const auto from = std::lower_bound(keys.begin(), keys.end(), "n/");
  CHECK(names(second) == std::vector<std::string>(from + 7, from + 12));

  const ListedEntry& entry = second.entries.front();
  CHECK(entry.revision == 1);
  CHECK(entry.bytes == 5);
  CHECK(entry.bank == "global");
  CHECK(entry.entry_class == EntryClass::normal);
}

TEST_CASE("a page goes on rightly when names come and go in between", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  for (const char* key : {"a", "c", "e", "g"}) remember(*service, key, "v");
  ListRequest request;
  request.limit = 2;
  const ListResult first = service->list(request);
  CHECK(names(first) == std::vector<std::string>{"a", "c"});
  REQUIRE(first.cursor);
  forget(*service, "c");
  remember(*service, "b", "v");
  remember(*service, "d", "v");
  request.cursor = *first.cursor;
  CHECK(names(service->list(request)) == std::vector<std::string>{"d", "e"});
}

TEST_CASE("fields of a listing that are refused", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  remember(*service, "k", "v");
  ListRequest request;
  request.limit = 1001;
  CHECK(failure_of([&] { service->list(request); }).text ==
        "Invalid: limit must be from 1 to 1000. [invalid]");
  request = {};
  request.prefix = kBadUtf8;
  CHECK(failure_of([&] { service->list(request); }).text ==
        "Invalid: prefix is not valid UTF-8. [invalid]");
  request = {};
  for (const std::string& cursor : {std::string("x"), std::string("k6"), std::string("kzz"),
                                   std::string("6161"), "k" + std::string(2050, 'a')}) {
    request.cursor = cursor;
    CHECK(failure_of([&] { service->list(request); }).text ==
          "Invalid: cursor is not one that an earlier page gave. [invalid]");
  }
}

TEST_CASE("every listed name is decided by itself", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  RememberRequest tagged;
  tagged.key = "open/tagged";
  tagged.value = "v";
  tagged.tags = Tags{"private"};
  service->remember(tagged);
  for (const char* key : {"hr/a", "hr/b", "open/a"}) remember(*service, key, "v");
  home.seal(2, R"({"id": "hr", "effect": "forbid", "principal": "local:mcp", "key": "hr/*"},
  {"id": "private", "effect": "forbid", "principal": "local:mcp", "tags": "private"})");
  ListRequest request;
  const ListResult result = service->list(request);
  CHECK(names(result) == std::vector<std::string>{"open/a"});
  REQUIRE(result.place.notes.size() == 2);  // the shared bank is used; names are left out
  CHECK(result.place.notes.back() == "The policy may leave names out of this list.");
  CHECK(list(*service, "hr/").empty());
  CHECK(service->project_context(1500, {}, {}).keys.size() == 1);
  CHECK(list(*home.cli()).size() == 4);
}

// ---- banks

TEST_CASE("a project reads its own bank, then the shared one", "[service]") {
  const TestHome home;
  const auto shared = home.mcp(), project = home.in_bank("proj");
  remember(*shared, "both", "global");
  remember(*shared, "shared", "global");
  CHECK(recall(*project, "both") == "global");  // the project's bank does not exist yet
  CHECK(hit(*project, "both")->place.bank == "global");
  CHECK(remember(*project, "both", "project").place.bank == "proj");
  CHECK(remember(*project, "own", "project").place.bank == "proj");
  CHECK(recall(*project, "both") == "project");
  CHECK(hit(*project, "both")->place.bank == "proj");
  CHECK(recall(*project, "shared") == "global");
  CHECK(recall(*shared, "both") == "global");
  CHECK(recall(*shared, "own") == "(none)");

  ListRequest request;
  const ListResult merged = project->list(request);
  REQUIRE(names(merged) == std::vector<std::string>{"both", "own", "shared"});
  CHECK(merged.entries[0].bank == "proj");
  CHECK(merged.entries[2].bank == "global");
  std::vector<std::string> paged;
  request.limit = 1;
  for (;;) {
    const ListResult page = project->list(request);
    for (const std::string& key : names(page)) paged.push_back(key);
    if (!page.cursor) break;
    request.cursor = *page.cursor;
  }
  CHECK(paged == names(merged));
  CHECK(list(*project, {}, "global") == std::vector<std::string>{"both", "shared"});
  CHECK(recall(*project, "both", "global") == "global");

  const ProjectContext context = project->project_context(1500, {}, {});
  CHECK(context.bank == "proj");
  CHECK(context.reads == std::vector<std::string>{"proj", "global"});
  CHECK(context.entries == 3);  // names, each once
  CHECK(context.keys.size() == 3);

  // A forget touches the project's bank only, which uncovers the shared value.
  CHECK(forget(*project, "both"));
  CHECK(recall(*project, "both") == "global");
  CHECK_FALSE(forget(*project, "shared"));
  home.check_whole();
}

TEST_CASE("an expired name of the project lets the shared one through", "[service]") {
  const TestHome home;
  const auto project = home.in_bank("proj");
  remember(*home.mcp(), "k", "global");
  RememberRequest request;
  request.key = "k";
  request.value = "project";
  request.ttl_seconds = 1;
  project->remember(request);
  CHECK(recall(*project, "k") == "project");
  const TimeMs expires = *hit(*project, "k")->expires;
  while (now_ms() <= expires) ::usleep(20'000);
  CHECK(recall(*project, "k") == "global");
  ListRequest all;
  const ListResult listed = project->list(all);
  REQUIRE(names(listed) == std::vector<std::string>{"k"});
  CHECK(listed.entries[0].bank == "global");
}

TEST_CASE("scoping modes", "[service]") {
  const TestHome home;
  remember(*home.mcp(), "shared", "global");
  home.admin()->set_setting("scoping", "per-project");
  {
    const auto project = home.in_bank("proj");
    remember(*project, "own", "v");
    CHECK(recall(*project, "shared") == "(none)");
    CHECK(list(*project) == std::vector<std::string>{"own"});
    CHECK(project->project_context(1500, {}, {}).reads == std::vector<std::string>{"proj"});
  }
  home.admin()->set_setting("scoping", "global");
  {
    const auto project = home.in_bank("proj");
    CHECK(remember(*project, "k", "v").place.bank == "global");
    CHECK(recall(*project, "shared") == "global");
    CHECK(recall(*project, "own") == "(none)");
    CHECK(project->project_context(1500, {}, {}).chosen_by == "scoping");
  }
  // A project's own file decides over the setting.
  const std::string folder = home.project("app", R"({"project": "app", "scoping": "per-project"})");
  const auto own = home.in_folder(folder);
  CHECK(remember(*own, "k", "v").place.bank == "app");
  CHECK(recall(*own, "shared") == "(none)");
}

TEST_CASE("without a project the shared bank is used, and said so", "[service]") {
  const TestHome home;
  const RememberResult result = remember(*home.mcp(), "k", "v");
  CHECK(result.place.bank == "global");
  REQUIRE(result.place.notes.size() == 1);
  CHECK(result.place.notes[0] ==
        "No project was found here, so the shared bank \"global\" is used.");
  CHECK(home.mcp()->project_context(1500, {}, {}).chosen_by == "fallback");
}

TEST_CASE("an unknown bank is not found, with the nearest names that may be seen", "[service]") {
  const TestHome home;
  home.admin()->create_bank("payments");
  home.admin()->create_bank("zebra");
  const auto service = home.mcp();
  const std::string text =
      "There is no bank \"paymnts\". Nearest: \"payments\". Make one with \"strongroom bank "
      "create\". [not_found]";
  const Failure failures[] = {
      failure_of([&] { remember(*service, "k", "v", "paymnts"); }),
      failure_of([&] { hit(*service, "k", "paymnts"); }),
      failure_of([&] { list(*service, {}, "paymnts"); }),
      failure_of([&] { forget(*service, "k", "paymnts"); }),
      failure_of([&] { service->history("k", "paymnts"); }),
      failure_of([&] { service->project_context(1500, "paymnts", {}); }),
  };
  for (const Failure& failure : failures) {
    CHECK(failure.code == Code::not_found);
    CHECK(failure.text == text);
  }
  CHECK(home.admin()->banks().size() == 3);  // nothing came into being
  home.seal(2, R"({"id": "pay", "effect": "forbid", "principal": "local:mcp",
    "bank": "pay*"})");
  const Failure hidden = failure_of([&] { hit(*service, "k", "globel"); });
  CHECK(hidden.text.find("\"global\"") != std::string::npos);
  const Failure denied = failure_of([&] { hit(*service, "k", "paymnts"); });
  CHECK(denied.code == Code::denied);  // by name: whether it exists does not show
  CHECK(denied.text.find("payments\"") == std::string::npos);
}

TEST_CASE("reading does not make the project's bank", "[service]") {
  const TestHome home;
  const auto project = home.in_bank("proj");
  CHECK(recall(*project, "k") == "(none)");
  CHECK_FALSE(forget(*project, "k"));
  CHECK(list(*project).empty());
  CHECK_FALSE(project->history("k", {}));
  CHECK(project->project_context(1500, {}, {}).keys.empty());
  CHECK(home.admin()->banks().size() == 1);
  remember(*project, "k", "v");
  CHECK(home.admin()->banks().size() == 2);
}

TEST_CASE("a file that names another project's bank is refused until it is trusted", "[service]") {
  const TestHome home;
  const std::string first = home.project("first", R"({"project": "shared-name"})");
  const std::string second = home.project("second", R"({"project": "shared-name"})");
  remember(*home.in_folder(first), "k", "of the first");

  const auto stranger = home.in_folder(second);
  const std::string text =
      "The bank \"shared-name\" was made by another project. If this one may use it, run "
      "\"strongroom bank trust\" in this folder. [denied]";
  const Failure failures[] = {
      failure_of([&] { hit(*stranger, "k"); }),
      failure_of([&] { remember(*stranger, "k", "v"); }),
      failure_of([&] { list(*stranger); }),
      failure_of([&] { forget(*stranger, "k"); }),
      failure_of([&] { stranger->project_context(1500, {}, {}); }),
  };
  for (const Failure& failure : failures) {
    CHECK(failure.code == Code::denied);
    CHECK(failure.text == text);
  }
  CHECK(recall(*home.in_folder(first), "k") == "of the first");

  CHECK(code_of([&] { home.admin()->trust_bank("other", second, false); }) == Code::invalid);
  CHECK(code_of([&] { home.admin()->trust_bank({}, home.work(), false); }) == Code::invalid);
  home.admin()->trust_bank("shared-name", second, false);
  CHECK(recall(*home.in_folder(second), "k") == "of the first");
  CHECK(recall(*home.in_folder(first), "k") == "of the first");  // who made it stays trusted
  // A bank that the owner made by name belongs to no project yet.
  home.admin()->create_bank("made-by-name");
  const std::string third = home.project("third", R"({"project": "made-by-name"})");
  CHECK(code_of([&] { list(*home.in_folder(third)); }) == Code::denied);
  home.admin()->trust_bank({}, third, false);
  CHECK(list(*home.in_folder(third)).empty());
  // The shared bank belongs to everybody.
  const std::string fourth = home.project("fourth", R"({"project": "global"})");
  CHECK(recall(*home.in_folder(fourth), "k") == "(none)");
}

TEST_CASE("more banks than are kept open, one after the other", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  {
    const auto admin = home.admin();
    for (int i = 0; i < 70; ++i) admin->create_bank("bank " + std::to_string(i));
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 70; ++i) {
      const std::string bank = "bank " + std::to_string(i);
      CHECK(remember(*service, "k", "v" + std::to_string(i), bank).revision ==
            static_cast<std::uint64_t>(round + 1));
      CHECK(recall(*service, "k", bank) == "v" + std::to_string(i));
    }
  }
  service->flush_audit();
  for (int i = 0; i < 70; ++i) {
    CHECK(list(*service, {}, "bank " + std::to_string(i)) == std::vector<std::string>{"k"});
  }
  service->close();
  const auto status = home.admin()->status();
  CHECK(status.banks == 71);
  CHECK(status.entries == 70);
  home.check_whole();
}

// ---- policy

TEST_CASE("a policy that is sealed acts on the next call of a running service", "[service]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "k", "v");
  home.seal(2, R"({"id": "no-writes", "effect": "forbid", "principal": "local:mcp",
    "tool": ["agent_remember", "agent_forget"]})");
  const Failure failure = failure_of([&] { remember(*agent, "k", "w"); });
  CHECK(failure.code == Code::denied);
  CHECK(failure.text.find("Policy Denied: ") == 0);
  CHECK(failure.text.find("(rule: no-writes)") != std::string::npos);
  CHECK(code_of([&] { forget(*agent, "k"); }) == Code::denied);
  CHECK(recall(*agent, "k") == "v");
  const ProjectContext context =
      agent->project_context(1500, {}, {"agent_recall", "agent_remember", "agent_forget"});
  CHECK(context.may == std::vector<std::string>{"agent_recall"});
  home.seal(3, {});
  CHECK(remember(*agent, "k", "w").revision == 2);
}

TEST_CASE("a forbidden name is denied whether it exists or not", "[service]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "hr/present", "v");
  home.seal(2, R"({"id": "hr", "effect": "forbid", "principal": "local:mcp", "key": "hr/*"})");
  const auto texts = [&](const std::string& key) {
    return std::vector<std::string>{
        failure_of([&] { hit(*agent, key); }).text,
        failure_of([&] { remember(*agent, key, "w"); }).text,
        failure_of([&] { forget(*agent, key); }).text,
        failure_of([&] { agent->history(key, {}); }).text,
    };
  };
  const auto present = texts("hr/present"), absent = texts("hr/absent");
  CHECK(present == absent);
  for (const std::string& text : present) {
    CHECK(text.find("Policy Denied: ") == 0);
    CHECK(text.find("(rule: hr)") != std::string::npos);
    CHECK(text.find("present") == std::string::npos);
  }
  CHECK(recall(*home.cli(), "hr/present") == "v");
}

TEST_CASE("what may not be overwritten does not tell its revision", "[service]") {
  const TestHome home;
  const auto agent = home.mcp();
  RememberRequest request;
  request.key = "k";
  request.value = "v";
  request.tags = Tags{"locked"};
  agent->remember(request);
  agent->remember(request);
  home.seal(2, R"({"id": "locked", "effect": "forbid", "principal": "local:mcp",
    "tags": "locked"})");
  request.tags.emplace();
  request.if_revision = 7;
  const Failure failure = failure_of([&] { agent->remember(request); });
  CHECK(failure.code == Code::denied);
  CHECK(failure.text.find("revision") == std::string::npos);
  CHECK(code_of([&] { forget(*agent, "k"); }) == Code::denied);
  CHECK(code_of([&] { hit(*agent, "k"); }) == Code::denied);
  CHECK(home.cli()->history("k", {})->size() == 2);
}

TEST_CASE("a bank that may not be read is left out of a project's reads", "[service]") {
  const TestHome home;
  remember(*home.mcp(), "k", "global");
  const auto project = home.in_bank("proj");
  remember(*project, "own", "v");
  home.seal(2, R"({"id": "no-global", "effect": "forbid", "principal": "local:mcp",
    "bank": "global"})");
  CHECK(recall(*project, "k") == "(none)");
  CHECK(list(*project) == std::vector<std::string>{"own"});
  ListRequest request;
  const auto notes = project->list(request).place.notes;
  CHECK(std::find(notes.begin(), notes.end(), "The bank \"global\" may not be read here.") !=
        notes.end());
  CHECK(code_of([&] { hit(*project, "k", "global"); }) == Code::denied);
  CHECK_FALSE(project->history("k", {}));
}

// ---- vaults that are not open

TEST_CASE("without a vault, without a key, with a wrong key", "[service]") {
  const TestHome home;
  const auto all_fail = [&](const ServiceOptions& options, Code code, const std::string& text) {
    const auto service = home.open(options);
    const Failure failures[] = {
        failure_of([&] { remember(*service, "k", "v"); }),
        failure_of([&] { hit(*service, "k"); }),
        failure_of([&] { list(*service); }),
        failure_of([&] { forget(*service, "k"); }),
        failure_of([&] { service->history("k", {}); }),
    };
    for (const Failure& failure : failures) {
      CHECK(failure.code == code);
      CHECK(failure.text == text);
    }
    const ProjectContext context = service->project_context(1500, {}, {"agent_recall"});
    CHECK(context.unlock_hint == text);
    CHECK(context.anchor == "unavailable");
    CHECK(context.bank == "global");
    CHECK(context.chosen_by == "fallback");
    CHECK(context.keys.empty());
    CHECK(context.may.empty());
    service->flush_audit();
    service->close_if_idle(0);
    service->close();
    return context.vault;
  };
  ServiceOptions options = home.options();
  options.vault_path = home.dir / "nowhere";
  CHECK(all_fail(options, Code::no_vault,
                 "No vault yet. Run \"strongroom init\" in a terminal. [no_vault]") == "no_vault");

  options.key.keyfile = home.dir / "no.key";  // both are missing: the vault comes first
  CHECK(all_fail(options, Code::no_vault,
                 "No vault yet. Run \"strongroom init\" in a terminal. [no_vault]") == "no_vault");

  options = home.options();
  options.key = {};
  const std::string locked =
      "Vault is locked. Set STRONGROOM_KEYFILE or STRONGROOM_PASSPHRASE_FILE for this server, then "
      "retry. [locked]";
  CHECK(all_fail(options, Code::locked, locked) == "locked");
  options.key.keyfile = home.dir / "no.key";
  options.key.keyfile_is_default = true;
  CHECK(all_fail(options, Code::locked, locked) == "locked");

  options.key.keyfile = home.dir / "wrong.key";
  options.key.keyfile_is_default = false;
  spill(options.key.keyfile, std::string(32, 'w'));
  fs::permissions(options.key.keyfile, fs::perms(0600));
  CHECK(all_fail(options, Code::wrong_key,
                 "The owner's key or passphrase is wrong. [wrong_key]") == "locked");
  // None of it changed anything.
  home.check_whole();
}

TEST_CASE("a service opens once the vault and its key are there", "[service]") {
  const TestHome home;
  fs::rename(home.keyfile(), home.keyfile() + ".away");
  const auto service = home.mcp();
  CHECK(code_of([&] { remember(*service, "k", "v"); }) == Code::locked);
  fs::rename(home.keyfile() + ".away", home.keyfile());
  CHECK(remember(*service, "k", "v").revision == 1);
}

TEST_CASE("the slot that opened a running service is removed", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  remember(*service, "k", "v");
  NewSecret second;
  second.keyfile = home.dir / "second.key";
  const std::string first_id = [&] {
    for (const SlotLine& slot : home.admin()->slots()) {
      if (slot.role == "owner") return slot.id;
    }
    return std::string();
  }();
  home.admin()->add_slot(second, false);
  AdminOptions other = home.admin_options();
  other.owner.keyfile = second.keyfile;
  other.admin.keyfile = home.keyfile();
  VaultAdmin(other).remove_slot(first_id);
  CHECK(code_of([&] { hit(*service, "k"); }) == Code::wrong_key);
  CHECK(code_of([&] { hit(*home.mcp(), "k"); }) == Code::wrong_key);
  ServiceOptions options = home.options();
  options.key.keyfile = second.keyfile;
  CHECK(recall(*home.open(options), "k") == "v");
}

// ---- project context

TEST_CASE("the project context shows names, never values, and fits its budget", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  ProjectContext context = service->project_context(1500, {}, {"agent_recall", "agent_forget"});
  CHECK(context.vault == "open");
  CHECK(context.unlock_hint.empty());
  CHECK(context.anchor == "ok");
  CHECK(context.keys.empty());
  CHECK(context.may == std::vector<std::string>{"agent_recall", "agent_forget"});
  for (int i = 0; i < 300; ++i) {
    RememberRequest request;
    const std::string key = "a name of thirty-two letters " + std::to_string(i);
    request.key = key;
    request.value = "never shown";
    request.tags = Tags{"tag"};
    service->remember(request);
  }
  context = service->project_context(1500, {}, {});
  CHECK(context.entries == 300);
  CHECK(context.keys.size() + context.keys_cut == 300);
  CHECK(context.keys.size() > 50);
  CHECK(context.keys_cut > 50);
  std::uint64_t tokens = 0;
  for (std::size_t i = 0; i < context.keys.size(); ++i) {
    tokens += count_tokens(context.keys[i].key);
    CHECK(context.keys[i].tags == std::vector<std::string>{"tag"});
    if (i > 0) CHECK(context.keys[i - 1].updated >= context.keys[i].updated);
  }
  CHECK(tokens <= 1500);
  CHECK(service->project_context(0, {}, {}).keys.empty());
  CHECK(service->project_context(0, {}, {}).keys_cut == 300);
  CHECK(service->project_context(1500, "global", {}).chosen_by == "argument");
}

TEST_CASE("tokens are a quarter of the ASCII bytes and one for each other character", "[service]") {
  CHECK(count_tokens("") == 0);
  CHECK(count_tokens("a") == 1);
  CHECK(count_tokens("abcd") == 1);
  CHECK(count_tokens("abcde") == 2);
  CHECK(count_tokens("\xC3\xA9") == 1);
  CHECK(count_tokens("\xF0\x9F\x94\x91\xE2\x82\xAC" "abcde") == 4);
}

// ---- threads

TEST_CASE("calls from several threads all count", "[service]") {
  const TestHome home;
  const auto service = home.mcp();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string key = std::to_string(t) + "-" + std::to_string(i);
        remember(*service, key, key);
        if (recall(*service, key) != key) ++wrong[static_cast<std::size_t>(t)];
        service->flush_audit();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
  CHECK(list(*service).size() == 100);
  home.check_whole();
}

TEST_CASE("a name in .strongroom.json cannot claim another project's bank first", "[banks]") {
  const TestHome home;
  const std::string evil = home.project("evil", R"({"project": "github.com/victim/app"})");
  remember(*home.in_folder(evil), "hello", "planted");
  const std::string victim = home.project("victim", "");
  std::filesystem::remove(victim + "/.strongroom.json");
  std::filesystem::create_directories(victim + "/.git");
  std::ofstream(victim + "/.git/HEAD") << "ref: refs/heads/main\n";
  std::filesystem::create_directories(victim + "/.git/objects");
  std::filesystem::create_directories(victim + "/.git/refs");
  std::ofstream(victim + "/.git/config")
      << "[remote \"origin\"]\n\turl = https://github.com/victim/app.git\n";
  const auto agent = home.in_folder(victim);
  CHECK(failure_of([&] { hit(*agent, "hello"); }).code == Code::denied);
  CHECK(failure_of([&] { remember(*agent, "internal", "plan"); }).code == Code::denied);
}

TEST_CASE("a forgotten or expired secret comes back as a secret", "[class]") {
  const TestHome home;
  const auto owner = home.cli();
  const auto agent = home.mcp();
  remember_secret(*owner, "pin", "1234");
  CHECK(forget(*agent, "pin"));
  remember(*owner, "pin", "5678");
  CHECK(failure_of([&] { hit(*agent, "pin"); }).code == Code::denied);
  CHECK(forget(*agent, "pin"));
  RememberRequest opened;
  opened.key = "pin";
  opened.value = "planted";
  opened.entry_class = EntryClass::normal;
  CHECK(failure_of([&] { agent->remember(opened); }).code == Code::denied);
  CHECK(owner->remember(opened).entry_class == EntryClass::normal);
}

TEST_CASE("a file that was replaced underneath takes no more writes", "[files]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "k", "v");
  for (const auto& file : std::filesystem::directory_iterator(home.vault_path() + "/banks")) {
    if (file.path().extension() == ".mdb-lock") std::filesystem::remove(file.path());
  }
  // It may refuse or open the file anew, and never goes on under locks that nobody else sees.
  try {
    remember(*agent, "k", "kept");
  } catch (const Error& error) {
    CHECK(error.code() == Code::io);
    remember(*agent, "k", "kept");
  }
  agent->close();
  CHECK(recall(*home.cli(), "k") == "kept");
  CHECK(home.cli()->history("k", {})->size() == 2);
}

}  // namespace strongroom::service
