#include "recall/wordpiece.h"

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/recall/random_text.h"
#include "vault/format.h"

namespace strongroom::recall {
namespace {

using Strings = std::vector<std::string>;

// Tokens by number and what they are made from; token 0 is [UNK].
struct SmallVocabulary {
  std::string offsets, text;

  explicit SmallVocabulary(const Strings& tokens) {
    for (const std::string& token : tokens) {
      vault::append_le(offsets, static_cast<std::uint32_t>(text.size()));
      text += token;
    }
    vault::append_le(offsets, static_cast<std::uint32_t>(text.size()));
  }
  Vocabulary view() const { return {offsets, text}; }
};

const SmallVocabulary& vocabulary() {
  static const SmallVocabulary all(
      {"[UNK]",     "un",     "##aff",    "##able",   "##a",      "unaff", "the",     "Caf\u00e9",
       "caf\u00e9", "cafe",   "Cafe",     "!",        ".",        "'",     "[",       "]",
       "unk",       "\u65e5", "\u672c",   "\u8c48",   "##\u65e5", "i",     "i\u0307", "##\u0307",
       "\u2014",    "=",      "ss",       "\u00df",   "a",        "##b",   "b",       "x",
       "##x",       "\u1112", "##\u1161", "##\u11ab", "##\u00e9"});
  return all;
}

Strings tokens(std::string_view text, const WordPieceOptions& options = {true, true, 0},
               std::size_t most = 1000) {
  const WordPiece pieces(vocabulary().view(), options);
  std::vector<std::uint32_t> ids;
  pieces.tokenize(text, most, ids);
  Strings out;
  for (const std::uint32_t id : ids) out.emplace_back(pieces.token(id));
  return out;
}

std::string refusal(const Vocabulary& vocabulary, std::uint32_t unknown = 0) {
  try {
    const WordPiece pieces(vocabulary, {true, true, unknown});
    return "";
  } catch (const Error& error) {
    CHECK(error.code() == Code::invalid);
    return error.text();
  }
}

}  // namespace

TEST_CASE("a word is cut into the longest pieces from its left") {
  CHECK(tokens("unaffable") == Strings{"unaff", "##able"});
  CHECK(tokens("unable") == Strings{"un", "##able"});
  CHECK(tokens("ab") == Strings{"a", "##b"});
  CHECK(tokens("b ab b") == Strings{"b", "a", "##b", "b"});
  CHECK(tokens("").empty());
  CHECK(tokens(" \t\r\n ").empty());
}

TEST_CASE("a word with a part that no piece fits is unknown as a whole") {
  CHECK(tokens("unq the") == Strings{"[UNK]", "the"});
  CHECK(tokens("able") == Strings{"[UNK]"});
  CHECK(tokens("unq the", {true, true, kNoToken}) == Strings{"the"});
}

TEST_CASE("longest first does not go back for a better cut") {
  CHECK(tokens("unaffa") == Strings{"unaff", "##a"});
  const SmallVocabulary other({"[UNK]", "ab", "a", "##bc"});
  std::vector<std::uint32_t> ids;
  WordPiece(other.view(), {true, true, 0}).tokenize("abc", 9, ids);
  CHECK(ids == std::vector<std::uint32_t>{0});
}

TEST_CASE("punctuation and symbols of ASCII are words of their own") {
  CHECK(tokens("the!!the.") == Strings{"the", "!", "!", "the", "."});
  CHECK(tokens("the\u2014the") == Strings{"the", "\u2014", "the"});
  CHECK(tokens("[UNK]") == Strings{"[", "unk", "]"});
  // Not an ASCII character as it stands, but one after folding: an equals sign with a stroke.
  CHECK(tokens("a\u2260a") == Strings{"a", "=", "a"});
}

TEST_CASE("an ideograph is a word of its own and comes out as the common form") {
  CHECK(tokens("a\u65e5\u672cb") == Strings{"a", "\u65e5", "\u672c", "b"});
  CHECK(tokens("\uf900") == Strings{"\u8c48"});
}

TEST_CASE("Hangul syllables are cut into letters") {
  CHECK(tokens("\ud55c") == Strings{"\u1112", "##\u1161", "##\u11ab"});
}

TEST_CASE("accents and case go when the model says so") {
  CHECK(tokens("CAF\u00c9") == Strings{"cafe"});
  CHECK(tokens("Cafe\u0301") == Strings{"cafe"});
  CHECK(tokens("CAF\u00c9", {true, false, 0}) == Strings{"caf\u00e9"});
  CHECK(tokens("Caf\u00e9", {false, true, 0}) == Strings{"Cafe"});
  CHECK(tokens("Caf\u00e9", {false, false, 0}) == Strings{"Caf\u00e9"});
  CHECK(tokens("\u0130") == Strings{"i"});
  CHECK(tokens("\u0130", {true, false, 0}) == Strings{"i\u0307"});
  CHECK(tokens("\u1e9e") == Strings{"\u00df"});
}

TEST_CASE("controls are dropped without a gap, white space separates") {
  const std::string nul("a\0b", 3);
  CHECK(tokens(nul) == Strings{"a", "##b"});
  CHECK(tokens("a\vb\x7f") == Strings{"a", "##b"});
  CHECK(tokens("a\u200bb\u00ad\ufffd") == Strings{"a", "##b"});
  CHECK(tokens("a\u0085b\ue000") == Strings{"a", "##b"});
  for (const std::string gap : {" ", "\t", "\n", "\r", "\u00a0", "\u2003", "\u3000", "\u2028"}) {
    CHECK(tokens("a" + gap + "b") == Strings{"a", "b"});
  }
}

TEST_CASE("what is no UTF-8 is dropped") {
  CHECK(tokens("a\xff"
               "b") == Strings{"a", "##b"});
  CHECK(tokens("a\xc3") == Strings{"a"});
  CHECK(tokens("\xed\xa0\x80"
               "a\xf4\x90\x80\x80") == Strings{"a"});
}

TEST_CASE("a word of more than a hundred characters is unknown") {
  CHECK(tokens(std::string(100, 'x')).size() == 100);
  CHECK(tokens(std::string(101, 'x') + " the") == Strings{"[UNK]", "the"});
  CHECK(tokens(std::string(1 << 20, 'x')) == Strings{"[UNK]"});
  std::string accented = "x";
  for (int i = 0; i < 99; ++i) accented += "\u00e9";
  CHECK(tokens(accented, {true, false, 0}).size() == 100);
  CHECK(tokens(accented + "\u00e9", {true, false, 0}) == Strings{"[UNK]"});
}

TEST_CASE("no more tokens than wanted, and of these the first") {
  CHECK(tokens("the unaffable a", {true, true, 0}, 2) == Strings{"the", "unaff"});
  CHECK(tokens("the unaffable a", {true, true, 0}, 3) == Strings{"the", "unaff", "##able"});
  CHECK(tokens("the", {true, true, 0}, 0).empty());
  // Whether a word is known does not depend on where the end is.
  CHECK(tokens("the unaffq", {true, true, 0}, 2) == Strings{"the", "[UNK]"});
}

TEST_CASE("a piece never ends inside a character") {
  // The first byte of two characters is a token, as no vocabulary should have it.
  const SmallVocabulary broken({"[UNK]", "a\xc3", "a", "##\xa9"});
  const WordPiece pieces(broken.view(), {true, false, 0});
  std::vector<std::uint32_t> ids;
  pieces.tokenize("a\u00e9", 9, ids);
  CHECK(ids == std::vector<std::uint32_t>{0});
}

TEST_CASE("the pieces of a random text are the text") {
  std::mt19937 random(5);
  Strings alphabet{"[UNK]"};
  for (char c = 'a'; c <= 'z'; ++c) {
    alphabet.emplace_back(1, c);
    alphabet.push_back(std::string("##") + c);
    for (char d = 'a'; d <= 'z'; d = static_cast<char>(d + 3)) {
      alphabet.push_back(std::string(1, c) + d);
      alphabet.push_back(std::string("##") + d + c);
    }
  }
  const SmallVocabulary letters(alphabet);
  const WordPiece pieces(letters.view(), {true, true, 0});
  for (int round = 0; round < 2000; ++round) {
    std::string word(1 + random() % 60, 'a');
    for (char& c : word) c = static_cast<char>('a' + random() % 26);
    std::vector<std::uint32_t> ids;
    pieces.tokenize(word, 100, ids);
    std::string joined;
    for (const std::uint32_t id : ids) {
      const std::string_view piece = pieces.token(id);
      joined += joined.empty() ? piece : piece.substr(2);
    }
    REQUIRE(joined == word);
  }
}

TEST_CASE("a malformed vocabulary is refused") {
  const std::string twice = "Invalid: vocabulary has a token twice. [invalid]";
  const std::string order =
      "Invalid: vocabulary has tokens that are empty or out of order. [invalid]";
  const std::string none = "Invalid: vocabulary has no token or too many. [invalid]";
  CHECK(refusal(SmallVocabulary({"a", "b", "a"}).view()) == twice);
  CHECK(refusal(SmallVocabulary({"##a", "b", "##a"}).view()) == twice);
  CHECK(refusal(SmallVocabulary({"##a", "b", "a", "##"}).view()).empty());
  CHECK(refusal(SmallVocabulary({"a", "", "b"}).view()) == order);
  CHECK(refusal(SmallVocabulary({}).view()) == none);
  CHECK(refusal({"", ""}) == none);
  CHECK(refusal({std::string_view("\0\0\0\0\1\0\0", 7), "a"}) == none);
  CHECK(refusal(SmallVocabulary({"a"}).view(), 1) ==
        "Invalid: vocabulary lacks the token for unknown words. [invalid]");
  SmallVocabulary shorter({"a", "b"});
  shorter.text.pop_back();
  CHECK(refusal(shorter.view()) == order);
  SmallVocabulary swapped({"a", "b", "c"});
  std::swap(swapped.offsets[4], swapped.offsets[8]);
  CHECK(refusal(swapped.view()) == order);
  SmallVocabulary late({"a", "b"});
  late.offsets[0] = 1;
  late.offsets[4] = 2;
  CHECK(refusal(late.view()) == order);
}

}  // namespace strongroom::recall
