// The members of a JSON object that a caller sent, checked by hand: better words than a schema
// library has, and the same rules for tools and for lines of a file. Every failure is Code::invalid
// or too_large and names the member by its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace strongroom::service {

/// A view of one object; the Json must outlive it.
class JsonMembers {
 public:
  using Names = std::vector<std::string_view>;

  /// Refuses a member that is neither in `advertised` nor in `accepted`, naming the nearest known
  /// one. `field` is the path of the object ("items[2]"), empty for the whole input.
  JsonMembers(const Json& object, const Names& advertised, const Names& accepted = {},
              std::string field = {});

  /// The member, or nullptr; null counts as absent.
  const Json* find(std::string_view name) const;
  /// The member even when it is null.
  const Json* find_any(std::string_view name) const { return object_.find(name); }
  /// The path of a member, for errors.
  std::string path(std::string_view name) const;

  /// A string; an empty one counts as absent.
  std::optional<std::string_view> string(std::string_view name) const;
  /// The same as a copy; empty when absent.
  std::string text(std::string_view name) const;
  /// A string of at least one byte.
  std::string_view required_string(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  /// A whole number from `min` to `max`.
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min,
                                      std::int64_t max) const;
  /// A number from `min` to `max`.
  std::optional<double> number(std::string_view name, double min, double max) const;
  /// A list of strings; an empty one is not absent.
  std::optional<std::vector<std::string>> strings(std::string_view name, std::size_t max_items,
                                                  std::size_t max_bytes) const;
  /// The index of a string among `choices`.
  std::optional<std::size_t> choice(std::string_view name, const Names& choices) const;
  /// An object, or nullptr; null counts as absent.
  const Json* object(std::string_view name) const;
  /// An array, or nullptr; null counts as absent.
  const Json* array(std::string_view name) const;

 private:
  const Json& object_;
  std::string field_;
};

/// The candidate with the fewest edits to `name`, the first of equals; one that begins with `name`
/// is one edit away.
std::string_view nearest_name(std::string_view name, const JsonMembers::Names& candidates);

/// `"a", "b" or "c"`.
std::string quoted_choices(const JsonMembers::Names& choices);

/// The strings of an array. `path` names it.
std::vector<std::string> json_strings(const Json& value, const std::string& path,
                                      std::size_t max_items, std::size_t max_bytes);

}  // namespace strongroom::service
