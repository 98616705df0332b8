// audit log, verify, export.
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/time_argument.h"

namespace strongroom::cli {
namespace {

using service::AuditLine;
using service::VaultAdmin;

constexpr int kProblemsFound = 5;
constexpr std::size_t kWriteAt = std::size_t{1} << 16;
constexpr std::string_view kDoing = "write the export";

std::string json_line(const AuditLine& line) {
  JsonWriter writer;
  writer.begin_object().member("time", format_time(line.time)).member("principal", line.principal);
  writer.member("tool", line.tool).member("bank", line.bank);
  writer.member("decision", line.permitted ? "permit" : "deny").member("rule", line.rule);
  writer.member("count", line.count).member("bytes", line.bytes).member("error", line.error);
  writer.member("session", line.session).member("sequence", line.sequence);
  return writer.member("record", line.record).end_object().take();
}

// ---- log

struct LogOptions {
  std::optional<std::string> since, principal, tool;
  std::optional<std::uint64_t> limit;
  bool denied = false;
};

// The newest `limit` lines, in time order.
std::deque<AuditLine> read_log(Context& context, const LogOptions& options) {
  service::AuditFilter filter;
  filter.bank = context.bank();
  filter.principal = options.principal.value_or(std::string());
  filter.tool = options.tool.value_or(std::string());
  filter.denied_only = options.denied;
  if (options.since) filter.since = parse_time_argument(*options.since, now_ms(), "--since");
  std::deque<AuditLine> lines;
  VaultAdmin(context.admin_options()).audit_log(filter, [&](const AuditLine& line) {
    lines.push_back(line);
    if (options.limit && lines.size() > *options.limit) lines.pop_front();
  });
  return lines;
}

int show_log(Context& context, const LogOptions& options) {
  const std::deque<AuditLine> lines = read_log(context, options);
  if (context.json()) {
    for (const AuditLine& line : lines) context.out().line(json_line(line));
    return 0;
  }
  Table table({"TIME", "PRINCIPAL", "TOOL", "BANK", "DECISION", "RULE", "COUNT", "BYTES", "ERROR"});
  for (const AuditLine& line : lines) {
    table.row({format_time(line.time), line.principal, line.tool,
               line.bank.empty() ? "(vault)" : line.bank, line.permitted ? "permit" : "deny",
               line.rule, std::to_string(line.count), std::to_string(line.bytes), line.error});
  }
  table.print(context.out());
  return 0;
}

// ---- verify

int verify_logs(Context& context) {
  bool good = true;
  Table table({"LOG", "RECORDS", "RESULT"});
  for (const VaultAdmin::ChainLine& chain : VaultAdmin(context.admin_options()).audit_verify()) {
    good = good && chain.problem.empty();
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("bank", chain.bank).member("records", chain.records);
      writer.member("ok", chain.problem.empty()).member("problem", chain.problem);
      context.out().line(writer.end_object().text());
    } else {
      table.row({chain.bank.empty() ? "(vault)" : chain.bank, std::to_string(chain.records),
                 chain.problem.empty() ? "ok" : chain.problem});
    }
  }
  table.print(context.out());
  return good ? 0 : kProblemsFound;
}

// ---- export

// A file that was not there before; removed again unless it is finished.
class ExportFile {
 public:
  explicit ExportFile(const std::string& path) : path_(path) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    fd_ = UniqueFd(::open(path.c_str(), kFlags, 0600));
    if (fd_) return;
    if (errno == EEXIST) {
      throw Error(Code::conflict, "The file to export to exists already; nothing was written.");
    }
    throw_errno(kDoing, errno);
  }
  ~ExportFile() {
    if (!finished_ && fd_) ::unlink(path_.c_str());
  }
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;

  void add(std::string_view line) {
    buffer_.append(line).append("\n");
    if (buffer_.size() >= kWriteAt) write();
  }
  /// What was added is on the disk; the file stays from now on.
  void finish() {
    write();
    sync_fd(fd_.get(), kDoing);
    finished_ = true;
    sync_parent(path_, kDoing);
  }

 private:
  void write() {
    write_all(fd_.get(), buffer_, kDoing);
    buffer_.clear();
  }

  std::string path_, buffer_;
  UniqueFd fd_;
  bool finished_ = false;
};

int prune_log(Context& context, const std::string& path, bool yes) {
  if (path == "-") throw Error::invalid("--prune", "needs a file that the log goes to");
  context.confirm(yes, "Take the log out of the vault when it is in the file?",
                  "audit export --prune");
  VaultAdmin admin(context.admin_options());
  ExportFile file(path);
  std::uint64_t count = 0;
  const std::uint64_t pruned = admin.prune_audit(
      context.bank(),
      [&](const AuditLine& line) {
        file.add(json_line(line));
        ++count;
      },
      [&] { file.finish(); });
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("records", count).member("pruned", pruned);
    context.out().line(writer.end_object().text());
  } else {
    context.out().line("Exported " + std::to_string(count) + " records; took " +
                       std::to_string(pruned) + " rows out of the vault");
  }
  return 0;
}

int export_log(Context& context, const std::string& path) {
  service::AuditFilter filter;
  filter.bank = context.bank();
  VaultAdmin admin(context.admin_options());
  if (path == "-") {
    admin.audit_log(filter, [&](const AuditLine& line) { context.out().line(json_line(line)); });
    return 0;
  }
  ExportFile file(path);
  std::uint64_t count = 0;
  admin.audit_log(filter, [&](const AuditLine& line) {
    file.add(json_line(line));
    ++count;
  });
  file.finish();
  if (context.json()) {
    JsonWriter writer;
    context.out().line(writer.begin_object().member("records", count).end_object().text());
  } else {
    context.out().line("Exported " + std::to_string(count) + " records");
  }
  return 0;
}

}  // namespace

void add_audit_commands(Command& root) {
  Command group = root.group("audit", "The log of every call");
  const auto options = std::make_shared<LogOptions>();
  Command log = group.command("log", "Show calls, oldest first",
                              [options](Context& context) { return show_log(context, *options); });
  log.option("--since", "TIME", options->since, "RFC 3339, or a duration like 2h");
  log.option("--principal", "NAME", options->principal, "Only calls of this principal");
  log.option("--tool", "NAME", options->tool, "Only calls of this tool");
  log.flag("--denied", options->denied, "Only what was denied");
  log.number("--limit", 1, std::numeric_limits<std::uint32_t>::max(), options->limit,
             "The newest N; all of them unless given");
  group.command("verify", "Check the chain of every log; exit code 5 when one is broken",
                verify_logs);
  struct Export {
    std::string path;
    bool prune = false, yes = false;
  };
  const auto wanted = std::make_shared<Export>();
  Command command =
      group.command("export", "Write the log as JSON Lines", [wanted](Context& context) {
        if (wanted->prune) return prune_log(context, wanted->path, wanted->yes);
        return export_log(context, wanted->path);
      });
  command.positional("FILE", wanted->path, "A new file, or \"-\" for standard output");
  command.flag("--prune", wanted->prune,
               "Take what was exported out of the vault; needs the admin's secret");
  command.flag("--yes,-y", wanted->yes, "Do not ask");
}

}  // namespace strongroom::cli
