// What retain refuses before it looks at the vault.
#include <unordered_map>

#include "base/error.h"
#include "policy/secret_scanner.h"
#include "service/retain.h"

namespace strongroom::service {
namespace {

constexpr std::size_t kMaxItems = 10'000;
constexpr std::uint64_t kMaxCallBytes = std::uint64_t{64} << 20;

std::string prefix_of(std::size_t i) {
  return "items[" + std::to_string(i) + "].";
}

void check_times(const RetainItem& item, const std::string& at) {
  check_time(item.timestamp, at + "timestamp");
  check_time(item.occurred_start, at + "occurred_start");
  check_time(item.occurred_end, at + "occurred_end");
  check_time(item.expires_at, at + "expires_at");
  if (item.occurred_start && item.occurred_end && *item.occurred_end < *item.occurred_start) {
    throw Error::invalid(at + "occurred_end", "is before occurred_start");
  }
}

void check_item(const RetainItem& item, const std::string& at) {
  const bool document = !item.document_id.empty();
  check_content(item.content, at + "content", document ? kMaxDocumentBytes : kMaxContentBytes);
  if (!item.context.empty()) check_text(item.context, at + "context", kMaxContextBytes);
  if (!item.speaker.empty()) check_text(item.speaker, at + "speaker", kMaxNameBytes);
  if (document) check_text(item.document_id, at + "document_id", kMaxNameBytes);
  if (!item.tags.empty()) check_tag_list(item.tags, at + "tags");
  if (item.entities.size() > kMaxEntities) {
    throw Error::invalid(at + "entities", "has more than 64 entities");
  }
  for (std::size_t i = 0; i < item.entities.size(); ++i) {
    check_name(item.entities[i], at + "entities[" + std::to_string(i) + "]");
  }
  if (!item.metadata.empty()) check_metadata(item.metadata, at + "metadata");
  check_times(item, at);
  if (item.importance) check_importance(*item.importance, at + "importance");
  if (!document && item.append) throw Error::invalid(at + "update_mode", "needs a document_id");
  if (!document && item.position) throw Error::invalid(at + "position", "needs a document_id");
}

// A replacement is one: its items cannot append to what they replace.
void check_modes(const std::vector<RetainItem>& items) {
  std::unordered_map<std::string_view, bool> append;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].document_id.empty()) continue;
    const auto [at, fresh] = append.emplace(items[i].document_id, items[i].append);
    if (!fresh && at->second != items[i].append) {
      throw Error::invalid(prefix_of(i) + "update_mode",
                           "must be the same for all items of a document");
    }
  }
}

// The field of an item that holds a credential, and the kind.
std::optional<Rejection> credential_in(const RetainItem& item, std::size_t i) {
  std::optional<Rejection> rejection;
  const auto finds = [&](std::string_view text, const auto& field) {
    if (text.empty()) return false;
    const auto found = policy::find_credential(text);
    if (!found) return false;
    rejection = {Code::secret_detected, credential_text(prefix_of(i) + field(), found->kind)};
    return true;
  };
  const auto named = [](const char* field) { return [field] { return std::string(field); }; };
  const auto any_of = [&](const std::vector<std::string>& texts, const char* field) {
    for (std::size_t k = 0; k < texts.size(); ++k) {
      const auto at = [&] { return std::string(field) + "[" + std::to_string(k) + "]"; };
      if (finds(texts[k], at)) return true;
    }
    return false;
  };
  if (finds(item.content, named("content")) || finds(item.context, named("context")) ||
      any_of(item.tags, "tags") || any_of(item.entities, "entities") ||
      finds(item.speaker, named("speaker")) || finds(item.document_id, named("document_id"))) {
    return rejection;
  }
  for (const auto& [name, value] : item.metadata) {
    // A name and its value may be an assignment of a credential only together.
    if (finds(name, named("metadata")) || finds(value, named("metadata")) ||
        finds(name + "=" + value, named("metadata"))) {
      return rejection;
    }
  }
  return std::nullopt;
}

}  // namespace

void check_retain(const RetainRequest& request) {
  if (request.items.empty()) throw Error::invalid("items", "must have at least one item");
  if (request.items.size() > kMaxItems) throw Error::invalid("items", "has more than 10000 items");
  check_text(request.source, "source", kMaxNameBytes);
  check_operation_id(request.operation_id);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    check_item(request.items[i], prefix_of(i));
    bytes += request.items[i].content.size();
  }
  if (bytes > kMaxCallBytes) throw Error::too_large("items", bytes, kMaxCallBytes);
  check_modes(request.items);
}

Rejections find_credentials(const RetainRequest& request) {
  Rejections rejections(request.items.size());
  if (request.allow_secret) return rejections;
  if (const auto found = policy::find_credential(request.source)) {
    const Rejection all{Code::secret_detected, credential_text("source", found->kind)};
    rejections.assign(rejections.size(), all);
    return rejections;
  }
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    rejections[i] = credential_in(request.items[i], i);
  }
  return rejections;
}

}  // namespace strongroom::service
