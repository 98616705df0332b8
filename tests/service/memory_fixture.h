// Memories through the service, in one line each.
#pragma once

#include "recall/tokens.h"
#include "service_fixture.h"

namespace strongroom::service {

using Strings = std::vector<std::string>;

const std::string kBadText = "a\xC3(";

inline RetainItem item(std::string content) {
  RetainItem made;
  made.content = std::move(content);
  return made;
}
inline RetainItem in_document(std::string content, std::string document, bool append = false) {
  RetainItem made = item(std::move(content));
  made.document_id = std::move(document);
  made.append = append;
  return made;
}
inline RetainItem turn(std::string content, std::string document, std::int64_t position,
                       std::string speaker = {}) {
  RetainItem made = in_document(std::move(content), std::move(document), true);
  made.position = position;
  made.speaker = std::move(speaker);
  return made;
}
inline RetainItem tagged(std::string content, Strings tags) {
  RetainItem made = item(std::move(content));
  made.tags = std::move(tags);
  return made;
}
inline RetainResult retain(MemoryService& service, std::vector<RetainItem> items,
                           const std::string& operation_id = {}) {
  RetainRequest request;
  request.items = std::move(items);
  request.operation_id = operation_id;
  return service.retain(request);
}
inline Strings statuses(const RetainResult& result) {
  Strings names;
  for (const RetainedItem& one : result.items) names.emplace_back(item_status_name(one.status));
  return names;
}

/// Stores one text; its id.
inline std::string keep(MemoryService& service, const std::string& content) {
  const RetainResult result = retain(service, {item(content)});
  REQUIRE(result.items.size() == 1);
  REQUIRE(result.items[0].status == ItemStatus::stored);
  return result.items[0].id;
}
inline std::string keep(MemoryService& service, RetainItem one) {
  const RetainResult result = retain(service, {std::move(one)});
  REQUIRE(result.items[0].status == ItemStatus::stored);
  return result.items[0].id;
}
inline MemoryDetail get(MemoryService& service, const std::string& id) {
  GetMemoryRequest request;
  request.id = id;
  return service.get_memory(request);
}
inline MemoryDetail get_document(MemoryService& service, const std::string& document_id,
                                 std::uint64_t max_bytes = 32768) {
  GetMemoryRequest request;
  request.document_id = document_id;
  request.max_bytes = max_bytes;
  return service.get_memory(request);
}
/// The text, or what was said instead.
inline std::string text_of(MemoryService& service, const std::string& id) {
  try {
    return get(service, id).text;
  } catch (const Error& error) {
    return error.text();
  }
}
inline Strings texts(MemoryService& service, bool include_invalid = false) {
  ListMemoriesRequest request;
  request.limit = 0;
  request.include_invalid = include_invalid;
  Strings all;
  for (const ListedMemory& memory : service.list_memories(request).memories) {
    all.push_back(memory.text);
  }
  return all;
}
inline EditRequest edit(EditOp op, const std::string& id) {
  EditRequest request;
  request.op = op;
  request.id = id;
  return request;
}
inline EditResult update_text(MemoryService& service, const std::string& id,
                              const std::string& content) {
  EditRequest request = edit(EditOp::update, id);
  request.content = content;
  return service.edit_memory(request);
}
inline std::string no_memory(const std::string& id) {
  return "No memory found with id \"" + id + "\"";
}
/// Words of `words` tokens or a little more, none twice.
inline std::string long_text(std::size_t words, const std::string& stem = "word") {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    text += stem + std::to_string(i);
    text += i % 12 == 11 ? ".\n" : " ";
  }
  return text;
}

inline LinkResult link(MemoryService& service, const std::string& from, const std::string& to,
                       const std::string& relation, bool remove = false) {
  LinkRequest request;
  request.from = from;
  request.to = to;
  request.relation = relation;
  request.remove = remove;
  return service.link_memories(request);
}
inline std::string other_bank_id(MemoryService& service) {
  service.create_bank("other");
  RetainRequest request;
  request.items = {item("In the other bank.")};
  request.bank = "other";
  return service.retain(request).items[0].id;
}

}  // namespace strongroom::service
