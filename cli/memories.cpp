// show, link: one memory or document, and what joins two.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/words.h"
#include "service/memory_json.h"

namespace strongroom::cli {
namespace {

using service::MemoryDetail;
using service::MemoryService;

// ---- show

struct ShowOptions {
  std::optional<std::string> id, document;
  bool raw = false;
};

// The whole text, in as many parts as the service gives it in.
MemoryDetail read_whole(MemoryService& service, service::GetMemoryRequest request) {
  request.max_bytes = ~std::uint64_t{0} >> 1;
  MemoryDetail detail = service.get_memory(request);
  while (detail.next_offset) {
    request.offset = *detail.next_offset;
    MemoryDetail more = service.get_memory(request);
    if (more.text.empty() && more.next_offset) break;
    detail.text += more.text;
    detail.next_offset = more.next_offset;
  }
  return detail;
}

class Sheet {
 public:
  explicit Sheet(Output& out) : out_(out) {}
  void line(std::string_view title, std::string_view text) {
    if (text.empty()) return;
    std::string head(title);
    head.resize(std::max(head.size() + 1, std::size_t{12}), ' ');
    out_.line(head + escape_for_display(text));
  }
  void line(std::string_view title, const std::optional<TimeMs>& time) {
    if (time) line(title, format_time(*time));
  }
  void heading(std::string_view text) {
    out_.line("");
    out_.line(out_.paint(Colour::bold, text));
  }

 private:
  Output& out_;
};

std::string state_of(const MemoryDetail& detail) {
  if (detail.memory.valid) return {};
  return detail.memory.superseded_by.empty() ? "no longer valid"
                                             : "superseded by " + detail.memory.superseded_by;
}

void show_head(Sheet& sheet, const MemoryDetail& detail) {
  const service::FoundMemory& memory = detail.memory;
  sheet.line("id:", detail.id);
  sheet.line("document:", detail.document_id);
  sheet.line("bank:", detail.bank);
  sheet.line("state:", detail.id.empty() ? std::string() : state_of(detail));
  if (!detail.id.empty()) {
    sheet.line("type:", service::memory_type_name(memory.type));
    sheet.line("importance:", JsonWriter().number(memory.importance).text());
    sheet.line("trend:", memory.trend);
  }
  sheet.line("tags:", joined(memory.tags));
  sheet.line("entities:", joined(memory.entities));
  sheet.line("context:", memory.context);
  sheet.line("speaker:", memory.speaker);
  for (const auto& [key, value] : memory.metadata) sheet.line("metadata:", key + "=" + value);
  if (!detail.id.empty()) sheet.line("mentioned:", format_time(memory.mentioned_at));
  sheet.line("happened:", memory.occurred_start);
  sheet.line("until:", memory.occurred_end);
  sheet.line("expires:", detail.expires_at);
  sheet.line("invalid:", detail.invalidated_at);
  std::string by = detail.principal;
  if (!detail.source_label.empty()) by += " (" + detail.source_label + ")";
  sheet.line("written by:", by);
  sheet.line("trust:", memory.trust);
}

void show_parts(Output& out, Sheet& sheet, const MemoryDetail& detail) {
  if (detail.parts.empty()) return;
  sheet.heading(counted(detail.parts_total, "memory", "memories"));
  for (const MemoryDetail::Part& part : detail.parts) {
    out.line(escape_for_display(part.id) + (part.removed ? " [removed]" : ""));
  }
}

void show_history(Output& out, Sheet& sheet, const MemoryDetail& detail) {
  if (detail.history.size() < 2) return;
  sheet.heading("History, newest first");
  for (const service::MemoryRevision& revision : detail.history) {
    out.line(std::to_string(revision.revision) + "  " + format_time(revision.updated) + "  " +
             escape_for_display(revision.principal) + "  " +
             counted(revision.bytes, "byte", "bytes") + (revision.valid ? "" : "  invalid"));
  }
}

std::string link_text(const service::MemoryLinkInfo& link) {
  std::string text = link.from + " --" + link.relation + "--> " + link.to;
  if (link.valid_from) text += ", from " + format_time(*link.valid_from);
  if (link.valid_until) text += ", until " + format_time(*link.valid_until);
  return text;
}

void show_sources(Output& out, Sheet& sheet, const MemoryDetail& detail) {
  if (detail.sources.empty()) return;
  sheet.heading("Rests on");
  for (const service::FoundSource& source : detail.sources) {
    for (const std::string& quote : source.quotes) {
      out.line(escape_for_display(source.id) + "  \"" + escape_for_display(quote) + "\"" +
               (source.valid ? "" : "  no longer valid"));
    }
  }
}

void show_links(Output& out, Sheet& sheet, const MemoryDetail& detail) {
  if (detail.links.empty()) return;
  sheet.heading("Links, newest first");
  for (const service::MemoryLinkInfo& link : detail.links) {
    out.line(escape_for_display(link_text(link)));
  }
  if (detail.links_total > detail.links.size()) {
    out.line(std::to_string(detail.links_total - detail.links.size()) + " more");
  }
}

void show_detail(Output& out, const MemoryDetail& detail) {
  Sheet sheet(out);
  show_head(sheet, detail);
  out.line("");
  out.line(display_lines(detail.text));
  show_parts(out, sheet, detail);
  show_sources(out, sheet, detail);
  show_history(out, sheet, detail);
  show_links(out, sheet, detail);
}

int show(Context& context, const ShowOptions& options) {
  if (options.id.has_value() == options.document.has_value()) {
    throw Error::invalid("show", "needs either ID or --document ID");
  }
  if (options.raw && context.json()) throw Error::invalid("--raw", "does not go with --json");
  service::GetMemoryRequest request;
  request.id = options.id.value_or(std::string());
  request.document_id = options.document.value_or(std::string());
  request.bank = context.bank();
  if (request.id.empty() && request.document_id.empty()) {
    throw Error::invalid(options.id ? "ID" : "--document", "must not be empty");
  }
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const MemoryDetail detail = read_whole(service, request);
  service.close();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object();
    service::write_memory_detail(writer, detail);
    write_strings(writer, "notes", detail.notes);
    context.out().line(writer.end_object().text());
    return 0;
  }
  if (options.raw) {
    context.out().bytes(detail.text);
    if (context.out().terminal()) context.out().bytes("\n");
  } else {
    show_detail(context.out(), detail);
    context.out().flush();
  }
  context.notes(detail.notes);
  return 0;
}

void add_show(Command& root) {
  const auto options = std::make_shared<ShowOptions>();
  Command command = root.command("show", "Show a memory or a document with its history and links",
                                 [options](Context& context) { return show(context, *options); });
  command.positional("ID", options->id, "Of a memory, as recall shows it");
  command.option("--document", "ID", options->document, "A document instead, by its id");
  command.flag("--raw", options->raw, "The text and nothing else");
}

// ---- link

struct LinkOptions {
  std::string from, to, relation;
  std::optional<std::string> valid_from, valid_until;
  bool remove = false;
};

int link(Context& context, const LinkOptions& options) {
  service::LinkRequest request;
  request.from = options.from;
  request.to = options.to;
  request.relation = options.relation;
  request.valid_from = parse_given_time(options.valid_from, "--valid-from");
  request.valid_until = parse_given_time(options.valid_until, "--valid-until");
  request.remove = options.remove;
  request.bank = context.bank();
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::LinkResult result = service.link_memories(request);
  service.close();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("status", result.status).key("link");
    service::write_link(writer, result.link);
    writer.member("bank", result.bank);
    write_strings(writer, "notes", result.notes);
    context.out().line(writer.end_object().text());
    return 0;
  }
  context.out().line(result.status + ": " + escape_for_display(link_text(result.link)));
  context.out().flush();
  context.notes(result.notes);
  return 0;
}

void add_link(Command& root) {
  const auto options = std::make_shared<LinkOptions>();
  Command command = root.command("link", "Link two memories or entities by a relation",
                                 [options](Context& context) { return link(context, *options); });
  command.positional("FROM", options->from, "Id of a memory, or name of an entity");
  command.positional("TO", options->to, "The same");
  command.positional("RELATION", options->relation, "Such as \"causes\" or \"works at\"");
  command.option("--valid-from", "TIME", options->valid_from, "Since when it holds");
  command.option("--valid-until", "TIME", options->valid_until, "Until when it holds");
  command.flag("--remove", options->remove, "Take the link away");
}

}  // namespace

void add_memory_commands(Command& root) {
  add_show(root);
  add_memory_edit_command(root);
  add_link(root);
}

}  // namespace strongroom::cli
