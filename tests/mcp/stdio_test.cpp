// serve_stdio on pipes, with calls that a test can hold open.
#include "mcp/stdio.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/mcp/fake_table.h"

namespace strongroom::mcp {
namespace {

std::string request(const std::string& id, const std::string& method,
                    const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params +
         "}\n";
}
std::string call(const std::string& id, const std::string& tool) {
  return request(id, "tools/call", R"({"name":")" + tool + R"("})");
}
std::string cancel(const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
         "}}\n";
}

// A server on two pipes, in a thread of its own.
class Running {
 public:
  explicit Running(StdioOptions options = {}) {
    // As in a program, nobody else takes the signals.
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    REQUIRE(pipe2(in_, O_CLOEXEC) == 0);
    REQUIRE(pipe2(out_, O_CLOEXEC) == 0);
    options.input = in_[0];
    options.output = out_[1];
    thread_ = std::thread([this, options] { code_ = serve_stdio(server_, options); });
  }
  ~Running() {
    gate.open();
    end();
    for (const int fd : {in_[0], out_[0], out_[1]}) close(fd);
  }

  /// Also called from other threads, where Catch's macros must not be used.
  void send(const std::string& text) {
    if (write(in_[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      throw std::runtime_error("short write");
    }
  }

  /// The next line, without its end; empty at the end of output.
  std::string line() {
    std::string text;
    char c = 0;
    while (read(out_[0], &c, 1) == 1) {
      if (c == '\n') return text;
      text.push_back(c);
    }
    return text;
  }

  void close_output() { close(std::exchange(out_[0], -1)); }

  /// Ends the input, waits for the server; returns its exit code.
  int end() {
    if (in_[1] >= 0) close(std::exchange(in_[1], -1));
    return wait();
  }
  int wait() {
    if (thread_.joinable()) thread_.join();
    return code_;
  }

  /// What was written and not read, once the server has ended.
  std::vector<std::string> rest() {
    if (out_[1] >= 0) close(std::exchange(out_[1], -1));
    std::vector<std::string> lines;
    for (std::string text = line(); !text.empty(); text = line()) lines.push_back(text);
    return lines;
  }

  Gate gate;

 private:
  Server server_{fake_info(), fake_table(&gate)};
  int in_[2] = {-1, -1};
  int out_[2] = {-1, -1};
  int code_ = -1;
  std::thread thread_;
};

std::string id_part(const std::string& id) {
  return R"("id":)" + id + ",";
}

bool answers(const std::vector<std::string>& lines, const std::string& id) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(id_part(id)) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("ping is answered while a call runs") {
  Running running;
  running.send(call("1", "wait"));
  running.gate.wait_until_entered();
  running.send(request("2", "ping"));
  CHECK(running.line() == R"({"jsonrpc":"2.0","id":2,"result":{}})");
  running.gate.open();
  CHECK(running.line().find(id_part("1")) != std::string::npos);
  CHECK(running.end() == 0);
}

TEST_CASE("a running call that is cancelled gets no reply") {
  Running running;
  running.send(call("\"a\"", "wait"));
  running.gate.wait_until_entered();
  running.send(cancel("\"\\u0061\""));
  running.send(request("2", "ping"));
  CHECK(running.line().find(id_part("2")) != std::string::npos);  // the cancel was read before it
  running.gate.open();
  running.send(call("3", "echo"));
  CHECK(running.line().find(id_part("3")) != std::string::npos);
  CHECK(running.end() == 0);
  CHECK(running.rest().empty());
}

TEST_CASE("a waiting call that is cancelled never runs") {
  Running running;
  running.send(call("1", "wait") + call("2", "wait") + call("3", "echo") + cancel("2") +
               cancel("\"3\"") + cancel("99") + request("4", "ping"));
  CHECK(running.line().find(id_part("4")) != std::string::npos);
  running.gate.open();
  CHECK(running.end() == 0);
  CHECK(running.gate.entered() == 1);
  const std::vector<std::string> lines = running.rest();
  CHECK(lines.size() == 2);
  CHECK(answers(lines, "1"));
  CHECK(answers(lines, "3"));
}

TEST_CASE("what was read before the end of input is finished and answered") {
  Running running;
  running.send(call("1", "wait") + call("2", "echo") +
               R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  running.gate.wait_until_entered();
  std::thread opener([&] { running.gate.open(); });
  CHECK(running.end() == 0);
  opener.join();
  const std::vector<std::string> lines = running.rest();
  CHECK(lines.size() == 3);
  for (const char* id : {"1", "2", "3"}) CHECK(answers(lines, id));
}

TEST_CASE("a signal ends the reading and lets calls finish") {
  for (const int number : {SIGTERM, SIGINT}) {
    Running running;
    running.send(call("1", "wait") + call("2", "echo") + request("3", "ping"));
    running.gate.wait_until_entered();
    CHECK(running.line().find(id_part("3")) != std::string::npos);
    kill(getpid(), number);
    running.gate.open();
    CHECK(running.wait() == 0);
    const std::vector<std::string> lines = running.rest();
    CHECK(lines.size() == 2);
  }
}

TEST_CASE("an output that nobody reads any more ends the server") {
  Running running;
  running.send(call("1", "wait"));
  running.gate.wait_until_entered();
  running.close_output();
  running.gate.open();
  CHECK(running.wait() == 0);
}

TEST_CASE("reading stops while too much waits, and goes on") {
  StdioOptions options;
  options.max_waiting = 3;
  Running running(options);
  running.send(call("0", "wait"));
  running.gate.wait_until_entered();
  constexpr int kCalls = 500;
  std::thread sender([&] {
    for (int n = 1; n <= kCalls; ++n) running.send(call(std::to_string(n), "echo"));
  });
  running.gate.open();
  for (int n = 0; n <= kCalls; ++n) {
    CHECK(running.line().find(id_part(std::to_string(n))) != std::string::npos);  // in order
  }
  sender.join();
  CHECK(running.end() == 0);
}

TEST_CASE("lines that are too long are refused by name where that can be told") {
  StdioOptions options;
  options.max_line = 1000;
  Running running(options);
  const std::string filler(1200, 'x');
  running.send(request("1", "ping", R"({"x":")" + filler + R"("})"));
  CHECK(running.line().find(R"("id":1,"error":{"code":-32600)") != std::string::npos);
  running.send(R"({"method":"ping","params":{"x":")" + filler +
               R"("},"id":"t"})"
               "\n");
  CHECK(running.line().find(R"("id":"t","error":{"code":-32600)") != std::string::npos);
  running.send(R"({"id":3,"result":{"x":")" + filler +
               R"("}})"
               "\n");  // an answer
  running.send(R"({"method":"x","params":{"x":")" + filler +
               R"("}})"
               "\n");  // a notification
  running.send(filler + filler + "\n");
  running.send(request("4", "ping"));
  CHECK(running.line().find(id_part("4")) != std::string::npos);
  CHECK(running.end() == 0);
  CHECK(running.rest().empty());
}

TEST_CASE("the tick runs while idle, and what it throws is survived") {
  std::atomic<int> ticks = 0;
  Gate ticked;
  ticked.open();
  StdioOptions options;
  options.tick = [&] {
    if (++ticks == 1) throw Error(Code::io, "The disk is gone.");
    ticked.pass();
  };
  Running running(options);
  ticked.wait_until_entered();
  running.send(request("1", "ping"));
  CHECK(running.line().find(id_part("1")) != std::string::npos);
  CHECK(running.end() == 0);
}

TEST_CASE("standard output is kept for the protocol") {
  const int saved_out = dup(STDOUT_FILENO);
  const int saved_err = dup(STDERR_FILENO);
  int out[2], err[2];
  REQUIRE(pipe(out) == 0);
  REQUIRE(pipe(err) == 0);
  dup2(out[1], STDOUT_FILENO);
  dup2(err[1], STDERR_FILENO);
  const int protocol = protect_stdout();
  const bool wrote = write(STDOUT_FILENO, "noise", 5) == 5 && write(protocol, "line", 4) == 4;
  dup2(saved_out, STDOUT_FILENO);
  dup2(saved_err, STDERR_FILENO);
  REQUIRE(wrote);
  char text[16] = {};
  CHECK(read(out[0], text, sizeof text) == 4);
  CHECK(std::string(text, 4) == "line");
  CHECK(read(err[0], text, sizeof text) == 5);
  CHECK(std::string(text, 5) == "noise");
  for (const int fd : {saved_out, saved_err, out[0], out[1], err[0], err[1], protocol}) close(fd);
}

}  // namespace strongroom::mcp
