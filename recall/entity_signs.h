// Bytes and signs as the finder of entities sees them. Only entit*.cpp use this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recall/word_break.h"

namespace strongroom::recall::entity {

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// What a byte is for finding tokens.
inline constexpr std::uint8_t kLow = 1;
inline constexpr std::uint8_t kUp = 2;
inline constexpr std::uint8_t kNum = 4;
inline constexpr std::uint8_t kApos = 8;
inline constexpr std::uint8_t kSign = 16;   // may join the parts of a token
inline constexpr std::uint8_t kHigh = 32;   // not ASCII
inline constexpr std::uint8_t kBreak = 64;  // ends a token
inline constexpr std::uint8_t kSpace = 128;

constexpr std::array<std::uint8_t, 256> make_bytes() {
  std::array<std::uint8_t, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = static_cast<char>(i);
    out[i] = i >= 0x80                                                              ? kHigh
             : c >= 'a' && c <= 'z'                                                 ? kLow
             : c >= 'A' && c <= 'Z'                                                 ? kUp
             : c >= '0' && c <= '9'                                                 ? kNum
             : c == '\''                                                            ? kApos
             : ascii_space(c)                                                       ? kSpace
             : std::string_view("_-./\\:@#~+%$&").find(c) != std::string_view::npos ? kSign
                                                                                    : kBreak;
  }
  return out;
}
inline constexpr std::array<std::uint8_t, 256> kBytes = make_bytes();

inline std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return kBytes[static_cast<unsigned char>(text[at])];
}

// Signs beyond ASCII that end a token.
enum class Wide : std::uint8_t { none, blank, stop, quote, apostrophe, other };
struct WideSign {
  Wide what = Wide::none;
  std::uint8_t size = 0;
  std::string_view closes = {};  // of a quote
};

/// The sign at `at`, if there is one.
WideSign wide_sign(std::string_view text, std::size_t at);

}  // namespace strongroom::recall::entity
