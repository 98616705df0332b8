#include "cli/recall_options.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "service/memory_service.h"

namespace strongroom::cli {
namespace {

constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 32;
constexpr std::uint64_t kChunkTokens = 8192, kFactTokens = 4096;  // where no number is given

// "a,b" and repeated options alike.
std::vector<std::string> split(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) words.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return words;
}

std::string array_of(const std::vector<std::string>& words) {
  JsonWriter writer;
  writer.begin_array();
  for (const std::string& word : words) writer.string(word);
  return writer.end_array().take();
}

class Members {
 public:
  void list(const char* name, const std::vector<std::string>& words) {
    if (!words.empty()) add(name, array_of(words));
  }
  void text(const char* name, const std::optional<std::string>& value) {
    if (value) add(name, json_quoted(*value));
  }
  void number(const char* name, const std::optional<std::uint64_t>& value) {
    if (value) add(name, std::to_string(*value));
  }
  // JSON that was typed: read first, so that it cannot end the object around it.
  void json(const char* name, const std::optional<std::string>& value, const char* option) {
    if (value) add(name, std::string(Json::parse(*value, option).raw()));
  }
  void yes(const char* name, bool value) {
    if (value) add(name, "true");
  }
  void add(const char* name, std::string json) { all_.emplace_back(name, std::move(json)); }
  SearchMembers take() { return std::move(all_); }

 private:
  SearchMembers all_;
};

std::string object_of(SearchMembers members) {
  JsonWriter writer;
  writer.begin_object();
  for (const auto& [name, json] : members) writer.key(name).raw(json);
  return writer.end_object().take();
}

std::string on(const char* name, std::uint64_t tokens) {
  return object_of({{name, std::to_string(tokens)}});
}

void add_include(Members& members, const RecallOptions& options) {
  SearchMembers include;
  if (options.chunks) include.emplace_back("chunks", on("max_tokens", *options.chunks));
  if (options.source_facts) {
    include.emplace_back("source_facts", on("max_tokens", *options.source_facts));
  }
  if (options.no_entities) {
    if (options.entities) {
      throw Error::invalid("--no-entities", "stands without --include-entities");
    }
    include.emplace_back("entities", "null");
  } else if (options.entities) {
    include.emplace_back("entities", on("max_tokens", *options.entities));
  }
  if (options.invalid) include.emplace_back("invalid", "true");
  if (!include.empty()) members.add("include", object_of(std::move(include)));
}

void add_window(Members& members, const RecallOptions& options) {
  Members window;
  window.text("start", options.window_start);
  window.text("end", options.window_end);
  SearchMembers both = window.take();
  if (!both.empty()) members.add("temporal_window", object_of(std::move(both)));
}

// A line that says "token_budget" replaces --max-tokens too, and one bank a scope of banks.
bool replaces(std::string_view member, std::string_view option) {
  if (member == "type_filter") return option == "types";
  if (member == "token_budget") return option == "max_tokens";
  return member == option || (member == "bank" && option == "scope");
}

service::SearchOptions parse(const std::string& text, const std::string& field) {
  const Json object = Json::parse(text);
  service::SearchOptions options = service::parse_search(object, field, false);
  // The service says the same; a batch is refused before any of it runs.
  const std::uint64_t tokens = service::count_tokens(options.request.query);
  if (tokens > service::kMaxQueryTokens) {
    throw Error::invalid(field.empty() ? "query" : field + ".query",
                         "has " + std::to_string(tokens) + " tokens, limit " +
                             std::to_string(service::kMaxQueryTokens));
  }
  return options;
}

}  // namespace

void describe_tags(Command& command, RecallOptions& o) {
  command.list("--tags", "TAGS", o.tag_lists, "Only memories with these tags; with commas");
  command.list("--tag", "TAG", o.tags, "One tag, which may hold a comma; may be repeated");
  command.choice("--tags-match", {"any", "any_strict", "all", "all_strict", "exact"}, o.tags_match,
                 "Which memories the tags let through");
}

void describe(Command& command, RecallOptions& o) {
  command.positional("QUERY", o.query, "A question, in 5 to 15 words");
  command.option("--batch", "FILE", o.batch,
                 "Searches, a JSON object a line ({\"qid\", \"query\", ...}); \"-\" for standard "
                 "input");
  command.list("--scope", "NAMES", o.scope, "Banks: global, project, or a name; with commas");
  command.list("--types,--fact-type", "TYPES", o.types,
               "world, experience, observation, permanent; with commas");
  describe_tags(command, o);
  command.option("--tag-groups", "JSON", o.tag_groups, "Tags joined by and, or, not");
  command.number("--limit", 1, service::kMaxResults, o.limit, "At most N results (30)");
  command.number("--max-tokens", 0, kMaxTokens, o.max_tokens, "Tokens of text, together (4096)");
  command.real("--min-score", 0, 1, o.min_score, "Nothing below this score (0.3); 0: everything");
  command.option("--min-scores", "JSON", o.min_scores, "{\"semantic\", \"keyword\", \"final\"}");
  command.choice("--budget", {"low", "mid", "high"}, o.budget, "How many candidates (mid)");
  command.option("--query-timestamp", "TIME", o.query_timestamp, "When it is asked (now)");
  command.option("--window-start", "TIME", o.window_start, "Only what happened from then on");
  command.option("--window-end", "TIME", o.window_end, "Only what happened until then");
  command.option("--as-of", "TIME", o.as_of, "From what was stored and valid then");
  command.number_or_alone("--include-chunks", kChunkTokens, kMaxTokens, o.chunks,
                          "The passages around the results, up to N tokens (8192)");
  command.number_or_alone("--include-source-facts", kFactTokens, kMaxTokens, o.source_facts,
                          "What observations rest on, up to N tokens (4096)");
  command.number("--include-entities", 0, kMaxTokens, o.entities, "Tokens for entities (500)");
  command.flag("--no-entities", o.no_entities, "No entities");
  command.flag("--include-invalid", o.invalid, "Superseded, invalidated and expired ones too");
  command.flag("--prefer-observations", o.prefer_observations, "Observations before their sources");
  command.flag("--trace", o.trace, "Say how the results came about");
  command.choice("--detail", {"compact", "full"}, o.detail, "Members of --json (full)");
  command.list("--arms", "NAMES", o.arms, "Only these ways to search: keyword, graph; with commas");
}

SearchMembers search_members(const RecallOptions& options) {
  Members members;
  members.list("scope", split(options.scope));
  members.list("types", split(options.types));
  std::vector<std::string> tags = split(options.tag_lists);
  tags.insert(tags.end(), options.tags.begin(), options.tags.end());
  members.list("tags", tags);
  members.text("tags_match", options.tags_match);
  members.json("tag_groups", options.tag_groups, "--tag-groups");
  members.number("limit", options.limit);
  members.number("max_tokens", options.max_tokens);
  if (options.min_score) {
    members.add("min_score", JsonWriter().number(*options.min_score).text());
  }
  members.json("min_scores", options.min_scores, "--min-scores");
  members.text("budget", options.budget);
  members.text("query_timestamp", options.query_timestamp);
  add_window(members, options);
  members.text("as_of", options.as_of);
  add_include(members, options);
  members.yes("prefer_observations", options.prefer_observations);
  members.yes("trace", options.trace);
  members.text("detail", options.detail);
  members.list("arms", split(options.arms));
  return members.take();
}

service::SearchOptions search_of(const SearchMembers& members, const std::string& query) {
  SearchMembers all = members;
  all.emplace_back("query", json_quoted(query));
  return parse(object_of(std::move(all)), {});
}

service::SearchOptions search_of(const SearchMembers& defaults, const Json& line,
                                 const std::string& field) {
  if (!line.is_object()) throw Error::invalid(field, "must be a JSON object");
  SearchMembers all;
  for (const Json::Member& member : line.members()) {
    if (member.name != "qid") all.emplace_back(member.name, std::string(member.value.raw()));
  }
  for (const auto& option : defaults) {
    const bool replaced = std::any_of(
        line.members().begin(), line.members().end(),
        [&](const Json::Member& member) { return replaces(member.name, option.first); });
    if (!replaced) all.push_back(option);
  }
  return parse(object_of(std::move(all)), field);
}

}  // namespace strongroom::cli
