// JSON-RPC on the wire: replies, faults, and what can be told of a line without parsing it.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace strongroom::mcp {

inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kUnsupportedVersion = -32022;

/// A protocol fault: thrown inside the library, answered as a JSON-RPC error.
struct RpcError {
  int code = kInternalError;
  std::string message;
  std::string data;  // JSON text, or empty
};

/// A request that passed the checks of JSON-RPC, and of its era's envelope.
struct Request {
  std::string_view id;  // JSON text as sent
  std::string method;
  const Json* params = nullptr;  // an object, or nullptr
  bool modern = false;

  /// The member of params, or nullptr when absent or null.
  const Json* param(std::string_view name) const;
  /// A string member of params; anything else is -32602 naming it.
  const std::string& required_string(std::string_view name) const;
};

/// True when the params carry the per-request _meta of the modern era. Throws -32602 for a _meta
/// that is no object.
bool has_envelope(const Json* params);

/// Checks the modern envelope: -32602 for what is missing or malformed, -32022 for another version.
void check_envelope(const Json* params);

/// `id` and `result` are JSON texts, taken as they are; neither holds a line break.
std::string result_message(std::string_view id, std::string_view result);
std::string error_message(std::string_view id, const RpcError& error);

/// A tolerant look at the top level of a message. It follows brackets and strings only, so that it
/// also works on lines that the strict reader refuses, and on the first bytes of a long one.
/// Members are raw JSON texts inside `line`; an escaped member name is not recognised.
struct Glance {
  bool whole = false;       // one object, brackets and strings closed, nothing after it
  std::string_view id;      // empty: none, or more than one
  std::string_view method;  // with its quotes
  std::string_view params;
  bool reply = false;  // has `result` or `error`
};
Glance glance(std::string_view line);

/// The raw member of an object's text, found the same way; empty when there is none.
std::string_view glance_member(std::string_view object, std::string_view name);

/// The id of a message that ends with `tail`, where the id is the last member (clients of the
/// official SDK write it there); empty when it is not.
std::string_view id_at_end(std::string_view tail);

/// True for what may be echoed as an id: one valid JSON string or whole number.
bool valid_id(std::string_view raw);

/// Equal for two spellings of one id ("a" and "\u0061"), different for 1 and "1".
std::string id_identity(std::string_view raw);

/// One line on stderr. Never blocks (a full pipe loses the line), and no more than a few lines in
/// ten seconds: nobody may be reading there. Thread-safe.
void report(std::string_view sentence) noexcept;

}  // namespace strongroom::mcp
