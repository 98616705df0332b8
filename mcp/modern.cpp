// The modern era (2026-07-28): the envelope of each request, discovery, subscriptions.
#include <array>

#include "mcp/messages.h"
#include "mcp/server.h"

namespace strongroom::mcp {

namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClientInfoKey = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

constexpr std::int64_t kDiscoverTtlMs = 300'000;

[[noreturn]] void invalid_meta(std::string_view key, std::string_view why) {
  throw RpcError{kInvalidParams,
                 "Invalid params: _meta[\"" + std::string(key) + "\"] " + std::string(why),
                 {}};
}

const Json* meta_of(const Json* params) {
  return params == nullptr ? nullptr : params->find("_meta");
}

bool known_log_level(const Json& level) {
  static constexpr std::array<std::string_view, 8> kLevels = {
      "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  for (const std::string_view known : kLevels) {
    if (level.is_string() && level.as_string() == known) return true;
  }
  return false;
}

void check_version(const Json& version) {
  if (!version.is_string()) invalid_meta(kVersionKey, "must be a string");
  if (version.as_string() == kModernVersion) return;
  JsonWriter data;
  data.begin_object().key("supported").begin_array().string(kModernVersion).end_array();
  data.member("requested", version.as_string()).end_object();
  throw RpcError{kUnsupportedVersion, "Unsupported protocol version", data.take()};
}

// What a client may ask to be told of. We declare none of it, so nothing is honoured, but a filter
// that is no filter is the client's mistake and worth telling.
void check_filter(const Json* filter) {
  const auto refuse = [](std::string_view what) {
    throw RpcError{kInvalidParams, "Invalid params: " + std::string(what), {}};
  };
  if (filter == nullptr || !filter->is_object()) refuse("notifications must be an object");
  for (const char* flag : {"toolsListChanged", "promptsListChanged", "resourcesListChanged"}) {
    const Json* wanted = filter->find(flag);
    if (wanted != nullptr && !wanted->is_bool()) {
      refuse("notifications." + std::string(flag) + " must be a boolean");
    }
  }
  const Json* uris = filter->find("resourceSubscriptions");
  if (uris == nullptr) return;
  bool strings = uris->is_array();
  for (const Json& uri : uris->items()) strings = strings && uri.is_string();
  if (!strings) refuse("notifications.resourceSubscriptions must be an array of strings");
}

}  // namespace

bool has_envelope(const Json* params) {
  const Json* meta = meta_of(params);
  if (meta == nullptr) return false;
  if (!meta->is_object()) {
    throw RpcError{kInvalidParams, "Invalid params: _meta must be an object", {}};
  }
  // Any of the era's keys means that the sender speaks it; what is missing is then named. Keys of
  // this prefix that legacy revisions use too are not among them.
  for (const std::string_view key : {kVersionKey, kCapabilitiesKey, kClientInfoKey, kLogLevelKey}) {
    if (meta->find(key) != nullptr) return true;
  }
  return false;
}

void check_envelope(const Json* params) {
  const Json* meta = meta_of(params);
  const auto find = [meta](std::string_view key) {
    return meta == nullptr ? nullptr : meta->find(key);
  };
  const Json* version = find(kVersionKey);
  if (version == nullptr) invalid_meta(kVersionKey, "is required");
  check_version(*version);
  const Json* capabilities = find(kCapabilitiesKey);
  if (capabilities == nullptr) invalid_meta(kCapabilitiesKey, "is required");
  if (!capabilities->is_object()) invalid_meta(kCapabilitiesKey, "must be an object");
  const Json* client = find(kClientInfoKey);
  if (client != nullptr && !client->is_object()) invalid_meta(kClientInfoKey, "must be an object");
  const Json* level = find(kLogLevelKey);
  if (level != nullptr && !known_log_level(*level)) invalid_meta(kLogLevelKey, "is no log level");
}

void Server::write_era(JsonWriter& writer, bool modern, std::int64_t ttl_ms) const {
  if (!modern) return;
  writer.member("resultType", "complete");
  if (ttl_ms >= 0) writer.member("ttlMs", ttl_ms).member("cacheScope", "private");
  writer.key("_meta").begin_object().key(kServerInfoKey);
  write_info(writer, false);
  writer.end_object();
}

std::string Server::discover(const Request&, const CallContext&) const {
  JsonWriter writer;
  writer.begin_object();
  writer.key("supportedVersions").begin_array().string(kModernVersion).end_array();
  write_capabilities(writer);
  if (!info_.instructions.empty()) writer.member("instructions", info_.instructions);
  writer.member("resultType", "complete");
  writer.member("ttlMs", kDiscoverTtlMs).member("cacheScope", "private");
  writer.key("_meta").begin_object().key(kServerInfoKey);
  write_info(writer, true);
  writer.end_object().end_object();
  return writer.take();
}

// Returns the whole acknowledgement, which is a notification and no result.
std::string Server::listen(const Request& request, const CallContext&) const {
  check_filter(request.param("notifications"));
  JsonWriter writer;
  writer.begin_object().member("jsonrpc", "2.0");
  writer.member("method", "notifications/subscriptions/acknowledged").key("params").begin_object();
  writer.key("notifications").begin_object().end_object();
  writer.key("_meta").begin_object().key(kSubscriptionKey).raw(request.id).end_object();
  writer.end_object().end_object();
  return writer.take();
}

std::string Server::end_subscription(std::string_view id) const {
  JsonWriter writer;
  writer.begin_object().member("resultType", "complete");
  writer.key("_meta").begin_object().key(kSubscriptionKey).raw(id).key(kServerInfoKey);
  write_info(writer, false);
  writer.end_object().end_object();
  return result_message(id, writer.text());
}

}  // namespace strongroom::mcp
