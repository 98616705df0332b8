// policy show, edit, check, explain, test, seal, init.
#include <cerrno>
#include <fcntl.h>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/policy_edit.h"

namespace strongroom::cli {
namespace {

using service::VaultAdmin;

constexpr int kSomeFailed = 1;

// A file that the user named, or standard input.
std::string read_text(const std::string& path, std::string_view what) {
  if (path == "-") return read_all(0, kMaxPolicyBytes, what);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) throw Error::invalid(what, "does not exist");
  if (!fd) throw_errno("open the " + std::string(what), errno);
  return read_all(fd.get(), kMaxPolicyBytes, what);
}

int show_policy(Context& context) {
  const std::string text = VaultAdmin(context.admin_options()).policy_text();
  if (context.json()) {
    context.out().line(json_compact(text));
  } else {
    context.out().text(text);
    if (!text.empty() && text.back() != '\n') context.out().text("\n");
  }
  return 0;
}

int check_policy(Context& context, const std::optional<std::string>& path) {
  const std::string text =
      path ? read_text(*path, "policy file") : VaultAdmin(context.admin_options()).policy_text();
  const std::vector<std::string> findings = VaultAdmin::check_policy(text);
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("ok", true);
    write_strings(writer, "findings", findings);
    context.out().line(writer.end_object().text());
    return 0;
  }
  for (const std::string& finding : findings) {
    context.out().line(context.out().paint(Colour::yellow, "warning") + ": " +
                       escape_for_display(finding));
  }
  if (findings.empty()) context.out().line("ok");
  return 0;
}

int seal_policy(Context& context, const std::string& path) {
  const std::string text = read_text(path, "policy file");
  const std::vector<std::string> findings = VaultAdmin::check_policy(text);
  VaultAdmin(context.admin_options()).seal_policy(text);
  if (!context.json()) show_findings(findings);
  report_sealed(context, findings);
  return 0;
}

// ---- explain

struct ExplainOptions {
  std::optional<std::string> principal, tool, key, value_class, source;
  std::vector<std::string> tags;
};

void write_answer(Context& context, const service::PolicyAnswer& answer) {
  Output& out = context.out();
  if (!context.json()) {
    out.line(
        out.paint(answer.permitted ? Colour::green : Colour::red, escape_for_display(answer.text)));
    for (const service::PolicyTraceLine& line : answer.trace) {
      out.line(escape_for_display((line.matched ? "  * " : "    ") + line.rule + " (" +
                                  line.effect + "): " + line.why));
    }
    return;
  }
  JsonWriter writer;
  writer.begin_object().member("decision", answer.permitted ? "permit" : "deny");
  writer.member("rule", answer.rule).member("text", answer.text).key("trace").begin_array();
  for (const service::PolicyTraceLine& line : answer.trace) {
    writer.begin_object().member("rule", line.rule).member("effect", line.effect);
    writer.member("matched", line.matched).member("why", line.why).end_object();
  }
  out.line(writer.end_array().end_object().text());
}

int explain_policy(Context& context, const ExplainOptions& options) {
  if (!options.principal) throw Error::invalid("--principal", "is required");
  if (!options.tool) throw Error::invalid("--tool", "is required");
  service::PolicyQuestion question;
  question.principal = *options.principal;
  question.tool = *options.tool;
  question.bank = context.bank().empty() ? "global" : context.bank();
  question.key = options.key;
  question.tags = options.tags;
  question.value_class = options.value_class.value_or(std::string());
  question.source = options.source.value_or(std::string());
  write_answer(context, VaultAdmin(context.admin_options()).explain_policy(question));
  return 0;
}

// ---- test

std::string describe(const service::PolicyTestLine& result, std::uint64_t number) {
  return "line " + std::to_string(number) + ": expected " + result.expect + ", got " + result.got +
         " (rule: " + result.rule + ")";
}

int test_policy(Context& context, const std::string& path) {
  const std::string text = read_text(path, "test file");
  VaultAdmin admin(context.admin_options());
  std::uint64_t number = 0, passed = 0, failed = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const service::PolicyTestLine result = admin.test_policy_line(line);
    ++(result.passed ? passed : failed);
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("line", number).member("passed", result.passed);
      writer.member("expect", result.expect).member("got", result.got);
      context.out().line(writer.member("rule", result.rule).end_object().text());
    } else if (!result.passed) {
      context.out().line(escape_for_display(describe(result, number)));
    }
  }
  if (!context.json()) {
    context.out().line(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed");
  }
  return failed == 0 ? 0 : kSomeFailed;
}

// ---- init

int print_template(Context& context, const std::optional<std::string>& name) {
  if (name) {
    context.out().text(VaultAdmin::policy_template(*name));
    return 0;
  }
  for (const std::string& one : VaultAdmin::policy_templates()) {
    if (context.json()) {
      JsonWriter writer;
      context.out().line(writer.begin_object().member("name", one).end_object().text());
    } else {
      context.out().line(one);
    }
  }
  return 0;
}

void add_explain(Command& group) {
  const auto options = std::make_shared<ExplainOptions>();
  Command explain =
      group.command("explain", "Show how a call would be decided, and by which rule",
                    [options](Context& context) { return explain_policy(context, *options); });
  explain.option("--principal", "NAME", options->principal, "Who calls, as in local:mcp");
  explain.option("--tool", "NAME", options->tool, "What is called, as in agent_recall");
  explain.option("--key", "KEY", options->key, "The name that is read or written");
  explain.list("--tag", "TAG", options->tags, "A tag of it; may be repeated");
  explain.choice("--class", {"normal", "secret"}, options->value_class, "Its class");
  explain.option("--source", "KIND", options->source, "Where the call comes from: cli, mcp");
}

// A command that takes one file.
void add_file_command(Command& group, const std::string& name, const std::string& help,
                      int (*action)(Context&, const std::string&)) {
  const auto path = std::make_shared<std::string>();
  group.command(name, help, [path, action](Context& context) { return action(context, *path); })
      .positional("FILE", *path, "A file, or \"-\" for standard input");
}

}  // namespace

void add_policy_commands(Command& root) {
  Command group = root.group("policy", "What each agent may do");
  group.command("show", "Show the sealed policy", show_policy);
  group.command("edit", "Edit the policy and seal it; asks for the admin secret", edit_policy);
  const auto checked = std::make_shared<std::optional<std::string>>();
  group
      .command("check", "Look for mistakes in the sealed policy, or in a file",
               [checked](Context& context) { return check_policy(context, *checked); })
      .positional("FILE", *checked, "A file, or \"-\" for standard input");
  add_explain(group);
  add_file_command(group, "test",
                   "Run cases, a line each {request, expect, rule}; exit code 1: some cases failed",
                   test_policy);
  add_file_command(group, "seal", "Sign a policy and put it in force; asks for the admin secret",
                   seal_policy);
  const auto name = std::make_shared<std::optional<std::string>>();
  group
      .command("init", "Print a template to start from, or list them",
               [name](Context& context) { return print_template(context, *name); })
      .positional("TEMPLATE", *name, "One of the list");
}

}  // namespace strongroom::cli
