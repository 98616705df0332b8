// retain's replies for an operation_id that comes again: ids, statuses and counts, never content.
#include "base/error.h"
#include "service/retain.h"
#include "vault/operations.h"

namespace strongroom::service {
namespace {

class Payload {
 public:
  ~Payload() { wipe(bytes_); }
  void text(std::string_view part) {
    vault::append_varint(bytes_, part.size());
    bytes_.append(part);
  }
  void texts(const std::vector<std::string>& parts) {
    vault::append_varint(bytes_, parts.size());
    for (const std::string& part : parts) text(part);
  }
  template <class T>
  void optional(const std::optional<T>& value) {
    bytes_.push_back(value ? '+' : '-');
    if (value) vault::append_le(bytes_, *value);
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void add_to(Payload& payload, const RetainItem& item) {
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

void append_text(std::string& out, std::string_view text) {
  vault::append_varint(out, text.size());
  out.append(text);
}

std::string take_text(std::string_view& in) {
  const std::uint64_t size = vault::take_varint(in);
  if (size > in.size()) vault::throw_corrupt("an operation's reply is cut off");
  std::string text(in.substr(0, static_cast<std::size_t>(size)));
  in.remove_prefix(static_cast<std::size_t>(size));
  return text;
}

std::string encode_reply(const RetainResult& result) {
  std::string reply;
  vault::append_varint(reply, result.items.size());
  for (const RetainedItem& item : result.items) {
    reply.push_back(static_cast<char>(item.status));
    append_text(reply, item.id);
    vault::append_varint(reply, item.memories);
    append_text(reply, item.reason);
    append_text(reply, item.document_id);
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
    item.id = take_text(reply);
    item.memories = vault::take_varint(reply);
    item.reason = take_text(reply);
    item.document_id = take_text(reply);
  }
  if (!reply.empty()) vault::throw_corrupt("an operation's reply is too long");
  result.repeated = true;
}

}  // namespace

bool Retain::answered_before(RetainResult& result) {
  if (request_.operation_id.empty()) return false;
  {
    Payload payload;
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
