// edit: change, invalidate, restore or forget a memory.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/editor.h"
#include "cli/erase.h"
#include "cli/retain.h"
#include "service/memory_json.h"

namespace strongroom::cli {
namespace {

using service::EditOp;
using service::EditRequest;
using service::MemoryService;

constexpr std::uint64_t kMaxRevision = ~std::uint64_t{0} >> 1;

struct EditOptions {
  std::string id;
  std::optional<std::string> content, replacement;
  std::optional<double> importance;
  std::optional<std::uint64_t> if_revision;
  std::vector<std::string> tags, metadata;
  bool no_tags = false, no_metadata = false, forget = false, invalidate = false, restore = false,
       erase = false, yes = false, allow_secret = false;

  bool changes() const {
    return content || importance || !tags.empty() || no_tags || !metadata.empty() || no_metadata;
  }
};

EditOp operation(const EditOptions& options) {
  const int others =
      int{options.forget || options.erase} + int{options.invalidate} + int{options.restore};
  if (others + int{options.changes()} > 1) {
    throw Error::invalid("edit",
                         "does one thing at a time: change, --forget, --invalidate or "
                         "--restore");
  }
  if (options.replacement && !options.invalidate) {
    throw Error::invalid("--replacement", "goes with --invalidate");
  }
  if (options.forget || options.erase) return EditOp::forget;
  if (options.invalidate) return EditOp::invalidate;
  return options.restore ? EditOp::restore : EditOp::update;
}

EditRequest request_of(Context& context, const EditOptions& options) {
  if (options.no_tags && !options.tags.empty()) {
    throw Error::invalid("--no-tags", "stands without --tag");
  }
  if (options.no_metadata && !options.metadata.empty()) {
    throw Error::invalid("--no-metadata", "stands without --metadata");
  }
  EditRequest request;
  request.op = operation(options);
  request.id = options.id;
  if (options.content) {
    request.content = given_text(context, options.content, "content", service::kMaxContentBytes);
  }
  request.importance = options.importance;
  if (options.no_tags || !options.tags.empty()) request.tags = options.tags;
  if (options.no_metadata || !options.metadata.empty()) {
    request.metadata = parse_pairs(options.metadata, "--metadata");
  }
  request.replacement_id = options.replacement.value_or(std::string());
  request.if_revision = options.if_revision;
  request.erase = options.erase;
  request.bank = context.bank();
  request.allow_secret = options.allow_secret;
  return request;
}

// The text in the user's editor; false when it came back as it was. The revision that was read must
// still be the current one, so that nobody's change is lost to a slow editor.
bool edit_text(Context& context, EditRequest& request) {
  if (!context.terminal().person()) {
    throw Error::invalid("edit", "needs an option that says what to change");
  }
  service::GetMemoryRequest get;
  get.id = request.id;
  get.bank = request.bank;
  get.max_bytes = service::kMaxContentBytes;
  service::MemoryDetail detail;
  {
    // The vault is not kept open while somebody thinks.
    MemoryService service(context.service_options(kPrincipal, "cli"));
    detail = service.get_memory(get);
    service.close();
  }
  if (detail.next_offset) {
    throw Error::invalid("edit", "cannot show so long a text; use --content -");
  }
  PrivateFile file("memory.txt", detail.text + "\n");
  std::string text = file.edit(service::kMaxContentBytes + 1);
  // An editor ends the last line.
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (text == detail.text) return false;
  request.content = std::move(text);
  if (!request.if_revision) request.if_revision = detail.revision;
  return true;
}

void show_edited(Context& context, const service::EditResult& result, const Erasure& erasure) {
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("status", result.status).member("id", result.id);
    writer.member("bank", result.bank);
    if (result.revision > 0) writer.member("revision", result.revision);
    write_strings(writer, "affected", result.affected);
    erasure.write(writer);
    write_strings(writer, "notes", result.notes);
    context.out().line(writer.end_object().text());
    return;
  }
  context.out().line(result.status + ": " + escape_for_display(result.id));
  for (const std::string& id : result.affected) {
    context.out().line("affected: " + escape_for_display(id));
  }
  erasure.print(context.out());
  context.out().flush();
  context.notes(result.notes);
}

int edit(Context& context, const EditOptions& options) {
  EditRequest request = request_of(context, options);
  if (request.op == EditOp::forget) {
    context.confirm(options.yes,
                    "Forget " + escape_for_display(json_quoted(options.id)) + " for good?", "edit");
  }
  if (request.op == EditOp::update && !options.changes() && !edit_text(context, request)) {
    if (!context.json()) context.out().line("Nothing was changed.");
    return 0;
  }
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::EditResult result = service.edit_memory(request);
  service.close();
  const Erasure erasure(context, result.bank, result.receipt);
  show_edited(context, result, erasure);
  return erasure.code();
}

}  // namespace

void add_memory_edit_command(Command& root) {
  const auto o = std::make_shared<EditOptions>();
  Command command =
      root.command("edit", "Change a memory; on a terminal without options, in $EDITOR",
                   [o](Context& context) { return edit(context, *o); });
  command.positional("ID", o->id, "As recall shows it");
  command.option("--content", "TEXT", o->content, "The new text; \"-\" for standard input");
  command.real("--importance", 0, 1, o->importance, "0 to 1; 1 never fades");
  command.list("--tag", "TAG", o->tags, "A label in place of those it has; may be repeated");
  command.flag("--no-tags", o->no_tags, "Take the tags away that it has");
  command.list("--metadata", "KEY=VALUE", o->metadata,
               "A pair in place of those it has; may be repeated");
  command.flag("--no-metadata", o->no_metadata, "Take the metadata away that it has");
  command.flag("--forget", o->forget, "Delete it for good");
  command.flag("--erase", o->erase,
               "Delete it so that it cannot be recovered from the vault's files");
  command.flag("--invalidate", o->invalidate, "Recall it no longer; --restore undoes it");
  command.option("--replacement", "ID", o->replacement, "What holds instead, with --invalidate");
  command.flag("--restore", o->restore, "Recall it again");
  command.number("--if-revision", 1, kMaxRevision, o->if_revision, "Only when it is at revision N");
  command.flag("--allow-secret", o->allow_secret, "Store what looks like a credential too");
  command.flag("--yes,-y", o->yes, "Do not ask");
}

}  // namespace strongroom::cli
