// normalized(), is_recall_output() and edit_distance().
#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/utf8.h"
#include "recall/analyzer.h"
#include "tests/recall/random_text.h"

namespace strongroom::recall {

TEST_CASE("normalised texts are equal when they say the same") {
  CHECK(normalized("  Hello\n\tWORLD ") == "hello world");
  CHECK(normalized("\uff28ello w\u00adorld") == "hello world");
  CHECK(normalized("cafe\u0301") == normalized("CAF\u00c9"));
  CHECK(normalized(" \n ").empty());
}

TEST_CASE("long texts without spaces compose as short ones do") {
  std::string composed;
  std::string decomposed;
  for (int i = 0; i < 1000; ++i) {
    composed += "\uac01\u00e9";
    decomposed += "\u1100\u1161\u11a8e\u0301";
  }
  CHECK(normalized(decomposed) == composed);
}

TEST_CASE("what recall puts around a text is not part of it") {
  const std::string id = " (id: k7q2m-1f)";
  const std::string time = " (2026-11-21T21:40:05.123Z)";
  const std::string type = " [world]";
  for (const std::string text :
       {"Ada likes tea", "first line\nsecond line\n\n  indented", "- an item\n- another",
        "ends (like this)", "ends [see]", "tab\there", "bidi \u202e inside", "C:\\temp\\new",
        "literal \\u202e", "(2026-11-21T21:40:05.123Z)", "na\u00efve"}) {
    std::string shown;
    for (const char c : std::string_view(text)) {
      shown += c == '\n' ? std::string("\n  ") : std::string(1, c);
    }
    const std::string escaped = [&] {
      std::string out;
      std::string_view rest = text;
      for (std::size_t at = 0; at <= rest.size();) {
        const std::size_t stop = std::min(rest.find('\n', at), rest.size());
        if (at != 0) out += "\n  ";
        out += escape_for_display(rest.substr(at, stop - at));
        at = stop + 1;
      }
      return out;
    }();
    for (const std::string& body : {shown, escaped}) {
      INFO(body);
      CHECK(normalized("- " + body + type + time + id) == normalized(text));
      CHECK(normalized("- " + body + time + id + "\n") == normalized(text));
      // Without its bullet, a list item's own mark is taken for one.
      if (text.front() != '-') CHECK(normalized(body + type + time + id) == normalized(text));
    }
    CHECK(normalized("- " + shown + " [observation] (2026-11-21T21:40:05Z)" + id) ==
          normalized(text));
  }
}

TEST_CASE("ordinary texts that look a little like a bullet stay as they are") {
  for (const std::string_view text :
       {"(see id: none)", "[world] tour", "- a list item", "a tour of the [world]",
        "built (2026-11-21t21:40:05.123z)", "x (id: k7q2m)", "x (id: k7q2m-)", "x (id: k7q2-1f)",
        "x (id: k7q2m-1f) y", "x(id: k7q2m-1f)", "- x [world] (2026-11-21t21:40:05.123z)"}) {
    CHECK(normalized(text) == text);
  }
}

TEST_CASE("a whole answer of recall is recognised") {
  const std::string head = "Found 2 relevant memories (as of 2026-11-21 21:40 UTC):\n\n";
  const std::string first = "- one\n  two\n  \n  three [world] (id: k7q2m-1f)";
  const std::string second = "- four (id: k7q2m-2)";
  std::vector<std::string_view> bullets;
  CHECK(is_recall_output(head + first + "\n" + second));
  const std::string whole = "\n" + head + first + "\n" + second + "\n\n";
  REQUIRE(is_recall_output(whole, &bullets));
  REQUIRE(bullets.size() == 2);
  CHECK(bullets[0] == first);
  CHECK(bullets[1] == second);
  CHECK(is_recall_output("Found 1 relevant memory (as of 2026-11-21 21:40 UTC):\n\n- x"));
  for (const std::string& text :
       {std::string(), std::string("Found 2 relevant memories"), head + second,
        head + first + "\n" + second + "\nand more", "Note: " + whole, head + "x\n" + first,
        std::string("Found 1 relevant memories (as of 2026-11-21 21:40 UTC):\n\n- x"),
        std::string("Found 2 relevant memories (as of yesterday):\n\n- x\n- y")}) {
    INFO(text);
    CHECK(!is_recall_output(text));
  }
}

TEST_CASE("normalising hostile texts gives valid UTF-8 without outer blanks") {
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    const std::string text = random_text(random, random() % 40);
    const std::string out = normalized(text);
    REQUIRE(valid_utf8(out));
    REQUIRE((out.empty() || (out.front() != ' ' && out.back() != ' ')));
    REQUIRE(out.find("  ") == std::string::npos);
    // Texts that end in a blank lose it before the suffix comes.
    REQUIRE(normalized("- " + text + " (id: k7q2m-1f)") == out);
  }
}

namespace {

unsigned slow_distance(const std::u32string& a, const std::u32string& b) {
  std::vector<std::vector<unsigned>> cost(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (unsigned i = 0; i <= a.size(); ++i) {
    for (unsigned j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string utf8(const std::u32string& points) {
  std::string out;
  for (const char32_t point : points) utf8_append(out, point);
  return out;
}

}  // namespace

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "", 2) == 0);
  CHECK(edit_distance("abc", "", 5) == 3);
  CHECK(edit_distance("kitten", "sitting", 3) == 3);
  CHECK(edit_distance("postgers", "postgres", 2) == 1);
  CHECK(edit_distance("ca", "abc", 5) == 3);
  CHECK(edit_distance("caf\u00e9", "cafe", 1) == 1);
  CHECK(edit_distance("abcdef", "uvwxyz", 2) == 3);
  CHECK(edit_distance("same", "same", 0) == 0);
  CHECK(edit_distance("same", "sane", 0) == 1);
  CHECK(edit_distance("abc", "xyz", ~0u) == 3);
  CHECK(edit_distance(std::string(5000, 'a'), std::string(5001, 'a'), 2) == 1);
}

TEST_CASE("edit distance agrees with the whole table of costs") {
  std::mt19937 random(5);
  const std::u32string alphabet = U"abc\u00e9\u65e5\U0001F600";
  for (int round = 0; round < 20000; ++round) {
    const auto word = [&] {
      std::u32string out;
      for (std::size_t n = random() % 9; n > 0; --n) out += alphabet[random() % alphabet.size()];
      return out;
    };
    const std::u32string a = word();
    const std::u32string b = word();
    const auto limit = static_cast<unsigned>(random() % 6);
    REQUIRE(edit_distance(utf8(a), utf8(b), limit) == std::min(slow_distance(a, b), limit + 1));
  }
}

}  // namespace strongroom::recall
