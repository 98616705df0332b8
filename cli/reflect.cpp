// reflect: what a question finds, in themes, with what disagrees and what is missing.
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/found.h"
#include "cli/recall_options.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::FoundMemory;
using service::MemoryService;
using service::ReflectResult;

constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 32;

struct ReflectOptions {
  std::string query;
  std::optional<std::string> context;
  RecallOptions search;  // those that both commands have
};

service::ReflectRequest request_of(const ReflectOptions& options) {
  JsonWriter writer;
  writer.begin_object().member("query", options.query);
  if (options.context) writer.member("context", *options.context);
  for (const auto& [name, json] : search_members(options.search)) writer.key(name).raw(json);
  return service::parse_reflect(Json::parse(writer.end_object().text()));
}

// A bullet for programs and narrow eyes; on a terminal as recall shows it.
void show_memory(Output& out, const FoundMemory& found) {
  if (out.terminal()) {
    show_found(out, found);
  } else {
    out.line("- " + escape_for_display(found.text) + " (id: " + escape_for_display(found.id) + ")");
  }
}

void heading(Output& out, bool& first, const std::string& text) {
  if (!first) out.line("");
  first = false;
  out.line(out.paint(Colour::bold, text));
}

std::string line_of(const service::ReflectMoment& moment) {
  return "- " + day(moment.time) + (moment.end ? " to " + day(*moment.end) : std::string()) +
         (moment.occurred ? " occurred " : " mentioned ") + escape_for_display(moment.id);
}

void show(Output& out, const ReflectResult& result) {
  bool first = true;
  for (const service::ReflectTheme& theme : result.themes) {
    heading(out, first, "Theme: " + escape_for_display(theme.label));
    for (const FoundMemory& found : theme.results) show_memory(out, found);
  }
  if (!result.timeline.empty()) heading(out, first, "Timeline");
  for (const service::ReflectMoment& moment : result.timeline) out.line(line_of(moment));
  if (!result.contradictions.empty()) heading(out, first, "Contradictions");
  for (const service::Contradiction& pair : result.contradictions) {
    out.line("- " + pair.newer + " may contradict " + pair.older + " (" + pair.rule + ")");
  }
  if (!result.superseded.empty()) heading(out, first, "Superseded");
  for (const FoundMemory& found : result.superseded) {
    out.line("- " + escape_for_display(found.text) + " (id: " + escape_for_display(found.id) +
             (found.superseded_by.empty() ? std::string() : ", by " + found.superseded_by) + ")");
  }
  if (result.ids.empty()) return;
  if (!result.gaps.empty()) heading(out, first, "Gaps");
  for (const std::string& gap : result.gaps) out.line("- " + escape_for_display(gap));
}

int reflect(Context& context, const ReflectOptions& options) {
  service::ReflectRequest request = request_of(options);
  request.bank = context.bank();
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const ReflectResult result = service.reflect(request);
  service.close();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object();
    service::write_reflection(writer, result, true);
    write_strings(writer, "notes", result.notes);
    context.out().line(writer.end_object().text());
    return 0;
  }
  show(context.out(), result);
  std::vector<std::string> notes = result.notes;
  if (result.ids.empty()) {
    notes.insert(notes.begin(), "No relevant information found to reflect on.");
    notes.insert(notes.end(), result.gaps.begin(), result.gaps.end());
  }
  context.out().flush();
  context.notes(notes);
  return 0;
}

}  // namespace

void add_reflect_command(Command& root) {
  const auto o = std::make_shared<ReflectOptions>();
  Command command = root.command(
      "reflect", "Gather what is known on a question: themes, timeline, contradictions",
      [o](Context& context) { return reflect(context, *o); });
  command.positional("QUERY", o->query, "A question, in 5 to 15 words");
  command.option("--context", "TEXT", o->context, "What the question is part of; searched too");
  command.choice("--budget", {"low", "mid", "high"}, o->search.budget,
                 "How many candidates are looked at (mid)");
  command.number("--max-tokens", 0, kMaxTokens, o->search.max_tokens,
                 "Tokens of text, all themes together (4096)");
  command.list("--scope", "NAMES", o->search.scope,
               "Banks: global, project, or a name; with commas");
  describe_tags(command, o->search);
}

}  // namespace strongroom::cli
