// A reflection as JSON.
#include "base/time.h"
#include "service/memory_json.h"

namespace strongroom::service {

namespace {

void write_strings(JsonWriter& writer, std::string_view name, const std::vector<std::string>& all) {
  writer.key(name).begin_array();
  for (const std::string& one : all) writer.string(one);
  writer.end_array();
}

void write_themes(JsonWriter& writer, const ReflectResult& result, bool full) {
  writer.key("themes").begin_array();
  for (const ReflectTheme& theme : result.themes) {
    writer.begin_object().member("label", theme.label).key("results").begin_array();
    for (const FoundMemory& found : theme.results) write_found_memory(writer, found, full);
    writer.end_array().end_object();
  }
  writer.end_array();
}

void write_timeline(JsonWriter& writer, const ReflectResult& result) {
  writer.key("timeline").begin_array();
  for (const ReflectMoment& moment : result.timeline) {
    writer.begin_object().member("time", format_time(moment.time));
    if (moment.end) writer.member("end", format_time(*moment.end));
    writer.member("of", moment.occurred ? "occurred" : "mentioned");
    writer.member("id", moment.id).end_object();
  }
  writer.end_array();
}

void write_superseded(JsonWriter& writer, const ReflectResult& result) {
  writer.key("superseded").begin_array();
  for (const FoundMemory& found : result.superseded) {
    writer.begin_object().member("id", found.id).member("text", found.text);
    writer.key("superseded_by");
    if (found.superseded_by.empty()) {
      writer.null();
    } else {
      writer.string(found.superseded_by);
    }
    writer.member("mentioned_at", format_time(found.mentioned_at)).end_object();
  }
  writer.end_array();
}

}  // namespace

void write_reflection(JsonWriter& writer, const ReflectResult& result, bool full,
                      std::uint64_t cut_by_size) {
  write_themes(writer, result, full);
  write_timeline(writer, result);
  writer.key("contradictions").begin_array();
  for (const Contradiction& pair : result.contradictions) {
    writer.begin_array().string(pair.newer).string(pair.older).end_array();
  }
  writer.end_array();
  write_superseded(writer, result);
  write_strings(writer, "gaps", result.gaps);
  write_strings(writer, "ids", result.ids);
  if (!full) {
    write_strings(writer, "banks", result.banks);
    const std::uint64_t cut = result.cut_results + cut_by_size;
    if (cut == 0) return;
    writer.key("cut").begin_object().member("by", cut_by_size > 0 ? "size" : "max_tokens");
    writer.member("results", cut).end_object();
    return;
  }
  SearchResult around;  // what stands around the results of any search
  around.arms = result.arms;
  around.tokens = result.tokens;
  around.cut_results = result.cut_results;
  around.banks = result.banks;
  around.as_of = result.as_of;
  around.abstained = result.abstained;
  around.best_score = result.best_score;
  write_search_members(writer, around, false, cut_by_size);
}

}  // namespace strongroom::service
