// retain's replies for an operation_id that comes again: ids, statuses and counts, never content.
#include "base/error.h"
#include "service/operation_payload.h"
#include "service/retain.h"
#include "vault/operations.h"

namespace strongroom::service {
namespace {

void add_to(OperationPayload& payload, const RetainItem& item) {
  payload.text(item.content);
  payload.text(item.context);
  payload.text(item.speaker);
  payload.text(item.document_id);
  payload.optional(item.type);
  payload.texts(item.tags);
  payload.texts(item.entities);
  payload.text(std::to_string(item.metadata.size()));
  for (const auto& [name, value] : item.metadata) {
    payload.text(name);
    payload.text(value);
  }
  payload.optional(item.timestamp);
  payload.optional(item.occurred_start);
  payload.optional(item.occurred_end);
  payload.optional(item.expires_at);
  payload.optional(item.importance);
  payload.optional(item.position);
  payload.text(item.append ? "append" : "replace");
}

std::string encode_reply(const RetainResult& result) {
  std::string reply;
  vault::append_varint(reply, result.items.size());
  for (const RetainedItem& item : result.items) {
    reply.push_back(static_cast<char>(item.status));
    append_reply_text(reply, item.id);
    vault::append_varint(reply, item.memories);
    append_reply_text(reply, item.reason);
    append_reply_text(reply, item.document_id);
  }
  return reply;
}

void decode_reply(std::string_view reply, RetainResult& result) {
  const std::uint64_t count = vault::take_varint(reply);
  // An item has at least five bytes.
  if (count > reply.size() / 5) vault::throw_corrupt("an operation's reply is cut off");
  result.items.assign(static_cast<std::size_t>(count), {});
  for (RetainedItem& item : result.items) {
    if (reply.empty()) vault::throw_corrupt("an operation's reply is cut off");
    const auto status = static_cast<unsigned char>(reply.front());
    if (status > static_cast<unsigned char>(ItemStatus::quarantined)) {
      vault::throw_corrupt("an operation's reply has an unknown status");
    }
    reply.remove_prefix(1);
    item.status = static_cast<ItemStatus>(status);
    item.id = take_reply_text(reply);
    item.memories = vault::take_varint(reply);
    item.reason = take_reply_text(reply);
    item.document_id = take_reply_text(reply);
  }
  if (!reply.empty()) vault::throw_corrupt("an operation's reply is too long");
  result.repeated = true;
}

}  // namespace

bool Retain::answered_before(RetainResult& result) {
  if (request_.operation_id.empty()) return false;
  {
    OperationPayload payload;
    payload.text("retain");
    payload.text(request_.source);
    for (const RetainItem& item : items_) add_to(payload, item);
    payload_ = vault::operation_payload(*bank_, payload.bytes());
  }
  const auto before = vault::find_operation(changes_.bank(), state_.options.principal,
                                            request_.operation_id, changes_.now());
  if (!before) return false;
  if (before->payload != payload_) {
    throw Error(Code::conflict, "Conflict: operation_id was used for another write.");
  }
  decode_reply(before->reply, result);
  return true;
}

void Retain::remember_reply(const RetainResult& result) {
  if (request_.operation_id.empty()) return;
  vault::put_operation(changes_.bank(), state_.options.principal, request_.operation_id,
                       {payload_, changes_.now(), encode_reply(result)});
}

}  // namespace strongroom::service
