// Finds credentials in text that is about to be stored in the open class. Pure; no I/O.
//
// Rules are the field's anchored ones: a fixed prefix, an alphabet and a length that together make
// an accidental hit unlikely (AKIA..., ghp_..., PEM private keys, JWTs), and keyword assignments
// (password = ..., api_key: ...) whose value has enough entropy to be real.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace strongroom::policy {

struct Finding {
  std::string_view kind;   // static, for people: "GitHub token", "private key"
  std::size_t offset = 0;  // bytes
  std::size_t length = 0;
};

/// The first credential in `text`, or nullopt. Linear in text.size(); allocates nothing.
std::optional<Finding> find_credential(std::string_view text) noexcept;

}  // namespace strongroom::policy
