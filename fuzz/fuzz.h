// What every fuzz target shares. A target feeds bytes to one reader and checks what must hold of
// whatever it accepts; a reader may refuse, with an Error of an expected code, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/utf8.h"

namespace strongroom::fuzz {

/// Ends the run with the input kept, when `holds` is false.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Runs `read`; true when it accepted. An Error of a code that is not in `expected` is a finding,
/// as is every other exception.
template <class Read>
bool accepts(std::initializer_list<Code> expected, Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    for (const Code code : expected) {
      if (error.code() == code) return false;
    }
    std::fprintf(stderr, "unexpected error: %s\n", error.what());
    std::abort();
  }
}

/// Removes and returns what is before the first NUL (or all).
inline std::string_view take_part(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

/// What of the input is UTF-8: for readers that are promised valid text.
inline std::string valid_text(std::string_view input) {
  std::string out;
  out.reserve(input.size());
  while (!input.empty()) {
    const std::size_t size = utf8_sequence(input);
    out.append(input.substr(0, size));
    input.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

/// True when `part` lies inside `whole`.
inline bool inside(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace strongroom::fuzz

/// FUZZ_TARGET(input) { ... } with `input` a std::string_view.
#define FUZZ_TARGET(input)                                                            \
  static void fuzz_one(std::string_view input);                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_one({reinterpret_cast<const char*>(data), size});                            \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_one(std::string_view input)
