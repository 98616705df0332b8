// context: what an agent would be told first, for a person.
#include <memory>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::ProjectContext;

constexpr std::uint64_t kDefaultTokens = 1500;
constexpr std::uint64_t kMaxTokens = 100'000;

std::vector<std::string> tools() {
  return {"get_project_context",
          "agent_remember",
          "agent_recall",
          "agent_forget",
          "retain",
          "recall",
          "reflect",
          "memory_edit",
          "memory_get",
          "memory_link"};
}

std::string age_of(const service::ContextKey& key) {
  return format_age(now_ms() - key.updated);
}

void write_json(Output& out, const ProjectContext& context) {
  JsonWriter writer;
  writer.begin_object().member("bank", context.bank).member("chosen_by", context.chosen_by);
  write_strings(writer, "reads", context.reads);
  writer.key("counts").begin_object().member("entries", context.entries);
  writer.member("memories", context.memories).member("secrets", context.secrets).end_object();
  writer.key("keys").begin_array();
  for (const service::ContextKey& key : context.keys) {
    writer.begin_object().member("key", key.key);
    write_strings(writer, "tags", key.tags);
    writer.member("age", age_of(key)).end_object();
  }
  writer.end_array().member("keys_cut", context.keys_cut);
  writer.key("memories").begin_array();
  for (const service::ContextMemory& memory : context.context_memories) {
    writer.begin_object().member("id", memory.id).member("text", memory.text);
    writer.member("type", service::memory_type_name(memory.type));
    writer.member("mentioned_at", format_time(memory.mentioned_at));
    writer.member("bank", memory.bank).end_object();
  }
  writer.end_array().member("memories_cut", context.memories_cut);
  write_strings(writer, "may", context.may);
  writer.key("health").begin_object().member("vault", context.vault);
  write_strings(writer, "arms", context.arms);
  writer.member("erase_pending", context.erase_pending).member("anchor", context.anchor);
  writer.end_object();
  std::vector<std::string> notes = context.notes;
  if (!context.unlock_hint.empty()) notes.push_back(context.unlock_hint);
  write_strings(writer, "notes", notes);
  out.line(writer.end_object().text());
}

void write_keys(Output& out, const ProjectContext& context) {
  if (context.keys.empty()) return;
  out.line("");
  out.line(out.paint(Colour::bold, "Names, newest first"));
  for (const service::ContextKey& key : context.keys) {
    const std::string tags = key.tags.empty() ? std::string() : " [" + joined(key.tags) + "]";
    out.line(escape_for_display("- " + json_quoted(key.key) + tags + " (" + age_of(key) + ")"));
  }
  if (context.keys_cut > 0) {
    out.line(std::to_string(context.keys_cut) + " more; see strongroom ls");
  }
}

// The most important ones first, then the newest: as an agent gets them.
void write_memories(Output& out, const ProjectContext& context) {
  if (context.context_memories.empty()) return;
  out.line("");
  out.line(out.paint(Colour::bold, "Memories"));
  for (const service::ContextMemory& memory : context.context_memories) {
    out.line(escape_for_display("- " + memory.text + " [" +
                                std::string(service::memory_type_name(memory.type)) + "] (" +
                                day(memory.mentioned_at) + ") (id: " + memory.id + ")"));
  }
  if (context.memories_cut > 0) {
    out.line(std::to_string(context.memories_cut) + " more; see strongroom memories");
  }
}

void write_text(Output& out, const ProjectContext& context) {
  const auto line = [&](std::string_view title, std::string_view text) {
    out.line(std::string(title) + escape_for_display(text));
  };
  line("Bank:    ", context.bank + " (chosen by " + context.chosen_by + ")");
  line("Reads:   ", joined(context.reads));
  line("Stored:  ", counted(context.entries, "entry", "entries") + ", " +
                        counted(context.memories, "memory", "memories") + ", " +
                        counted(context.secrets, "secret", "secrets"));
  line("Vault:   ", context.vault + "; anchor: " + context.anchor);
  if (!context.may.empty()) line("Allowed: ", joined(context.may));
  if (!context.unlock_hint.empty()) line("", context.unlock_hint);
  for (const std::string& note : context.notes) line("Note:    ", note);
  write_keys(out, context);
  write_memories(out, context);
}

int show_context(Context& context, std::optional<std::uint64_t> max_tokens) {
  service::MemoryService service(context.service_options(kPrincipal, "cli"));
  const ProjectContext project =
      service.project_context(max_tokens.value_or(kDefaultTokens), context.bank(), tools());
  service.close();
  if (context.json()) {
    write_json(context.out(), project);
  } else {
    write_text(context.out(), project);
  }
  return 0;
}

}  // namespace

void add_context_command(Command& root) {
  const auto max_tokens = std::make_shared<std::optional<std::uint64_t>>();
  root.command("context",
               "Show the project's bank, its names and memories, and its health; never values",
               [max_tokens](Context& context) { return show_context(context, *max_tokens); })
      .number("--max-tokens", 0, kMaxTokens, *max_tokens,
              "Tokens that names and memories may take");
}

}  // namespace strongroom::cli
