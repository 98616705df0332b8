// A small server to try the protocol on, without a vault behind it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "mcp/server.h"

namespace strongroom::mcp {

/// Lets a test hold a call open.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// Called by the tool: announces itself and waits.
  void pass() {
    std::unique_lock lock(mutex_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_until_entered(int times = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_ >= times; });
  }
  int entered() {
    const std::lock_guard lock(mutex_);
    return entered_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int entered_ = 0;
};

inline Tool fake_tool(std::string name, decltype(Tool::call) call) {
  Tool tool;
  tool.name = std::move(name);
  tool.title = "A title";
  tool.description = "For tests.";
  tool.input_schema = R"({"type": "object"})";
  tool.output_schema = R"({"type": "object"})";
  tool.call = std::move(call);
  return tool;
}

inline ToolTable fake_table(Gate* gate = nullptr) {
  ToolTable table;
  table.tools.push_back(fake_tool("echo", [](const Json& input, const CallContext& context) {
    ToolResult result;
    result.content = {std::string(input.raw()), context.modern ? "modern" : "legacy"};
    result.structured = R"({ "got": )" + std::string(input.raw()) + " }";
    return result;
  }));
  table.tools.push_back(fake_tool("refuse", [](const Json&, const CallContext&) -> ToolResult {
    throw Error::invalid("key", "is wrong");
  }));
  table.tools.push_back(fake_tool("crash", [](const Json&, const CallContext&) -> ToolResult {
    throw std::runtime_error("/secret/path");
  }));
  table.tools.push_back(fake_tool("dirty", [](const Json&, const CallContext&) {
    ToolResult result;
    result.content = {"bad \xff text"};
    result.structured = R"({"never": "sent"})";
    result.is_error = true;
    return result;
  }));
  if (gate != nullptr) {
    table.tools.push_back(fake_tool("wait", [gate](const Json&, const CallContext&) {
      gate->pass();
      return ToolResult{{"done"}, {}, false};
    }));
  }
  table.resources = {{"x://one", "one", "One", "The only one.", "text/plain"}};
  table.templates = {{"x://{name}", "any", "Any", "", ""}};
  table.read = [](const std::string& uri, const CallContext&) -> std::optional<ResourceContent> {
    if (uri == "x://one") return ResourceContent{uri, "text/plain", "content"};
    if (uri == "x://bad") throw Error::invalid("uri", "is wrong");
    if (uri == "x://locked") throw Error(Code::locked, "Locked.");
    return std::nullopt;
  };
  Prompt prompt;
  prompt.name = "greet";
  prompt.arguments = {{"who", "A name.", true}, {"how", "A manner.", false}};
  prompt.get = [](const Json& arguments, const CallContext&) {
    return std::vector<PromptMessage>{{"user", "Hello " + arguments.find("who")->as_string()}};
  };
  table.prompts.push_back(std::move(prompt));
  return table;
}

inline ServerInfo fake_info() {
  return {"fake", "Fake", "1.2.3", "A fake", "Be kind."};
}

}  // namespace strongroom::mcp
