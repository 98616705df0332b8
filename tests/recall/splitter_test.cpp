#include "recall/splitter.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/utf8.h"
#include "recall/tokens.h"

namespace strongroom::recall {
namespace {

using Strings = std::vector<std::string>;

Strings chunks(std::string_view text, std::uint64_t max_tokens) {
  Strings out;
  for (const Span& span : split_document(text, max_tokens)) {
    out.emplace_back(text.substr(span.offset, span.size));
  }
  return out;
}

bool space(char c) {
  return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
}

bool blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), space);
}

std::size_t longest_blank(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = space(c) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

void check_chunks(std::string_view text, std::uint64_t max_tokens) {
  INFO(text);
  const std::vector<Span> spans = split_document(text, max_tokens);
  if (blank(text)) {
    REQUIRE(spans.empty());
    return;
  }
  const bool plain = longest_blank(text) <= 64;
  std::size_t at = 0;
  for (const Span& span : spans) {
    REQUIRE(span.offset >= at);
    REQUIRE(span.size > 0);
    REQUIRE(span.end() <= text.size());
    const std::string_view gap = text.substr(at, span.offset - at);
    REQUIRE(blank(gap));
    REQUIRE(gap.size() <= 64);
    const std::string_view chunk = text.substr(span.offset, span.size);
    REQUIRE(valid_utf8(chunk));
    REQUIRE(count_tokens(chunk) <= max_tokens);
    if (plain) REQUIRE(!space(chunk.front()));
    if (plain) REQUIRE(!space(chunk.back()));
    at = span.end();
  }
  REQUIRE(blank(text.substr(at)));
  REQUIRE(text.size() - at <= 64);
}

void check_passages(std::string_view text, std::uint64_t max_tokens) {
  INFO(text);
  const std::vector<Span> spans = split_passages(text, max_tokens);
  REQUIRE(!spans.empty());
  if (count_tokens(text) <= max_tokens) REQUIRE(spans.size() == 1);
  std::size_t begin = 0;
  std::size_t end = 0;
  for (const Span& span : spans) {
    REQUIRE(span.offset <= end);
    const bool first = &span == &spans.front();
    REQUIRE((first || span.offset > begin));
    REQUIRE((first || span.end() > end));
    const std::string_view passage = text.substr(span.offset, span.size);
    REQUIRE(valid_utf8(passage));
    REQUIRE(count_tokens(passage) <= max_tokens);
    begin = span.offset;
    end = span.end();
  }
  REQUIRE(end == text.size());
}

std::string random_document(std::mt19937& random, std::size_t pieces) {
  static const Strings alphabet = {"word ",
                                   "another word. ",
                                   "longerwordthanthat",
                                   "\n",
                                   "\n\n",
                                   "\n\n\n",
                                   "\n# H\n",
                                   "\n## Head two\n\n",
                                   "\n- item ",
                                   "\n1. x",
                                   "\n```\n",
                                   "\n```cpp\n",
                                   "\n~~~\n",
                                   "  ",
                                   "\t",
                                   "\u00e9",
                                   "\u65e5\u672c\u3002",
                                   "\U0001F600",
                                   "SECTION\n   ",
                                   "\r\n",
                                   "a? ",
                                   "(b.) ",
                                   "#"};
  std::string out;
  for (std::size_t i = 0; i < pieces; ++i) {
    out += alphabet[random() % alphabet.size()];
    if (random() % 200 == 0) out += std::string(random() % 200, ' ');
  }
  return out;
}

std::string sentences(std::string_view word, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += std::string(word) + " is sentence " + std::to_string(i) + ". ";
  out.pop_back();
  return out;
}

}  // namespace

TEST_CASE("a text of white space has no chunks, and a short one is a chunk without its ends") {
  CHECK(chunks("", 10).empty());
  CHECK(chunks(" \n\t\n", 10).empty());
  CHECK(chunks(std::string(5000, '\n'), 10).empty());
  CHECK(chunks("\n one two \n", 10) == Strings{"one two"});
  CHECK(chunks("abcdefgh", 2) == Strings{"abcdefgh"});
}

TEST_CASE("a document is cut between paragraphs before lines, sentences and words") {
  CHECK(chunks("one two\nthree\n\nfour five\nsix", 6) ==
        Strings{"one two\nthree", "four five\nsix"});
  CHECK(chunks("one two three\nfour five six", 5) == Strings{"one two three", "four five six"});
  CHECK(chunks("One two. Three four five", 5) == Strings{"One two.", "Three four five"});
  CHECK(chunks("one two three four", 3) == Strings{"one two", "three four"});
  CHECK(chunks("abcdefghij", 1) == Strings{"abcd", "efgh", "ij"});
  CHECK(chunks("\u65e5\u672c\u8a9e", 2) == Strings{"\u65e5\u672c", "\u8a9e"});
  CHECK(chunks("intro line\nmore text here\n- item one\ngoes on", 8) ==
        Strings{"intro line\nmore text here", "- item one\ngoes on"});
}

TEST_CASE("a heading begins a chunk unless there is little before it") {
  const std::string body = sentences("Body", 6);
  const std::string text = "# One\n\n" + body + "\n\n## Two\n\n" + body + "\n";
  CHECK(chunks(text, 100) == Strings{"# One\n\n" + body, "## Two\n\n" + body});
  CHECK(chunks("# One\n\n## Two\n\nshort\n", 100) == Strings{"# One\n\n## Two\n\nshort"});
  CHECK(chunks("a # b\n#hash\n####### c", 5).size() == 2);
  const std::string manual = "NAME\n       tool - a tool\n\nSEE ALSO\n       other(1), more\n";
  CHECK(chunks(manual, 40) ==
        Strings{"NAME\n       tool - a tool\n\nSEE ALSO\n       other(1), more"});
  CHECK(chunks(manual, 20) ==
        Strings{"NAME\n       tool - a tool", "SEE ALSO\n       other(1), more"});
}

TEST_CASE("a fenced block stays whole where it fits, and headings inside are none") {
  const std::string code = "```sh\n# not a heading\n\nmake all\n\n# nor this\nmake test\n```";
  const std::string text = "Some words before.\n\n" + code + "\n\nSome words after.";
  CHECK(chunks(text, 18) == Strings{"Some words before.", code, "Some words after."});
  CHECK(chunks(text, count_tokens("Some words before.\n\n" + code)) ==
        Strings{"Some words before.\n\n" + code, "Some words after."});
  for (const std::string& chunk : chunks(text, 8)) CHECK(count_tokens(chunk) <= 8);
  const Strings far = chunks(code + std::string(70, '\n') + std::string(400, 'x'), 40);
  CHECK(far.at(0).starts_with(code));
  const Strings long_fence = chunks("```\n" + sentences("Line", 40) + "\n```", 30);
  CHECK(long_fence.size() > 5);
}

TEST_CASE("chunks and gaps are the document, for every document and limit") {
  std::mt19937 random(17);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_document(random, random() % 80);
    check_chunks(text, 1 + random() % 60);
  }
}

TEST_CASE("passages cover a text within their limit and overlap, for every text and limit") {
  std::mt19937 random(19);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_document(random, random() % 80);
    check_passages(text, 1 + random() % 60);
  }
}

TEST_CASE("passages overlap by about an eighth, from the start of a sentence or word") {
  const std::string text = sentences("Text", 200);
  const std::vector<Span> spans = split_passages(text, 256);
  REQUIRE(spans.size() > 4);
  for (std::size_t i = 1; i < spans.size(); ++i) {
    CHECK(text.substr(spans[i].offset, 4) == "Text");
    const std::uint64_t overlap = (spans[i - 1].end() - spans[i].offset) / 4;
    CHECK(overlap >= 16);
    CHECK(overlap <= 64);
  }
  CHECK(split_passages("fits") == std::vector<Span>{{0, 4}});
  CHECK(split_passages("") == std::vector<Span>{{0, 0}});
}

TEST_CASE("long runs of one kind are cut within their limit") {
  for (const std::string_view piece :
       {"a", "\n", " ", "word ", "\u65e5", "```\n", "# h\n\n", "\r\n"}) {
    std::string text = "x";
    while (text.size() < 20000) text += piece;
    text += "y";
    check_chunks(text, 256);
    check_passages(text, 256);
  }
}

}  // namespace strongroom::recall
