// Parts of the recall benchmark that need a process of their own: this program, started again.
#pragma once

#include <string>
#include <sys/types.h>

#include "bench/world.h"

namespace strongroom::bench {

/// What the child does:
/// - "nothing": "ok"
/// - "first": opens the vault and answers the query that it was given: "ok <microseconds in it>"
/// - "writer": for each line, retains a text with that number: "ok <bytes written>"
/// - "memory": for each line, that many queries: "ok <private dirty> <anonymous> <resident>", KiB
class Child {
 public:
  Child(const World& world, const std::string& task, const std::string& argument);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The child's next line, without "ok ". Throws when it fails.
  std::string read();
  std::string ask(const std::string& line);

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

/// Whether this process is such a child.
bool is_child(int argc, char** argv);
int run_child(char** argv);

/// Bytes that this process gave to write calls. (What the system counts as written to disk is whole
/// folios of its cache: up to a megabyte for a page.)
double bytes_written();
/// A line of /proc/self/smaps_rollup, in KiB.
double memory_kib(const std::string& field);

service::SearchRequest search_of(std::string query);
/// One memory of the corpus; its id.
std::string retain_one(service::MemoryService& into, service::RetainItem item,
                       const std::string& bank = {});

}  // namespace strongroom::bench
