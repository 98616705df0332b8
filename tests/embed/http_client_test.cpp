// What needs no server; http_test.py has one.
#include "embed/http_client.h"

#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file.h"

namespace strongroom::embed {
namespace {

// A port of loopback that nobody listens on while this lives.
class DeafPort {
 public:
  DeafPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(socket_.get(), plain, size) == 0);
    REQUIRE(::getsockname(socket_.get(), plain, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  Endpoint endpoint() const {
    return parse_endpoint("http://127.0.0.1:" + std::to_string(port_) + "/v1/embeddings");
  }

 private:
  UniqueFd socket_;
  std::uint16_t port_ = 0;
};

std::string failure(HttpClient& client) {
  HttpAnswer answer;
  try {
    client.post({"{}", "", std::chrono::seconds(10), 1024}, answer);
  } catch (const Error& error) {
    return error.text();
  }
  return "answered";
}

TEST_CASE("a client is not made for an endpoint out of reach", "[embed][client]") {
  CHECK_THROWS_AS(HttpClient(parse_endpoint("http://192.0.2.1/x"), false), Error);
  CHECK_THROWS_AS(HttpClient(parse_endpoint("https://192.0.2.1/x"), false), Error);
  CHECK_THROWS_AS(HttpClient(parse_endpoint("http://192.0.2.1/x"), true), Error);
}

TEST_CASE("many threads may be the first", "[embed][client]") {
  const DeafPort port;
  std::vector<std::string> said(8);
  std::vector<std::thread> threads;
  for (std::string& words : said) {
    threads.emplace_back([&] {
      HttpClient client(port.endpoint(), false);
      words = failure(client);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& words : said) {
    CHECK_THAT(words, Catch::Contains("takes no connection (Connection refused)"));
  }
}

TEST_CASE("a client is refused after a fork", "[embed][client]") {
  const DeafPort port;
  HttpClient client(port.endpoint(), false);
  CHECK_THAT(failure(client), Catch::Contains("Connection refused"));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(failure(client).find("after a fork") == std::string::npos ? 1 : 0);
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_THAT(failure(client), Catch::Contains("Connection refused"));
}

}  // namespace
}  // namespace strongroom::embed
