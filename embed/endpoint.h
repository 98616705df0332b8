// The address of an endpoint: a strict reading of its URL, and what counts as this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace strongroom::embed {

/// A URL in parts. There is one way to read what is accepted here: no user name, no fragment, no
/// escapes in a host, no numbers of other shapes than 127.0.0.1.
struct Endpoint {
  bool https = false;
  std::string host;  // lower case; an IPv6 address has its brackets
  std::uint16_t port = 0;
  std::string path;  // with its query; starts with a slash

  /// "https://host:port", which errors may show: paths and queries may hold keys.
  std::string origin() const;
  std::string url() const { return origin() + path; }
  /// 127.0.0.0/8, [::1] or localhost.
  bool on_this_machine() const;
};

/// Throws Error invalid, naming `field`; the URL is not repeated.
Endpoint parse_endpoint(std::string_view url, std::string_view field = "url");

/// Throws Error invalid for an endpoint that may not be asked: on another machine without
/// `allow_remote`, or there without https.
void check_reach(const Endpoint& endpoint, bool allow_remote);

/// An address of this machine's own network, in 127.0.0.0/8 or ::1.
bool is_loopback(const sockaddr& address) noexcept;

}  // namespace strongroom::embed
