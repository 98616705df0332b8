// Typed links between memories, or between memories and entities (docs/format.md, "link"). A link
// is one record; every end has pages that list its links, so that a hub of many links costs a page
// a change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vault/bank.h"

namespace strongroom::vault {

/// An end: a memory's first record id, or an entity's name (when memory is 0).
struct LinkEnd {
  RecordId memory = 0;
  std::string entity;
  friend bool operator==(const LinkEnd&, const LinkEnd&) = default;
};

struct Link {
  RecordId id = 0;
  LinkEnd from, to;
  std::string relation;  // "supersedes", "similar", "quotes", or the caller's
  std::optional<TimeMs> valid_from, valid_until;
  /// What `from` quotes of `to`. Here, so that it goes with either of them.
  std::vector<std::string> quotes;
  TimeMs created = 0;
  std::string principal;
};

/// A page of the links of one end.
inline constexpr std::size_t kLinksPerPage = 100;
struct LinkPage {
  LinkEnd end;
  RecordId previous = 0;        // the page before, with older links; 0 = none
  std::vector<RecordId> links;  // ascending
};
/// What a record of kind link is. Throws corrupt. For verify.
std::variant<Link, LinkPage> open_link_record(BankRead& bank, RecordId id, SecretBytes& plain);
/// The names of kind link: of an end, which leads to its newest page, and of a link.
std::string end_name(const LinkEnd& end);
std::string link_name(const LinkEnd& from, const LinkEnd& to, std::string_view relation);

/// The link with these ends and this relation.
std::optional<Link> find_link(BankRead& bank, const LinkEnd& from, const LinkEnd& to,
                              std::string_view relation);
/// Stores a link, or gives the existing one of the same ends and relation the new validity. True
/// when it is new. `link.id`, `created` and, of an existing link, `principal` and `quotes` are set.
bool put_link(BankWrite& bank, Link& link, TimeMs now);
/// False when there is none.
bool remove_link(BankWrite& bank, const LinkEnd& from, const LinkEnd& to,
                 std::string_view relation);
/// Links that begin or end at `end`, newest first; false stops. `visit` must not change links.
void for_each_link(BankRead& bank, const LinkEnd& end,
                   const std::function<bool(const Link&)>& visit);
std::uint64_t count_links(BankRead& bank, const LinkEnd& end);
/// Removes all links of an end (a forgotten memory), with their entries at the other ends.
void remove_links(BankWrite& bank, const LinkEnd& end);

}  // namespace strongroom::vault
