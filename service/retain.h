// One call of retain inside its write transaction. Internal to service/.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crypto/hash.h"
#include "service/memory_changes.h"
#include "service/memory_words.h"

namespace strongroom::service {

/// Why an item is not stored.
struct Rejection {
  Code code = Code::invalid;
  std::string reason;
};
using Rejections = std::vector<std::optional<Rejection>>;  // one an item

/// A call of more items than this is an import, for which no memories are looked up that say nearly
/// the same.
inline constexpr std::size_t kNearDuplicateItems = 32;

/// Throws invalid or too_large, naming items[i].field, unless every item is well formed.
void check_retain(const RetainRequest& request);
/// The items that hold a credential.
Rejections find_credentials(const RetainRequest& request);

/// The memory that a row leads to. Throws corrupt unless that leads to the row as well.
vault::Memory open_row(vault::BankRead& bank, recall::Row row,
                       const recall::RowAttributes& attributes, SecretBytes& plain);

/// The first current memory of the bank with this text that `decisions` permit, and that is not
/// `except`. What the policy keeps from a principal must not show through a repeat.
std::optional<vault::RecordId> find_original(MemoryChanges& changes, TagDecisions& decisions,
                                             std::string_view text, std::string_view normalized,
                                             std::optional<vault::RecordId> except = std::nullopt);

class Retain {
 public:
  /// `rejections` are those that are known before anything is looked up.
  Retain(MemoryService::State& state, const RetainRequest& request,
         const std::shared_ptr<vault::Bank>& bank, Rejections rejections, std::string rule);
  ~Retain();
  Retain(const Retain&) = delete;
  Retain& operator=(const Retain&) = delete;

  void run(RetainResult& result);

 private:
  // ---- retain_reply.cpp: the same operation again
  bool answered_before(RetainResult& result);
  void remember_reply(const RetainResult& result);

  // ---- retain.cpp
  void embed_ahead();
  void store_items();
  void store_single(std::size_t i);
  void store_memory(std::size_t i);
  bool judge_recall_output(std::size_t i, const std::vector<std::string_view>& bullets);
  std::optional<vault::RecordId> find_named(std::string_view bullet, std::string_view normalized);
  vault::MemoryDraft draft_of(const RetainItem& item) const;
  void log(const RetainResult& result);
  void set_stored(std::size_t i, vault::RecordId first, std::uint64_t memories);
  void set_duplicate(std::size_t i, vault::RecordId first, std::uint64_t memories = 1);
  void reject(std::size_t i, Code code, std::string reason);
  std::string public_id(vault::RecordId first) const;
  /// What the policy keeps from this principal must not show through a repeat.
  bool may_touch(const vault::Memory& memory) { return decisions_.permits(memory.tags()); }

  // ---- retain_similar.cpp
  /// Current memories of the bank that say nearly the same.
  std::vector<vault::RecordId> find_similar(std::string_view text, std::string_view normalized);
  void link_similar(std::size_t i, vault::RecordId memory,
                    const std::vector<vault::RecordId>& similar);

  // ---- retain_document.cpp
  /// Items of one document, of those that are not rejected.
  using Group = std::vector<std::size_t>;
  void store_group(const Group& group);
  void replace(const Group& group, std::optional<vault::Document> document);
  void append(const Group& group, std::optional<vault::Document> document);
  void store_long(std::size_t i);
  bool find_long(std::size_t i, std::string_view first_chunk);
  std::optional<std::vector<vault::RecordId>> same_text(const vault::Document& document,
                                                        std::string_view content);
  void add_item(std::size_t i, vault::Document& document, bool whole);
  vault::RecordId add_part(vault::Document& document, vault::MemoryDraft& draft,
                           std::string_view gap);
  void save(vault::Document& document, const Group& group);
  struct Survey;
  Survey survey(const vault::Document& document, const Group& group);
  /// Current memories of a document with one text, by position.
  using Turns = std::map<std::optional<std::int64_t>, vault::RecordId>;
  std::optional<vault::RecordId> find_turn(const vault::Document& document, const RetainItem& item,
                                           std::string_view text);
  Turns& turns_of(const vault::Document& document, std::string_view text,
                  const std::string& normalized);

  MemoryService::State& state_;
  const RetainRequest& request_;
  const std::vector<RetainItem>& items_;
  std::shared_ptr<vault::Bank> bank_;
  Rejections rejections_;
  std::string rule_;
  MemoryChanges changes_;
  TagDecisions decisions_;
  RetainResult* result_ = nullptr;
  vault::RecordId first_stored_ = 0;
  std::uint64_t bytes_ = 0;
  SecretBytes plain_;
  crypto::Hash32 payload_{};
  // Of the document under way: what was looked up, by normalised text.
  std::unordered_map<std::string, Turns> turns_;
};

}  // namespace strongroom::service
