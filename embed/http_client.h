// One endpoint, asked by POST: what is sent where, and how much is taken of what comes back.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/wipe.h"
#include "embed/endpoint.h"

namespace strongroom::embed {

struct HttpRequest {
  std::string_view body;   // JSON
  std::string_view token;  // of the Authorization header; none when empty
  std::chrono::milliseconds timeout;
  std::size_t most;  // bytes of an answer
};

struct HttpAnswer {
  long status = 0;
  std::string type;   // Content-Type as sent, empty when there was none
  SecretBytes body;   // of a status other than 200 the first 16 KiB at most, or what there is
  std::string moved;  // where a redirect points; a whole URL, or empty
};

/// Keeps a connection between requests. One thread at a time; not after a fork.
class HttpClient {
 public:
  /// Throws what check_reach throws. Loads nothing and opens nothing.
  HttpClient(Endpoint endpoint, bool allow_remote);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// The answer, whatever its status. Throws Error unsupported without libcurl, and io when there
  /// is no complete answer in time or one of more than `most` bytes.
  void post(const HttpRequest& request, HttpAnswer& out);

  /// "The embedding server at http://127.0.0.1:11434 ", for errors.
  const std::string& server() const noexcept { return server_; }

 private:
  struct Transfer;
  class Connections;
  class Handle;

  int perform(const HttpRequest& request, bool fresh, Transfer& transfer);
  void settle(int code, const HttpRequest& request, const Transfer& transfer) const;
  [[noreturn]] void fail(int code, const HttpRequest& request, const Transfer& transfer) const;

  Endpoint endpoint_;
  std::string server_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace strongroom::embed
