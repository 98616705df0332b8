// Inside the scanner: what a credential looks like. Nothing here is for other layers.
//
// Everything is noexcept, allocates nothing, and looks at a bounded number of bytes around a
// position, or at a run that no other position looks at again: the scan stays linear.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/secret_scanner.h"

namespace strongroom::policy::detail {

/// A set of bytes, one bit a group.
using CharSet = std::uint16_t;
inline constexpr CharSet kHexLow = 1;        // a-f
inline constexpr CharSet kHexHigh = 2;       // A-F
inline constexpr CharSet kLowRest = 4;       // g-z
inline constexpr CharSet kHighRest = 8;      // G-Z
inline constexpr CharSet kDigit = 16;        // 0-9
inline constexpr CharSet kDash = 32;         // -
inline constexpr CharSet kUnderscore = 64;   // _
inline constexpr CharSet kDot = 128;         // .
inline constexpr CharSet kBase64 = 256;      // + /
inline constexpr CharSet kEquals = 512;      // =
inline constexpr CharSet kBlank = 1024;      // space, tab
inline constexpr CharSet kEndsValue = 2048;  // what an unquoted value cannot contain
inline constexpr CharSet kStrong = 4096;     // what passwords have and words have not

inline constexpr CharSet kLower = kHexLow | kLowRest;
inline constexpr CharSet kUpper = kHexHigh | kHighRest;
inline constexpr CharSet kLetter = kLower | kUpper;
inline constexpr CharSet kAlnum = kLetter | kDigit;
inline constexpr CharSet kWord = kAlnum | kUnderscore;
inline constexpr CharSet kUrlSafe = kWord | kDash;  // the alphabet of base64url

constexpr std::array<CharSet, 256> make_classes() {
  std::array<CharSet, 256> classes{};
  const auto add = [&](std::string_view bytes, CharSet set) {
    for (const char c : bytes) {
      CharSet& entry = classes[static_cast<unsigned char>(c)];
      entry = static_cast<CharSet>(entry | set);
    }
  };
  add("abcdef", kHexLow);
  add("ABCDEF", kHexHigh);
  add("ghijklmnopqrstuvwxyz", kLowRest);
  add("GHIJKLMNOPQRSTUVWXYZ", kHighRest);
  add("0123456789", kDigit);
  add("-", kDash);
  add("_", kUnderscore);
  add(".", kDot);
  add("+/", kBase64);
  add("=", kEquals);
  add(" \t", kBlank);
  add(" \t\r\n\v\f\"'`,;&<>()[]{}|\\", kEndsValue);
  add("!@#$%^&*?~", kStrong);
  return classes;
}

inline constexpr std::array<CharSet, 256> kClasses = make_classes();

constexpr bool in_set(char c, CharSet set) noexcept {
  return (kClasses[static_cast<unsigned char>(c)] & set) != 0;
}
constexpr char lower(char c) noexcept {
  return in_set(c, kUpper) ? static_cast<char>(c + ('a' - 'A')) : c;
}
/// Equal without regard to ASCII case; `word` is lower case.
bool equals_folded(std::string_view text, std::string_view word) noexcept;
bool contains_folded(std::string_view text, std::string_view word) noexcept;

/// How many bytes from `at` on are in `set`, at most `limit`.
std::size_t run_length(std::string_view text, std::size_t at, CharSet set,
                       std::size_t limit) noexcept;

/// True when a token may begin at `at`: the byte before is no part of a word, or ends an escape
/// (\n, %3D) of a text inside a text.
bool begins_token(std::string_view text, std::size_t at) noexcept;

/// A token of one prefix and one alphabet.
struct TokenRule {
  enum class Body : std::uint8_t {
    diverse,  // any body but a filler such as xxxxxxxx
    random,   // the alphabet also spells words (your-token-here): must not look like them
  };
  std::string_view prefix;
  std::string_view kind;
  CharSet alphabet;
  std::uint16_t min, max;  // length of the body behind the prefix
  Body body = Body::diverse;
  std::string_view context = {};  // a word that must stand shortly before, in lower case
};

/// All rules, ordered by the first byte of their prefix, the more special ones first.
std::span<const TokenRule> token_rules() noexcept;
std::span<const TokenRule> token_rules_for(char first) noexcept;
/// May a token, or one of the words that the scanner looks at, begin with these two bytes? The set
/// has a bit a pair; most words of a text end here.
extern const std::array<std::uint64_t, 1024> kBeginnings;
constexpr std::size_t pair_of(char first, char second) noexcept {
  return static_cast<std::size_t>(static_cast<unsigned char>(first)) << 8 |
         static_cast<unsigned char>(second);
}
inline bool may_begin(char first, char second) noexcept {
  const std::size_t pair = pair_of(first, second);
  return (kBeginnings[pair / 64] >> pair % 64 & 1U) != 0;
}

/// Shannon entropy in bits a byte.
double entropy(std::string_view text) noexcept;
/// False for words, identifiers, versions, dates and paths; true for what a generator made.
bool looks_random(std::string_view text) noexcept;
/// `<...>`, `${...}`, "changeme", "xxxx": what documentation writes in place of a secret.
bool is_stand_in(std::string_view value) noexcept;

/// A token by prefix, or of one of the structured forms, that begins exactly at `at`.
std::optional<Finding> match_token(std::string_view text, std::size_t at) noexcept;

/// `password = ...` and its relatives, where text[at] is the separator (= : > ,) or the first byte
/// of the word `is` or of an option `--password ...`.
std::optional<Finding> match_assignment(std::string_view text, std::size_t at) noexcept;

}  // namespace strongroom::policy::detail
