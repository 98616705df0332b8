// A Model Context Protocol server: both protocol eras, chosen per message.
//
// Legacy (2024-11-05 to 2025-11-25) begins with `initialize`; modern (2026-07-28) carries its
// version and capabilities in every request's _meta. A message with modern _meta is served
// statelessly, any other by the legacy rules; nothing is pinned to the process.
//
// This library knows JSON-RPC and MCP and nothing of vaults: the product registers its tools,
// resources and prompts in a ToolTable.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace strongroom::mcp {

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLatestLegacyVersion = "2025-11-25";

/// What a handler may ask about the call it serves.
struct CallContext {
  bool modern = false;
  const std::atomic<bool>* cancelled = nullptr;
};

struct ToolResult {
  std::vector<std::string> content;  // text blocks, at least one
  std::string structured;            // one JSON object, or empty for none; never set with is_error
  bool is_error = false;
};

/// Hints of the protocol; all four are always sent.
struct Annotations {
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = false;
};

struct Tool {
  std::string name, title, description;
  std::string input_schema;   // JSON object text
  std::string output_schema;  // JSON object text, or empty
  Annotations annotations;
  /// `arguments` is an object. Throwing Error gives an isError result with Error::text(); any other
  /// exception is -32603 without detail. Called from one thread at a time by stdio.
  std::function<ToolResult(const Json& arguments, const CallContext&)> call;
};

struct Resource {
  std::string uri, name, title, description, mime_type;
};
struct ResourceTemplate {
  std::string uri_template, name, title, description, mime_type;
};
struct ResourceContent {
  std::string uri, mime_type, text;
};

struct PromptArgument {
  std::string name, description;
  bool required = false;
};
struct PromptMessage {
  std::string role;  // "user" or "assistant"
  std::string text;
};
struct Prompt {
  std::string name, title, description;
  std::vector<PromptArgument> arguments;
  /// `arguments` is an object whose members are strings or null.
  std::function<std::vector<PromptMessage>(const Json& arguments, const CallContext&)> get;
};

/// What a server offers. Lists are static for the life of the process, in this order.
struct ToolTable {
  std::vector<Tool> tools;
  std::vector<Resource> resources;
  std::vector<ResourceTemplate> templates;
  /// nullopt = no such resource (-32602 with data.uri). Error = -32602 with Error::text() as
  /// message where another uri would mend it (invalid, denied, not_found, too_large), else -32603.
  std::function<std::optional<ResourceContent>(const std::string& uri, const CallContext&)> read;
  std::vector<Prompt> prompts;
};

struct ServerInfo {
  std::string name, title, version, description;
  std::string instructions;  // at most 2,048 characters
};

struct Request;

class Server {
 public:
  Server(ServerInfo info, ToolTable table);

  /// One JSON-RPC message in, the reply out; empty when the message gets none (notifications,
  /// unparsable lines, id null, batches). Thread-safe; `cancelled` may be set from another thread,
  /// after which the reply is dropped. Never throws.
  ///
  /// `subscribed`, when given, says that the request was `subscriptions/listen` and the reply only
  /// its acknowledgement: the request stays open until the client cancels it, or the transport
  /// answers it with end_subscription() at the end.
  std::string handle(std::string_view line, const std::atomic<bool>& cancelled,
                     bool* subscribed = nullptr);

  /// The answer that ends the subscription opened by the request with this id (JSON text).
  std::string end_subscription(std::string_view id) const;

 private:
  using Method = std::string (Server::*)(const Request&, const CallContext&) const;

  std::string handle_line(std::string_view line, const std::atomic<bool>& cancelled,
                          bool* subscribed) const;
  std::string answer(const Request& request, const CallContext& context, bool* subscribed) const;
  Method find_method(std::string_view name, bool modern) const;

  std::string initialize(const Request& request, const CallContext&) const;
  std::string ping(const Request& request, const CallContext&) const;
  std::string discover(const Request& request, const CallContext&) const;
  std::string listen(const Request& request, const CallContext&) const;
  std::string list_tools(const Request& request, const CallContext&) const;
  std::string call_tool(const Request& request, const CallContext& context) const;
  std::string list_resources(const Request& request, const CallContext&) const;
  std::string list_templates(const Request& request, const CallContext&) const;
  std::string read_resource(const Request& request, const CallContext& context) const;
  std::string list_prompts(const Request& request, const CallContext&) const;
  std::string get_prompt(const Request& request, const CallContext& context) const;

  void write_info(JsonWriter& writer, bool full) const;
  void write_capabilities(JsonWriter& writer) const;
  /// The members that a modern result has beside its own; `ttl_ms` below 0 = not cacheable.
  void write_era(JsonWriter& writer, bool modern, std::int64_t ttl_ms) const;

  ServerInfo info_;
  ToolTable table_;
};

}  // namespace strongroom::mcp
