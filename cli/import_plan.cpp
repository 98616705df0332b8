#include "cli/import_plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace strongroom::cli {
namespace {

using service::RetainItem;

constexpr std::size_t kNone = ~std::size_t{0};
constexpr double kFirstMs = -62135596800000.0;  // year 1
constexpr double kLastMs = 253402300799999.0;   // year 9999

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\v\f") == text.npos;
}

bool says_nothing(const Json& value) {
  return value.is_null() || (value.is_array() && value.items().empty()) ||
         (value.is_object() && value.members().empty()) ||
         (value.is_string() && value.as_string().empty());
}

}  // namespace

// ---- PlanBuilder

void PlanBuilder::fit_names(std::vector<std::string>& names, std::size_t most,
                            const std::string& place, const char* what) {
  std::vector<std::string> kept;
  std::unordered_set<std::string> seen;
  bool left_out = false;
  for (std::string& name : names) {
    if (is_blank(name)) continue;
    if (name.size() > service::kMaxNameBytes || kept.size() == most) {
      left_out = left_out || seen.count(name) == 0;
    } else if (seen.insert(name).second) {
      kept.push_back(std::move(name));
    }
  }
  if (left_out) {
    skip(place, std::string("has ") + what + " above 256 bytes or more than " +
                    std::to_string(most) + "; those are left out");
  }
  names = std::move(kept);
}

// The service would refuse the whole call for one of these.
void PlanBuilder::fit(ImportPlan::Record& record) {
  RetainItem& item = record.item;
  const std::string& place = record.place;
  fit_names(item.tags, 64, place, "tags");
  fit_names(item.entities, service::kMaxEntities, place, "entities");
  const auto fit_text = [&](std::string& text, std::size_t most, const char* what) {
    if (text.size() <= most) return;
    skip(place, std::string("has a ") + what + " above " + std::to_string(most) +
                    " bytes; it is left out");
    text.clear();
  };
  fit_text(item.context, service::kMaxContextBytes, "context");
  fit_text(item.speaker, service::kMaxNameBytes, "speaker");
  std::vector<std::pair<std::string, std::string>> kept;
  for (auto& pair : item.metadata) {
    if (pair.first.empty() || pair.first.size() > service::kMaxNameBytes ||
        pair.second.size() > service::kMaxMetadataBytes || kept.size() == service::kMaxMetadata) {
      skip(place, "has metadata that does not fit, " + json_quoted(pair.first.substr(0, 64)) +
                      "; it is left out");
    } else {
      kept.push_back(std::move(pair));
    }
  }
  item.metadata = std::move(kept);
  if (item.occurred_start && item.occurred_end && *item.occurred_start > *item.occurred_end) {
    skip(place, "ends before it begins; the end is left out");
    item.occurred_end.reset();
  }
}

void PlanBuilder::add(ImportPlan::Record record) {
  if (!record.key.empty()) {
    const auto [at, fresh] = numbers_.emplace(record.key, kNone);
    if (!fresh) throw Error::invalid(record.place, "has the id of a record before it");
  }
  const bool document = !record.item.document_id.empty();
  const std::size_t most = document ? service::kMaxDocumentBytes : service::kMaxContentBytes;
  if (is_blank(record.item.content)) return skip(record.place, "has no text");
  if (record.item.content.size() > most) {
    return skip(record.place, document ? "is a document above 16 MiB" : "is a text above 1 MiB");
  }
  if (record.item.document_id.size() > service::kMaxNameBytes) {
    return skip(record.place, "is a document with a name above 256 bytes");
  }
  fit(record);
  if (!record.key.empty()) numbers_[record.key] = plan_.records.size();
  plan_.records.push_back(std::move(record));
}

void PlanBuilder::retire(const std::string& place, const std::string& key,
                         const std::string& replaced_by) {
  const auto at = numbers_.find(key);
  if (at == numbers_.end() || at->second == kNone) {
    return skip(place, "replaces " + json_quoted(key) + ", which is not taken over");
  }
  plan_.records[at->second].retired = true;
  plan_.records[at->second].replaced_by = replaced_by;
}

ImportPlan PlanBuilder::take() {
  const auto known = [&](const std::string& key) {
    const auto at = numbers_.find(key);
    return at != numbers_.end() && at->second != kNone;
  };
  std::vector<ImportPlan::Link> links;
  for (ImportPlan::Link& link : plan_.links) {
    if (known(link.from) && known(link.to)) {
      links.push_back(std::move(link));
    } else {
      skip(link.place, "has a link " + json_quoted(link.relation) + " to " +
                           json_quoted(known(link.from) ? link.to : link.from) +
                           ", which is not taken over");
    }
  }
  plan_.links = std::move(links);
  for (ImportPlan::Record& record : plan_.records) {
    if (record.replaced_by.empty() || known(record.replaced_by)) continue;
    skip(record.place, "is replaced by " + json_quoted(record.replaced_by) +
                           ", which is not taken over; it is invalid without a replacement");
    record.replaced_by.clear();
  }
  return std::move(plan_);
}

// ---- RecordReader

RecordReader::RecordReader(const Json& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object.is_object()) throw Error::invalid(place_, "must be a JSON object");
}

void RecordReader::bad(std::string_view name, const std::string& why) const {
  throw Error::invalid(path(name), why);
}

const Json* RecordReader::member(std::string_view name) {
  const Json* const found = object_.find(name);
  if (found == nullptr) return nullptr;
  read_.insert(name);
  return found->is_null() ? nullptr : found;
}

std::string RecordReader::text(std::string_view name) {
  const Json* const found = member(name);
  if (found == nullptr) return {};
  if (!found->is_string()) bad(name, "must be a string");
  return found->as_string();
}

std::string RecordReader::required(std::string_view name) {
  if (member(name) == nullptr) bad(name, "is missing");
  return text(name);
}

bool RecordReader::flag(std::string_view name) {
  const Json* const found = member(name);
  if (found == nullptr) return false;
  if (!found->is_bool()) bad(name, "must be true or false");
  return found->as_bool();
}

std::optional<double> RecordReader::number(std::string_view name, double low, double high) {
  const Json* const found = member(name);
  if (found == nullptr) return std::nullopt;
  const std::optional<double> value = found->as_double();
  if (!value || *value < low || *value > high) bad(name, "must be a number in its range");
  return value;
}

std::vector<std::string> RecordReader::strings(std::string_view name) {
  const Json* const found = member(name);
  return found == nullptr ? std::vector<std::string>{} : string_list(*found, path(name));
}

std::optional<TimeMs> RecordReader::time(std::string_view name) {
  std::string value = text(name);
  if (value.empty()) return std::nullopt;
  if (value.size() > 10 && value[10] == ' ') value[10] = 'T';
  return service::parse_time(value, path(name));
}

std::optional<TimeMs> RecordReader::since_1970(std::string_view name, double a_second) {
  const std::optional<double> value = number(name, -1e18, 1e18);
  if (!value) return std::nullopt;
  const double ms = std::floor(*value / a_second * 1000);
  if (ms < kFirstMs || ms > kLastMs) bad(name, "is no time in the years 1 to 9999");
  return static_cast<TimeMs>(ms);
}

std::string RecordReader::key(std::string_view name) {
  const Json* const found = member(name);
  if (found == nullptr) return {};
  if (found->is_string()) return found->as_string();
  const std::optional<std::int64_t> number = found->as_int();
  if (!number) bad(name, "must be a string or a whole number");
  return std::to_string(*number);
}

void RecordReader::ignore(std::initializer_list<std::string_view> names) {
  read_.insert(names.begin(), names.end());
}

void RecordReader::keep_rest(RetainItem& item) {
  for (const Json::Member& other : object_.members()) {
    if (read_.count(other.name) == 0) keep_json(item, other.name, other.value);
  }
}

// ---- helpers

void keep_text(RetainItem& item, std::string_view name, std::string value) {
  if (value.empty()) return;
  const auto taken = [&](const std::string& wanted) {
    return std::find_if(item.metadata.begin(), item.metadata.end(),
                        [&](const auto& pair) { return pair.first == wanted; });
  };
  // A record and what a program put beside it may use one name for two things.
  std::string free(name);
  for (int n = 2; taken(free) != item.metadata.end(); ++n) {
    if (taken(free)->second == value) return;
    free = std::string(name) + "_" + std::to_string(n);
  }
  item.metadata.emplace_back(std::move(free), std::move(value));
}

void keep_json(RetainItem& item, std::string_view name, const Json& value) {
  if (says_nothing(value)) return;
  keep_text(item, name, value.is_string() ? value.as_string() : json_compact(value.raw()));
}

std::vector<std::string> string_list(const Json& list, const std::string& place) {
  if (!list.is_array()) throw Error::invalid(place, "must be a list of strings");
  std::vector<std::string> out;
  for (const Json& item : list.items()) {
    if (!item.is_string()) throw Error::invalid(place, "must be a list of strings");
    out.push_back(item.as_string());
  }
  return out;
}

}  // namespace strongroom::cli
