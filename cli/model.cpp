// model ls, add, use, fill, rm: embedders beside the built-in one, and which bank uses them.
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/words.h"
#include "service/project.h"

namespace strongroom::cli {
namespace {

using service::BankVectors;
using service::ModelLine;
using service::VaultAdmin;

// The bank that was named, or the project's.
std::string bank_of(Context& context) {
  const Globals& globals = context.globals();
  return service::find_project(globals.project.value_or("."), globals.project.has_value(),
                               globals.bank.value_or(std::string()))
      .bank;
}

void write_model(Context& context, const ModelLine& model) {
  JsonWriter writer;
  writer.begin_object().member("id", model.id).member("kind", model.kind);
  writer.member("where", model.where).member("dimensions", model.dimensions);
  write_strings(writer, "banks", model.banks);
  context.out().line(writer.end_object().text());
}

int list_models(Context& context) {
  VaultAdmin admin(context.admin_options());
  Table models({"MODEL", "KIND", "DIMENSIONS", "WHERE", "USED BY"});
  for (const ModelLine& model : admin.models()) {
    if (context.json()) {
      write_model(context, model);
    } else {
      models.row({model.id, model.kind, std::to_string(model.dimensions),
                  escape_for_display(model.where), escape_for_display(joined(model.banks))});
    }
  }
  models.print(context.out());
  Table vectors({"BANK", "VECTORS OF", "PASSAGES", "WITHOUT", "ASKED"});
  for (const BankVectors& line : admin.bank_vectors()) {
    if (context.json()) {
      JsonWriter writer;
      writer.begin_object().member("bank", line.bank).member("model", line.model);
      writer.member("passages", line.passages).member("without", line.behind);
      context.out().line(writer.member("asked", line.used).end_object().text());
    } else {
      vectors.row({escape_for_display(line.bank), line.model, std::to_string(line.passages),
                   std::to_string(line.behind), line.used ? "yes" : "no"});
    }
  }
  if (!context.json()) context.out().line("");
  vectors.print(context.out());
  return 0;
}

struct AddOptions {
  std::optional<std::string> folder, shape, token_file, name;
  service::ModelSource source;
  std::optional<std::string> url;
};

int add_model(Context& context, AddOptions& options) {
  service::ModelSource& source = options.source;
  source.folder = options.folder.value_or(std::string());
  source.url = options.url.value_or(std::string());
  if (options.shape) source.shape = *options.shape;
  source.name = options.name.value_or(std::string());
  source.token_file = options.token_file.value_or(std::string());
  if (source.url.empty() &&
      (options.shape || options.name || options.token_file || source.allow_remote)) {
    throw Error::invalid("--url",
                         "is missing: --shape, --name, --token-file and --allow-remote "
                         "are an endpoint's");
  }
  const ModelLine model = VaultAdmin(context.admin_options()).add_model(source);
  if (context.json()) {
    write_model(context, model);
  } else {
    context.out().line("Added " + model.id + " (" + model.kind + ", " +
                       std::to_string(model.dimensions) +
                       " dimensions). A bank uses it after: strongroom model use " + model.id);
  }
  return 0;
}

int fill(Context& context, VaultAdmin& admin, const std::string& bank) {
  std::uint64_t made = 0;
  {
    Progress progress("model: passages");
    made = admin.fill_model(
        bank, [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
  }
  if (context.json()) {
    JsonWriter writer;
    writer.begin_object().member("bank", bank);
    context.out().line(writer.member("made", made).end_object().text());
  } else {
    context.out().line("Made vectors for " + counted(made, "passage", "passages") + " of " +
                       escape_for_display(json_quoted(bank)) + ".");
  }
  return 0;
}

struct UseOptions {
  std::string id;
  bool reranker = false, no_fill = false;
};

int use_model(Context& context, const UseOptions& options) {
  const std::string bank = bank_of(context);
  VaultAdmin admin(context.admin_options());
  const ModelLine model = admin.use_model(bank, options.id, options.reranker);
  if (!context.json()) {
    const bool none = options.id == "none" && options.reranker;
    context.out().line("The bank " + escape_for_display(json_quoted(bank)) +
                       (none ? std::string(" has no reranker") : " now uses " + model.id) + ".");
    context.out().flush();
  } else if (options.no_fill) {
    write_model(context, model);
  }
  if (options.no_fill || model.kind == "reranker") return 0;
  return fill(context, admin, bank);
}

int fill_model(Context& context) {
  VaultAdmin admin(context.admin_options());
  return fill(context, admin, bank_of(context));
}

int remove_model(Context& context, const std::string& id) {
  VaultAdmin(context.admin_options()).remove_model(id);
  if (context.json()) {
    JsonWriter writer;
    context.out().line(writer.begin_object().member("id", id).end_object().text());
  } else {
    context.out().line("Removed " + escape_for_display(id) + " and its vectors.");
  }
  return 0;
}

void describe_add(Command& group) {
  const auto options = std::make_shared<AddOptions>();
  service::ModelSource& source = options->source;
  Command add = group.command("add", "Add a model: a folder with a BERT encoder, or an endpoint",
                              [options](Context& context) { return add_model(context, *options); });
  add.positional("PATH", options->folder, "Folder with weights, vocabulary and configuration");
  add.option("--weights", "FILE", source.weights, "The weights' file in the folder");
  add.choice("--pooling", {"mean", "cls"}, source.pooling, "How tokens become one vector");
  add.option("--query-prefix", "TEXT", source.query_prefix, "Put before what is asked");
  add.option("--passage-prefix", "TEXT", source.passage_prefix, "Put before what is stored");
  add.number("--max-tokens", 8, 4096, source.max_tokens, "Of a text that the model reads");
  add.number("--heads", 1, 64, source.heads, "Attention heads, where the folder does not say");
  add.option("--curve", "LOW,HIGH", source.curve,
             "Cosines that are no and full evidence (measured)");
  add.option("--url", "URL", options->url, "The endpoint of an embedding server, in full");
  add.choice("--shape", {"ollama", "openai"}, options->shape, "How it is asked (ollama)");
  add.option("--name", "NAME", options->name, "The model's name at the server");
  add.option("--token-file", "FILE", options->token_file, "A bearer token (mode 0600)");
  add.flag("--allow-remote", source.allow_remote, "The endpoint may be on another machine (https)");
}

}  // namespace

void add_model_commands(Command& root) {
  Command group = root.group("model", "Models that say what texts mean");
  group.command("ls", "List the models, and the vectors of each bank", list_models);
  describe_add(group);
  const auto used = std::make_shared<UseOptions>();
  Command use = group.command("use", "Make a bank use a model, and make its vectors",
                              [used](Context& context) { return use_model(context, *used); });
  use.positional("ID", used->id, "A model, or \"none\": the built-in one alone");
  use.flag("--reranker", used->reranker, "With none: no reranker");
  use.flag("--no-fill", used->no_fill, "Make no vectors now");
  group.command("fill", "Make the vectors that a bank lacks", fill_model);
  const auto removed = std::make_shared<std::string>();
  group
      .command("rm", "Forget a model, and erase its vectors",
               [removed](Context& context) { return remove_model(context, *removed); })
      .positional("ID", *removed, "The model");
}

}  // namespace strongroom::cli
