#include "service/json_members.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace strongroom::service {

namespace {

constexpr std::size_t kShownBytes = 64;  // of a name that the caller made up

bool contains(const JsonMembers::Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool plain(std::string_view name) {
  return !name.empty() && name.size() <= kShownBytes &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string_view::npos;
}

}  // namespace

std::string_view nearest_name(std::string_view name, const JsonMembers::Names& candidates) {
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

std::string quoted_choices(const JsonMembers::Names& choices) {
  std::string all;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) all += i + 1 == choices.size() ? " or " : ", ";
    all += json_quoted(choices[i]);
  }
  return all;
}

std::vector<std::string> json_strings(const Json& value, const std::string& path,
                                      std::size_t max_items, std::size_t max_bytes) {
  if (!value.is_array()) throw Error::invalid(path, "must be an array of strings");
  if (value.items().size() > max_items) {
    throw Error::invalid(path, "must have at most " + std::to_string(max_items) + " items");
  }
  std::vector<std::string> out;
  out.reserve(value.items().size());
  for (const Json& item : value.items()) {
    const std::string place = path + "[" + std::to_string(out.size()) + "]";
    if (!item.is_string()) throw Error::invalid(place, "must be a string");
    if (item.as_string().size() > max_bytes) {
      throw Error::too_large(place, item.as_string().size(), max_bytes);
    }
    out.push_back(item.as_string());
  }
  return out;
}

JsonMembers::JsonMembers(const Json& object, const Names& advertised, const Names& accepted,
                         std::string field)
    : object_(object), field_(std::move(field)) {
  if (!object.is_object()) {
    throw Error::invalid(field_.empty() ? "input" : field_, "must be an object");
  }
  for (const Json::Member& member : object.members()) {
    if (contains(advertised, member.name) || contains(accepted, member.name)) continue;
    // A path is read as one when its last step is plain; alone, the name needs its quotes.
    const std::string shown =
        !field_.empty() && plain(member.name)
            ? member.name
            : json_quoted(escape_for_display(utf8_prefix(member.name, kShownBytes)));
    Names known = advertised;
    known.insert(known.end(), accepted.begin(), accepted.end());
    throw Error::invalid(path(shown), "is not a known member; the nearest known one is " +
                                          json_quoted(nearest_name(member.name, known)));
  }
}

std::string JsonMembers::path(std::string_view name) const {
  return field_.empty() ? std::string(name) : field_ + "." + std::string(name);
}

const Json* JsonMembers::find(std::string_view name) const {
  const Json* member = object_.find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

std::optional<std::string_view> JsonMembers::string(std::string_view name) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (!member->is_string()) throw Error::invalid(path(name), "must be a string");
  if (member->as_string().empty()) return std::nullopt;
  return member->as_string();
}

std::string JsonMembers::text(std::string_view name) const {
  return std::string(string(name).value_or(std::string_view()));
}

std::string_view JsonMembers::required_string(std::string_view name) const {
  const Json* member = find(name);
  if (member == nullptr) throw Error::invalid(path(name), "is required");
  if (!member->is_string()) throw Error::invalid(path(name), "must be a string");
  if (member->as_string().empty()) throw Error::invalid(path(name), "must not be empty");
  return member->as_string();
}

std::optional<bool> JsonMembers::boolean(std::string_view name) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (!member->is_bool()) throw Error::invalid(path(name), "must be true or false");
  return member->as_bool();
}

std::optional<std::int64_t> JsonMembers::integer(std::string_view name, std::int64_t min,
                                                 std::int64_t max) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  const std::optional<std::int64_t> number = member->as_int();
  if (!number || *number < min || *number > max) {
    throw Error::invalid(path(name), "must be a whole number from " + std::to_string(min) + " to " +
                                         std::to_string(max));
  }
  return number;
}

std::optional<double> JsonMembers::number(std::string_view name, double min, double max) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  const std::optional<double> number = member->as_double();
  if (!number || !(*number >= min && *number <= max)) {
    JsonWriter limits;
    limits.begin_array().number(min).number(max).end_array();
    throw Error::invalid(path(name), "must be a number in " + limits.text());
  }
  return number;
}

std::optional<std::vector<std::string>> JsonMembers::strings(std::string_view name,
                                                             std::size_t max_items,
                                                             std::size_t max_bytes) const {
  const Json* member = find(name);
  if (member == nullptr) return std::nullopt;
  return json_strings(*member, path(name), max_items, max_bytes);
}

std::optional<std::size_t> JsonMembers::choice(std::string_view name, const Names& choices) const {
  const std::optional<std::string_view> given = string(name);
  if (!given) return std::nullopt;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == *given) return i;
  }
  throw Error::invalid(path(name), "must be " + quoted_choices(choices));
}

const Json* JsonMembers::object(std::string_view name) const {
  const Json* member = find(name);
  if (member != nullptr && !member->is_object()) {
    throw Error::invalid(path(name), "must be an object");
  }
  return member;
}

const Json* JsonMembers::array(std::string_view name) const {
  const Json* member = find(name);
  if (member != nullptr && !member->is_array()) {
    throw Error::invalid(path(name), "must be an array");
  }
  return member;
}

}  // namespace strongroom::service
