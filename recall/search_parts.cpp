// Names of what a search can leave out.
#include <array>
#include <utility>

#include "recall/search.h"

namespace strongroom::recall {
namespace {

constexpr std::array<std::pair<std::string_view, Part>, 11> kParts = {{
    {"previous", Part::previous},
    {"next", Part::next},
    {"further", Part::further},
    {"session", Part::session},
    {"speaker", Part::speaker},
    {"priors", Part::priors},
    {"links", Part::links},
    {"again", Part::again},
    {"copies", Part::copies},
    {"nearness", Part::nearness},
    {"margin", Part::margin},
}};

}  // namespace

std::optional<Part> part_named(std::string_view name) noexcept {
  for (const auto& [known, part] : kParts) {
    if (known == name) return part;
  }
  return std::nullopt;
}

}  // namespace strongroom::recall
