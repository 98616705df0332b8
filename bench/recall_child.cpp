#include "bench/recall_child.h"

#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "bench/measure.h"
#include "bench/recall_corpus.h"

namespace strongroom::bench {
namespace {

constexpr const char* kMark = "--child";

service::ServiceOptions options_of(char** argv) {
  service::ServiceOptions options;
  options.vault_path = argv[4];
  options.key.keyfile = argv[5];
  options.project_folder = argv[6];
  options.principal = kPrincipal;
  options.source = "mcp";
  options.bank_override = kBank;
  return options;
}

void reply(const std::string& line) {
  std::cout << "ok " << line << std::endl;
}

void write_texts(service::MemoryService& service) {
  const Corpus corpus;
  for (std::string line; std::getline(std::cin, line);) {
    service::RetainItem item = corpus.item(std::stoull(line));
    const double before = bytes_written();
    retain_one(service, std::move(item));
    reply(std::to_string(bytes_written() - before));
  }
}

void measure_memory(service::MemoryService& service, std::uint64_t texts) {
  const Corpus corpus;
  std::uint64_t seed = 1;
  for (std::string line; std::getline(std::cin, line);) {
    for (std::uint64_t i = std::stoull(line); i > 0; --i) {
      service.search(search_of(corpus.query(seed++, texts)));
    }
    reply(std::to_string(memory_kib("Private_Dirty")) + " " +
          std::to_string(memory_kib("Anonymous")) + " " + std::to_string(memory_kib("Rss")));
  }
}

}  // namespace

bool is_child(int argc, char** argv) {
  return argc == 7 && std::string(argv[1]) == kMark;
}

int run_child(char** argv) {
  const double start = now_seconds(Clock::wall);
  const std::string task = argv[2], argument = argv[3];
  service::MemoryService service(options_of(argv));
  if (task == "nothing") {
    reply("");
    std::cin.get();
  } else if (task == "first") {
    service.search(search_of(argument));
    reply(std::to_string((now_seconds(Clock::wall) - start) * 1e6));
    std::cin.get();  // what follows is not timed
  } else if (task == "writer") {
    write_texts(service);
  } else if (task == "memory") {
    measure_memory(service, std::stoull(argument));
  }
  service.close();
  return 0;
}

Child::Child(const World& world, const std::string& task, const std::string& argument) {
  const service::ServiceOptions options = world.options();
  std::vector<std::string> words = {"bench_recall",     kMark,
                                    task,               argument,
                                    options.vault_path, options.key.keyfile,
                                    options.project_folder};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const int failed =
      ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failed != 0) throw std::runtime_error("this program cannot be started again");
}

Child::~Child() {
  ::close(to_);
  ::close(from_);
  int status = 0;
  if (pid_ > 0) ::waitpid(pid_, &status, 0);
}

std::string Child::read() {
  std::string line;
  for (char c = 0; ::read(from_, &c, 1) == 1 && c != '\n';) line.push_back(c);
  if (line.rfind("ok ", 0) != 0) throw std::runtime_error("a process of the benchmark failed");
  return line.substr(3);
}

std::string Child::ask(const std::string& line) {
  const std::string sent = line + "\n";
  if (::write(to_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size())) {
    throw std::runtime_error("a process of the benchmark is gone");
  }
  return read();
}

double bytes_written() {
  std::ifstream in("/proc/self/io");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("wchar: ", 0) == 0) return std::stod(line.substr(7));
  }
  throw std::runtime_error("the system does not count written bytes");
}

double memory_kib(const std::string& field) {
  std::ifstream in("/proc/self/smaps_rollup");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stod(line.substr(field.size() + 1));
  }
  throw std::runtime_error("the system does not tell this process's memory");
}

service::SearchRequest search_of(std::string query) {
  service::SearchRequest request;
  request.query = std::move(query);
  request.scope = {"project"};
  return request;
}

std::string retain_one(service::MemoryService& into, service::RetainItem item,
                       const std::string& bank) {
  service::RetainRequest request;
  request.items.push_back(std::move(item));
  request.bank = bank;
  const service::RetainResult result = into.retain(request);
  if (result.items[0].status != service::ItemStatus::stored) {
    throw std::runtime_error("a memory of the benchmark was not stored: " + result.items[0].reason);
  }
  return result.items[0].id;
}

}  // namespace strongroom::bench
