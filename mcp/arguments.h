// The arguments of a tool call, checked by hand: better words than a schema library has, and the
// same rules everywhere. Every failure is Code::invalid or too_large and names the member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace strongroom::mcp {

/// A view of the call's arguments; the Json must outlive it.
class Arguments {
 public:
  using Names = std::vector<std::string_view>;

  /// Refuses a member that is neither in `advertised` nor in `accepted`, naming the nearest
  /// advertised one.
  Arguments(const Json& object, const Names& advertised, const Names& accepted = {});

  /// The member, or nullptr; null counts as absent.
  const Json* find(std::string_view name) const;
  /// The member even when it is null.
  const Json* find_any(std::string_view name) const { return object_.find(name); }

  /// A string; an empty one counts as absent.
  std::optional<std::string_view> string(std::string_view name) const;
  /// A string of at least one byte.
  std::string_view required_string(std::string_view name) const;
  /// A whole number from `min` to `max`.
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min,
                                      std::int64_t max) const;
  /// A list of strings; an empty one is not absent.
  std::optional<std::vector<std::string>> strings(std::string_view name, std::size_t max_items,
                                                  std::size_t max_bytes) const;
  /// The index of a string among `choices`.
  std::optional<std::size_t> choice(std::string_view name, const Names& choices) const;

 private:
  const Json& object_;
};

/// The candidate with the fewest edits to `name`, the first of equals; one that begins with `name`
/// is one edit away.
std::string_view nearest_name(std::string_view name, const Arguments::Names& candidates);

}  // namespace strongroom::mcp
