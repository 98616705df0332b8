// The links of one bank, as a search follows them. Internal to service/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recall/search.h"
#include "vault/links.h"
#include "vault/memories.h"

namespace strongroom::service {

/// Reads links within one snapshot, and holds what it opens only while it does. Links of the
/// relation `similar` are left out: words and meaning find near-copies by themselves.
class LinkReader {
 public:
  /// Links and texts as they were at `as_of`, else as they are at `now`.
  LinkReader(vault::BankRead& bank, std::optional<TimeMs> as_of, TimeMs now)
      : bank_(bank), as_of_(as_of), at_(as_of.value_or(now)) {}

  /// nullptr when the bank has no links. Leads into this object.
  const recall::LinkSource* source();

 private:
  recall::LinkedMemories of_memory(vault::RecordId record, std::size_t most);
  recall::LinkedMemories of_query(std::string_view query, std::size_t most);
  bool holds(const vault::Link& link) const;
  void add_memory(vault::RecordId first, double weight, recall::LinkedMemories& out);
  void add_through_entity(const vault::LinkEnd& entity, vault::RecordId but, std::size_t most,
                          recall::LinkedMemories& out);
  std::optional<vault::Memory> revision_at(const vault::Memory& newest,
                                           recall::LinkedMemories& out);

  vault::BankRead& bank_;
  std::optional<TimeMs> as_of_;
  TimeMs at_;
  SecretBytes plain_, older_;
  recall::LinkSource source_;
};

}  // namespace strongroom::service
