// Items to retain, as JSON.
#include <cstdlib>
#include <string>

#include "base/json.h"
#include "fuzz/fuzz.h"
#include "service/memory_json.h"
#include "service/memory_service.h"

using namespace strongroom;

FUZZ_TARGET(input) {
  Json json;
  if (!fuzz::accepts({Code::invalid}, [&] { json = Json::parse(input); })) return;
  service::RetainItem item;
  if (!fuzz::accepts({Code::invalid, Code::too_large},
                     [&] { item = service::parse_retain_item(json, "items[0]"); })) {
    return;
  }
  fuzz::require(!item.content.empty(), "an item has content");
  fuzz::require(item.tags.size() <= service::kMaxTags, "tags are few");
  for (const std::string& tag : item.tags) {
    fuzz::require(tag.size() <= service::kMaxTagBytes, "a tag is short");
  }
  fuzz::require(item.entities.size() <= service::kMaxEntities, "entities are few");
  for (const std::string& name : item.entities) {
    fuzz::require(name.size() <= service::kMaxNameBytes, "a name is short");
  }
  fuzz::require(item.metadata.size() <= service::kMaxMetadata, "metadata is small");
  if (item.importance) {
    fuzz::require(*item.importance >= 0 && *item.importance <= 1, "importance is in its range");
  }
  if (item.position) {
    fuzz::require(std::llabs(*item.position) < std::int64_t{1} << 53, "a position is exact");
  }
}
