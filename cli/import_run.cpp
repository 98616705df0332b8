#include "cli/import_run.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/retain.h"
#include "cli/words.h"

namespace strongroom::cli {
namespace {

using service::ItemStatus;
using service::MemoryService;
using service::RetainItem;

constexpr std::uint64_t kBytesACall = std::uint64_t{32} << 20;

// ---- what is said of the mapping

void report_skipped(Context& context, const ImportPlan& plan) {
  if (context.json()) {
    for (const ImportPlan::Skipped& skipped : plan.skipped) {
      JsonWriter writer;
      writer.begin_object().member("at", skipped.place).member("status", "skipped");
      context.out().line(writer.member("reason", skipped.why).end_object().text());
    }
    return;
  }
  // Other stores fill themselves with thousands of records of one kind: people get one line.
  std::map<std::string, std::pair<std::string, std::uint64_t>> by_reason;
  for (const ImportPlan::Skipped& skipped : plan.skipped) {
    ++by_reason.try_emplace(skipped.why, skipped.place, 0).first->second.second;
  }
  for (const auto& [why, first] : by_reason) {
    const std::string more =
        first.second == 1 ? "" : " (and " + counted(first.second - 1, "other", "others") + ")";
    context.out().line(escape_for_display(first.first + more + ": " + why));
  }
}

void write_time(JsonWriter& writer, const char* name, const std::optional<TimeMs>& time) {
  if (time) writer.member(name, format_time(*time));
}

void write_names(JsonWriter& writer, const char* name, const std::vector<std::string>& names) {
  if (names.empty()) return;
  writer.key(name).begin_array();
  for (const std::string& one : names) writer.string(one);
  writer.end_array();
}

// The members that `retain --jsonl` takes, so that what is shown can be kept and changed.
void write_item(JsonWriter& writer, const RetainItem& item) {
  writer.begin_object().member("content", item.content);
  if (!item.context.empty()) writer.member("context", item.context);
  if (!item.speaker.empty()) writer.member("speaker", item.speaker);
  if (!item.document_id.empty()) writer.member("document_id", item.document_id);
  if (item.type) writer.member("type", service::memory_type_name(*item.type));
  write_names(writer, "tags", item.tags);
  write_names(writer, "entities", item.entities);
  if (item.importance) writer.key("importance").number(*item.importance);
  write_time(writer, "timestamp", item.timestamp);
  write_time(writer, "occurred_start", item.occurred_start);
  write_time(writer, "occurred_end", item.occurred_end);
  write_time(writer, "expires_at", item.expires_at);
  if (!item.metadata.empty()) {
    writer.key("metadata").begin_object();
    for (const auto& [name, value] : item.metadata) writer.member(name, value);
    writer.end_object();
  }
  writer.end_object();
}

void show_records(Context& context, const ImportPlan& plan) {
  for (const ImportPlan::Record& record : plan.records) {
    JsonWriter writer;
    writer.begin_object().member("at", record.place).member("status", "mapped");
    if (record.retired) writer.member("invalid", true);
    if (!record.replaced_by.empty()) writer.member("replaced_by", record.replaced_by);
    writer.key("item");
    write_item(writer, record.item);
    context.out().line(writer.end_object().text());
  }
  for (const ImportPlan::Link& link : plan.links) {
    JsonWriter writer;
    writer.begin_object().member("at", link.place).member("status", "mapped");
    writer.key("link").begin_object().member("from", link.from).member("to", link.to);
    writer.member("relation", link.relation).end_object();
    context.out().line(writer.end_object().text());
  }
}

std::uint64_t retired_of(const ImportPlan& plan) {
  return static_cast<std::uint64_t>(
      std::count_if(plan.records.begin(), plan.records.end(),
                    [](const ImportPlan::Record& record) { return record.retired; }));
}

void show_mapping(Context& context, const ImportPlan& plan, bool dry_run) {
  report_skipped(context, plan);
  if (context.json()) {
    if (dry_run) show_records(context, plan);
    return;
  }
  std::map<std::string_view, std::uint64_t> types;
  for (const ImportPlan::Record& record : plan.records) {
    ++types[memory_type_name(record.item.type.value_or(service::MemoryType::world))];
  }
  std::string line = "mapped " + counted(plan.records.size(), "memory", "memories");
  for (const auto& [type, n] : types) {
    line += (type == types.begin()->first ? " (" : ", ") + std::to_string(n) + " ";
    line += type;
  }
  if (!types.empty()) line += ")";
  line += ", " + std::to_string(retired_of(plan)) + " of them invalid, ";
  line += counted(plan.links.size(), "link", "links");
  context.out().line(line + "; " + std::to_string(plan.skipped.size()) + " left out");
  if (dry_run) context.out().line("Nothing was stored.");
}

// ---- storing

std::string original_id(const std::vector<std::pair<std::string, std::string>>& metadata) {
  for (const auto& [name, value] : metadata) {
    if (name == "original_id") return value;
  }
  return {};
}

class Mover {
 public:
  Mover(Context& context, MemoryService& service, ItemStore& store, ImportPlan& plan)
      : context_(context), service_(service), store_(store), plan_(plan) {}

  // What is so goes first: a text that is both is stored as what is so. Links come before what is
  // retired, for an invalid memory takes none.
  void run() {
    find_absent();
    Progress progress("import");
    for (const bool retired : {false, true}) store_all(retired, progress);
    link_all();
    for (ImportPlan::Record* const record : fresh_retired_) retire(*record);
  }
  std::uint64_t linked() const noexcept { return linked_; }
  std::uint64_t retired() const noexcept { return invalidated_; }
  std::uint64_t unlinked() const noexcept { return unlinked_; }

 private:
  // Invalid and expired memories are no originals of a repeat. To take a file over twice without
  // storing these twice, they are looked up by their text.
  void find_absent() {
    const TimeMs now = now_ms();
    const auto absent = [&](const ImportPlan::Record& record) {
      return record.retired || (record.item.expires_at && *record.item.expires_at <= now);
    };
    if (std::none_of(plan_.records.begin(), plan_.records.end(), absent)) return;
    std::unordered_map<std::string, service::ListedMemory> known;
    service::ListMemoriesRequest request;
    request.bank = context_.bank();
    request.include_invalid = true;
    request.limit = 0;
    for (service::ListedMemory& memory : service_.list_memories(request).memories) {
      std::string text = memory.text;
      known.emplace(std::move(text), std::move(memory));
    }
    for (ImportPlan::Record& record : plan_.records) {
      const auto at = absent(record) ? known.find(record.item.content) : known.end();
      if (at != known.end()) repeats_.emplace(&record, at->second);
    }
  }

  void store_all(bool retired, Progress& progress) {
    std::vector<ImportPlan::Record*> call;
    std::uint64_t bytes = 0;
    const auto end_call = [&] {
      store_call(call);
      done_ += call.size();
      progress.update(done_, plan_.records.size());
      call.clear();
      bytes = 0;
    };
    for (ImportPlan::Record& record : plan_.records) {
      if (record.retired != retired) continue;
      const std::uint64_t more = record.item.content.size();
      if (call.size() == ItemStore::kItemsACall || bytes + more > kBytesACall) end_call();
      bytes += more;
      call.push_back(&record);
    }
    if (!call.empty()) end_call();
  }

  void store_call(const std::vector<ImportPlan::Record*>& records) {
    std::vector<ItemStore::Named> items;
    std::vector<ImportPlan::Record*> offered;
    for (ImportPlan::Record* const record : records) {
      const auto repeat = repeats_.find(record);
      if (repeat != repeats_.end()) {
        store_.known({0, {}, record->place}, repeat->second.id);
        ids_.emplace(record->key, repeat->second.id);
        if (record->retired && unfinished(*record, repeat->second)) {
          fresh_retired_.push_back(record);
        }
        continue;
      }
      items.push_back({0, std::move(record->item), record->place});
      offered.push_back(record);
    }
    if (items.empty()) return;
    const std::vector<service::RetainedItem> results = store_.store(std::move(items));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].id.empty()) ids_.emplace(offered[i]->key, results[i].id);
      // A repeat is another's memory, and stays what it is.
      if (offered[i]->retired && results[i].status == ItemStatus::stored) {
        fresh_retired_.push_back(offered[i]);
      }
    }
  }

  // A run that was cut off between storing and invalidating left this one valid, and nobody has
  // touched it since.
  bool unfinished(const ImportPlan::Record& record, const service::ListedMemory& memory) {
    if (!memory.valid) return false;
    service::GetMemoryRequest request;
    request.id = memory.id;
    request.bank = context_.bank();
    const service::MemoryDetail detail = service_.get_memory(request);
    return detail.revision == 1 && detail.source_kind == "import" &&
           original_id(detail.memory.metadata) == original_id(record.item.metadata);
  }

  void retire(const ImportPlan::Record& record) {
    service::EditRequest request;
    request.op = service::EditOp::invalidate;
    request.id = ids_.at(record.key);
    request.bank = context_.bank();
    const auto by = ids_.find(record.replaced_by);
    if (by != ids_.end() && by->second != request.id) request.replacement_id = by->second;
    service_.edit_memory(request);
    ++invalidated_;
  }

  void link_all() {
    for (const ImportPlan::Link& link : plan_.links) {
      const auto from = ids_.find(link.from), to = ids_.find(link.to);
      if (from == ids_.end() || to == ids_.end() || from->second == to->second) {
        unlinked(link, "one of its memories was not stored, or both are one");
        continue;
      }
      service::LinkRequest request;
      request.from = from->second;
      request.to = to->second;
      request.relation = link.relation;
      request.bank = context_.bank();
      try {
        report_link(link, service_.link_memories(request).status, "");
        ++linked_;
      } catch (const Error& error) {
        if (error.code() == Code::secret_detected) {
          unlinked(link, "its relation looks like a credential");
        } else if (error.code() == Code::not_found) {
          unlinked(link, "one of its memories is invalid or expired");
        } else {
          throw;
        }
      }
    }
  }

  void unlinked(const ImportPlan::Link& link, const char* why) {
    ++unlinked_;
    report_link(link, "skipped", why);
    if (!context_.json()) {
      context_.out().line(escape_for_display(link.place + ": a link " + json_quoted(link.relation) +
                                             " is left out: " + why));
    }
  }

  void report_link(const ImportPlan::Link& link, const std::string& status, const char* why) {
    if (!context_.json()) return;
    JsonWriter writer;
    writer.begin_object().member("at", link.place).member("status", status);
    writer.member("relation", link.relation);
    if (*why != '\0') writer.member("reason", why);
    context_.out().line(writer.end_object().text());
  }

  Context& context_;
  MemoryService& service_;
  ItemStore& store_;
  ImportPlan& plan_;
  std::unordered_map<std::string, std::string> ids_;  // of memories, by key
  std::unordered_map<const ImportPlan::Record*, service::ListedMemory> repeats_;
  std::vector<ImportPlan::Record*> fresh_retired_;
  std::uint64_t done_ = 0, linked_ = 0, unlinked_ = 0, invalidated_ = 0;
};

JsonWriter& begin_summary(JsonWriter& writer, const ImportPlan& plan, bool dry_run) {
  writer.begin_object().member("dry_run", dry_run);
  writer.member("memories", std::uint64_t{plan.records.size()});
  writer.member("invalid", retired_of(plan));
  return writer.member("links", std::uint64_t{plan.links.size()});
}

}  // namespace

int run_import(Context& context, ImportPlan plan, const std::string& kind, bool dry_run,
               bool allow_secret) {
  show_mapping(context, plan, dry_run);
  JsonWriter writer;
  begin_summary(writer, plan, dry_run);
  int code = 0;
  std::uint64_t skipped = plan.skipped.size();
  if (!dry_run) {
    MemoryService service(context.service_options(kPrincipal, "import"));
    ItemStore store(context, service, kind, allow_secret);
    Mover mover(context, service, store, plan);
    mover.run();
    service.close();
    code = store.exit_code();
    skipped += mover.unlinked();
    if (!context.json()) {
      context.out().line(store.summary() + "; " + std::to_string(mover.retired()) +
                         " invalidated, " + std::to_string(mover.linked()) + " linked");
    }
    const ItemStore::Tally& tally = store.tally();
    writer.member("stored", tally.stored).member("duplicates", tally.duplicates);
    writer.member("rejected", tally.rejected).member("invalidated", mover.retired());
    writer.member("linked", mover.linked());
  }
  if (context.json()) {
    context.out().line(writer.member("skipped", skipped).end_object().text());
  }
  return code;
}

}  // namespace strongroom::cli
