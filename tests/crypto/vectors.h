// Reading test vectors: hex, and files of one JSON object a line beside the tests.
#pragma once

#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json.h"
#include "crypto/secret_key.h"

namespace strongroom::testing {

inline std::string unhex(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw std::runtime_error("not a hex digit");
  };
  if (text.size() % 2 != 0) throw std::runtime_error("odd number of hex digits");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  return bytes;
}

/// The text member of that name; a vector without it is an error of the file.
inline const std::string& text_of(const Json& object, std::string_view name) {
  const Json* const member = object.find(name);
  if (member == nullptr || !member->is_string()) {
    throw std::runtime_error("a vector lacks " + std::string(name));
  }
  return member->as_string();
}

inline std::string bytes_of(const Json& object, std::string_view name) {
  return unhex(text_of(object, name));
}

inline crypto::SecretKey key_of(const Json& object, std::string_view name) {
  return crypto::SecretKey::from_bytes(bytes_of(object, name));
}

/// Calls `visit` with each line of tests/crypto/vectors/<name>; returns how many there were.
inline int for_each_vector(const std::string& name, const std::function<void(const Json&)>& visit) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/') + 1) + "vectors/" + name);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) visit(Json::parse(line, name));
  return count;
}

}  // namespace strongroom::testing
