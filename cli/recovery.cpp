// backup, restore, anchor, doctor.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::VaultAdmin;

constexpr int kProblemsFound = 5;

// ---- backup, restore

int backup(Context& context, const std::string& path) {
  VaultAdmin admin(context.admin_options());
  service::BackupOutcome outcome;
  {
    Progress progress("backup: rows");
    outcome = admin.backup(path, [&](std::uint64_t rows) { progress.update(rows); });
  }
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("path", path).member("banks", outcome.banks);
    context.out().line(writer.member("rows", outcome.rows).end_object().text());
  } else {
    context.out().line("Backed up " + counted(outcome.banks, "bank", "banks") + " to " +
                       escape_for_display(path) + "; every row of the copy was checked");
  }
  return 0;
}

int restore(Context& context, const std::string& path, bool yes) {
  context.confirm(yes,
                  "Put the backup in the place of " + escape_for_display(context.vault_path()) +
                      "? A vault that is there is lost.",
                  "restore");
  VaultAdmin admin(context.admin_options());
  service::RestoreOutcome outcome;
  {
    Progress progress("restore: rows");
    outcome = admin.restore(path, [&](std::uint64_t rows) { progress.update(rows); });
  }
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("banks", outcome.banks).member("replaced", outcome.replaced);
    write_strings(writer, "notes", outcome.notes);
    context.out().line(writer.end_object().text());
    return 0;
  }
  context.out().line("Restored " + counted(outcome.banks, "bank", "banks") +
                     (outcome.replaced ? " in the place of the vault that was there" : ""));
  for (const std::string& note : outcome.notes) context.out().line("note: " + note);
  return 0;
}

void add_backup(Command& root) {
  const auto to = std::make_shared<std::string>();
  root.command("backup", "Copy the vault into a new folder, and check the copy",
               [to](Context& context) { return backup(context, *to); })
      .positional("DIR", *to, "The folder, which must not exist");
  struct Options {
    std::string from;
    bool yes = false;
  };
  const auto options = std::make_shared<Options>();
  Command command = root.command(
      "restore", "Put a backup in the place of the vault",
      [options](Context& context) { return restore(context, options->from, options->yes); });
  command.positional("DIR", options->from, "The folder that backup made");
  command.flag("--yes,-y", options->yes, "Do not ask");
}

// ---- anchor

void write_report(Context& context, const service::AnchorReport& report) {
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("anchor", report.state).member("replica", report.replica);
    writer.member("root_version", report.root_version).member("root_seen", report.root_seen);
    writer.key("files").begin_array();
    for (const service::AnchorLine& line : report.lines) {
      writer.begin_object();
      if (line.bank.empty()) {
        writer.member("vault", true);
      } else {
        writer.member("bank", line.bank);
      }
      writer.member("generation", line.generation).member("seen", line.seen);
      writer.member("state", line.state).member("text", line.problem).end_object();
    }
    context.out().line(writer.end_array().end_object().text());
    return;
  }
  context.out().line("anchor: " + report.state +
                     (report.replica.empty() ? "" : ", replica " + report.replica));
  context.out().line("root:   version " + std::to_string(report.root_version) + ", seen " +
                     std::to_string(report.root_seen));
  Table table({"FILE", "GENERATION", "SEEN", "STATE"});
  for (const service::AnchorLine& line : report.lines) {
    table.row({line.bank.empty() ? "vault" : "bank " + line.bank, std::to_string(line.generation),
               std::to_string(line.seen), line.state});
  }
  table.print(context.out());
}

bool differs(const service::AnchorReport& report) {
  for (const service::AnchorLine& line : report.lines) {
    if (line.state != "ok" && line.state != "not seen") return true;
  }
  return report.root_version < report.root_seen;
}

int show_anchor(Context& context) {
  VaultAdmin admin(context.admin_options());
  const service::AnchorReport report = admin.anchor();
  write_report(context, report);
  return differs(report) ? kProblemsFound : 0;
}

int accept_anchor(Context& context, bool yes) {
  context.confirm(yes, "Take the vault's files as the truth, whatever this machine has seen?",
                  "anchor accept");
  VaultAdmin admin(context.admin_options());
  const service::AnchorReport before = admin.accept_anchor();
  if (context.json()) {
    write_report(context, before);
    return 0;
  }
  for (const service::AnchorLine& line : before.lines) {
    if (line.problem.empty()) continue;
    context.out().line("accepted: " + escape_for_display(line.problem));
  }
  context.out().line("The files as they are now are what this machine has seen");
  if (before.root_version < before.root_seen) {
    context.out().line(
        "note: the policy is an older one; everything is denied until it is sealed "
        "again (policy seal)");
  }
  return 0;
}

void add_anchor(Command& root) {
  Command group = root.group("anchor", "What this machine has seen of the vault");
  group.command("show", "Compare the files with what this machine has seen", show_anchor);
  const auto yes = std::make_shared<bool>(false);
  group
      .command("accept", "Take the files as the truth, after a rollback that was meant",
               [yes](Context& context) { return accept_anchor(context, *yes); })
      .flag("--yes,-y", *yes, "Do not ask");
}

// ---- doctor

std::string_view kind_name(service::DoctorLine::Kind kind) {
  using Kind = service::DoctorLine::Kind;
  switch (kind) {
    case Kind::ok: return "ok";
    case Kind::note: return "note";
    case Kind::problem: return "problem";
    case Kind::fixed: return "fixed";
  }
  return "problem";
}

int doctor(Context& context, bool fix) {
  VaultAdmin admin(context.admin_options());
  int code = 0;
  for (const service::DoctorLine& line : admin.doctor(fix)) {
    const bool problem = line.kind == service::DoctorLine::Kind::problem;
    if (problem) code = kProblemsFound;
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("kind", kind_name(line.kind)).member("text", line.text);
      context.out().line(writer.member("command", line.command).end_object().text());
      continue;
    }
    const Colour colour = problem                                        ? Colour::red
                          : line.kind == service::DoctorLine::Kind::note ? Colour::yellow
                                                                         : Colour::green;
    context.out().line(context.out().paint(colour, kind_name(line.kind)) + ": " +
                       escape_for_display(line.text));
    if (!line.command.empty()) context.out().line("    " + line.command);
  }
  return code;
}

void add_doctor(Command& root) {
  const auto fix = std::make_shared<bool>(false);
  root.command("doctor",
               "Say what is wrong with the vault, and what to do; exit code 5 if anything",
               [fix](Context& context) { return doctor(context, *fix); })
      .flag("--fix", *fix, "Remove what interrupted commands left behind");
}

}  // namespace

void add_recovery_commands(Command& root) {
  add_backup(root);
  add_anchor(root);
  add_doctor(root);
}

}  // namespace strongroom::cli
