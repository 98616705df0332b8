// What an operation does and what it answered, as bytes: for the hash that tells a repeat from
// another write, and for the reply that a repeat gets. Internal to service/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wipe.h"
#include "vault/format.h"

namespace strongroom::service {

/// Wiped at its end: it holds what is to be stored.
class OperationPayload {
 public:
  OperationPayload() = default;
  ~OperationPayload() { wipe(bytes_); }
  OperationPayload(const OperationPayload&) = delete;
  OperationPayload& operator=(const OperationPayload&) = delete;

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

inline void append_reply_text(std::string& out, std::string_view text) {
  vault::append_varint(out, text.size());
  out.append(text);
}

/// Throws corrupt.
inline std::string take_reply_text(std::string_view& in) {
  const std::uint64_t size = vault::take_varint(in);
  if (size > in.size()) vault::throw_corrupt("an operation's reply is cut off");
  std::string text(in.substr(0, static_cast<std::size_t>(size)));
  in.remove_prefix(static_cast<std::size_t>(size));
  return text;
}

}  // namespace strongroom::service
