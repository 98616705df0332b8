#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace strongroom {

std::string_view code_name(Code code) noexcept {
  switch (code) {
    case Code::not_found: return "not_found";
    case Code::no_vault: return "no_vault";
    case Code::locked: return "locked";
    case Code::wrong_key: return "wrong_key";
    case Code::denied: return "denied";
    case Code::secret_detected: return "secret_detected";
    case Code::corrupt: return "corrupt";
    case Code::rollback: return "rollback";
    case Code::fork: return "fork";
    case Code::conflict: return "conflict";
    case Code::invalid: return "invalid";
    case Code::unsupported: return "unsupported";
    case Code::too_large: return "too_large";
    case Code::busy: return "busy";
    case Code::uncertain: return "uncertain";
    case Code::no_space: return "no_space";
    case Code::io: return "io";
    case Code::internal: return "internal";
  }
  return "internal";
}

Error::Error(Code code, std::string sentence)
    : code_(code), text_(std::move(sentence) + " [" + std::string(code_name(code)) + "]") {}

Error::Error(Code code, std::string text, Verbatim) : code_(code), text_(std::move(text)) {}

Error Error::verbatim(Code code, std::string text) {
  return Error(code, std::move(text), Verbatim{});
}

Error Error::invalid(std::string_view field, std::string_view why) {
  return Error(Code::invalid, "Invalid: " + std::string(field) + " " + std::string(why) + ".");
}

Error Error::too_large(std::string_view field, unsigned long long bytes, unsigned long long limit) {
  return Error(Code::too_large, "Too large: " + std::string(field) + " is " +
                                    std::to_string(bytes) + " bytes, limit " +
                                    std::to_string(limit) + ".");
}

void throw_errno(std::string_view doing, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  const Code code = full ? Code::no_space : Code::io;
  throw Error(code, "Could not " + std::string(doing) + ": " + std::strerror(error_number) + ".");
}

}  // namespace strongroom
