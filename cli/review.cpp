// review, entities: what needs a look, and what memories are about.
#include <limits>
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/words.h"
#include "service/consolidation_json.h"

namespace strongroom::cli {
namespace {

using service::MemoryService;

// ---- review

struct ReviewOptions {
  std::optional<std::uint64_t> days, newest, limit;
};

void heading(Output& out, bool& first, const char* text) {
  if (!first) out.line("");
  first = false;
  out.line(out.paint(Colour::bold, text));
}

void show_review(Output& out, const service::ReviewResult& result) {
  bool first = true;
  if (!result.contradictions.empty()) heading(out, first, "Contradictions");
  for (const service::Contradiction& pair : result.contradictions) {
    out.line("- " + pair.newer + " may contradict " + pair.older + " (" + pair.rule + ")");
  }
  if (!result.expiring.empty()) heading(out, first, "Expiring");
  for (const service::ReviewedMemory& memory : result.expiring) {
    out.line("- " + day(*memory.expires_at) + " " + escape_for_display(memory.text) +
             " (id: " + memory.id + ")");
  }
  if (!result.stale.empty()) heading(out, first, "Stale observations");
  for (const service::ReviewedMemory& memory : result.stale) {
    out.line("- " + escape_for_display(memory.text) + " (id: " + memory.id + ")");
  }
}

std::vector<std::string> review_notes(const service::ReviewResult& result) {
  std::vector<std::string> notes = result.notes;
  if (result.contradictions.empty() && result.expiring.empty() && result.stale.empty()) {
    notes.insert(notes.begin(), "Nothing needs a look.");
  }
  notes.push_back("Looked at " + counted(result.compared, "memory", "memories") +
                  (result.all_compared ? " (all of them)" : " (the newest)") + " and " +
                  counted(result.observations, "observation", "observations") + ".");
  const std::uint64_t cut = result.contradictions_cut + result.expiring_cut + result.stale_cut;
  if (cut > 0) notes.push_back(std::to_string(cut) + " more than --limit allows.");
  return notes;
}

int review(Context& context, const ReviewOptions& options) {
  service::ReviewRequest request;
  request.bank = context.bank();
  if (options.days) request.days = static_cast<std::int64_t>(*options.days);
  if (options.newest) request.newest = static_cast<std::size_t>(*options.newest);
  if (options.limit) request.limit = static_cast<std::size_t>(*options.limit);
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::ReviewResult result = service.review(request);
  service.close();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object();
    service::write_review(writer, result);
    writer.member("bank", result.bank);
    write_strings(writer, "notes", result.notes);
    context.out().line(writer.end_object().text());
    return 0;
  }
  show_review(context.out(), result);
  context.out().flush();
  context.notes(review_notes(result));
  return 0;
}

void add_review(Command& root) {
  const auto options = std::make_shared<ReviewOptions>();
  Command command = root.command(
      "review", "Show what needs a look: contradictions, what expires, stale observations",
      [options](Context& context) { return review(context, *options); });
  command.number("--days", 1, 3650, options->days, "What expires within N days (30)");
  command.number("--newest", 1, 1000, options->newest,
                 "Memories looked at for contradictions (200)");
  command.number("--limit", 1, 200, options->limit, "At most N of each list (50)");
}

// ---- entities

struct EntityOptions {
  std::optional<std::string> prefix;
  std::optional<std::uint64_t> limit;
};

int list_entities(Context& context, const EntityOptions& options) {
  service::ListEntitiesRequest request;
  request.bank = context.bank();
  request.prefix = options.prefix.value_or(std::string());
  request.limit = 0;
  MemoryService service(context.service_options(kPrincipal, "cli"));
  service::ListEntitiesResult list = service.list_entities(request);
  service.close();
  std::vector<std::string> notes = list.notes;
  if (options.limit && list.entities.size() > *options.limit) {
    list.entities.resize(static_cast<std::size_t>(*options.limit));
    notes.emplace_back("There are more entities than --limit allows.");
  }
  Table table({"ENTITY", "KIND", "MEMORIES", "LAST"});
  for (const service::ListedEntity& entity : list.entities) {
    if (context.json()) {
      JsonWriter writer;
      service::write_listed_entity(writer, entity);
      context.out().line(writer.text());
    } else {
      table.row({entity.display, entity.kind, std::to_string(entity.memories),
                 day(entity.last_mentioned)});
    }
  }
  if (context.json()) return 0;
  table.print(context.out());
  context.out().flush();
  if (list.entities.empty()) notes.insert(notes.begin(), "No entities.");
  context.notes(notes);
  return 0;
}

void add_entities(Command& root) {
  const auto options = std::make_shared<EntityOptions>();
  Command command =
      root.command("entities", "List what the memories of the bank are about, most used first",
                   [options](Context& context) { return list_entities(context, *options); });
  command.option("--prefix", "TEXT", options->prefix, "Only names that begin with it");
  command.number("--limit", 1, std::numeric_limits<std::uint32_t>::max(), options->limit,
                 "At most N; all of them unless given");
}

}  // namespace

void add_review_commands(Command& root) {
  add_entities(root);
  add_review(root);
}

}  // namespace strongroom::cli
