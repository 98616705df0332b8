// retain: store memories, from the command line, from lines of JSON, from files.
#include "cli/retain.h"

#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/lines.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::ItemStatus;
using service::MemoryService;
using service::RetainedItem;
using service::RetainItem;
using service::RetainResult;

constexpr std::uint64_t kMaxPosition = (std::uint64_t{1} << 53) - 1;
constexpr int kSkipped = 2;

std::string no_name(std::size_t) {
  return {};
}

// A rejection's reason is what the caller of one item gets as its error.
Error rejection(const std::string& reason) {
  const std::string text = for_item(reason, no_name);
  if (text.compare(0, 13, "Policy Denied") == 0) return Error::verbatim(Code::denied, text);
  const std::string_view secret = "[secret_detected]";
  if (text.size() > secret.size() && text.substr(text.size() - secret.size()) == secret) {
    return Error::verbatim(Code::secret_detected, text);
  }
  return Error(Code::invalid, text);
}

void write_outcome(JsonWriter& writer, const RetainedItem& item) {
  writer.key("id");
  if (item.id.empty()) {
    writer.null();
  } else {
    writer.string(item.id);
  }
  writer.member("status", service::item_status_name(item.status));
  if (!item.reason.empty()) writer.member("reason", for_item(item.reason, no_name));
  if (item.memories > 1) writer.member("memories", item.memories);
  if (!item.document_id.empty()) writer.member("document_id", item.document_id);
}

void warn(const std::string& warning) {
  if (!warning.empty()) write_stderr("warning: " + escape_for_display(warning) + "\n");
}

// ---- one text

void show_retained(Context& context, const RetainResult& result) {
  const RetainedItem& item = result.items.front();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object();
    write_outcome(writer, item);
    writer.member("repeated", result.repeated).member("bank", result.bank);
    write_strings(writer, "notes", result.notes);
    context.out().line(writer.end_object().text());
    return;
  }
  std::string line;
  if (item.status == ItemStatus::quarantined) {
    line = "Kept for review, not recalled: ";
  } else if (item.status == ItemStatus::duplicate) {
    line = "Known already: ";
  } else {
    line = counted(item.memories, "memory", "memories") + " stored: ";
  }
  if (!item.document_id.empty()) line += json_quoted(item.document_id) + ", ";
  line += item.id;
  if (item.status == ItemStatus::stored && !item.reason.empty()) line += ", " + item.reason;
  context.out().line(escape_for_display(line));
  context.out().flush();
  if (!Terminal::is_terminal(2)) warn(result.warning);
  context.notes(result.notes);
}

int retain_text(Context& context, const RetainOptions& options) {
  if (options.arguments.size() > 1) {
    throw Error::invalid("command line", "has an argument too many");
  }
  std::optional<std::string> given;
  if (!options.arguments.empty()) given = options.arguments.front();
  service::RetainRequest request;
  request.items.push_back(item_of(options));
  RetainItem& item = request.items.front();
  item.content = given_text(context, given, "content", service::kMaxDocumentBytes);
  request.source = options.source.value_or(std::string());
  request.operation_id = options.operation_id.value_or(std::string());
  request.bank = context.bank();
  request.allow_secret = options.allow_secret;
  MemoryService service(context.service_options(kPrincipal, "cli"));
  RetainResult result;
  try {
    result = service.retain(request);
  } catch (const Error& error) {
    throw Error::verbatim(error.code(), for_item(error.text(), no_name));
  }
  service.close();
  const RetainedItem& outcome = result.items.front();
  if (outcome.status == ItemStatus::rejected) {
    throw rejection(outcome.reason);
  }
  show_retained(context, result);
  return 0;
}

// ---- the command

void refuse_with(const RetainOptions& options, bool lines) {
  const char* const form = lines ? "--jsonl" : "--file";
  const auto refuse = [&](bool given, const char* option) {
    if (given) throw Error::invalid(option, std::string("does not go with ") + form);
  };
  refuse(options.document_id.has_value(), "--document-id");
  refuse(options.operation_id.has_value(), "--operation-id");
  refuse(options.position.has_value(), "--position");
  if (!lines) return;
  refuse(!options.arguments.empty(), "TEXT");
  refuse(!options.files.empty(), "--file");
  refuse(!options.tags.empty(), "--tag");
  refuse(!options.entities.empty(), "--entity");
  refuse(!options.metadata.empty(), "--metadata");
  refuse(options.context.has_value(), "--context");
  refuse(options.type.has_value(), "--type");
  refuse(options.importance.has_value(), "--importance");
  refuse(options.timestamp.has_value(), "--timestamp");
  refuse(options.speaker.has_value(), "--speaker");
  refuse(options.occurred_start.has_value(), "--occurred-start");
  refuse(options.occurred_end.has_value(), "--occurred-end");
  refuse(options.expires_at.has_value(), "--expires-at");
  refuse(options.append, "--append");
}

int retain(Context& context, const RetainOptions& options) {
  if (options.jsonl) {
    refuse_with(options, true);
    return retain_lines(context, *options.jsonl, "--jsonl", "cli",
                        options.source.value_or(std::string()), options.allow_secret, false);
  }
  if (!options.files.empty()) {
    refuse_with(options, false);
    return retain_files(context, options);
  }
  return retain_text(context, options);
}

}  // namespace

RetainItem item_of(const RetainOptions& options) {
  RetainItem item;
  item.context = options.context.value_or(std::string());
  item.speaker = options.speaker.value_or(std::string());
  item.document_id = options.document_id.value_or(std::string());
  if (options.type) {
    item.type = service::parse_memory_type(*options.type);
    if (!item.type) throw Error::invalid("--type", "must be world, experience or observation");
  }
  item.tags = options.tags;
  item.entities = options.entities;
  item.metadata = parse_pairs(options.metadata, "--metadata");
  item.timestamp = parse_given_time(options.timestamp, "--timestamp");
  item.occurred_start = parse_given_time(options.occurred_start, "--occurred-start");
  item.occurred_end = parse_given_time(options.occurred_end, "--occurred-end");
  item.expires_at = parse_given_time(options.expires_at, "--expires-at");
  item.importance = options.importance;
  if (options.position) item.position = static_cast<std::int64_t>(*options.position);
  item.append = options.append;
  return item;
}

std::string given_text(Context& context, const std::optional<std::string>& given,
                       std::string_view field, std::size_t limit) {
  if (given && *given != "-") {
    context.hide_argument(*given);
    return *given;
  }
  if (context.globals().passphrase_fd == std::uint64_t{0}) {
    throw Error::invalid("--passphrase-fd", "is standard input, which the text comes from");
  }
  if (Terminal::is_terminal(0)) {
    if (context.globals().no_input) throw Error::invalid(field, "is missing");
    write_stderr("Type the text; Ctrl-D on a line of its own ends it.\n");
  }
  std::string text = read_all(0, limit, field);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// ---- many items

static std::string name_of(const ItemStore::Named& named) {
  if (named.line > 0) return line_name(named.line);
  return named.place.empty() ? named.item.document_id : named.place;
}

std::vector<service::RetainedItem> ItemStore::store(std::vector<Named> items) {
  service::RetainRequest request;
  request.source = source_;
  request.bank = context_.bank();
  request.allow_secret = allow_secret_;
  request.items.reserve(items.size());
  for (Named& named : items) {
    request.items.push_back(std::move(named.item));
    named.item.document_id = request.items.back().document_id;
  }
  RetainResult result;
  try {
    result = service_.retain(request);
  } catch (const Error& error) {
    throw Error::verbatim(error.code(), for_item(error.text(), [&](std::size_t i) {
                            if (i >= items.size()) return std::string("items");
                            return name_of(items[i]);
                          }));
  }
  for (std::size_t i = 0; i < result.items.size(); ++i) report(items[i], result.items[i]);
  // Once: the next call mostly has the same.
  if (!warned_) warn(result.warning);
  warned_ = warned_ || !result.warning.empty();
  // What is committed is said at once: a run that is cut off leaves a true list.
  context_.out().flush();
  return std::move(result.items);
}

void ItemStore::known(const Named& named, const std::string& id) {
  RetainedItem result;
  result.id = id;
  result.status = ItemStatus::duplicate;
  report(named, result);
}

void ItemStore::report(const Named& named, const RetainedItem& result) {
  switch (result.status) {
    case ItemStatus::stored:
      ++tally_.stored;
      tally_.memories += result.memories;
      break;
    case ItemStatus::duplicate: ++tally_.duplicates; break;
    case ItemStatus::rejected:
      ++tally_.rejected;
      if (!refused_) refused_ = rejection(result.reason).code();
      break;
    case ItemStatus::quarantined: ++tally_.quarantined; break;
  }
  if (context_.json()) {
    JsonWriter writer;
    writer.begin_object();
    if (named.line > 0) writer.member("line", named.line);
    if (!named.place.empty()) writer.member("at", named.place);
    write_outcome(writer, result);
    context_.out().line(writer.end_object().text());
  } else if (result.status == ItemStatus::rejected) {
    write_stderr(escape_for_display(name_of(named) + ": " + for_item(result.reason, no_name)) +
                 "\n");
  }
}

void ItemStore::skip(const std::string& name, const std::string& reason, bool problem) {
  ++tally_.skipped;
  problem_ = problem_ || problem;
  if (context_.json()) {
    JsonWriter writer;
    writer.begin_object().member("document_id", name).key("id").null();
    writer.member("status", "skipped").member("reason", reason);
    context_.out().line(writer.end_object().text());
  } else {
    write_stderr(escape_for_display(name + " is skipped: it " + reason) + "\n");
  }
}

std::string ItemStore::summary() const {
  std::string text = std::to_string(tally_.stored) + " stored";
  if (tally_.memories > tally_.stored) {
    text += " (" + counted(tally_.memories, "memory", "memories") + ")";
  }
  text += ", " + counted(tally_.duplicates, "duplicate", "duplicates");
  text += ", " + std::to_string(tally_.rejected) + " rejected";
  if (tally_.quarantined > 0) text += ", " + std::to_string(tally_.quarantined) + " quarantined";
  if (tally_.skipped > 0) text += ", " + std::to_string(tally_.skipped) + " skipped";
  return text;
}

int ItemStore::exit_code() const noexcept {
  if (problem_) return kSkipped;
  const bool nothing = committed() + tally_.quarantined == 0;
  return refused_ && nothing ? cli::exit_code(*refused_) : 0;
}

void add_retain_command(Command& root) {
  const auto o = std::make_shared<RetainOptions>();
  Command command = root.command("retain", "Store a memory; \"-\" reads it from standard input",
                                 [o](Context& context) { return retain(context, *o); });
  command.positionals("TEXT", o->arguments, "What to remember; after --file: more files");
  command.option("--jsonl", "FILE", o->jsonl,
                 "Items, a JSON object a line; \"-\" for standard input");
  command.list("--file", "PATH", o->files, "Text files and folders of them, each a document");
  command.option("--context", "TEXT", o->context, "What it was about or where it came from");
  command.option("--type", "TYPE", o->type, "world, experience or observation");
  command.list("--tag", "TAG", o->tags, "A label; may be repeated");
  command.list("--entity", "NAME", o->entities, "Who or what it is about; may be repeated");
  command.list("--metadata", "KEY=VALUE", o->metadata, "A pair to keep with it; may be repeated");
  command.real("--importance", 0, 1, o->importance, "0 to 1 (0.5); 1 never fades");
  command.option("--timestamp", "TIME", o->timestamp, "When it was said (now)");
  command.option("--occurred-start", "TIME", o->occurred_start, "When it happened");
  command.option("--occurred-end", "TIME", o->occurred_end, "Until when");
  command.option("--expires-at", "TIME", o->expires_at, "When to stop recalling it");
  command.option("--document-id", "ID", o->document_id, "The document that it is or belongs to");
  command.flag("--append", o->append, "Add to the document instead of replacing it");
  command.number("--position", 0, kMaxPosition, o->position, "Its place in the document");
  command.option("--speaker", "NAME", o->speaker, "Who said it");
  command.option("--source", "LABEL", o->source, "A free label");
  command.option("--operation-id", "ID", o->operation_id,
                 "A repeat with the same id stores nothing and gets the first answer");
  command.flag("--allow-secret", o->allow_secret, "Store what looks like a credential too");
}

}  // namespace strongroom::cli
