#include "embed/endpoint.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <netinet/in.h>

#include "base/error.h"

namespace strongroom::embed {

namespace {

constexpr std::size_t kMaxUrl = 2048;
constexpr std::size_t kMaxHost = 253;
constexpr std::string_view kDigits = "0123456789";

struct Reader {
  std::string_view field;

  [[noreturn]] void refuse(std::string_view why) const { throw Error::invalid(field, why); }

  std::uint16_t port(std::string_view text) const {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == 0 ||
        number > 0xFFFF) {
      refuse("has a port that is not a number from 1 to 65535");
    }
    return static_cast<std::uint16_t>(number);
  }

  void check_ipv6(const std::string& host) const {
    in6_addr address{};
    const std::string inner = host.substr(1, host.size() - 2);
    if (::inet_pton(AF_INET6, inner.c_str(), &address) != 1) refuse("has a malformed address");
  }

  void check_name(const std::string& host) const {
    if (host.empty() || host.size() > kMaxHost) refuse("has no host, or a very long one");
    if (host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") != std::string::npos) {
      refuse("has a character in its host that hosts do not have");
    }
    if (host.front() == '.' || host.back() == '.' || host.find("..") != std::string::npos) {
      refuse("has a host with an empty part");
    }
    // 127.1, 0x7f000001 and 2130706433 are addresses to some readers and names to others.
    const std::string last = host.substr(host.rfind('.') + 1);
    const bool number =
        last.find_first_not_of(kDigits) == std::string::npos || last.starts_with("0x");
    in_addr address{};
    if (number && ::inet_pton(AF_INET, host.c_str(), &address) != 1) {
      refuse("has an address that is not four decimal numbers");
    }
  }
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::string Endpoint::origin() const {
  return (https ? "https://" : "http://") + host + ":" + std::to_string(port);
}

bool Endpoint::on_this_machine() const {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

Endpoint parse_endpoint(std::string_view url, std::string_view field) {
  const Reader reader{field};
  if (url.size() > kMaxUrl) reader.refuse("is longer than 2048 bytes");
  const bool printable =
      std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!printable || url.find_first_of("\\#<>\"") != std::string_view::npos) {
    reader.refuse("has a character that a URL of an endpoint does not have");
  }
  Endpoint out;
  constexpr std::string_view kMark = "://";
  const std::size_t scheme_end = url.find(kMark);
  const std::string scheme = lower(url.substr(0, std::min(scheme_end, url.size())));
  if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https"))
    reader.refuse("does not start with http:// or https://");
  out.https = scheme == "https";
  std::string_view rest = url.substr(scheme_end + kMark.size());

  const std::size_t slash = rest.find_first_of("/?");
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos) rest.remove_prefix(slash);
  if (slash == std::string_view::npos || rest.front() != '/') {
    reader.refuse("has no path; the endpoint's full URL is needed");
  }
  out.path = rest;
  if (authority.find('@') != std::string_view::npos) reader.refuse("has a user name");

  std::size_t host_end = authority.find(':');
  if (authority.starts_with('[')) {
    host_end = authority.find(']');
    if (host_end == std::string_view::npos) reader.refuse("has a malformed address");
    ++host_end;
  }
  out.host = lower(authority.substr(0, host_end));
  authority.remove_prefix(out.host.size());
  out.port = out.https ? 443 : 80;
  if (!authority.empty()) {
    if (authority.front() != ':') reader.refuse("has a malformed address");
    out.port = reader.port(authority.substr(1));
  }
  if (out.host.starts_with('[')) {
    reader.check_ipv6(out.host);
  } else {
    reader.check_name(out.host);
  }
  return out;
}

void check_reach(const Endpoint& endpoint, bool allow_remote) {
  if (endpoint.on_this_machine()) return;
  if (!allow_remote) {
    throw Error::invalid("url",
                         "names another machine (" + endpoint.host +
                             "), and texts leave this one only when remote endpoints are allowed; "
                             "this machine is 127.0.0.1, [::1] or localhost");
  }
  if (!endpoint.https) throw Error::invalid("url", "names another machine and is not https");
}

bool is_loopback(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    return ntohl(four.sin_addr.s_addr) >> 24 == 127;
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof six);
    return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
  }
  return false;
}

}  // namespace strongroom::embed
