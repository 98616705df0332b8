// The strict JSON reader, the compact form and the writer's re-flow.
#include "base/json.h"

#include <string>

#include "base/utf8.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

namespace {

bool same(const Json& a, const Json& b) {
  if (a.kind() != b.kind() || a.as_bool() != b.as_bool() || a.as_string() != b.as_string() ||
      a.as_int() != b.as_int() || a.as_double() != b.as_double() ||
      a.items().size() != b.items().size() || a.members().size() != b.members().size()) {
    return false;
  }
  if (a.is_number() && a.raw() != b.raw()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!same(a.items()[i], b.items()[i])) return false;
  }
  for (std::size_t i = 0; i < a.members().size(); ++i) {
    if (a.members()[i].name != b.members()[i].name) return false;
    if (!same(a.members()[i].value, b.members()[i].value)) return false;
  }
  return true;
}

void check_slices(const Json& value, int depth) {
  if (value.is_string()) fuzz::require(valid_utf8(value.as_string()), "strings are UTF-8");
  if (depth < 4) {
    fuzz::require(same(value, Json::parse(value.raw())), "a slice is its value");
  }
  for (const Json& item : value.items()) check_slices(item, depth + 1);
  for (const Json::Member& member : value.members()) {
    fuzz::require(value.find(member.name) == &member.value, "names are unique");
    check_slices(member.value, depth + 1);
  }
}

}  // namespace

FUZZ_TARGET(input) {
  Json json;
  if (!fuzz::accepts({Code::invalid}, [&] { json = Json::parse(input); })) return;
  fuzz::require(valid_utf8(input), "accepted text is UTF-8");
  check_slices(json, 0);
  const std::string compact = json_compact(input);
  fuzz::require(json_compact(compact) == compact, "the compact form is stable");
  fuzz::require(same(json, Json::parse(compact)), "the compact form is the same value");
  JsonWriter indented(JsonWriter::Style::indented);
  indented.raw(input);
  fuzz::require(json_compact(indented.text()) == compact, "re-flow keeps tokens");
  JsonWriter again(JsonWriter::Style::indented);
  again.raw(indented.text());
  fuzz::require(again.text() == indented.text(), "re-flow is stable");
  JsonWriter inside(JsonWriter::Style::indented);
  inside.begin_object().key("value").raw(input).member("after", true).end_object();
  Json whole;  // one level deeper, so the depth limit may refuse it
  if (fuzz::accepts({Code::invalid}, [&] { whole = Json::parse(inside.text()); })) {
    fuzz::require(same(*whole.find("value"), json), "re-flow inside an object keeps the value");
  }
}
