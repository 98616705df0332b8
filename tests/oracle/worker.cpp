#include "worker.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/error.h"
#include "service/memory_service.h"

namespace strongroom::oracle {

using namespace service;

namespace {

// When a memory was last written: the time of the call that wrote it.
TimeMs written_at(MemoryService& service, const std::string& id) {
  GetMemoryRequest request;
  request.id = id;
  request.max_bytes = 1;
  return service.get_memory(request).updated;
}

void retain(MemoryService& service, In& in, Out& out) {
  RetainRequest request;
  for (std::uint64_t n = in.number(); n > 0; --n) request.items.push_back(take_item(in));
  const RetainResult result = service.retain(request);
  TimeMs now = 0;
  std::vector<std::string> documents;
  out.number(result.items.size());
  for (const RetainedItem& item : result.items) {
    out.number(static_cast<std::uint64_t>(item.status));
    out.text(item.id);
    out.number(item.memories);
    out.text(item.document_id);
    out.text(item.reason);
    if (item.status == ItemStatus::stored && now == 0) now = written_at(service, item.id);
    if (!item.document_id.empty() && item.status == ItemStatus::stored &&
        (documents.empty() || documents.back() != item.document_id)) {
      documents.push_back(item.document_id);
    }
  }
  out.number(static_cast<std::uint64_t>(now));
  out.number(documents.size());
  for (const std::string& name : documents) {
    GetMemoryRequest whole;
    whole.document_id = name;
    whole.max_bytes = 1;
    const MemoryDetail detail = service.get_memory(whole);
    out.text(name);
    out.number(detail.parts.size());
    for (const MemoryDetail::Part& part : detail.parts) out.text(part.removed ? "" : part.id);
  }
}

void edit(MemoryService& service, In& in, Out& out) {
  const EditRequest request = take_edit(in);
  const EditResult result = service.edit_memory(request);
  out.text(result.status);
  out.number(result.revision);
  out.texts(result.affected);
  out.number(request.op == EditOp::forget
                 ? 0
                 : static_cast<std::uint64_t>(written_at(service, request.id)));
}

void search(MemoryService& service, In& in, Out& out) {
  const SearchResult result = service.search(take_search(in));
  out.number(result.abstained ? 1 : 0);
  out.real(result.best_score);
  out.number(result.results.size());
  for (const FoundMemory& found : result.results) {
    out.text(found.id);
    out.text(found.text);
    out.texts(found.tags);
    out.text(found.speaker);
    out.text(found.document_id);
    out.text(found.superseded_by);
    out.real(found.importance);
    out.number(found.valid ? 1 : 0);
    out.number(found.window ? 1 : 0);
    if (found.window) {
      out.number(found.window->start);
      out.number(found.window->end);
    }
    out.real(found.score);
    out.maybe(found.occurred_start);
    out.maybe(found.occurred_end);
    out.maybe_real(found.keyword);
    out.maybe_real(found.semantic);
    out.maybe_real(found.temporal);
    out.maybe_real(found.graph);
    out.real(found.prior.similarity);
    out.text(found.band);
  }
}

void stats(MemoryService& service, Out& out) {
  const MemoryBankStats stats = service.bank_stats({});
  out.number(stats.memories);
  out.number(stats.rows);
  out.number(stats.live_rows);
  out.number(stats.segments);
  out.number(stats.merges_running);
  out.number(stats.tail_rows);
  out.number(stats.documents);
}

}  // namespace

int serve(const std::string& vault, const std::string& keyfile, const std::string& folder) {
  ServiceOptions options;
  options.vault_path = vault;
  options.key.keyfile = keyfile;
  options.principal = "local:mcp";
  options.source = "mcp";
  options.project_folder = folder;
  MemoryService service(options);
  std::string frame;
  while (receive_frame(0, frame)) {
    In in(frame);
    const auto command = static_cast<Command>(in.number());
    Out body, reply;
    std::string code, text;
    const TimeMs before = now_ms();
    try {
      switch (command) {
        case Command::retain: retain(service, in, body); break;
        case Command::edit: edit(service, in, body); break;
        case Command::search: search(service, in, body); break;
        case Command::stats: stats(service, body); break;
        case Command::quit: service.close(); return 0;
      }
    } catch (const Error& error) {
      code = code_name(error.code());
      text = error.text();
    }
    reply.text(code);
    reply.text(text);
    reply.number(static_cast<std::uint64_t>(before));
    reply.number(static_cast<std::uint64_t>(now_ms()));
    reply.bytes += body.bytes;
    if (!send_frame(1, reply.bytes)) return 1;
  }
  return 0;
}

// ---- the other end

Worker::Worker(std::string vault, std::string keyfile, std::string folder)
    : vault_(std::move(vault)), keyfile_(std::move(keyfile)), folder_(std::move(folder)) {
  start();
}

Worker::~Worker() {
  stop(false);
}

void Worker::start() {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    ::execl("/proc/self/exe", "test_memory_oracle", "--worker", vault_.c_str(), keyfile_.c_str(),
            folder_.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  to_ = to[1];
  from_ = from[0];
}

void Worker::stop(bool kill) {
  if (pid_ < 0) return;
  if (kill) {
    ::kill(pid_, SIGKILL);
  } else {
    Out quit;
    quit.number(static_cast<std::uint64_t>(Command::quit));
    send_frame(to_, quit.bytes);
  }
  ::close(to_);
  ::close(from_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (!kill && status != 0) throw std::runtime_error("a worker ended badly");
}

void Worker::restart(bool kill) {
  stop(kill);
  start();
}

In Worker::ask(Command command, const Out& request) {
  Out frame;
  frame.number(static_cast<std::uint64_t>(command));
  frame.bytes += request.bytes;
  std::string reply;
  if (!send_frame(to_, frame.bytes) || !receive_frame(from_, reply)) {
    throw std::runtime_error("a worker is gone");
  }
  return In(std::move(reply));
}

}  // namespace strongroom::oracle
