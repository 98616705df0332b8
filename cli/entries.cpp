// set, get, rm.
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/erase.h"
#include "cli/secrets.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::EntryClass;
using service::MemoryService;

constexpr std::uint64_t kMaxRevision = ~std::uint64_t{0} >> 1;

// ---- set

struct SetOptions {
  std::string key;
  std::optional<std::string> value, entry_class, operation_id;
  std::optional<std::uint64_t> ttl, if_revision;
  std::vector<std::string> tags;
  bool no_tags = false, json_value = false, allow_secret = false;
  ~SetOptions() {
    if (value) wipe(*value);
  }
};

SecretBytes value_to_store(Context& context, const SetOptions& set) {
  if (set.value && *set.value != "-") {
    context.hide_argument(*set.value);
    if (Terminal::is_terminal(2)) {
      write_stderr(
          "warning: a value on the command line is visible to other programs and stays in "
          "the shell's history; \"set KEY -\" reads standard input\n");
    }
    return SecretBytes(*set.value);
  }
  const bool typed = Terminal::is_terminal(0);
  if (!set.value && typed && set.entry_class == "secret" && context.terminal().person()) {
    auto value = context.terminal().ask_secret("Value: ");
    if (!value) throw Error::invalid("value", "is missing");
    return std::move(*value);
  }
  if (typed) {
    if (context.globals().no_input) throw Error::invalid("value", "is missing");
    write_stderr("Type the value; Ctrl-D on a line of its own ends it.\n");
  }
  if (context.globals().passphrase_fd == std::uint64_t{0}) {
    throw Error::invalid("--passphrase-fd", "is standard input, which the value comes from");
  }
  return read_secret(0, service::kMaxValueBytes, "value");
}

// The reader's own errors name the place by its members, which are part of the value.
Json parse_json(std::string_view text) {
  try {
    return Json::parse(text, "value");
  } catch (const Error&) {
    throw Error::invalid("value",
                         "is not one JSON value (UTF-8, no duplicate members, at most 64 levels)");
  }
}

// A JSON string is stored as its text, anything else as compact JSON: as over MCP.
SecretBytes parse_json_value(const SecretBytes& given, service::ValueForm& form) {
  const Json value = parse_json(given.view());
  if (value.is_string()) return SecretBytes(value.as_string());
  form = service::ValueForm::json;
  std::string compact = json_compact(value.raw());
  SecretBytes stored(compact);
  wipe(compact);
  return stored;
}

int set_entry(Context& context, SetOptions& set) {
  if (set.no_tags && !set.tags.empty()) throw Error::invalid("--no-tags", "stands without --tag");
  SecretBytes value = value_to_store(context, set);
  service::RememberRequest request;
  if (set.json_value) value = parse_json_value(value, request.form);
  request.key = set.key;
  request.value = value.view();
  // Without a word about them an entry keeps its tags.
  if (set.no_tags || !set.tags.empty()) request.tags = set.tags;
  if (set.ttl) request.ttl_seconds = static_cast<std::int64_t>(*set.ttl);
  if (set.entry_class) {
    request.entry_class = set.entry_class == "secret" ? EntryClass::secret : EntryClass::normal;
  }
  request.if_revision = set.if_revision;
  request.operation_id = set.operation_id.value_or(std::string());
  request.bank = context.bank();
  request.allow_secret = set.allow_secret;
  MemoryService service(context.service_options(kPrincipal, "cli"));
  const service::RememberResult result = service.remember(request);
  service.close();
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("key", result.key).member("revision", result.revision);
    writer.member("updatedAt", format_time(result.updated));
    writer.member("class", class_name(result.entry_class));
    writer.member("repeated", result.repeated).member("bank", result.place.bank);
    write_strings(writer, "notes", result.place.notes);
    context.out().line(writer.end_object().text());
  } else {
    context.out().line("Remembered " + escape_for_display(json_quoted(result.key)));
    context.notes(result.place.notes);
  }
  return 0;
}

void add_set(Command& root) {
  const auto set = std::make_shared<SetOptions>();
  Command command = root.command("set", "Store a value; \"-\" reads it from standard input",
                                 [set](Context& context) { return set_entry(context, *set); });
  command.alias("remember");
  command.positional("KEY", set->key, "Its name");
  command.positional("VALUE", set->value, "The value, or \"-\" for standard input");
  command.flag("--value-json", set->json_value, "The value is JSON");
  command.list("--tag", "TAG", set->tags, "A label in place of those it has; may be repeated");
  command.flag("--no-tags", set->no_tags, "Take the tags away that it has");
  command.number("--ttl", 1, service::kMaxTtlSeconds, set->ttl, "Forget it after N seconds");
  command.choice("--class", {"normal", "secret"}, set->entry_class, "\"secret\" for a credential");
  command.number("--if-revision", 0, kMaxRevision, set->if_revision,
                 "Store only when it is at revision N; 0: only when it is new");
  command.option("--operation-id", "ID", set->operation_id,
                 "A repeat with the same id stores nothing and gets the first answer");
  command.flag("--allow-secret", set->allow_secret,
               "Store what looks like a credential as an ordinary value");
}

// ---- get

void write_value_json(Context& context, const std::string& key, const service::RecalledValue& hit) {
  JsonWriter writer;
  writer.begin_object().member("key", key).key("value");
  if (hit.form == service::ValueForm::json) {
    writer.raw(hit.value.view());
  } else {
    writer.string(hit.value.view());
  }
  writer.member("revision", hit.revision).member("createdAt", format_time(hit.created));
  writer.member("updatedAt", format_time(hit.updated));
  if (hit.expires) writer.member("expiresAt", format_time(*hit.expires));
  writer.member("class", class_name(hit.entry_class)).member("bytes", hit.total_bytes);
  write_strings(writer, "tags", hit.tags);
  writer.member("writtenBy", hit.principal).member("source", hit.source);
  writer.member("bank", hit.place.bank);
  write_strings(writer, "notes", hit.place.notes);
  std::string line = writer.end_object().take();
  context.out().line(line);
  wipe(line);
}

int get_entry(Context& context, const std::string& key) {
  MemoryService service(context.service_options(kPrincipal, "cli"));
  service::RecallRequest request;
  request.key = key;
  request.bank = context.bank();
  const auto hit = service.recall(request);
  // The log first: nothing is shown that could not be written down.
  service.close();
  if (!hit) throw no_memory(key);
  if (context.json()) {
    write_value_json(context, key, *hit);
    return 0;
  }
  context.out().bytes(hit->value.view());
  if (context.out().terminal()) context.out().bytes("\n");
  context.notes(hit->place.notes);
  return 0;
}

void add_get(Command& root) {
  const auto key = std::make_shared<std::string>();
  root.command("get", "Write a value to standard output, nothing else",
               [key](Context& context) { return get_entry(context, *key); })
      .positional("KEY", *key, "Its name");
}

// ---- rm

struct RemoveOptions {
  std::string key;
  bool erase = false, yes = false;
};

int remove_entry(Context& context, const RemoveOptions& options) {
  const std::string quoted = escape_for_display(json_quoted(options.key));
  context.confirm(options.yes, "Forget " + quoted + " for good?", "rm");
  MemoryService service(context.service_options(kPrincipal, "cli"));
  service::ForgetRequest request;
  request.key = options.key;
  request.bank = context.bank();
  request.erase = options.erase;
  const service::ForgetResult result = service.forget(request);
  service.close();
  const Erasure erasure(context, result.place.bank, result.receipt);
  if (!result.found) throw no_memory(options.key);
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("key", options.key).member("bank", result.place.bank);
    erasure.write(writer);
    write_strings(writer, "notes", result.place.notes);
    context.out().line(writer.end_object().text());
  } else {
    context.out().line("Forgot " + quoted);
    erasure.print(context.out());
    context.notes(result.place.notes);
  }
  return erasure.code();
}

void add_rm(Command& root) {
  const auto options = std::make_shared<RemoveOptions>();
  Command command = root.command("rm", "Forget an entry and its history; there is no undo",
                                 [options](Context& c) { return remove_entry(c, *options); });
  command.alias("forget");
  command.positional("KEY", options->key, "Its name");
  command.flag("--erase", options->erase, "So that it cannot be recovered from the vault's files");
  command.flag("--yes,-y", options->yes, "Do not ask");
}

}  // namespace

void add_entry_commands(Command& root) {
  add_set(root);
  add_get(root);
  add_rm(root);
}

}  // namespace strongroom::cli
