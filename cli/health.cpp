// status, verify.
#include <algorithm>
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/confined.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::VaultAdmin;
using service::VaultStatus;

constexpr int kProblemsFound = 5;

// ---- status

void write_status_json(Output& out, const VaultStatus& status, const std::string& path) {
  JsonWriter writer;
  writer.begin_object().member("vault", status.state).member("path", path);
  writer.member("anchor", status.anchor);
  if (status.state == "open") {
    writer.member("vault_id", status.vault_id).member("opened_with", status.opened_with);
    writer.member("admin", status.admin_is_owner ? "same secret as owner" : "separate secret");
    writer.member("keys_locked", status.keys_locked);
    writer.key("policy").begin_object().member("version", status.policy_version);
    writer.member("rules", status.policy_rules).member("problem", status.policy_problem);
    writer.end_object().member("scoping", status.scoping);
    writer.member("banks", status.banks).member("entries", status.entries);
    writer.member("secrets", status.secrets).member("memories", status.memories);
    writer.member("documents", status.documents).member("erase_pending", status.erase_pending);
  } else {
    writer.member("hint", status.hint);
  }
  write_strings(writer, "notes", status.notes);
  out.line(writer.end_object().text());
}

void write_status_text(Output& out, const VaultStatus& status, const std::string& path) {
  const auto line = [&](std::string_view title, std::string_view text) {
    out.line(std::string(title) + escape_for_display(text));
  };
  const bool open = status.state == "open";
  out.line("vault:   " + out.paint(open ? Colour::green : Colour::yellow, status.state));
  line("path:    ", path);
  if (!open) {
    line("", status.hint);
    return;
  }
  line("opened:  ", status.opened_with);
  line("admin:   ", status.admin_is_owner ? "same secret as owner" : "separate secret");
  line("anchor:  ", status.anchor);
  line("policy:  ", "version " + std::to_string(status.policy_version) + ", " +
                        counted(status.policy_rules, "rule", "rules"));
  if (!status.policy_problem.empty()) {
    line("         ", "everything is denied: " + status.policy_problem);
  }
  line("banks:   ", std::to_string(status.banks) + "; " +
                        counted(status.entries, "entry", "entries") + ", of them " +
                        counted(status.secrets, "secret", "secrets") + "; " +
                        counted(status.memories, "memory", "memories") + ", " +
                        counted(status.documents, "document", "documents"));
  line("scoping: ", status.scoping);
  if (!status.keys_locked) line("memory:  ", "keys are not locked and may be swapped out");
  if (status.erase_pending > 0)
    line("erase:   ", std::to_string(status.erase_pending) + " pending");
  for (const std::string& note : status.notes) line("note:    ", note);
}

int show_status(Context& context) {
  VaultAdmin admin(context.admin_options());
  const VaultStatus status = admin.status();
  if (context.json()) {
    write_status_json(context.out(), status, context.vault_path());
  } else {
    write_status_text(context.out(), status, context.vault_path());
  }
  return 0;
}

// ---- verify

void write_outcome_json(Output& out, const service::VerifyOutcome& outcome, bool fast) {
  JsonWriter writer;
  writer.begin_object().member("ok", outcome.problems.empty()).member("fast", fast);
  writer.member("banks", outcome.banks).member("records", outcome.records);
  writer.member("names", outcome.names).member("chunks", outcome.chunks);
  writer.member("memories", outcome.memories).member("index_rows", outcome.index_rows);
  writer.member("log_records", outcome.log_records).key("problems").begin_array();
  for (const service::VerifyLine& problem : outcome.problems) {
    writer.begin_object().member("code", code_name(problem.code));
    writer.member("where", problem.where).member("text", problem.text).end_object();
  }
  out.line(writer.end_array().end_object().text());
}

void write_outcome_text(Output& out, const service::VerifyOutcome& outcome, bool fast) {
  for (const service::VerifyLine& problem : outcome.problems) {
    out.line(out.paint(Colour::red, code_name(problem.code)) + " in " +
             escape_for_display(problem.where) + ": " + escape_for_display(problem.text));
  }
  std::string line =
      outcome.problems.empty()
          ? out.paint(Colour::green, "ok")
          : out.paint(Colour::red, counted(outcome.problems.size(), "problem", "problems"));
  line += ": " + counted(outcome.banks, "bank", "banks");
  if (fast) {
    line += ", heads and log ends only";
  } else {
    line += ", " + counted(outcome.records, "record", "records") + ", " +
            counted(outcome.names, "name", "names") + ", " +
            counted(outcome.chunks, "chunk", "chunks") + ", " +
            counted(outcome.memories, "memory", "memories") + ", " +
            counted(outcome.index_rows, "index row", "index rows");
  }
  out.line(line + ", " + counted(outcome.log_records, "log record", "log records"));
}

// ---- verify in a process of its own

constexpr std::size_t kMostOutput = std::size_t{16} << 20;

Code code_of(std::string_view name) {
  for (const Code code : {Code::rollback, Code::fork, Code::unsupported, Code::io, Code::locked}) {
    if (name == code_name(code)) return code;
  }
  return Code::corrupt;
}

// What the process says is checked like any input: harmful files may have taken it over.
service::VerifyOutcome read_outcome(const std::string& output) {
  const auto malformed = [] {
    return Error(Code::corrupt, "The confined process did not answer as it should.");
  };
  const Json json = Json::parse(output, "outcome");
  const auto number = [&](std::string_view name) {
    const Json* const found = json.find(name);
    const auto value = found == nullptr ? std::nullopt : found->as_int();
    if (!value || *value < 0) throw malformed();
    return static_cast<std::uint64_t>(*value);
  };
  service::VerifyOutcome outcome;
  outcome.banks = number("banks");
  outcome.records = number("records");
  outcome.names = number("names");
  outcome.chunks = number("chunks");
  outcome.memories = number("memories");
  outcome.index_rows = number("index_rows");
  outcome.log_records = number("log_records");
  const Json* const problems = json.find("problems");
  if (problems == nullptr) throw malformed();
  for (const Json& problem : problems->items()) {
    const Json *const code = problem.find("code"), *const where = problem.find("where"),
                      *const text = problem.find("text");
    if (code == nullptr || where == nullptr || text == nullptr) throw malformed();
    outcome.problems.push_back({code_of(code->as_string()), where->as_string(), text->as_string()});
  }
  return outcome;
}

std::vector<std::string> confined_arguments() {
  std::vector<std::string> arguments = own_arguments();
  for (std::string& one : arguments) {
    if (one == "--untrusted") one = "--confined";
  }
  for (const char* const flag : {"--json", "--read-only"}) {
    if (std::find(arguments.begin(), arguments.end(), flag) == arguments.end()) {
      arguments.emplace_back(flag);
    }
  }
  return arguments;
}

int verify_untrusted(Context& context, bool fast) {
  const ConfinedRun run = run_again(confined_arguments(), kMostOutput);
  service::VerifyOutcome outcome;
  if (run.signal != 0 || run.cut) {
    outcome.problems.push_back({Code::corrupt, "vault",
                                "Reading the files ended the confined process that read them: they "
                                "are damaged, or made to "
                                "do harm. [corrupt]"});
  } else if (run.output.empty()) {
    return run.exit_code;  // it has said why
  } else {
    outcome = read_outcome(run.output);
  }
  if (context.json()) {
    write_outcome_json(context.out(), outcome, fast);
  } else {
    write_outcome_text(context.out(), outcome, fast);
  }
  return outcome.problems.empty() ? run.exit_code : kProblemsFound;
}

struct VerifyOptions {
  bool fast = false, untrusted = false, confined = false;
};

int verify(Context& context, const VerifyOptions& options) {
  if (options.untrusted) return verify_untrusted(context, options.fast);
  if (options.confined) confine_process();
  const bool fast = options.fast;
  VaultAdmin admin(context.admin_options());
  service::VerifyOutcome outcome;
  {
    Progress progress("verify: rows");
    outcome = admin.verify(fast, [&](std::uint64_t rows) { progress.update(rows); });
  }
  if (context.json()) {
    write_outcome_json(context.out(), outcome, fast);
  } else {
    write_outcome_text(context.out(), outcome, fast);
  }
  return outcome.problems.empty() ? 0 : kProblemsFound;
}

}  // namespace

void add_health_commands(Command& root) {
  root.command("status", "Show whether the vault opens, and its state", show_status);
  const auto options = std::make_shared<VerifyOptions>();
  Command command = root.command(
      "verify", "Check every record, log and head; exit code 5 when something is wrong",
      [options](Context& context) { return verify(context, *options); });
  command.flag("--fast", options->fast, "Heads, anchor and log ends only");
  command.flag("--untrusted", options->untrusted,
               "In a confined process, for files that somebody may have changed to do harm");
  command.flag("--confined", options->confined, "Confine this process first; --untrusted uses it");
}

}  // namespace strongroom::cli
