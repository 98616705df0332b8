// Words, checks and small helpers that the calls on memories share. Internal to service/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "service/memories.h"
#include "service/state.h"
#include "vault/memories.h"

namespace strongroom::service {

using Metadata = std::vector<std::pair<std::string, std::string>>;

std::string_view trust_name(vault::Trust trust) noexcept;

// ---- checks of what callers send; `field` is its path in errors. All throw invalid or too_large.

/// At most `limit` bytes of UTF-8.
void check_text(std::string_view text, std::string_view field, std::size_t limit);
/// As check_text, and not empty.
void check_name(std::string_view text, std::string_view field);
void check_tag_list(const std::vector<std::string>& tags, const std::string& field);
void check_metadata(const Metadata& metadata, const std::string& field);
/// A number from 0 to 1; NaN is neither.
void check_importance(double importance, const std::string& field);
/// Inside the years 1 to 9999.
void check_time(const std::optional<TimeMs>& time, const std::string& field);
void check_operation_id(const std::string& operation_id);
/// UTF-8 with something to see in it: white space alone says nothing.
void check_content(std::string_view content, const std::string& field, std::size_t limit);

/// Each once, in the order of their first occurrence.
std::vector<std::string> distinct(const std::vector<std::string>& items);
/// Sorted and distinct, as the index interns tags.
std::vector<std::string> sorted(std::vector<std::string> items);

/// Has a memory with tags `has` the tags asked for? Without any asked for: yes, but `exact` then
/// wants an untagged one.
bool tags_match(const std::vector<std::string>& has, const std::vector<std::string>& asked,
                TagMatch match);

/// A model is given "SPEAKER: TEXT", unless the text begins like that already.
bool needs_speaker(std::string_view speaker, std::string_view text);

/// What a model is given for a passage of a memory. Throws corrupt when it has no such passage.
void passage_for_model(const vault::Memory& memory, std::size_t passage, SecretBytes& out);

// ---- fixed words

/// Refused: FIELD looks like a credential (KIND). ... [secret_detected]
std::string credential_text(std::string_view field, std::string_view kind);
/// Throws secret_detected when `text` holds a credential.
void refuse_credential(std::string_view text, std::string_view field);
Error no_such_memory(std::string_view id);
policy::Decision read_only_denial();

// ---- memories for callers

/// What is shown of a memory, without its text, its replacement and scores.
FoundMemory describe(const vault::Memory& memory, const vault::Bank& bank, TimeMs now);

/// The public id of the memory that replaced one; empty when there is none that this principal may
/// see with `tool`, whose id would tell that it is there.
std::string replacement_id(const MemoryService::State& state, vault::BankRead& read,
                           std::string_view tool, vault::RecordId superseded_by);

/// A memory by its public id: the bank that the id names, opened.
struct Located {
  std::shared_ptr<vault::Bank> bank;
  vault::RecordId first = 0;
};
/// Throws not_found for an id that names no bank that this principal may read, invalid for a `bank`
/// that the id contradicts, denied when the policy closes `tool` in that bank.
Located locate(MemoryService::State& state, const std::string& id, const std::string& bank,
               std::string_view tool);

/// The bank that a listing reads: nullptr when it has not been made yet. Throws denied, not_found.
std::shared_ptr<vault::Bank> open_for_listing(MemoryService::State& state, const Banks& banks,
                                              std::string_view tool, policy::Decision& scope);

/// Notes that the policy could leave something out of a list: always when it could, since a note
/// that is there only when it does would tell what there is.
void note_narrowed(const MemoryService::State& state, std::string_view tool,
                   const std::string& bank, std::vector<std::string>& notes);

/// The cursor of a list of memories: the last one of a page behind a version letter. Reading it
/// throws invalid.
std::string memory_cursor(vault::RecordId last);
vault::RecordId read_memory_cursor(const std::string& cursor);

/// One decision a set of tags: memories in a row mostly have the same.
class TagDecisions {
 public:
  TagDecisions(const MemoryService::State& state, std::string_view tool, std::string bank)
      : state_(state), tool_(tool), bank_(std::move(bank)) {}
  bool permits(const std::vector<std::string>& tags) { return decide(tags).permitted; }
  const policy::Decision& decide(const std::vector<std::string>& tags);

 private:
  const MemoryService::State& state_;
  std::string_view tool_;
  std::string bank_;
  std::vector<std::string> tags_;
  std::optional<policy::Decision> decision_;  // on tags_
};

}  // namespace strongroom::service
