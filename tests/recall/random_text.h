// Texts of pieces that are hard to fold and to cut.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace strongroom::recall {

inline std::string random_text(std::mt19937& random, std::size_t pieces) {
  static const std::vector<std::string> alphabet = {
      "a",      "Z",      "deploy", "ing",    "7",          "42",     " ",      "  ",     "\n",
      "\t",     "_",      "-",      ".",      "/",          "\\",     ":",      "::",     "@",
      "#",      "++",     "~",      "=",      "'",          "\u2019", "\"",     "(",      ")",
      "[",      "]",      ",",      "?",      "&",          "n't",    "'s",     "\u00e9", "e\u0301",
      "\u0301", "\u200b", "\u00ad", "\u202e", "\u65e5",     "\u672c", "\u30c6", "\uff21", "\u3000",
      "\u0e01", "\u0e34", "\u0414", "\u03a3", "\U0001F600", "\u1e9e", "\ufdfa", "\u0007", "\u2028"};
  std::string out;
  for (std::size_t i = 0; i < pieces; ++i) out += alphabet[random() % alphabet.size()];
  return out;
}

}  // namespace strongroom::recall
