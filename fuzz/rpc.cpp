// Lines from a client through the MCP server, which has one tool, resource, template and prompt.
#include <atomic>
#include <stdexcept>
#include <string>

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "mcp/server.h"

using namespace strongroom;

namespace {

mcp::Server make_server() {
  mcp::ToolTable table;
  mcp::Tool echo;
  echo.name = "echo";
  echo.title = "Echo";
  echo.description = "Gives back its arguments.";
  echo.input_schema = R"({"type":"object","properties":{"text":{"type":"string"}}})";
  echo.call = [](const Json& arguments, const mcp::CallContext&) {
    if (arguments.find("fail") != nullptr) throw Error(Code::busy, "Busy.");
    if (arguments.find("crash") != nullptr) throw std::runtime_error("not for the client");
    mcp::ToolResult result;
    result.content.push_back(std::string(arguments.raw()));
    result.structured = "{\"echo\":" + json_compact(arguments.raw()) + "}";
    return result;
  };
  table.tools.push_back(echo);
  table.resources.push_back({"memory://one", "one", "One", "A resource.", "text/plain"});
  table.templates.push_back({"memory://{id}", "any", "Any", "A template.", "text/plain"});
  table.read = [](const std::string& uri,
                  const mcp::CallContext&) -> std::optional<mcp::ResourceContent> {
    if (uri != "memory://one") return std::nullopt;
    return mcp::ResourceContent{uri, "text/plain", "text"};
  };
  mcp::Prompt prompt;
  prompt.name = "greet";
  prompt.title = "Greet";
  prompt.description = "A greeting.";
  prompt.arguments = {{"name", "Whom.", true}};
  prompt.get = [](const Json& arguments, const mcp::CallContext&) {
    const Json* const name = arguments.find("name");
    return std::vector<mcp::PromptMessage>{
        {"user", "Hello " + (name == nullptr ? std::string() : name->as_string())}};
  };
  table.prompts.push_back(prompt);
  return mcp::Server({"fuzz", "Fuzz", "1", "A server.", "Call echo."}, std::move(table));
}

}  // namespace

FUZZ_TARGET(input) {
  static mcp::Server server = make_server();
  const std::atomic<bool> cancelled = false;
  bool subscribed = false;
  const std::string reply = server.handle(input, cancelled, &subscribed);
  if (reply.empty()) return;
  fuzz::require(reply.find('\n') == std::string::npos, "a reply is one line");
  fuzz::require(valid_utf8(reply), "a reply is UTF-8");
  const bool sent = input.find("not for") != std::string_view::npos;  // echoed then
  fuzz::require(sent || reply.find("not for the client") == std::string::npos,
                "no detail of a crash");
  // Arguments may be as deep as the reader allows, and the reply wraps them.
  Json json;
  const bool read = fuzz::accepts({Code::invalid}, [&] { json = Json::parse(reply); });
  fuzz::require(read || input.size() > 64, "a reply is JSON");
  if (!read) return;
  const Json* const version = json.find("jsonrpc");
  fuzz::require(version != nullptr && version->as_string() == "2.0", "a reply is JSON-RPC 2.0");
  fuzz::require((json.find("result") != nullptr) != (json.find("error") != nullptr),
                "a reply has a result or an error");
  // A line that cannot be read is answered at once: it was never a request to cancel.
  if (!fuzz::accepts({Code::invalid}, [&] { Json::parse(input); })) return;
  const std::atomic<bool> dropped = true;
  fuzz::require(server.handle(input, dropped).empty(), "a cancelled request gets no reply");
}
