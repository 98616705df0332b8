// Characters as the analyzer sees them, and the folding of text, by Unicode's rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/wipe.h"

namespace strongroom::recall {

/// What a byte of UTF-8 is for finding words: one of these, or 0 for what only separates.
using CharClass = std::uint16_t;
inline constexpr CharClass kUpper = 1;
inline constexpr CharClass kLower = 2;
inline constexpr CharClass kCaseless = 4;  // a letter of a script without upper and lower case
inline constexpr CharClass kDigit = 8;
inline constexpr CharClass kFollows = 16;      // a later byte of a character, or a combining mark
inline constexpr CharClass kWeakJoin = 32;     // joins words to a name: my-tool, node.js
inline constexpr CharClass kJoin = 64;         // joins names to a path, an address: src/main.cpp:42
inline constexpr CharClass kComma = 128;       // joins digits alone: 1,234
inline constexpr CharClass kApostrophe = 256;  // joins letters and is dropped: o'clock
inline constexpr CharClass kIdeograph = 512;   // a character of a script without spaces
inline constexpr CharClass kSymbol = 1024;     // emoji and the like, each a word of its own
inline constexpr CharClass kLetter = kUpper | kLower | kCaseless;
inline constexpr CharClass kAlnum = kLetter | kDigit;
inline constexpr CharClass kInWord = kAlnum | kFollows;
inline constexpr CharClass kJoins = kWeakJoin | kJoin | kComma;

constexpr CharClass ascii_class(unsigned char c) noexcept {
  if (c >= 'a' && c <= 'z') return kLower;
  if (c >= 'A' && c <= 'Z') return kUpper;
  if (c >= '0' && c <= '9') return kDigit;
  if (std::string_view("_-.~+%$").find(static_cast<char>(c)) != std::string_view::npos) {
    return kWeakJoin;
  }
  if (std::string_view("/\\:@#=?&").find(static_cast<char>(c)) != std::string_view::npos) {
    return kJoin;
  }
  return c == ',' ? kComma : c == '\'' ? kApostrophe : CharClass{0};
}

constexpr std::array<CharClass, 256> make_ascii_classes() noexcept {
  std::array<CharClass, 256> out{};
  for (unsigned c = 0; c < 128; ++c) out[c] = ascii_class(static_cast<unsigned char>(c));
  return out;
}
inline constexpr std::array<CharClass, 256> kAsciiClasses = make_ascii_classes();

constexpr bool ascii_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_ascii(std::string_view text) noexcept;

/// The class of each byte of `text`. The first byte of a character has the character's class and
/// the others have kFollows; all have 0 when the character only separates.
void classify(std::string_view text, std::vector<CharClass>& out);

/// Unicode folding with reused buffers, which are wiped. Linear time: combining marks beyond 32 in
/// a row are ordered in groups. Bytes that are not UTF-8 are dropped with their neighbours.
class Folder {
 public:
  /// Replaces `out` by NFKC of `text`, without ignorable characters (soft hyphen, zero width),
  /// with hyphens as '-' and apostrophes as '\''. Letters keep their case.
  void compose(std::string_view text, SecretBytes& out) { convert(text, out, false); }

  /// The same with case folding.
  void fold(std::string_view text, SecretBytes& out) { convert(text, out, true); }

 private:
  void convert(std::string_view text, SecretBytes& out, bool fold_case);
  void append_block(std::string_view text, SecretBytes& out, bool fold_case);

  SecretBytes points_;  // code points of 32 bits
};

}  // namespace strongroom::recall
