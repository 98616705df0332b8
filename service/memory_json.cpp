#include "service/memory_json.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "service/json_members.h"
#include "service/memory_service.h"

namespace strongroom::service {

namespace {

using Names = JsonMembers::Names;

constexpr std::int64_t kMaxExactInteger = (std::int64_t{1} << 53) - 1;
constexpr std::uint64_t kChunkTokens = 8192, kFactTokens = 4096, kEntityTokens = 500;
constexpr std::size_t kMaxScopes = 64;
constexpr std::size_t kMaxFilterTagBytes = 256;

const Names& type_words() {
  static const Names kWords = {"world", "experience", "observation", "permanent"};
  return kWords;
}

const Names& match_words() {
  static const Names kWords = {"any", "any_strict", "all", "all_strict", "exact"};
  return kWords;
}

std::optional<TimeMs> time_member(const JsonMembers& members, std::string_view name) {
  const std::optional<std::string_view> text = members.string(name);
  if (!text) return std::nullopt;
  return parse_time(*text, members.path(name));
}

// ---- search

// What is nested in a request, with the limits that hold for all of it together.
class TagGroupReader {
 public:
  std::vector<TagGroup> list(const Json& value, const std::string& path, int depth) {
    if (!value.is_array()) throw Error::invalid(path, "must be an array of tag groups");
    std::vector<TagGroup> groups;
    groups.reserve(value.items().size());
    for (const Json& item : value.items()) {
      groups.push_back(group(item, path + "[" + std::to_string(groups.size()) + "]", depth));
    }
    return groups;
  }

 private:
  TagGroup group(const Json& value, const std::string& path, int depth) {
    if (depth > kMaxTagGroupDepth) {
      throw Error::invalid(
          path, "is nested deeper than " + std::to_string(kMaxTagGroupDepth) + " levels");
    }
    if (++groups_ > kMaxFilterTags) {
      throw Error::invalid(path,
                           "is one of more than " + std::to_string(kMaxFilterTags) + " groups");
    }
    const JsonMembers members(value, {"tags", "match", "and", "or", "not"}, {}, path);
    const int forms = static_cast<int>(members.find("tags") != nullptr) +
                      static_cast<int>(members.find("and") != nullptr) +
                      static_cast<int>(members.find("or") != nullptr) +
                      static_cast<int>(members.find("not") != nullptr);
    if (forms != 1) {
      throw Error::invalid(path, "must have exactly one of \"tags\", \"and\", \"or\" and \"not\"");
    }
    if (members.find("tags") != nullptr) return leaf(members);
    if (members.find("match") != nullptr) {
      throw Error::invalid(members.path("match"), "belongs to \"tags\"");
    }
    return combination(members, depth);
  }

  TagGroup leaf(const JsonMembers& members) {
    TagGroup out;
    out.tags = *members.strings("tags", kMaxFilterTags, kMaxFilterTagBytes);
    tags_ += out.tags.size();
    if (tags_ > kMaxFilterTags) {
      throw Error::invalid(members.path("tags"),
                           "brings the filter above " + std::to_string(kMaxFilterTags) + " tags");
    }
    if (const auto match = members.choice("match", match_words())) {
      out.match = static_cast<TagMatch>(*match);
    }
    return out;
  }

  TagGroup combination(const JsonMembers& members, int depth) {
    TagGroup out;
    if (const Json* part = members.find("not")) {
      out.kind = TagGroup::Kind::none_of;
      out.parts.push_back(group(*part, members.path("not"), depth + 1));
      return out;
    }
    const bool all = members.find("and") != nullptr;
    const char* name = all ? "and" : "or";
    out.kind = all ? TagGroup::Kind::all_of : TagGroup::Kind::any_of;
    out.parts = list(*members.find(name), members.path(name), depth + 1);
    return out;
  }

  std::size_t groups_ = 0, tags_ = 0;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// A string, a list with commas, or an array.
std::vector<std::string> scope_member(const JsonMembers& members) {
  const Json* value = members.find("scope");
  if (value == nullptr) return {};
  const std::string path = members.path("scope");
  if (value->is_array()) return json_strings(*value, path, kMaxScopes, kMaxNameBytes);
  if (!value->is_string()) throw Error::invalid(path, "must be a string or an array of strings");
  std::vector<std::string> words;
  std::string_view rest = value->as_string();
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = trimmed(rest.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (words.size() > kMaxScopes) {
    throw Error::invalid(path, "must name at most " + std::to_string(kMaxScopes) + " banks");
  }
  return words;
}

void read_types(const JsonMembers& members, SearchRequest& request) {
  struct Types {
    std::vector<MemoryType> types;
    bool permanent = false;
  };
  std::optional<Types> chosen;
  for (const char* name : {"types", "type_filter"}) {
    const auto words = members.strings(name, kMaxFilterTags, kMaxNameBytes);
    if (!words) continue;
    Types read;
    parse_types(*words, members.path(name), read.types, read.permanent);
    if (chosen && (chosen->types != read.types || chosen->permanent != read.permanent)) {
      throw Error::invalid(members.path(name), "differs from \"types\", whose alias it is");
    }
    chosen = std::move(read);
  }
  if (!chosen) return;
  request.types = std::move(chosen->types);
  request.permanent = chosen->permanent;
}

void read_max_tokens(const JsonMembers& members, SearchRequest& request) {
  const auto chosen = members.integer("max_tokens", 0, kMaxExactInteger);
  const auto alias = members.integer("token_budget", 0, kMaxExactInteger);
  if (chosen && alias && *chosen != *alias) {
    throw Error::invalid(members.path("token_budget"),
                         "differs from \"max_tokens\", whose alias it is");
  }
  const auto tokens = chosen ? chosen : alias;
  if (tokens) request.max_tokens = static_cast<std::uint64_t>(*tokens);
}

// A date alone ends a window with its last millisecond: who writes "to 31 May" means that day too.
TimeMs end_of_window(std::string_view text, const std::string& path) {
  constexpr std::size_t kDateAlone = 10;
  constexpr TimeMs kDay = 86'400'000;
  const TimeMs time = parse_time(text, path);
  return text.size() == kDateAlone ? time + kDay - 1 : time;
}

void read_times(const JsonMembers& members, SearchRequest& request) {
  request.query_timestamp = time_member(members, "query_timestamp");
  request.as_of = time_member(members, "as_of");
  const Json* window = members.object("temporal_window");
  if (window == nullptr) return;
  const JsonMembers span(*window, {"start", "end"}, {}, members.path("temporal_window"));
  request.window_start = time_member(span, "start");
  if (const auto end = span.string("end")) {
    request.window_end = end_of_window(*end, span.path("end"));
  }
  if (request.window_start && request.window_end && *request.window_start > *request.window_end) {
    throw Error::invalid(span.path("start"), "must not be later than the end");
  }
}

// A part of `include`: an object switches it on, null off; nullopt as it is.
void read_part(const JsonMembers& include, std::string_view name, std::uint64_t usual,
               std::optional<std::uint64_t>& tokens) {
  const Json* part = include.find_any(name);
  if (part == nullptr) return;
  if (part->is_null()) {
    tokens.reset();
    return;
  }
  if (!part->is_object()) {
    throw Error::invalid(include.path(name), "must be an object (on), as in {\"max_tokens\": " +
                                                 std::to_string(usual) + "}, or null (off)");
  }
  const JsonMembers options(*part, {"max_tokens"}, {}, include.path(name));
  const auto given = options.integer("max_tokens", 0, kMaxExactInteger);
  tokens = given ? static_cast<std::uint64_t>(*given) : usual;
}

void read_include(const JsonMembers& members, SearchRequest& request) {
  const Json* object = members.object("include");
  if (object == nullptr) return;
  const JsonMembers include(*object, {"chunks", "source_facts", "entities", "invalid"}, {},
                            members.path("include"));
  read_part(include, "chunks", kChunkTokens, request.include_chunks);
  read_part(include, "source_facts", kFactTokens, request.include_source_facts);
  read_part(include, "entities", kEntityTokens, request.include_entities);
  request.find_entities = include.find_any("entities") != nullptr;
  request.include_invalid = include.boolean("invalid").value_or(false);
}

void read_arms(const JsonMembers& members, SearchRequest& request) {
  const auto arms = members.strings("arms", 16, kMaxNameBytes);
  if (!arms) return;
  for (std::size_t i = 0; i < arms->size(); ++i) {
    const std::string& arm = (*arms)[i];
    if (known_arm(arm)) continue;
    throw Error::invalid(members.path("arms") + "[" + std::to_string(i) + "]",
                         "must be \"keyword\", \"semantic\", \"temporal\" or \"graph\"");
  }
  request.arms = *arms;
}

void read_scores(const JsonMembers& members, SearchRequest& request) {
  request.min_score = members.number("min_score", 0, 1).value_or(request.min_score);
  const Json* object = members.object("min_scores");
  if (object == nullptr) return;
  const JsonMembers scores(*object, {"semantic", "keyword", "final"}, {},
                           members.path("min_scores"));
  request.min_scores.semantic = scores.number("semantic", 0, 1);
  request.min_scores.keyword = scores.number("keyword", 0, 1);
  request.min_scores.final = scores.number("final", 0, 1);
}

void read_budget(const JsonMembers& members, Budget& budget) {
  const auto chosen = members.choice("budget", {"low", "mid", "high"});
  if (chosen) budget = static_cast<Budget>(*chosen);
}

void read_tags(const JsonMembers& members, SearchRequest& request) {
  request.tags = members.strings("tags", kMaxFilterTags, kMaxFilterTagBytes)
                     .value_or(std::vector<std::string>());
  if (const auto match = members.choice("tags_match", match_words())) {
    request.tags_match = static_cast<TagMatch>(*match);
  }
  if (const Json* groups = members.find("tag_groups")) {
    request.tag_groups = TagGroupReader().list(*groups, members.path("tag_groups"), 1);
  }
}

}  // namespace

void parse_types(const std::vector<std::string>& words, const std::string& field,
                 std::vector<MemoryType>& types, bool& permanent) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "permanent") {
      permanent = true;
      continue;
    }
    const std::optional<MemoryType> type = parse_memory_type(words[i]);
    if (!type) {
      throw Error::invalid(field + "[" + std::to_string(i) + "]",
                           "must be " + quoted_choices(type_words()));
    }
    if (std::find(types.begin(), types.end(), *type) == types.end()) types.push_back(*type);
  }
  std::sort(types.begin(), types.end());
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_metadata(
    const Json& object, const std::string& field) {
  const Json* metadata = object.find("metadata");
  if (metadata == nullptr || metadata->is_null()) return std::nullopt;
  const std::string path = field.empty() ? "metadata" : field + ".metadata";
  if (!metadata->is_object()) throw Error::invalid(path, "must be an object");
  if (metadata->members().size() > kMaxMetadata) {
    throw Error::invalid(path, "must have at most " + std::to_string(kMaxMetadata) + " members");
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json::Member& member : metadata->members()) {
    if (!member.value.is_string()) throw Error::invalid(path, "must map names to strings");
    pairs.emplace_back(member.name, member.value.as_string());
  }
  return pairs;
}

RetainItem parse_retain_item(const Json& object, const std::string& field) {
  const JsonMembers members(object,
                            {"content", "context", "type", "tags", "timestamp", "entities",
                             "importance", "document_id", "metadata", "occurred_start",
                             "occurred_end", "update_mode", "position", "speaker", "expires_at"},
                            {}, field);
  RetainItem item;
  item.content = members.required_string("content");
  item.context = members.text("context");
  item.speaker = members.text("speaker");
  item.document_id = members.text("document_id");
  if (const auto word = members.string("type")) {
    item.type = parse_memory_type(*word);
    if (!item.type) {
      throw Error::invalid(members.path("type"),
                           "must be \"world\", \"experience\" or \"observation\"");
    }
  }
  item.tags = members.strings("tags", kMaxTags, kMaxTagBytes).value_or(item.tags);
  item.entities = members.strings("entities", kMaxEntities, kMaxNameBytes).value_or(item.entities);
  item.metadata = parse_metadata(object, field).value_or(item.metadata);
  item.timestamp = time_member(members, "timestamp");
  item.occurred_start = time_member(members, "occurred_start");
  item.occurred_end = time_member(members, "occurred_end");
  item.expires_at = time_member(members, "expires_at");
  item.importance = members.number("importance", 0, 1);
  item.position = members.integer("position", -kMaxExactInteger, kMaxExactInteger);
  item.append = members.choice("update_mode", {"replace", "append"}).value_or(0) == 1;
  return item;
}

ReflectRequest parse_reflect(const Json& object) {
  const JsonMembers members(
      object, {"query", "context", "budget", "max_tokens", "scope", "tags", "tags_match"},
      {"bank"});
  ReflectRequest request;
  request.query = members.required_string("query");
  request.context = members.text("context");
  request.scope = scope_member(members);
  request.bank = members.text("bank");
  SearchRequest shared;
  read_tags(members, shared);
  request.tags = std::move(shared.tags);
  request.tags_match = shared.tags_match;
  read_budget(members, request.budget);
  if (const auto tokens = members.integer("max_tokens", 0, kMaxExactInteger)) {
    request.max_tokens = static_cast<std::uint64_t>(*tokens);
  }
  return request;
}

SearchOptions parse_search(const Json& object, const std::string& field, bool batch) {
  Names accepted = {"type_filter",         "token_budget", "bank",   "tag_groups", "min_scores",
                    "prefer_observations", "trace",        "detail", "arms",       "without"};
  if (batch) accepted.emplace_back("qid");
  const JsonMembers members(
      object,
      {"query", "scope", "types", "tags", "tags_match", "limit", "max_tokens", "min_score",
       "budget", "query_timestamp", "temporal_window", "as_of", "include"},
      accepted, field);
  SearchOptions options;
  SearchRequest& request = options.request;
  request.query = members.required_string("query");
  request.scope = scope_member(members);
  request.bank = members.text("bank");
  read_types(members, request);
  read_tags(members, request);
  constexpr auto kMost = static_cast<std::int64_t>(kMaxResults);
  if (const auto limit = members.integer("limit", 1, kMost)) {
    request.limit = static_cast<std::size_t>(*limit);
  }
  read_max_tokens(members, request);
  read_scores(members, request);
  read_budget(members, request.budget);
  read_times(members, request);
  read_include(members, request);
  read_arms(members, request);
  request.without = members.strings("without", 16, kMaxNameBytes).value_or(request.without);
  request.prefer_observations = members.boolean("prefer_observations").value_or(false);
  request.trace = members.boolean("trace").value_or(false);
  if (const auto detail = members.choice("detail", {"compact", "full"}))
    options.full = *detail == 1;
  if (batch) options.qid = members.text("qid");
  return options;
}

}  // namespace strongroom::service
