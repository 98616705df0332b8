#include "embed/endpoint.h"

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>

#include <catch2/catch.hpp>

#include "base/error.h"

namespace strongroom::embed {
namespace {

std::string refusal(std::string_view url) {
  try {
    parse_endpoint(url);
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    CHECK(error.text().find("hunter2") == std::string::npos);
    return error.text();
  }
  return "accepted";
}

bool may_ask(std::string_view url, bool allow_remote) {
  try {
    check_reach(parse_endpoint(url), allow_remote);
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return false;
  }
}

bool loopback(int family, const char* text) {
  sockaddr_storage storage{};
  storage.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(storage);
    REQUIRE(::inet_pton(family, text, &four.sin_addr) == 1);
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(storage);
    REQUIRE(::inet_pton(family, text, &six.sin6_addr) == 1);
  }
  return is_loopback(reinterpret_cast<const sockaddr&>(storage));
}

TEST_CASE("a URL in its parts", "[embed][endpoint]") {
  const Endpoint one = parse_endpoint("HTTP://LocalHost:11434/api/embed?v=1");
  CHECK_FALSE(one.https);
  CHECK(one.host == "localhost");
  CHECK(one.port == 11434);
  CHECK(one.path == "/api/embed?v=1");
  CHECK(one.origin() == "http://localhost:11434");
  CHECK(one.url() == "http://localhost:11434/api/embed?v=1");
  CHECK(parse_endpoint("https://a-b.example.org/v1").origin() == "https://a-b.example.org:443");
  CHECK(parse_endpoint("http://[::1]/").origin() == "http://[::1]:80");
  CHECK(parse_endpoint("http://[fe80::1]:8080/x").host == "[fe80::1]");
}

TEST_CASE("URLs that can be read in two ways are refused", "[embed][endpoint]") {
  using Catch::Contains;
  CHECK_THAT(refusal(""), Contains("http:// or https://"));
  CHECK_THAT(refusal("http"), Contains("http:// or https://"));
  CHECK_THAT(refusal("//127.0.0.1/"), Contains("http:// or https://"));
  CHECK_THAT(refusal("ftp://127.0.0.1/"), Contains("http:// or https://"));
  CHECK_THAT(refusal("http://127.0.0.1"), Contains("has no path"));
  CHECK_THAT(refusal("http://127.0.0.1?x=hunter2"), Contains("has no path"));
  CHECK_THAT(refusal("http:///x"), Contains("no host"));
  CHECK_THAT(refusal("http://:80/x"), Contains("no host"));
  CHECK_THAT(refusal("http://a:hunter2@127.0.0.1/"), Contains("user name"));
  CHECK_THAT(refusal("http://127.0.0.1\\@example.org/"), Contains("character"));
  CHECK_THAT(refusal("http://127.0.0.1/#x"), Contains("character"));
  CHECK_THAT(refusal("http://127.0.0.1/a b"), Contains("character"));
  CHECK_THAT(refusal("http://127.0.0.1/\r\nX: y"), Contains("character"));
  CHECK_THAT(refusal(std::string_view("http://127.0.0.1/\0", 18)), Contains("character"));
  CHECK_THAT(refusal("http://l\xC3\xB6"
                     "calhost/"),
             Contains("character"));
  CHECK_THAT(refusal("http://127.0.0%2e1/"), Contains("character in its host"));
  for (const char* host : {"127.1", "2130706433", "0x7f000001", "127.0.0.0x1", "0177.0.0.1",
                           "127.0.0.1.5", "256.0.0.1"}) {
    CAPTURE(host);
    CHECK_THAT(refusal("http://" + std::string(host) + "/"), Contains("four decimal numbers"));
  }
  CHECK_THAT(refusal("http://localhost./"), Contains("empty part"));
  CHECK_THAT(refusal("http://a..b/"), Contains("empty part"));
  for (const char* host : {"[::1", "[]", "[::1]x", "[::g]", "[127.0.0.1]", "[::1%25lo]"}) {
    CAPTURE(host);
    CHECK_THAT(refusal("http://" + std::string(host) + "/"), Contains("malformed address"));
  }
  for (const char* port : {"", "0", "65536", "99999999999", "8o", "-1", "+1", "1:2"}) {
    CAPTURE(port);
    CHECK_THAT(refusal("http://127.0.0.1:" + std::string(port) + "/"), Contains("has a port"));
  }
  CHECK_THAT(refusal("http://127.0.0.1/" + std::string(2048, 'a')), Contains("2048"));
}

TEST_CASE("texts stay on this machine unless they may leave", "[embed][endpoint]") {
  for (const char* host :
       {"127.0.0.1", "127.255.255.254", "localhost", "[::1]", "[0:0:0:0:0:0:0:1]"}) {
    const std::string rest = std::string(host) + "/v1";
    CAPTURE(rest);
    const bool spelled = rest.starts_with("[0:");  // one spelling of an address is enough
    CHECK(may_ask("http://" + rest, false) != spelled);
    CHECK(may_ask("https://" + rest, false) != spelled);
  }
  for (const char* host :
       {"128.0.0.1", "0.0.0.0", "10.0.0.1", "example.org", "localhost.example.org",
        "127.0.0.1.example.org", "[::]", "[::2]", "[::ffff:127.0.0.1]"}) {
    const std::string rest = std::string(host) + "/v1";
    CAPTURE(rest);
    CHECK_FALSE(may_ask("http://" + rest, false));
    CHECK_FALSE(may_ask("https://" + rest, false));
    CHECK_FALSE(may_ask("http://" + rest, true));
    CHECK(may_ask("https://" + rest, true));
  }
}

TEST_CASE("addresses of loopback", "[embed][endpoint]") {
  CHECK(loopback(AF_INET, "127.0.0.1"));
  CHECK(loopback(AF_INET, "127.200.1.2"));
  CHECK(loopback(AF_INET6, "::1"));
  CHECK_FALSE(loopback(AF_INET, "126.255.255.255"));
  CHECK_FALSE(loopback(AF_INET, "128.0.0.1"));
  CHECK_FALSE(loopback(AF_INET, "0.0.0.0"));
  CHECK_FALSE(loopback(AF_INET6, "::"));
  CHECK_FALSE(loopback(AF_INET6, "::ffff:127.0.0.1"));
  CHECK_FALSE(loopback(AF_INET6, "fe80::1"));
  sockaddr_storage other{};
  other.ss_family = AF_UNIX;
  CHECK_FALSE(is_loopback(reinterpret_cast<const sockaddr&>(other)));
}

}  // namespace
}  // namespace strongroom::embed
