// mnemopi: the object that `mnemopi export` writes, version 1.0. The knowledge graph and the
// extracted facts are not in it; they are derived from the memories.
#include <algorithm>

#include "base/error.h"
#include "cli/import_formats.h"

namespace strongroom::cli {
namespace {

using service::MemoryType;
using service::RetainItem;

constexpr const char* kHow = "write it with \"mnemopi export FILE\" and import that file";

// Its kinds of memory that are ours too; the others are kept as tags.
std::optional<MemoryType> type_of(const std::string& kind) {
  if (kind == "fact") return MemoryType::world;
  if (kind == "event") return MemoryType::experience;
  if (kind == "observation") return MemoryType::observation;
  return std::nullopt;
}

// mnemopi takes any number; what is outside our range is the nearest in it, and kept beside.
void read_importance(RecordReader& row, RetainItem& item) {
  item.importance = row.number("importance", -1e9, 1e9);
  if (!item.importance || (*item.importance >= 0 && *item.importance <= 1)) return;
  item.importance = std::clamp(*item.importance, 0.0, 1.0);
  keep_json(item, "importance", *row.peek("importance"));
}

// What a program put beside the text: labels that we have by those names, and the rest.
void read_metadata(RecordReader& row, RetainItem& item) {
  const std::string text = row.text("metadata_json");
  if (text.empty()) return;
  const std::string place = row.place() + ".metadata_json";
  const Json metadata = Json::parse(text, place);
  RecordReader members(metadata, place);
  item.tags = members.strings("tags");
  item.entities = members.strings("entities");
  item.context = members.text("context");
  members.keep_rest(item);
}

void read_state(RecordReader& row, ImportPlan::Record& record) {
  record.replaced_by = row.text("superseded_by");
  const auto until = row.time("valid_until");
  // Its "invalidate" with a replacement sets both: then the end is the replacement's.
  record.retired = !record.replaced_by.empty();
  if (!record.retired) record.item.expires_at = until;
}

void read_times(RecordReader& row, RetainItem& item) {
  const auto created = row.time("created_at");
  item.timestamp = row.time("timestamp");
  if (!item.timestamp) {
    item.timestamp = created;
  } else if (created && *created != *item.timestamp) {
    keep_text(item, "created_at", format_time(*created));
  }
  item.occurred_start = row.time("event_date");
}

// Columns that say no more than that nobody filled them in.
void ignore_defaults(RecordReader& row) {
  for (const auto& [name, value] : {std::pair("temporal_tags", "[]"),
                                    {"veracity", "unknown"},
                                    {"event_date_precision", "unknown"}}) {
    const Json* const found = row.peek(name);
    if (found != nullptr && found->is_string() && found->as_string() == value) row.ignore({name});
  }
  const Json* const recalls = row.peek("recall_count");
  if (recalls != nullptr && recalls->as_int() == 0) row.ignore({"recall_count"});
}

ImportPlan::Record read_row(RecordReader& row, bool episodic) {
  ImportPlan::Record record;
  record.place = row.place();
  record.key = row.required("id");
  RetainItem& item = record.item;
  item.content = row.required("content");
  read_importance(row, item);
  item.speaker = row.text("author_id");
  read_metadata(row, item);
  read_state(row, record);
  read_times(row, item);
  const std::string kind = row.text("memory_type");
  const std::string summarized = row.text("summary_of");
  item.type = type_of(kind);
  if (!item.type) {
    item.type = !summarized.empty() ? MemoryType::observation
                : episodic          ? MemoryType::experience
                                    : MemoryType::world;
    if (!kind.empty() && kind != "unknown") item.tags.push_back(kind);
  }
  row.ignore({"rowid"});
  ignore_defaults(row);
  keep_text(item, "original_id", record.key);
  row.keep_rest(item);
  return record;
}

void read_summarized(const std::string& ids, const ImportPlan::Record& record, PlanBuilder& plan) {
  for (std::size_t at = 0; at < ids.size();) {
    const std::size_t end = std::min(ids.find(',', at), ids.size());
    const std::string id = ids.substr(at, end - at);
    const std::size_t first = id.find_first_not_of(' ');
    if (first != id.npos) {
      plan.link({record.place, record.key, id.substr(first), "derived_from"});
    }
    at = end + 1;
  }
}

void read_rows(const Json& whole, const char* table, PlanBuilder& plan) {
  const Json* const rows = whole.find(table);
  if (rows == nullptr) return;
  if (!rows->is_array()) throw Error::invalid(table, "must be a list");
  for (std::size_t i = 0; i < rows->items().size(); ++i) {
    RecordReader row(rows->items()[i], table + ("[" + std::to_string(i) + "]"));
    ImportPlan::Record record = read_row(row, std::string_view(table) == "episodic_memory");
    read_summarized(row.text("summary_of"), record, plan);
    plan.add(std::move(record));
  }
}

void skip_rows(const Json& whole, const char* table, const char* why, PlanBuilder& plan) {
  const Json* const rows = whole.find(table);
  if (rows == nullptr || !rows->is_array()) return;
  for (std::size_t i = 0; i < rows->items().size(); ++i) {
    plan.skip(table + ("[" + std::to_string(i) + "]"), why);
  }
}

void check_version(const Json& whole) {
  const Json* const head = whole.find("mnemopi_export");
  if (head == nullptr) {
    throw Error::invalid("PATH", std::string("is no export of mnemopi; ") + kHow);
  }
  const std::string version = RecordReader(*head, "mnemopi_export").required("version");
  if (version.compare(0, 2, "1.") != 0) {
    throw Error(Code::unsupported, "This release imports version 1 of mnemopi's export only.");
  }
}

}  // namespace

ImportPlan read_mnemopi(const LineFile& file) {
  const std::string text = whole_json(file, kHow);
  const Json whole = Json::parse(text, "PATH");
  check_version(whole);
  PlanBuilder plan;
  read_rows(whole, "working_memory", plan);
  read_rows(whole, "episodic_memory", plan);
  skip_rows(whole, "scratchpad", "is a note of the scratchpad, no memory", plan);
  skip_rows(whole, "consolidation_log", "is mnemopi's record of its own work", plan);
  for (const Json::Member& other : whole.members()) {
    if (other.name == "mnemopi_export" || other.name == "working_memory" ||
        other.name == "episodic_memory" || other.name == "scratchpad" ||
        other.name == "consolidation_log") {
      continue;
    }
    if (!other.value.is_array() || !other.value.items().empty()) {
      plan.skip(other.name, "is a part of the export that has no place here");
    }
  }
  return plan.take();
}

}  // namespace strongroom::cli
