// ls, history.
#include <algorithm>
#include <limits>
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::MemoryService;

std::string age(TimeMs time) {
  return format_age(now_ms() - time);
}

// ---- ls

void write_entry(Output& out, const service::ListedEntry& entry) {
  JsonWriter writer;
  writer.begin_object().member("key", entry.key).member("revision", entry.revision);
  writer.member("updatedAt", format_time(entry.updated));
  if (entry.expires) writer.member("expiresAt", format_time(*entry.expires));
  writer.member("age", age(entry.updated));
  write_strings(writer, "tags", entry.tags);
  writer.member("bytes", entry.bytes).member("class", class_name(entry.entry_class));
  writer.member("bank", entry.bank);
  out.line(writer.end_object().text());
}

int list_entries(Context& context, const std::string& prefix, std::optional<std::uint64_t> limit) {
  MemoryService service(context.service_options(kPrincipal, "cli"));
  service::ListRequest request;
  request.prefix = prefix;
  request.bank = context.bank();
  request.include_secret = true;
  request.limit = limit && *limit <= service::kMaxListLimit ? static_cast<std::size_t>(*limit) : 0;
  service::ListResult list = service.list(request);
  service.close();
  std::vector<std::string> notes = list.place.notes;
  if (limit && list.entries.size() > *limit) {
    list.entries.resize(static_cast<std::size_t>(*limit));
    list.cursor.emplace();
  }
  if (list.cursor) notes.push_back("There are more names than --limit allows.");
  if (context.json()) {
    for (const service::ListedEntry& entry : list.entries) write_entry(context.out(), entry);
    return 0;
  }
  Table table({"NAME", "REVISION", "AGE", "BYTES", "CLASS", "TAGS", "BANK"});
  for (const service::ListedEntry& entry : list.entries) {
    table.row({entry.key, std::to_string(entry.revision), age(entry.updated),
               std::to_string(entry.bytes), std::string(class_name(entry.entry_class)),
               joined(entry.tags), entry.bank});
  }
  table.print(context.out());
  if (list.entries.empty()) {
    notes.insert(notes.begin(),
                 list.bank_empty ? "Nothing is stored." : "No name begins with that.");
  }
  context.out().flush();
  context.notes(notes);
  return 0;
}

void add_ls(Command& root) {
  struct Options {
    std::optional<std::string> prefix;
    std::optional<std::uint64_t> limit;
  };
  const auto options = std::make_shared<Options>();
  Command command =
      root.command("ls", "List the names, those of secrets included", [options](Context& c) {
        return list_entries(c, options->prefix.value_or(std::string()), options->limit);
      });
  command.positional("PREFIX", options->prefix, "Only names that begin so");
  command.number("--limit", 1, std::numeric_limits<std::uint32_t>::max(), options->limit,
                 "At most N names; all of them unless given");
}

// ---- history

int show_history(Context& context, const std::string& key) {
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const auto revisions = service.history(key, context.bank());
  service.close();
  if (!revisions) throw no_memory(key);
  Table table({"REVISION", "TIME", "BYTES", "CLASS", "BY", "SOURCE", "TAGS"});
  for (const service::Revision& revision : *revisions) {
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("revision", revision.revision);
      writer.member("updatedAt", format_time(revision.updated)).member("bytes", revision.bytes);
      writer.member("class", class_name(revision.entry_class));
      writer.member("writtenBy", revision.principal).member("source", revision.source);
      write_strings(writer, "tags", revision.tags);
      context.out().line(writer.end_object().text());
    } else {
      table.row({std::to_string(revision.revision), time_and_age(revision.updated),
                 std::to_string(revision.bytes), std::string(class_name(revision.entry_class)),
                 revision.principal, revision.source, joined(revision.tags)});
    }
  }
  if (!context.json()) table.print(context.out());
  return 0;
}

void add_history(Command& root) {
  const auto key = std::make_shared<std::string>();
  root.command("history", "Show the revisions of an entry, newest first, without values",
               [key](Context& context) { return show_history(context, *key); })
      .positional("KEY", *key, "Its name");
}

}  // namespace

void add_listing_commands(Command& root) {
  add_ls(root);
  add_history(root);
}

}  // namespace strongroom::cli
