// Compartment: the lines of `compartment export --plaintext`.
#include "base/error.h"
#include "cli/import_formats.h"

namespace strongroom::cli {
namespace {

using service::MemoryType;
using service::RetainItem;

constexpr const char* kHow = "write it with \"compartment export --plaintext FILE\"";
constexpr TimeMs kDayMs = 86'400'000;

// Compartment ends a text with "[how it is known, when, until when]", which are members as well. A
// clause that is exactly theirs is taken off: what is left is what was said.
void take_clause_off(std::string& text, const std::string& source, const std::string& discovered,
                     const std::string& expires) {
  std::string clause = " [";
  if (!source.empty()) clause += source + ", ";
  clause += discovered;
  if (!expires.empty()) clause += ", until " + expires;
  clause += ']';
  if (discovered.empty() || text.size() <= clause.size()) return;
  const std::size_t at = text.size() - clause.size();
  if (text.compare(at, clause.size(), clause) == 0) text.erase(at);
}

// A day; nullopt for other words, which Compartment keeps as somebody wrote them.
std::optional<TimeMs> day_of(const std::string& text) {
  try {
    return service::parse_time(text, "day");
  } catch (const Error&) {
    return std::nullopt;
  }
}

// When it was said: the day it became known, unless that is the day it was stored, whose time is
// known better. The other one is kept beside it.
void read_times(RecordReader& line, RetainItem& item, const std::string& discovered) {
  const auto created = line.since_1970("created", 1);
  item.timestamp = created;
  keep_text(item, "discovered", discovered);
  const auto day = day_of(discovered);
  if (day && (!created || *day + kDayMs <= *created)) item.timestamp = day;
  if (created && item.timestamp != created) keep_text(item, "created", format_time(*created));
  if (const auto affirmed = line.since_1970("affirmed", 1)) {
    keep_text(item, "affirmed", format_time(*affirmed));
  }
  line.ignore({"created_local"});
  // The day it names still counts.
  const std::string last = line.text("expires");
  if (const auto last_day = day_of(last)) {
    item.expires_at = *last_day + kDayMs;
  } else {
    keep_text(item, "expires", last);
  }
}

// Its namespaces divide a vault; as tags they do so in a bank.
void read_labels(RecordReader& line, RetainItem& item) {
  item.tags = line.strings("tags");
  const std::string space = line.text("namespace");
  if (!space.empty() && space != "main") item.tags.push_back("namespace:" + space);
  item.importance = line.number("importance", 0, 1);
  item.type = MemoryType::world;
  const std::string kind = line.text("kind");
  if (!kind.empty() && kind != "fact") item.tags.push_back(kind);
}

// Whose it is: "host" is "seed" for the facts that every new vault is filled with.
std::string read_origin(RecordReader& line, RetainItem& item) {
  std::string pack = line.text("pack");
  if (const Json* const provenance = line.member("provenance")) {
    RecordReader members(*provenance, line.place() + ".provenance");
    if (pack.empty() && members.text("host") == "seed") pack = members.text("session");
    keep_json(item, "provenance", *provenance);
  }
  return pack;
}

void read_line(RecordReader& line, PlanBuilder& plan) {
  ImportPlan::Record record;
  record.place = line.place();
  record.key = line.required("id");
  RetainItem& item = record.item;
  item.content = line.required("text");
  item.context = line.text("source");
  const std::string discovered = line.text("discovered");
  take_clause_off(item.content, item.context, discovered, line.text("expires"));
  keep_text(item, "original_id", record.key);
  read_times(line, item, discovered);
  read_labels(line, item);
  const std::string pack = read_origin(line, item);
  record.replaced_by = line.text("superseded_by");
  record.retired = !record.replaced_by.empty();
  const bool quarantined = line.flag("quarantined");
  line.keep_rest(item);
  if (!pack.empty()) {
    return plan.skip(record.place, "is of the pack " + pack + ", no memory of yours");
  }
  if (quarantined) {
    return plan.skip(record.place, "is quarantined in Compartment; judge it there first");
  }
  plan.add(std::move(record));
}

}  // namespace

ImportPlan read_compartment(const LineFile& file) {
  PlanBuilder plan;
  file.each([&](const Line& line, std::string_view text) {
    if (line.number == 1) refuse_binary(text.substr(0, 4096), kHow);
    const Json object = Json::parse(text, line_name(line.number));
    RecordReader reader(object, line_name(line.number));
    read_line(reader, plan);
  });
  return plan.take();
}

}  // namespace strongroom::cli
