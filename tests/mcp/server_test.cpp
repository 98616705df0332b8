// Server::handle: one message in, the reply out, in both eras.
#include "mcp/server.h"

#include <atomic>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "mcp/messages.h"
#include "tests/mcp/fake_table.h"

namespace strongroom::mcp {
namespace {

constexpr const char* kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                              R"("io.modelcontextprotocol/clientCapabilities":{}})";

struct Fixture {
  Server server{fake_info(), fake_table()};
  std::atomic<bool> cancelled = false;
  bool subscribed = false;

  std::string handle(std::string_view line) { return server.handle(line, cancelled, &subscribed); }
  std::string legacy(const std::string& method, const std::string& params = "{}") {
    return handle(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params +
                  "}");
  }
  std::string modern(const std::string& method, const std::string& members = "") {
    return handle(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" +
                  (members.empty() ? "" : members + ",") + kMeta + "}}");
  }
};

// The code of an error reply, or 0.
std::int64_t code_of(const std::string& reply) {
  if (reply.empty()) return 0;
  const Json message = Json::parse(reply);
  const Json* error = message.find("error");
  return error == nullptr ? 0 : error->find("code")->as_int().value();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "replies are one line of valid JSON with the id as sent") {
  for (const char* id : {"0", "-7", "\"\"", "\"x\"", "9007199254740993",
                         "123456789012345678901234567890", "\"\\u0061\\n\"", "\"\xC3\xA9\""}) {
    CHECK(handle(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})") ==
          R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})");
  }
}

TEST_CASE_METHOD(Fixture, "messages that get no answer") {
  for (const char* line :
       {"", "   ", "garbage", "{", "5", "[]", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])",
        R"({"jsonrpc":"2.0","method":"ping"})", R"({"jsonrpc":"2.0","method":"tools/call"})",
        R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{}})",
        R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})"}) {
    INFO(line);
    CHECK(handle(line).empty());
  }
}

TEST_CASE_METHOD(Fixture, "JSON-RPC faults") {
  CHECK(code_of(handle(R"({"id":1,"method":"ping"})")) == -32600);
  CHECK(code_of(handle(R"({"jsonrpc":"2","id":1,"method":"ping"})")) == -32600);
  CHECK(code_of(handle(R"({"jsonrpc":"2.0","id":1})")) == -32600);
  CHECK(code_of(handle(R"({"jsonrpc":"2.0","id":1,"method":null})")) == -32600);
  CHECK(code_of(handle(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})")) == -32602);
  CHECK(code_of(legacy("no/such")) == -32601);
  CHECK(code_of(legacy("logging/setLevel")) == -32601);
}

TEST_CASE_METHOD(Fixture, "broken JSON is answered where its id can be told") {
  const auto broken = [&](std::string_view params) {
    return handle(R"({"jsonrpc":"2.0","id":"x","method":"ping","params":)" + std::string(params) +
                  "}");
  };
  for (const std::string_view params :
       {std::string_view(R"({"a":1,"a":2})"), std::string_view(R"({"a":NaN})"),
        std::string_view(R"({"a":"\ud800"})"), std::string_view("{\"a\":\"\xFF\"}"),
        std::string_view(R"({"a":01})"), std::string_view(R"({bad})")}) {
    const std::string reply = broken(params);
    CHECK(code_of(reply) == -32600);
    CHECK(has(reply, R"("id":"x")"));
  }
  CHECK(code_of(broken(std::string(100, '[') + std::string(100, ']'))) == -32600);
  CHECK(broken(R"({"a":)").empty());
  CHECK_FALSE(has(broken(R"({"hunter2 ":1,"hunter2 ":2})"), "hunter2"));
}

TEST_CASE_METHOD(Fixture, "version negotiation") {
  const auto answered = [&](const std::string& version) {
    const std::string reply = legacy("initialize", R"({"protocolVersion":)" + version + "}");
    return Json::parse(reply).find("result")->find("protocolVersion")->as_string();
  };
  for (const char* known : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    CHECK(answered('"' + std::string(known) + '"') == known);
  }
  for (const char* other :
       {"\"2024-10-07\"", "\"1999-01-01\"", "\"2026-07-28\"", "\"\"", "null", "5", "{}"}) {
    CHECK(answered(other) == kLatestLegacyVersion);
  }
  CHECK(has(legacy("initialize"), R"("instructions":"Be kind.")"));
}

TEST_CASE_METHOD(Fixture, "the modern envelope") {
  CHECK(code_of(legacy("server/discover")) == -32602);
  CHECK(code_of(legacy("tools/list", R"({"_meta":7})")) == -32602);
  CHECK(code_of(legacy("tools/list",
                       R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})")) ==
        -32602);
  CHECK(code_of(legacy("tools/list",
                       R"({"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}})")) ==
        -32602);
  const std::string reply =
      legacy("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}})");
  CHECK(code_of(reply) == -32022);
  CHECK(has(reply, R"("data":{"supported":["2026-07-28"],"requested":"2027-01-01"})"));
  for (const char* removed : {"ping", "initialize", "logging/setLevel", "resources/subscribe"}) {
    CHECK(code_of(modern(removed)) == -32601);
  }
}

TEST_CASE_METHOD(Fixture, "modern results carry what the era asks for") {
  for (const char* method : {"server/discover", "tools/list", "resources/list",
                             "resources/templates/list", "prompts/list"}) {
    const std::string reply = modern(method);
    CHECK(has(reply, R"("resultType":"complete")"));
    CHECK(has(reply, R"("cacheScope":"private")"));
    CHECK(has(reply, R"("ttlMs":)"));
    CHECK(has(reply, R"("io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1.2.3")"));
  }
  const std::string read = modern("resources/read", R"("uri":"x://one")");
  CHECK(has(read, R"("ttlMs":0,"cacheScope":"private")"));
  const std::string call = modern("tools/call", R"("name":"echo")");
  CHECK(has(call, R"("resultType":"complete")"));
  CHECK_FALSE(has(call, "ttlMs"));
  CHECK(has(call, "modern"));
  CHECK_FALSE(has(legacy("tools/list"), "resultType"));
}

TEST_CASE_METHOD(Fixture, "subscriptions are acknowledged and stay open") {
  const std::string reply =
      modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
  CHECK(subscribed);
  CHECK(reply == R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":)"
                 R"({"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}})");
  CHECK(has(server.end_subscription("\"a\""),
            R"({"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","_meta":)"
            R"({"io.modelcontextprotocol/subscriptionId":"a")"));
  CHECK(code_of(modern("subscriptions/listen")) == -32602);
  CHECK_FALSE(subscribed);
  CHECK(code_of(legacy("subscriptions/listen", R"({"notifications":{}})")) == -32602);
}

TEST_CASE_METHOD(Fixture, "calling tools") {
  CHECK(legacy("tools/call", R"({"name":"echo","arguments":{ "a" : 12345678901234567890123 }})") ==
        R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":)"
        R"("{ \"a\" : 12345678901234567890123 }"},{"type":"text","text":"legacy"}],)"
        R"("structuredContent":{"got":{"a":12345678901234567890123}}}})");
  CHECK(has(legacy("tools/call", R"({"name":"echo","arguments":null})"), R"("got":{})"));
  CHECK(
      has(legacy("tools/call", R"({"name":"nope"})"), R"("code":-32602,"message":"Unknown tool")"));
  CHECK(code_of(legacy("tools/call", R"({"name":"echo","arguments":[]})")) == -32602);
  CHECK(code_of(legacy("tools/call", R"({"arguments":{}})")) == -32602);
  CHECK(legacy("tools/call", R"({"name":"refuse"})") ==
        R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":)"
        R"("Invalid: key is wrong. [invalid]"}],"isError":true}})");
  CHECK(legacy("tools/call", R"({"name":"crash"})") ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}})");
  CHECK(legacy("tools/call", R"({"name":"dirty"})") ==
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
        "\"bad \xEF\xBF\xBD text\"}],\"isError\":true}}");
}

TEST_CASE_METHOD(Fixture, "a cancelled request gets no reply") {
  cancelled = true;
  CHECK(legacy("tools/list").empty());
  CHECK(legacy("no/such").empty());
  CHECK(modern("subscriptions/listen", R"("notifications":{})").empty());
  CHECK_FALSE(subscribed);
}

TEST_CASE_METHOD(Fixture, "resources and prompts") {
  CHECK(has(legacy("resources/read", R"({"uri":"x://one"})"), R"("text":"content")"));
  CHECK(has(legacy("resources/read", R"({"uri":"x://no"})"),
            R"("code":-32602,"message":"Resource not found","data":{"uri":"x://no"})"));
  CHECK(code_of(legacy("resources/read", R"({"uri":"x://bad"})")) == -32602);
  CHECK(code_of(legacy("resources/read", R"({"uri":"x://locked"})")) == -32603);
  CHECK(code_of(legacy("resources/read", R"({"uri":5})")) == -32602);
  CHECK(has(legacy("prompts/get", R"({"name":"greet","arguments":{"who":"you"}})"), "Hello you"));
  CHECK(code_of(legacy("prompts/get", R"({"name":"greet"})")) == -32602);
  CHECK(code_of(legacy("prompts/get", R"({"name":"greet","arguments":{"who":5}})")) == -32602);
  CHECK(code_of(legacy("prompts/get", R"({"name":"nope"})")) == -32602);
  for (const char* list :
       {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}) {
    CHECK(code_of(legacy(list, R"({"cursor":"x"})")) == -32602);
    CHECK(code_of(legacy(list, R"({"cursor":null})")) == 0);
  }
}

TEST_CASE("capabilities follow the table") {
  Server empty(fake_info(), ToolTable{});
  const std::atomic<bool> never = false;
  CHECK(has(empty.handle(R"({"jsonrpc":"2.0","id":1,"method":"initialize"})", never),
            R"("capabilities":{})"));
  CHECK_THROWS(Server({"a", "", "1", "", std::string(2049, 'x')}, ToolTable{}));
}

TEST_CASE("a glance at a line") {
  const Glance seen =
      glance(R"( {"method":"a","params":{"id":5,"x":"}\""},"id" : "q","jsonrpc":"2.0"} )");
  CHECK(seen.whole);
  CHECK(seen.id == "\"q\"");
  CHECK(seen.method == "\"a\"");
  CHECK(glance_member(seen.params, "id") == "5");
  CHECK(glance_member(seen.params, "y").empty());
  CHECK(glance(R"({"id":1,"result":{}})").reply);
  // What is cut off must not be taken for whole.
  CHECK(glance(R"({"id":12)").id.empty());
  CHECK(glance(R"({"id":12,"x":"…)").id == "12");
  CHECK_FALSE(glance(R"({"id":12,"x":"…)").whole);
  CHECK(glance(R"({"id":1,"id":2})").id.empty());
  CHECK_FALSE(glance(R"({"id":1}})").whole);
  CHECK_FALSE(glance("").whole);
}

TEST_CASE("an id at the end of a line") {
  CHECK(id_at_end(R"(xxx"},"jsonrpc":"2.0","id":12})") == "12");
  CHECK(id_at_end(R"(xxx"},"jsonrpc":"2.0","id" : "a b" } )"
                  "\r") == "\"a b\"");
  CHECK(id_at_end(R"(xxx","id":12}})").empty());       // nested
  CHECK(id_at_end(R"(xxx\",\"id\":\"12"})").empty());  // inside a string
  CHECK(id_at_end(R"(xxx","id":"a\"b"})").empty());
  CHECK(id_at_end(R"(xxx,"xid":12})").empty());
  CHECK(id_at_end(R"("id":12})").empty());  // nothing tells that a member begins here
  for (const char* text : {"", "}", "\"}", "5}", ":5}", "\"id\"}", "\"\"}"}) {
    CHECK(id_at_end(text).empty());
  }
}

TEST_CASE("which ids are ids, and which are the same") {
  for (const char* good : {"0", "-1", "1.0", "1e3", "\"\"", "12345678901234567890123"}) {
    CHECK(valid_id(good));
  }
  for (const char* bad : {"", "null", "true", "1.5", "[]", "{}", "01", "\"\xFF\"", "\"\\ud800\""}) {
    CHECK_FALSE(valid_id(bad));
  }
  CHECK(id_identity("\"a\"") == id_identity("\"\\u0061\""));
  CHECK(id_identity("1") == id_identity("1.0"));
  CHECK(id_identity("1") != id_identity("\"1\""));
}

}  // namespace strongroom::mcp
