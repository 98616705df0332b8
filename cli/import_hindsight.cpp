// Hindsight: the archive of its document or bank transfer (ZIP, schema version 1), or the answer of
// its list of memories (JSON). An archive has a document with its facts to a file; observations,
// which follow from facts of several documents, are beside them.
#include <algorithm>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/import_formats.h"
#include "cli/zip_file.h"

namespace strongroom::cli {
namespace {

using service::MemoryType;
using service::RetainItem;

constexpr const char* kHow = "name an archive of its transfer export (ZIP) or its list of memories";
constexpr std::uint64_t kMaxArchive = std::uint64_t{1} << 30;  // unpacked, of what is read

bool starts(const std::string& text, std::string_view with) {
  return text.compare(0, with.size(), with) == 0;
}

std::string numbered(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

// ---- a fact, however it comes

void read_type(RecordReader& fact, RetainItem& item) {
  const char* const name = fact.member("fact_type") != nullptr ? "fact_type" : "type";
  const std::string type = fact.text(name);
  item.type = service::parse_memory_type(type);
  if (item.type) return;
  item.type = MemoryType::world;
  if (!type.empty()) item.tags.push_back(type);
}

void read_times(RecordReader& fact, RetainItem& item) {
  const auto created = fact.time("created_at");
  const auto event = fact.time(fact.member("event_date") != nullptr ? "event_date" : "date");
  item.occurred_start = fact.time("occurred_start");
  item.occurred_end = fact.time("occurred_end");
  item.timestamp = fact.time("mentioned_at");
  if (!item.timestamp) item.timestamp = event ? event : created;
}

// "Mara (PERSON), Basel" in the list of memories, a list of names in an archive.
void read_entities(RecordReader& fact, RetainItem& item) {
  const Json* const entities = fact.member("entities");
  if (entities == nullptr) return;
  if (!entities->is_string()) {
    item.entities = fact.strings("entities");
    return;
  }
  const std::string& text = entities->as_string();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size());
    std::string name = text.substr(at, end - at);
    const std::size_t kind = name.rfind(" (");
    if (kind != name.npos && kind > 0 && name.back() == ')') name.erase(kind);
    item.entities.push_back(std::move(name));
    at = end + 2;
  }
}

// An archive written without a codec has its JSON columns as text.
void read_metadata(RecordReader& fact, RetainItem& item) {
  const Json* const metadata = fact.member("metadata");
  if (metadata == nullptr) return;
  const std::string place = fact.place() + ".metadata";
  if (metadata->is_string() && !metadata->as_string().empty()) {
    const Json parsed = Json::parse(metadata->as_string(), place);
    RecordReader(parsed, place).keep_rest(item);
  } else if (!metadata->is_string()) {
    RecordReader(*metadata, place).keep_rest(item);
  }
}

ImportPlan::Record read_fact(RecordReader& fact) {
  ImportPlan::Record record;
  record.place = fact.place();
  RetainItem& item = record.item;
  item.content = fact.required("text");
  item.context = fact.text("context");
  item.tags = fact.strings("tags");
  read_type(fact, item);
  read_times(fact, item);
  read_entities(fact, item);
  read_metadata(fact, item);
  record.key = fact.text("id");
  if (record.key.empty()) record.key = fact.text("source_id");
  keep_text(item, "original_id", record.key);
  const std::string state = fact.text("state");
  record.retired = state == "invalidated";
  return record;
}

void finish(RecordReader& fact, ImportPlan::Record record, PlanBuilder& plan) {
  fact.keep_rest(record.item);
  plan.add(std::move(record));
}

// ---- the list of memories

void read_list_item(const Json& object, const std::string& place, bool retired, PlanBuilder& plan) {
  RecordReader fact(object, place);
  ImportPlan::Record record = read_fact(fact);
  record.retired = record.retired || retired;
  for (const std::string& source : fact.strings("source_memory_ids")) {
    plan.link({place, record.key, source, "derived_from"});
  }
  finish(fact, std::move(record), plan);
}

ImportPlan read_list(const LineFile& file) {
  const std::string text = whole_json(file, kHow);
  const Json whole = Json::parse(text, "PATH");
  const Json* const items = whole.find("items");
  if (items == nullptr || !items->is_array()) {
    throw Error::invalid("PATH", std::string("is no export of Hindsight; ") + kHow);
  }
  PlanBuilder plan;
  for (std::size_t i = 0; i < items->items().size(); ++i) {
    read_list_item(items->items()[i], numbered("items", i), false, plan);
  }
  RecordReader page(whole, "PATH");
  const double total = page.number("total", 0, 1e15).value_or(0);
  if (total > static_cast<double>(items->items().size())) {
    plan.skip("items", "is a page; the bank has " +
                           std::to_string(static_cast<std::uint64_t>(total)) +
                           " memories: import the other pages too");
  }
  return plan.take();
}

// ---- the archive

class Archive {
 public:
  explicit Archive(const ZipFile& zip) : zip_(zip) {}

  ImportPlan read() {
    check_manifest();
    each("documents/", [&](const std::string& name, const Json& json) { document(name, json); });
    each("observations.json", [&](const std::string& name, const Json& json) {
      rows(name, json, [&](const Json& row, const std::string& at) { observation(row, at); });
    });
    each("data/invalidated_memory_units.json", [&](const std::string& name, const Json& json) {
      rows(name, json,
           [&](const Json& row, const std::string& at) { read_list_item(row, at, true, plan_); });
    });
    list_others();
    return plan_.take();
  }

 private:
  template <class Use>
  void each(std::string_view prefix, const Use& use) {
    for (const ZipFile::Entry& entry : zip_.entries()) {
      if (!starts(entry.name, prefix) || entry.name.back() == '/') continue;
      if ((total_ += entry.size) > kMaxArchive) {
        throw Error::too_large("PATH", total_, kMaxArchive);
      }
      const std::string text = zip_.read(entry);
      use(entry.name, Json::parse(text, entry.name));
      seen_.push_back(entry.name);
    }
  }

  template <class Use>
  void rows(const std::string& name, const Json& list, const Use& use) {
    if (!list.is_array()) throw Error::invalid(name, "must be a list");
    for (std::size_t i = 0; i < list.items().size(); ++i) {
      use(list.items()[i], numbered(name, i));
    }
  }

  void check_manifest() {
    bool found = false;
    each("manifest.json", [&](const std::string& name, const Json& json) {
      found = true;
      RecordReader manifest(json, name);
      if (manifest.number("schema_version", 0, 1e9).value_or(1) != 1) {
        throw Error(Code::unsupported,
                    "This release imports schema version 1 of Hindsight's archives only.");
      }
    });
    if (!found) throw Error::invalid("PATH", std::string("is no archive of Hindsight; ") + kHow);
  }

  // Facts are known by their document and their number in it; only a whole bank has ids.
  static std::string fact_key(const std::string& document, std::size_t i) {
    return document + "#" + std::to_string(i);
  }

  void document(const std::string& name, const Json& json) {
    RecordReader reader(json, name);
    const std::string id = reader.required("id");
    if (!documents_.emplace(id, name).second) {
      throw Error::invalid(name, "has the id of a document before it");
    }
    const Json* const facts = reader.member("facts");
    const std::string list = name + ".facts";
    if (facts != nullptr) {
      std::size_t i = 0;
      rows(list, *facts, [&](const Json& row, const std::string& at) { fact(row, at, id, i++); });
    }
    text_of_document(reader, id);
  }

  void fact(const Json& row, const std::string& at, const std::string& document, std::size_t i) {
    RecordReader reader(row, at);
    ImportPlan::Record record = read_fact(reader);
    record.key = fact_key(document, i);
    keep_text(record.item, "document_id", document);
    if (const Json* const relations = reader.member("causal_relations")) {
      rows(at + ".causal_relations", *relations, [&](const Json& json, const std::string& place) {
        RecordReader relation(json, place);
        const auto target = relation.number("target_fact_index", 0, 1e9);
        if (!target) relation.bad("target_fact_index", "is missing");
        std::string kind = relation.required("relation_type");
        if (kind.empty() || kind.size() > service::kMaxNameBytes) {
          relation.bad("relation_type", "must have 1 to 256 bytes");
        }
        plan_.link({at, record.key, fact_key(document, static_cast<std::size_t>(*target)),
                    std::move(kind)});
      });
    }
    finish(reader, std::move(record), plan_);
  }

  // What the facts were taken from stays a document, whole and by its name.
  void text_of_document(RecordReader& reader, const std::string& id) {
    ImportPlan::Record record;
    record.place = reader.place();
    RetainItem& item = record.item;
    item.document_id = id;
    item.content = reader.text("original_text");
    item.tags = reader.strings("tags");
    item.timestamp = reader.time("created_at");
    item.type = MemoryType::world;
    reader.ignore({"chunks"});  // parts of the text, which is cut anew
    reader.keep_rest(item);
    plan_.add(std::move(record));
  }

  void observation(const Json& row, const std::string& at) {
    RecordReader reader(row, at);
    ImportPlan::Record record = read_fact(reader);
    record.item.type = MemoryType::observation;
    record.key = at;
    if (const Json* const sources = reader.member("sources")) {
      rows(at + ".sources", *sources, [&](const Json& json, const std::string& place) {
        RecordReader source(json, place);
        const std::string document = source.required("document_id");
        const auto index = source.number("fact_index", 0, 1e9);
        if (!index) source.bad("fact_index", "is missing");
        plan_.link({at, at, fact_key(document, static_cast<std::size_t>(*index)), "derived_from"});
      });
    }
    finish(reader, std::move(record), plan_);
  }

  void list_others() {
    for (const ZipFile::Entry& entry : zip_.entries()) {
      const bool empty = entry.size <= 3;  // "[]" and a line end
      if (empty || std::find(seen_.begin(), seen_.end(), entry.name) != seen_.end()) continue;
      plan_.skip(entry.name, "has no place here: only documents, facts and observations have");
    }
  }

  const ZipFile& zip_;
  PlanBuilder plan_;
  std::map<std::string, std::string> documents_;
  std::vector<std::string> seen_;
  std::uint64_t total_ = 0;
};

}  // namespace

ImportPlan read_hindsight(const std::string& path) {
  if (path != "-") {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    struct stat info {};
    const bool regular = fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode);
    if (regular && ZipFile::is_zip(fd.get())) {
      const ZipFile zip(std::move(fd), "PATH");
      return Archive(zip).read();
    }
  }
  return read_list(LineFile(path, "PATH"));
}

}  // namespace strongroom::cli
