// The methods that both eras share, and the legacy handshake.
#include <array>
#include <utility>

#include "base/error.h"
#include "base/wipe.h"
#include "mcp/messages.h"
#include "mcp/server.h"

namespace strongroom::mcp {

namespace {

constexpr std::int64_t kListTtlMs = 300'000;  // a new release of the server may change its lists
constexpr std::int64_t kReadTtlMs = 0;        // what is stored may change at any time
constexpr std::int64_t kNotCacheable = -1;

// Lists are short and come whole, so no cursor was ever handed out.
void refuse_cursor(const Request& request) {
  const Json* cursor = request.param("cursor");
  if (cursor != nullptr && cursor->raw() != "\"\"") {
    throw RpcError{kInvalidParams, "Invalid params: cursor is not one of ours", {}};
  }
}

// An Error of a handler that is no tool: there is no isError result to carry it. What another
// uri would mend is a matter of the parameters.
RpcError as_rpc_error(const Error& error) {
  switch (error.code()) {
    case Code::invalid:
    case Code::denied:
    case Code::not_found:
    case Code::too_large:
    case Code::unsupported: return {kInvalidParams, error.text(), {}};
    default: return {kInternalError, error.text(), {}};
  }
}

void write_text_members(JsonWriter& writer, const std::string& title,
                        const std::string& description) {
  if (!title.empty()) writer.member("title", title);
  if (!description.empty()) writer.member("description", description);
}

void write_tool(JsonWriter& writer, const Tool& tool) {
  writer.begin_object().member("name", tool.name);
  write_text_members(writer, tool.title, tool.description);
  writer.key("inputSchema").raw(tool.input_schema);
  if (!tool.output_schema.empty()) writer.key("outputSchema").raw(tool.output_schema);
  const Annotations& hints = tool.annotations;
  writer.key("annotations").begin_object();
  writer.member("readOnlyHint", hints.read_only).member("destructiveHint", hints.destructive);
  writer.member("idempotentHint", hints.idempotent).member("openWorldHint", hints.open_world);
  writer.end_object().end_object();
}

ToolResult run_tool(const Tool& tool, const Json& arguments, const CallContext& context) {
  try {
    return tool.call(arguments, context);
  } catch (const Error& error) {
    ToolResult failed;
    failed.content.push_back(error.text());
    failed.is_error = true;
    return failed;
  }
}

void wipe_result(ToolResult& result) {
  for (std::string& text : result.content) wipe(text);
  wipe(result.structured);
}

void check_prompt_arguments(const Prompt& prompt, const Json& arguments) {
  for (const Json::Member& member : arguments.members()) {
    if (!member.value.is_string() && !member.value.is_null()) {
      throw RpcError{kInvalidParams, "Invalid params: arguments must be strings", {}};
    }
  }
  for (const PromptArgument& argument : prompt.arguments) {
    if (argument.required && arguments.find(argument.name) == nullptr) {
      throw RpcError{
          kInvalidParams, "Invalid params: arguments." + argument.name + " is required", {}};
    }
  }
}

// Arguments as an object: absent and null count as empty.
const Json& arguments_of(const Request& request) {
  static const Json kNone = Json::parse("{}", "arguments");
  const Json* arguments = request.param("arguments");
  if (arguments == nullptr) return kNone;
  if (!arguments->is_object()) {
    throw RpcError{kInvalidParams, "Invalid params: arguments must be an object", {}};
  }
  return *arguments;
}

}  // namespace

void Server::write_info(JsonWriter& writer, bool full) const {
  writer.begin_object().member("name", info_.name).member("version", info_.version);
  if (full) write_text_members(writer, info_.title, info_.description);
  writer.end_object();
}

void Server::write_capabilities(JsonWriter& writer) const {
  writer.key("capabilities").begin_object();
  if (!table_.tools.empty()) writer.key("tools").begin_object().end_object();
  if (table_.read) writer.key("resources").begin_object().end_object();
  if (!table_.prompts.empty()) writer.key("prompts").begin_object().end_object();
  writer.end_object();
}

std::string Server::initialize(const Request& request, const CallContext&) const {
  static constexpr std::array<std::string_view, 4> kVersions = {"2024-11-05", "2025-03-26",
                                                                "2025-06-18", "2025-11-25"};
  // An unknown version is no error: the client gets our newest and decides.
  std::string_view version = kLatestLegacyVersion;
  const Json* wanted = request.param("protocolVersion");
  for (const std::string_view known : kVersions) {
    if (wanted != nullptr && wanted->as_string() == known) version = known;
  }
  JsonWriter writer;
  writer.begin_object().member("protocolVersion", version);
  write_capabilities(writer);
  writer.key("serverInfo");
  write_info(writer, true);
  if (!info_.instructions.empty()) writer.member("instructions", info_.instructions);
  writer.end_object();
  return writer.take();
}

std::string Server::ping(const Request&, const CallContext&) const {
  return "{}";
}

std::string Server::list_tools(const Request& request, const CallContext&) const {
  refuse_cursor(request);
  JsonWriter writer;
  writer.begin_object().key("tools").begin_array();
  for (const Tool& tool : table_.tools) write_tool(writer, tool);
  writer.end_array();
  write_era(writer, request.modern, kListTtlMs);
  writer.end_object();
  return writer.take();
}

std::string Server::call_tool(const Request& request, const CallContext& context) const {
  const std::string& name = request.required_string("name");
  const Tool* tool = nullptr;
  for (const Tool& candidate : table_.tools) {
    if (candidate.name == name) tool = &candidate;
  }
  if (tool == nullptr) throw RpcError{kInvalidParams, "Unknown tool", {}};
  ToolResult result = run_tool(*tool, arguments_of(request), context);
  if (result.content.empty()) result.content.emplace_back();
  JsonWriter writer;
  writer.begin_object().key("content").begin_array();
  for (const std::string& text : result.content) {
    writer.begin_object().member("type", "text").member("text", text).end_object();
  }
  writer.end_array();
  // Clients validate structured content against the output schema even on errors, so it stays away.
  if (result.is_error) {
    writer.member("isError", true);
  } else if (!result.structured.empty()) {
    writer.key("structuredContent").raw(result.structured);
  }
  write_era(writer, request.modern, kNotCacheable);
  writer.end_object();
  wipe_result(result);
  return writer.take();
}

std::string Server::list_resources(const Request& request, const CallContext&) const {
  refuse_cursor(request);
  JsonWriter writer;
  writer.begin_object().key("resources").begin_array();
  for (const Resource& resource : table_.resources) {
    writer.begin_object().member("uri", resource.uri).member("name", resource.name);
    write_text_members(writer, resource.title, resource.description);
    if (!resource.mime_type.empty()) writer.member("mimeType", resource.mime_type);
    writer.end_object();
  }
  writer.end_array();
  write_era(writer, request.modern, kListTtlMs);
  writer.end_object();
  return writer.take();
}

std::string Server::list_templates(const Request& request, const CallContext&) const {
  refuse_cursor(request);
  JsonWriter writer;
  writer.begin_object().key("resourceTemplates").begin_array();
  for (const ResourceTemplate& shape : table_.templates) {
    writer.begin_object().member("uriTemplate", shape.uri_template).member("name", shape.name);
    write_text_members(writer, shape.title, shape.description);
    if (!shape.mime_type.empty()) writer.member("mimeType", shape.mime_type);
    writer.end_object();
  }
  writer.end_array();
  write_era(writer, request.modern, kListTtlMs);
  writer.end_object();
  return writer.take();
}

std::string Server::read_resource(const Request& request, const CallContext& context) const {
  const std::string& uri = request.required_string("uri");
  std::optional<ResourceContent> content;
  try {
    if (table_.read) content = table_.read(uri, context);
  } catch (const Error& error) {
    throw as_rpc_error(error);
  }
  if (!content) {
    JsonWriter data;
    data.begin_object().member("uri", uri).end_object();
    throw RpcError{kInvalidParams, "Resource not found", data.take()};
  }
  JsonWriter writer;
  writer.begin_object().key("contents").begin_array().begin_object().member("uri", content->uri);
  if (!content->mime_type.empty()) writer.member("mimeType", content->mime_type);
  writer.member("text", content->text).end_object().end_array();
  wipe(content->text);
  write_era(writer, request.modern, kReadTtlMs);
  writer.end_object();
  return writer.take();
}

std::string Server::list_prompts(const Request& request, const CallContext&) const {
  refuse_cursor(request);
  JsonWriter writer;
  writer.begin_object().key("prompts").begin_array();
  for (const Prompt& prompt : table_.prompts) {
    writer.begin_object().member("name", prompt.name);
    write_text_members(writer, prompt.title, prompt.description);
    writer.key("arguments").begin_array();
    for (const PromptArgument& argument : prompt.arguments) {
      writer.begin_object().member("name", argument.name);
      write_text_members(writer, {}, argument.description);
      writer.member("required", argument.required).end_object();
    }
    writer.end_array().end_object();
  }
  writer.end_array();
  write_era(writer, request.modern, kListTtlMs);
  writer.end_object();
  return writer.take();
}

std::string Server::get_prompt(const Request& request, const CallContext& context) const {
  const std::string& name = request.required_string("name");
  const Prompt* prompt = nullptr;
  for (const Prompt& candidate : table_.prompts) {
    if (candidate.name == name) prompt = &candidate;
  }
  if (prompt == nullptr) throw RpcError{kInvalidParams, "Unknown prompt", {}};
  const Json& arguments = arguments_of(request);
  check_prompt_arguments(*prompt, arguments);
  std::vector<PromptMessage> messages;
  try {
    messages = prompt->get(arguments, context);
  } catch (const Error& error) {
    throw as_rpc_error(error);
  }
  JsonWriter writer;
  writer.begin_object();
  if (!prompt->description.empty()) writer.member("description", prompt->description);
  writer.key("messages").begin_array();
  for (PromptMessage& message : messages) {
    writer.begin_object().member("role", message.role).key("content").begin_object();
    writer.member("type", "text").member("text", message.text).end_object().end_object();
    wipe(message.text);
  }
  writer.end_array();
  write_era(writer, request.modern, kNotCacheable);
  writer.end_object();
  return writer.take();
}

}  // namespace strongroom::mcp
