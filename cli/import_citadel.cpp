// Citadel: it has no export command, and its encrypted regions are read by its library alone. A
// line is an atom with the members that the library gives it, or an edge ("src", "dst", "kind").
// docs/memories.md shows the few lines of Python that write them.
#include "base/error.h"
#include "cli/import_formats.h"

namespace strongroom::cli {
namespace {

using service::MemoryType;
using service::RetainItem;

constexpr const char* kHow =
    "write a region's atoms with Citadel's library, as docs/memories.md shows";
constexpr double kMicroseconds = 1e6;

std::optional<MemoryType> type_of(const std::string& kind) {
  if (kind == "fact") return MemoryType::world;
  for (const char* one : {"episode", "event", "message", "turn"}) {
    if (kind == one) return MemoryType::experience;
  }
  for (const char* one : {"observation", "reflection", "summary"}) {
    if (kind == one) return MemoryType::observation;
  }
  return std::nullopt;
}

// The payload is what the program that used Citadel put beside the text.
void read_payload(RecordReader& line, RetainItem& item) {
  const Json* const payload = line.member("payload");
  if (payload == nullptr) return;
  if (!payload->is_object()) return keep_json(item, "payload", *payload);
  RecordReader members(*payload, line.place() + ".payload");
  for (const char* const name : {"tags", "entities"}) {
    const Json* const list = payload->find(name);
    if (list == nullptr || !list->is_array()) continue;
    auto& into = name[0] == 't' ? item.tags : item.entities;
    into = members.strings(name);
  }
  members.keep_rest(item);
}

std::string atom_key(const std::string& region, const std::string& id) {
  return region.empty() ? id : region + "/" + id;
}

void read_atom(RecordReader& line, PlanBuilder& plan) {
  ImportPlan::Record record;
  record.place = line.place();
  const std::string id = line.key("id");
  if (id.empty()) line.bad("id", "is missing");
  const std::string region = line.text("region");
  record.key = atom_key(region, id);
  RetainItem& item = record.item;
  item.content = line.required("text");
  item.importance = line.number("importance", 0, 1);
  if (item.importance == 0.0) item.importance.reset();  // what Citadel has when nobody said any
  item.timestamp = line.since_1970("created_at", kMicroseconds);
  item.expires_at = line.since_1970("expires_at", kMicroseconds);
  read_payload(line, item);
  const std::string kind = line.required("kind");
  item.type = type_of(kind);
  if (!item.type) item.tags.push_back(kind);
  if (!item.type) item.type = MemoryType::world;
  keep_text(item, "original_id", id);
  keep_text(item, "region", region);
  if (line.flag("immutable")) keep_text(item, "immutable", "true");
  line.ignore({"relevance", "distance", "graph_depth"});  // of the query that found it
  line.keep_rest(item);
  plan.add(std::move(record));
}

struct Edge {
  std::string place, from, to, kind;
};

Edge read_edge(RecordReader& line, PlanBuilder& plan) {
  const std::string region = line.text("region");
  Edge edge{line.place(), line.key("src"), line.key("dst"), line.required("kind")};
  if (edge.from.empty() || edge.to.empty()) line.bad("src", "and dst must be ids of atoms");
  if (edge.kind.empty() || edge.kind.size() > service::kMaxNameBytes) {
    line.bad("kind", "must have 1 to 256 bytes");
  }
  edge.from = atom_key(region, edge.from);
  edge.to = atom_key(region, edge.to);
  const auto weight = line.number("weight", -1e9, 1e9);
  if (weight && *weight != 1) plan.skip(edge.place, "has a weight, which links do not have");
  return edge;
}

}  // namespace

ImportPlan read_citadel(const LineFile& file) {
  PlanBuilder plan;
  std::vector<Edge> edges;
  file.each([&](const Line& line, std::string_view text) {
    if (line.number == 1) refuse_binary(text.substr(0, 4096), kHow);
    const Json object = Json::parse(text, line_name(line.number));
    RecordReader reader(object, line_name(line.number));
    if (object.find("src") != nullptr) {
      edges.push_back(read_edge(reader, plan));
    } else {
      read_atom(reader, plan);
    }
  });
  for (Edge& edge : edges) {
    if (edge.kind == "supersedes") {
      plan.retire(edge.place, edge.to, edge.from);
    } else {
      plan.link({edge.place, edge.from, edge.to, edge.kind});
    }
  }
  return plan.take();
}

}  // namespace strongroom::cli
