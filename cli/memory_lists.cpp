// memories, documents, tags.
#include <algorithm>
#include <limits>
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/erase.h"
#include "cli/words.h"
#include "service/memory_json.h"

namespace strongroom::cli {
namespace {

using service::MemoryService;

// What the other columns mostly take, and the least that is left for the text.
constexpr std::size_t kOtherColumns = 60, kLeastText = 30;

// ---- memories

struct ListOptions {
  std::vector<std::string> types, tags;
  std::optional<std::uint64_t> limit;
  bool invalid = false;
};

void show_memories(Context& context, const service::ListMemoriesResult& list) {
  Output& out = context.out();
  const std::size_t width = std::max(Terminal::columns(), kOtherColumns + kLeastText);
  Table table({"ID", "TYPE", "DATE", "IMPORTANCE", "TAGS", "STATE", "TEXT"});
  for (const service::ListedMemory& memory : list.memories) {
    table.row({memory.id, std::string(service::memory_type_name(memory.type)),
               day(memory.mentioned_at), JsonWriter().number(memory.importance).text(),
               joined(memory.tags), memory.valid ? "" : "invalid",
               out.terminal() ? shortened(memory.text, width - kOtherColumns) : memory.text});
  }
  table.print(out);
  std::vector<std::string> notes = list.notes;
  if (list.memories.empty()) notes.insert(notes.begin(), "No memories.");
  if (list.cursor) notes.push_back("There are more memories than --limit allows.");
  out.flush();
  context.notes(notes);
}

int list_memories(Context& context, const ListOptions& options) {
  service::ListMemoriesRequest request;
  request.bank = context.bank();
  bool permanent = false;
  service::parse_types(options.types, "--type", request.types, permanent);
  if (permanent) throw Error::invalid("--type", "must be world, experience or observation");
  request.tags = options.tags;
  request.tags_match = service::TagMatch::all_strict;
  request.include_invalid = options.invalid;
  const bool a_page = options.limit && *options.limit <= service::kMaxListLimit;
  request.limit = a_page ? static_cast<std::size_t>(*options.limit) : 0;
  MemoryService service(context.service_options(kPrincipal, "cli"));
  service::ListMemoriesResult list = service.list_memories(request);
  service.close();
  if (options.limit && list.memories.size() > *options.limit) {
    list.memories.resize(static_cast<std::size_t>(*options.limit));
    list.cursor.emplace();
  }
  if (!context.json()) {
    show_memories(context, list);
    return 0;
  }
  for (const service::ListedMemory& memory : list.memories) {
    JsonWriter writer;
    service::write_listed_memory(writer, memory);
    context.out().line(writer.text());
  }
  return 0;
}

void add_memories(Command& root) {
  const auto options = std::make_shared<ListOptions>();
  Command command =
      root.command("memories", "List the memories of the bank, newest first",
                   [options](Context& context) { return list_memories(context, *options); });
  command.list("--type", "TYPE", options->types, "Only of this type; may be repeated");
  command.list("--tag", "TAG", options->tags, "Only with this tag; repeated: with every one");
  command.flag("--include-invalid", options->invalid, "Invalidated and expired ones too");
  command.number("--limit", 1, std::numeric_limits<std::uint32_t>::max(), options->limit,
                 "At most N; all of them unless given");
}

// ---- documents

int list_documents(Context& context) {
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::ListDocumentsResult list = service.list_documents(context.bank());
  service.close();
  Table table({"DOCUMENT", "MEMORIES", "UPDATED", "TAGS", "BANK"});
  for (const service::ListedDocument& document : list.documents) {
    if (context.json()) {
      JsonWriter writer;
      service::write_listed_document(writer, document);
      context.out().line(writer.text());
    } else {
      table.row({document.document_id, std::to_string(document.memories), day(document.updated),
                 joined(document.tags), document.bank});
    }
  }
  if (context.json()) return 0;
  table.print(context.out());
  context.out().flush();
  std::vector<std::string> notes = list.notes;
  if (list.documents.empty()) notes.insert(notes.begin(), "No documents.");
  context.notes(notes);
  return 0;
}

int delete_document(Context& context, const std::string& id, bool erase, bool yes) {
  const std::string quoted = json_quoted(id);
  context.confirm(yes, "Forget the document " + escape_for_display(quoted) + " for good?",
                  "documents --delete");
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::DeleteDocumentResult result = service.delete_document(id, context.bank(), erase);
  service.close();
  const Erasure erasure(context, result.bank, result.receipt);
  if (!result.found) throw Error(Code::not_found, "There is no document " + quoted + ".");
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("document_id", id).member("memories", result.memories);
    writer.member("bank", result.bank);
    erasure.write(writer);
    write_strings(writer, "notes", result.notes);
    context.out().line(writer.end_object().text());
    return erasure.code();
  }
  context.out().line("Forgot the document " + escape_for_display(quoted) + ", " +
                     counted(result.memories, "memory", "memories"));
  erasure.print(context.out());
  context.out().flush();
  context.notes(result.notes);
  return erasure.code();
}

void add_documents(Command& root) {
  struct Options {
    std::optional<std::string> remove;
    bool erase = false, yes = false;
  };
  const auto options = std::make_shared<Options>();
  Command command =
      root.command("documents", "List the documents of the bank", [options](Context& context) {
        if (options->remove) {
          return delete_document(context, *options->remove, options->erase, options->yes);
        }
        if (options->erase) throw Error::invalid("--erase", "goes with --delete");
        return list_documents(context);
      });
  command.option("--delete", "ID", options->remove, "Forget this document and its memories");
  command.flag("--erase", options->erase,
               "With --delete: so that they cannot be recovered from the vault's files");
  command.flag("--yes,-y", options->yes, "Do not ask");
}

// ---- tags

int list_tags(Context& context) {
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::ListTagsResult list = service.list_tags(context.bank());
  service.close();
  Table table({"TAG", "MEMORIES"});
  for (const service::ListedTag& tag : list.tags) {
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("tag", tag.tag).member("memories", tag.memories);
      context.out().line(writer.end_object().text());
    } else {
      table.row({tag.tag, std::to_string(tag.memories)});
    }
  }
  if (context.json()) return 0;
  table.print(context.out());
  context.out().flush();
  context.notes(list.notes);
  return 0;
}

}  // namespace

void add_memory_list_commands(Command& root) {
  add_memories(root);
  add_documents(root);
  root.command("tags", "List the tags of memories, most used first", list_tags);
}

}  // namespace strongroom::cli
