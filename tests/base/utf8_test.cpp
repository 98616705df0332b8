#include "base/utf8.h"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

namespace strongroom {
namespace {

// RFC 3629 from the other side: decode by the bit pattern, then ask whether this is the code
// point's one encoding. 0 = no valid sequence at the start of `text`.
std::size_t slow_sequence(std::string_view text, char32_t* point = nullptr) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = 0;
  std::uint32_t value = 0;
  if (byte(0) >> 7 == 0) {
    length = 1;
    value = byte(0);
  } else if (byte(0) >> 5 == 6) {
    length = 2;
    value = byte(0) & 0x1Fu;
  } else if (byte(0) >> 4 == 14) {
    length = 3;
    value = byte(0) & 0x0Fu;
  } else if (byte(0) >> 3 == 30) {
    length = 4;
    value = byte(0) & 0x07u;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    value = value * 64 + (byte(i) & 0x3Fu);
  }
  const std::size_t shortest = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
  if (shortest != length || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) return 0;
  if (point != nullptr) *point = value;
  return length;
}

bool slow_valid(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = slow_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string encoded(char32_t point) {
  std::string out;
  utf8_append(out, point);
  return out;
}

std::string bytes(std::uint32_t value, std::size_t count) {
  std::string out;
  for (; count > 0; --count) out.push_back(static_cast<char>(value >> (8 * (count - 1)) & 0xFF));
  return out;
}

}  // namespace

TEST_CASE("UTF-8 against a slow reference", "[base][utf8]") {
  std::size_t differences = 0;
  const auto compare = [&](std::string_view text) {
    if (valid_utf8(text) != slow_valid(text) || utf8_sequence(text) != slow_sequence(text)) {
      ++differences;
    }
  };
  for (std::size_t count = 0; count <= 3; ++count) {
    for (std::uint32_t value = 0; value < std::uint32_t{1} << (8 * count); ++value) {
      compare(bytes(value, count));
    }
  }
  // Four bytes: every first and second byte with chosen third and fourth ones, then at random.
  for (std::uint32_t front = 0; front < 0x10000; ++front) {
    for (const std::uint32_t back : {0x8080u, 0xBFBFu, 0x7F80u, 0x80C0u, 0xC080u, 0x4141u}) {
      compare(bytes(front << 16 | back, 4));
    }
  }
  std::mt19937 random(3629);
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint32_t value = static_cast<std::uint32_t>(random());
    if (i % 2 == 0) value = 0xF0808080u ^ (value & 0x0F3F3F3Fu);
    compare(bytes(value, 4));
  }
  CHECK(differences == 0);
  CHECK(valid_utf8(""));
  CHECK(valid_utf8(std::string_view("a\0b", 3)));
}

TEST_CASE("every code point round trips", "[base][utf8]") {
  std::size_t wrong = 0;
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    const std::string text = encoded(point);
    char32_t back = 0;
    if (utf8_sequence(text) != text.size() || slow_sequence(text, &back) != text.size() ||
        back != point) {
      ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("UTF-8 prefixes", "[base][utf8]") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";  // lengths 1 2 3 4 1
  const std::vector<std::size_t> cuts = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};
  for (std::size_t limit = 0; limit < cuts.size(); ++limit) {
    CHECK(utf8_prefix(text, limit).size() == cuts[limit]);
    CHECK(utf8_prefix(text, limit).data() == text.data());
  }
  CHECK(utf8_prefix("", 5).empty());
  CHECK(utf8_prefix("\x80\x80\x80", 2).empty());  // nothing but continuation bytes

  // The whole part of every cut of a valid text is what utf8_prefix leaves.
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string valid;
    for (int i = 0; i < 8; ++i) {
      const auto draw = [&](char32_t first, std::uint32_t count) {
        return first + static_cast<char32_t>(random() % count);
      };
      const auto size = random() % 4;
      const char32_t point = size == 0   ? draw(0, 0x80)
                             : size == 1 ? draw(0x80, 0x780)
                             : size == 2 ? draw(0xE000, 0x2000)
                                         : draw(0x10000, 0x100000);
      utf8_append(valid, point);
    }
    for (std::size_t cut = 0; cut <= valid.size(); ++cut) {
      const std::string_view part = std::string_view(valid).substr(0, cut);
      REQUIRE(utf8_whole_length(part) == utf8_prefix(valid, cut).size());
      REQUIRE(valid_utf8(part.substr(0, utf8_whole_length(part))));
    }
  }
  CHECK(utf8_whole_length("") == 0);
  CHECK(utf8_whole_length("abc") == 3);
  CHECK(utf8_whole_length("\xF0\x9F\x98") == 0);
}

TEST_CASE("escape_for_display shows what is hidden", "[base][utf8]") {
  struct Row {
    std::string text, shown;
  };
  const std::vector<Row> rows = {
      {"", ""},
      {"plain \"text\" \\ / \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
       "plain \"text\" \\ / \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
      {std::string("\0\x07\x1b[31m\x7f", 8), "\\u0000\\u0007\\u001b[31m\\u007f"},
      {encoded(0x80) + encoded(0x9B), "\\u0080\\u009b"},
      {encoded(0xAD), "\\u00ad"},
      {encoded(0xA0) + encoded(0x3000), encoded(0xA0) + encoded(0x3000)},
      {encoded(0x200B) + encoded(0x200D) + encoded(0x2060), "\\u200b\\u200d\\u2060"},
      {encoded(0x202A) + encoded(0x202E), "\\u202a\\u202e"},
      {encoded(0x2066) + encoded(0x2069), "\\u2066\\u2069"},
      {encoded(0x200E) + encoded(0x200F) + encoded(0x61C), "\\u200e\\u200f\\u061c"},
      {encoded(0x2028) + encoded(0x2029), "\\u2028\\u2029"},
      {encoded(0xFEFF) + encoded(0xFFF9), "\\ufeff\\ufff9"},
      {encoded(0xE0041) + encoded(0xE007F), "\\U000e0041\\U000e007f"},
      {"a\xFFz\xC3", "a\xEF\xBF\xBDz\xEF\xBF\xBD"},
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
  };
  for (const Row& row : rows) CHECK(escape_for_display(row.text) == row.shown);
  // Whatever comes in: valid UTF-8 on one line, and nothing left to escape.
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string shown = escape_for_display(text);
    REQUIRE(valid_utf8(shown));
    REQUIRE(shown.find_first_of(std::string_view("\0\n\r\x1b\x7f", 5)) == std::string::npos);
    REQUIRE(escape_for_display(shown) == shown);
  }
}

}  // namespace strongroom
