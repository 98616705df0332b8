#include "mcp/arguments.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace strongroom::mcp {

namespace {

constexpr std::size_t kShownBytes = 64;  // of a name that the caller made up

bool contains(const Arguments::Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view nearest_name(std::string_view name, const Arguments::Names& candidates) {
  name = utf8_prefix(name, kShownBytes);
  std::string_view best;
  std::size_t best_distance = ~std::size_t{0};
  for (const std::string_view candidate : candidates) {
    // An abbreviation is as near as a typing error.
    const bool begins = name.size() >= 2 && candidate.substr(0, name.size()) == name;
    const std::size_t distance = begins ? 1 : edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

Arguments::Arguments(const Json& object, const Names& advertised, const Names& accepted)
    : object_(object) {
  for (const Json::Member& member : object.members()) {
    if (contains(advertised, member.name) || contains(accepted, member.name)) continue;
    const std::string shown =
        json_quoted(escape_for_display(utf8_prefix(member.name, kShownBytes)));
    throw Error::invalid(shown, "is not a member of this tool's input; the nearest known name is " +
                                    json_quoted(nearest_name(member.name, advertised)));
  }
}

const Json* Arguments::find(std::string_view name) const {
  const Json* member = object_.find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

std::optional<std::string_view> Arguments::string(std::string_view name) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (!member->is_string()) throw Error::invalid(name, "must be a string");
  if (member->as_string().empty()) return std::nullopt;
  return member->as_string();
}

std::string_view Arguments::required_string(std::string_view name) const {
  const Json* member = find(name);
  if (member == nullptr) throw Error::invalid(name, "is required");
  if (!member->is_string()) throw Error::invalid(name, "must be a string");
  if (member->as_string().empty()) throw Error::invalid(name, "must not be empty");
  return member->as_string();
}

std::optional<std::int64_t> Arguments::integer(std::string_view name, std::int64_t min,
                                               std::int64_t max) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  const std::optional<std::int64_t> number = member->as_int();
  if (!number || *number < min || *number > max) {
    throw Error::invalid(
        name, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return number;
}

std::optional<std::vector<std::string>> Arguments::strings(std::string_view name,
                                                           std::size_t max_items,
                                                           std::size_t max_bytes) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  std::vector<std::string> out;
  if (!member->is_array()) throw Error::invalid(name, "must be an array of strings");
  if (member->items().size() > max_items) {
    throw Error::invalid(name, "must have at most " + std::to_string(max_items) + " items");
  }
  for (const Json& item : member->items()) {
    const std::string place = std::string(name) + "[" + std::to_string(out.size()) + "]";
    if (!item.is_string()) throw Error::invalid(place, "must be a string");
    if (item.as_string().size() > max_bytes) {
      throw Error::too_large(place, item.as_string().size(), max_bytes);
    }
    out.push_back(item.as_string());
  }
  return out;
}

std::optional<std::size_t> Arguments::choice(std::string_view name, const Names& choices) const {
  const std::optional<std::string_view> given = string(name);
  if (!given) return std::nullopt;
  std::string all;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == *given) return i;
    all += (i == 0 ? "\"" : " or \"") + std::string(choices[i]) + "\"";
  }
  throw Error::invalid(name, "must be " + all);
}

}  // namespace strongroom::mcp
