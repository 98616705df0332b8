// Entities of a text, by a finder that has seen other texts and by a new one, and canonical forms.
#include "recall/entities.h"

#include <set>
#include <string>

#include "fuzz/fuzz.h"

using namespace strongroom;
using recall::Entity;
using recall::EntityFinder;
using recall::EntityKind;

FUZZ_TARGET(input) {
  static EntityFinder used;
  const std::string text = fuzz::valid_text(input);
  const auto& found = used.find(text);
  fuzz::require(found.size() <= recall::kEntities, "entities are few");
  std::set<std::string_view> seen;
  std::size_t begin = 0;
  for (const Entity& one : found) {
    fuzz::require(one.begin >= begin && one.end > one.begin && one.end <= text.size(),
                  "entities are in order and inside the text");
    begin = one.begin;
    const std::string shown = text.substr(one.begin, one.end - one.begin);
    fuzz::require(valid_utf8(shown), "no entity begins or ends inside a code point");
    fuzz::require(one.canonical == recall::canonical_entity(shown), "a form is that of its bytes");
    fuzz::require(!one.canonical.empty() && one.canonical.size() <= recall::kMaxEntityBytes,
                  "a form has its size");
    fuzz::require(seen.insert(one.canonical).second, "entities are distinct");
  }

  EntityFinder fresh;
  const auto& again = fresh.find(text);
  fuzz::require(again.size() == found.size(), "what was seen before does not matter");
  for (std::size_t i = 0; i < found.size(); ++i) {
    fuzz::require(again[i].begin == found[i].begin && again[i].end == found[i].end &&
                      again[i].kind == found[i].kind && again[i].canonical == found[i].canonical,
                  "what was seen before does not matter");
  }

  const std::string name = recall::canonical_entity(text);
  fuzz::require(valid_utf8(name), "a form is UTF-8");
  fuzz::require(recall::canonical_entity(name) == name, "a form is its own form");
  const std::size_t before = again.size();
  const auto& with = fresh.add_given(text);
  fuzz::require(with.size() <= before + 1, "one more at most");
  bool has = name.empty();
  for (const Entity& one : with) {
    has = has || (one.canonical == name && one.kind == EntityKind::given);
  }
  fuzz::require(has, "what is given is there");
}
