// JSON-RPC: which message is a request, which method serves it, and what its sender is told.
#include "mcp/server.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/wipe.h"
#include "mcp/messages.h"

namespace strongroom::mcp {

namespace {

constexpr std::string_view kListen = "subscriptions/listen";
constexpr std::string_view kDiscover = "server/discover";

// The strict reader refused the line. Where its id can still be told, the sender learns why;
// otherwise an answer could reach nobody, and clients close a connection that answers id null.
std::string malformed(std::string_view line, const Error& error) {
  const Glance seen = glance(line);
  if (!seen.whole || seen.method.empty() || !valid_id(seen.id)) {
    report("a line that is no valid JSON message was ignored");
    return {};
  }
  std::string_view why = error.text();
  constexpr std::string_view kPrefix = "Invalid: ";
  if (why.substr(0, kPrefix.size()) == kPrefix) why.remove_prefix(kPrefix.size());
  return error_message(seen.id, {kInvalidRequest, "Invalid Request: " + std::string(why), {}});
}

// Reading the message itself failed. Its sender still waits, so try with as little as possible.
std::string no_memory(std::string_view line) noexcept {
  report("a message could not be handled: out of memory");
  try {
    const Glance seen = glance(line);
    if (!seen.whole || seen.method.empty() || !valid_id(seen.id)) return {};
    return error_message(seen.id, {kInternalError, "Internal error", {}});
  } catch (...) {
    return {};
  }
}

// Checks what JSON-RPC asks of a message; false for one that is not to be answered.
bool read_request(const Json& message, Request& request) {
  if (!message.is_object()) {
    report(message.is_array() ? "a batch was ignored: send one message a line"
                              : "a line that is no JSON object was ignored");
    return false;
  }
  const Json* id = message.find("id");
  if (id == nullptr) return false;  // a notification, known or not
  const Json* method = message.find("method");
  if (method == nullptr &&
      (message.find("result") != nullptr || message.find("error") != nullptr)) {
    return false;  // an answer, to nothing that we asked
  }
  if (!valid_id(id->raw())) {
    report("a request whose id is neither a string nor a whole number was ignored");
    return false;
  }
  request.id = id->raw();
  const Json* version = message.find("jsonrpc");
  if (version == nullptr || version->as_string() != "2.0") {
    throw RpcError{kInvalidRequest, "Invalid Request: jsonrpc must be \"2.0\"", {}};
  }
  if (method == nullptr || !method->is_string()) {
    throw RpcError{kInvalidRequest, "Invalid Request: method must be a string", {}};
  }
  request.method = method->as_string();
  const Json* params = message.find("params");
  if (params == nullptr || params->is_null()) return true;
  if (!params->is_object()) {
    throw RpcError{kInvalidParams, "Invalid params: params must be an object", {}};
  }
  request.params = params;
  return true;
}

}  // namespace

const Json* Request::param(std::string_view name) const {
  const Json* member = params == nullptr ? nullptr : params->find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

const std::string& Request::required_string(std::string_view name) const {
  const Json* member = param(name);
  if (member == nullptr || !member->is_string()) {
    throw RpcError{
        kInvalidParams, "Invalid params: " + std::string(name) + " must be a string", {}};
  }
  return member->as_string();
}

Server::Server(ServerInfo info, ToolTable table)
    : info_(std::move(info)), table_(std::move(table)) {
  if (info_.instructions.size() > 2048) {
    throw std::invalid_argument("instructions are longer than 2,048 characters");
  }
}

std::string Server::handle(std::string_view line, const std::atomic<bool>& cancelled,
                           bool* subscribed) {
  if (subscribed != nullptr) *subscribed = false;
  try {
    return handle_line(line, cancelled, subscribed);
  } catch (...) {
    return no_memory(line);
  }
}

std::string Server::handle_line(std::string_view line, const std::atomic<bool>& cancelled,
                                bool* subscribed) const {
  Json message;
  try {
    message = Json::parse(line, "message");
  } catch (const Error& error) {
    return malformed(line, error);
  }
  Request request;
  std::string reply;
  try {
    if (!read_request(message, request)) return {};
    request.modern = has_envelope(request.params);
    const CallContext context{request.modern, &cancelled};
    reply = answer(request, context, subscribed);
  } catch (const RpcError& error) {
    reply = error_message(request.id, error);
  } catch (...) {
    // Whatever it was, its text is for nobody outside.
    reply = error_message(request.id, {kInternalError, "Internal error", {}});
  }
  if (!cancelled.load()) return reply;
  wipe(reply);
  return {};
}

std::string Server::answer(const Request& request, const CallContext& context,
                           bool* subscribed) const {
  // These two exist in the modern era only: without its envelope the envelope is what is missing.
  const bool modern_only = request.method == kDiscover || request.method == kListen;
  if (request.modern || modern_only) check_envelope(request.params);
  const Method method = find_method(request.method, request.modern);
  if (method == nullptr) throw RpcError{kMethodNotFound, "Method not found", {}};
  std::string result = (this->*method)(request, context);
  if (request.method == kListen) {
    if (subscribed != nullptr) *subscribed = !context.cancelled->load();
    return result;
  }
  std::string reply = result_message(request.id, result);
  wipe(result);
  return reply;
}

Server::Method Server::find_method(std::string_view name, bool modern) const {
  enum Era { legacy = 1, newest = 2, both = 3 };
  struct Entry {
    std::string_view name;
    int eras;
    Method run;
  };
  static constexpr std::array<Entry, 11> kMethods = {{
      {"tools/call", both, &Server::call_tool},
      {"tools/list", both, &Server::list_tools},
      {"resources/list", both, &Server::list_resources},
      {"resources/templates/list", both, &Server::list_templates},
      {"resources/read", both, &Server::read_resource},
      {"prompts/list", both, &Server::list_prompts},
      {"prompts/get", both, &Server::get_prompt},
      {"initialize", legacy, &Server::initialize},
      {"ping", legacy, &Server::ping},
      {kDiscover, newest, &Server::discover},
      {kListen, newest, &Server::listen},
  }};
  for (const Entry& entry : kMethods) {
    if (entry.name == name)
      return (entry.eras & (modern ? newest : legacy)) != 0 ? entry.run : nullptr;
  }
  return nullptr;
}

}  // namespace strongroom::mcp
