// import: memories of other stores.
#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/import_formats.h"
#include "cli/import_run.h"
#include "cli/lines.h"
#include "cli/retain.h"
#include "cli/server_memory.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::MemoryService;

constexpr std::array<std::string_view, 2> kLater = {"strongroom", "q-ring"};
constexpr const char* kKnown = "server-memory, jsonl, mnemopi, hindsight, compartment or citadel";

struct ImportOptions {
  std::string path;
  std::optional<std::string> from;
  bool dry_run = false, allow_secret = false;
};

// ---- server-memory

void report_skipped(Context& context, std::uint64_t line, const std::string& why) {
  if (!context.json()) {
    context.out().line(line_name(line) + " is skipped: " + escape_for_display(why));
    return;
  }
  JsonWriter writer;
  writer.begin_object().member("line", line).member("status", "skipped").member("reason", why);
  context.out().line(writer.end_object().text());
}

void report_linked(Context& context, const ServerMemory::Relation& relation,
                   const std::string& status) {
  if (!context.json()) return;
  JsonWriter writer;
  writer.begin_object().member("line", relation.line).member("status", status);
  writer.member("from", relation.from).member("to", relation.to);
  writer.member("relation", relation.relation);
  context.out().line(writer.end_object().text());
}

struct LinkCounts {
  std::uint64_t linked = 0, skipped = 0;
};

LinkCounts link_all(Context& context, MemoryService& service, const ServerMemory& graph) {
  LinkCounts counts;
  Progress progress("import: links");
  for (const ServerMemory::Relation& relation : graph.relations) {
    service::LinkRequest request;
    request.from = relation.from;
    request.to = relation.to;
    request.relation = relation.relation;
    request.bank = context.bank();
    try {
      report_linked(context, relation, service.link_memories(request).status);
      ++counts.linked;
    } catch (const Error& error) {
      const bool of_this_one = error.code() == Code::not_found || error.code() == Code::invalid ||
                               error.code() == Code::too_large ||
                               error.code() == Code::secret_detected;
      if (!of_this_one) throw;
      report_skipped(context, relation.line, "cannot be linked: " + error.text());
      ++counts.skipped;
    }
    progress.update(counts.linked + counts.skipped, graph.relations.size());
  }
  return counts;
}

void store_all(std::vector<ItemStore::Named> items, ItemStore& store) {
  Progress progress("import: memories");
  for (std::size_t at = 0; at < items.size(); at += ItemStore::kItemsACall) {
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(ItemStore::kItemsACall, items.size() - at);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    store.store({std::make_move_iterator(first), std::make_move_iterator(last)});
    progress.update(at + count, items.size());
  }
}

void show_mapped(Context& context, const ServerMemory& graph, bool dry_run) {
  for (const ServerMemory::Skipped& skipped : graph.skipped) {
    report_skipped(context, skipped.line, skipped.why);
  }
  if (!context.json()) {
    context.out().line("mapped " + counted(graph.entities, "entity", "entities") + " to " +
                       counted(graph.items.size(), "memory", "memories") + ", " +
                       counted(graph.relations.size(), "relation", "relations") + " to links; " +
                       "skipped " + std::to_string(graph.skipped.size()));
    if (dry_run) context.out().line("Nothing was stored.");
  }
}

JsonWriter& write_mapped(JsonWriter& writer, const ServerMemory& graph, bool dry_run) {
  writer.begin_object().member("dry_run", dry_run).member("entities", graph.entities);
  writer.member("memories", std::uint64_t{graph.items.size()});
  return writer.member("links", std::uint64_t{graph.relations.size()});
}

int import_server_memory(Context& context, const ImportOptions& options) {
  ServerMemory graph = read_server_memory(LineFile(options.path, "PATH"));
  if (graph.entities == 0 && graph.relations.empty() && graph.lines > 0) {
    throw Error::invalid("PATH", "holds no entity and no relation of a memory server");
  }
  show_mapped(context, graph, options.dry_run);
  JsonWriter writer;
  write_mapped(writer, graph, options.dry_run);
  std::uint64_t skipped = graph.skipped.size();
  int code = 0;
  if (!options.dry_run) {
    MemoryService service(context.service_options(kPrincipal, "import"));
    ItemStore store(context, service, "server-memory", options.allow_secret);
    store_all(std::move(graph.items), store);
    const LinkCounts links = link_all(context, service, graph);
    service.close();
    skipped += links.skipped;
    code = store.exit_code();
    if (!context.json()) {
      context.out().line(store.summary() + "; " + std::to_string(links.linked) + " linked");
    }
    const ItemStore::Tally& tally = store.tally();
    writer.member("stored", tally.stored).member("duplicates", tally.duplicates);
    writer.member("rejected", tally.rejected).member("linked", links.linked);
  }
  if (context.json()) {
    context.out().line(writer.member("skipped", skipped).end_object().text());
  }
  return code;
}

// ---- the command

// A store whose export is read whole into a plan; nullopt for the other words.
std::optional<ImportPlan> plan_of(const std::string& kind, const std::string& path) {
  if (kind == "hindsight") return read_hindsight(path);
  if (kind == "mnemopi") return read_mnemopi(LineFile(path, "PATH"));
  if (kind == "compartment") return read_compartment(LineFile(path, "PATH"));
  if (kind == "citadel") return read_citadel(LineFile(path, "PATH"));
  return std::nullopt;
}

int import_memories(Context& context, const ImportOptions& options) {
  if (!options.from) throw Error::invalid("--from", std::string("is required: ") + kKnown);
  if (options.path == "-" && context.globals().passphrase_fd == std::uint64_t{0}) {
    throw Error::invalid("--passphrase-fd", "is standard input, which the items come from");
  }
  if (*options.from == "server-memory") return import_server_memory(context, options);
  if (*options.from == "jsonl") {
    return retain_lines(context, options.path, "PATH", "import", {}, options.allow_secret,
                        options.dry_run);
  }
  if (std::optional<ImportPlan> plan = plan_of(*options.from, options.path)) {
    return run_import(context, std::move(*plan), *options.from, options.dry_run,
                      options.allow_secret);
  }
  if (std::find(kLater.begin(), kLater.end(), *options.from) != kLater.end()) {
    throw Error(Code::unsupported, "This release does not import from " + *options.from + ".");
  }
  throw Error::invalid("--from", std::string("must be ") + kKnown);
}

}  // namespace

void add_import_command(Command& root) {
  const auto options = std::make_shared<ImportOptions>();
  Command command =
      root.command("import", "Take over memories from another store",
                   [options](Context& context) { return import_memories(context, *options); });
  command.option(
      "--from", "KIND", options->from,
      "server-memory (the reference memory server's file), jsonl (as for retain), or the "
      "export of mnemopi, hindsight, compartment or citadel");
  command.positional("PATH", options->path, "The file; \"-\" for standard input");
  command.flag("--dry-run", options->dry_run, "Say what would be mapped; store nothing");
  command.flag("--allow-secret", options->allow_secret, "Store what looks like a credential too");
}

}  // namespace strongroom::cli
