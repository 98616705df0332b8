// Words that several commands use.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "service/memory_service.h"

namespace strongroom::cli {

inline std::string_view class_name(service::EntryClass entry_class) {
  return entry_class == service::EntryClass::secret ? "secret" : "normal";
}

inline Error no_memory(std::string_view key) {
  return Error::verbatim(Code::not_found, "No memory found for " + json_quoted(key));
}

/// "1 entry", "2 entries".
inline std::string counted(std::uint64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

}  // namespace strongroom::cli
