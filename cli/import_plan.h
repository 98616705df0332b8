// What the file of another store says, in our terms. It is read whole, and every record of it
// checked, before anything is stored: a bad record names its place, and nothing of the file is
// kept.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "service/memories.h"

namespace strongroom::cli {

struct ImportPlan {
  struct Record {
    std::string place;  // where the file says it: "line 3", "working_memory[2]"
    std::string key;    // what other records call it; empty: none can
    service::RetainItem item;
    bool retired = false;     // no longer so: it is stored, then invalidated
    std::string replaced_by;  // the key of what is so instead; empty: nothing
  };
  struct Link {
    std::string place, from, to, relation;  // keys
  };
  struct Skipped {
    std::string place, why;
  };
  std::vector<Record> records;
  std::vector<Link> links;
  std::vector<Skipped> skipped;
};

/// Collects a plan and keeps it within the limits of the service, which would refuse a whole call
/// for one record. What is left out for a limit is listed.
class PlanBuilder {
 public:
  /// Throws invalid when two records have the same key.
  void add(ImportPlan::Record record);
  void link(ImportPlan::Link link) { plan_.links.push_back(std::move(link)); }
  void skip(std::string place, std::string why) {
    plan_.skipped.push_back({std::move(place), std::move(why)});
  }
  /// The record `key` is no longer so. Said after all records; an unknown key is listed.
  void retire(const std::string& place, const std::string& key, const std::string& replaced_by);
  /// Links that lead nowhere are listed instead.
  ImportPlan take();

 private:
  void fit(ImportPlan::Record& record);
  void fit_names(std::vector<std::string>& names, std::size_t most, const std::string& place,
                 const char* what);

  ImportPlan plan_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of records, by key
};

/// The members of one record. A member of the wrong kind is invalid and named with its place; null
/// counts as absent. What nobody asked for becomes metadata, so that nothing is dropped.
class RecordReader {
 public:
  /// Throws invalid when `object` is none.
  RecordReader(const Json& object, std::string place);

  const std::string& place() const noexcept { return place_; }
  /// Without marking it as read; nullptr when absent.
  const Json* peek(std::string_view name) const { return object_.find(name); }
  /// Each marks the member as read.
  const Json* member(std::string_view name);
  std::string text(std::string_view name);
  std::string required(std::string_view name);
  bool flag(std::string_view name);
  std::optional<double> number(std::string_view name, double low, double high);
  std::vector<std::string> strings(std::string_view name);
  /// RFC 3339, or as SQLite writes it; an empty text counts as absent.
  std::optional<TimeMs> time(std::string_view name);
  /// Units since 1970, of which a second has `a_second`.
  std::optional<TimeMs> since_1970(std::string_view name, double a_second);
  /// A text or a whole number, as text.
  std::string key(std::string_view name);
  /// Members that say nothing that is not said elsewhere.
  void ignore(std::initializer_list<std::string_view> names);
  /// Adds what was not read to the item's metadata.
  void keep_rest(service::RetainItem& item);
  /// Invalid, with the place of the member.
  [[noreturn]] void bad(std::string_view name, const std::string& why) const;

 private:
  std::string path(std::string_view name) const { return place_ + "." + std::string(name); }

  const Json& object_;
  std::string place_;
  std::unordered_set<std::string_view> read_;
};

/// A pair of metadata, unless the value is empty or says nothing (null, {}, []).
void keep_text(service::RetainItem& item, std::string_view name, std::string value);
void keep_json(service::RetainItem& item, std::string_view name, const Json& value);
/// The strings of a list; anything else in it is invalid.
std::vector<std::string> string_list(const Json& list, const std::string& place);

}  // namespace strongroom::cli
