// Errors, wiping and suggestions.
#include <algorithm>
#include <cerrno>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/suggest.h"
#include "base/wipe.h"

namespace strongroom {

TEST_CASE("error texts", "[base][error]") {
  CHECK(Error(Code::busy, "Another process writes.").text() == "Another process writes. [busy]");
  CHECK(Error::verbatim(Code::denied, "Policy Denied: no (rule: r)").text() ==
        "Policy Denied: no (rule: r)");
  CHECK(Error::invalid("limit", "is below 1").text() == "Invalid: limit is below 1. [invalid]");
  CHECK(Error::too_large("value", 5, 4).text() ==
        "Too large: value is 5 bytes, limit 4. [too_large]");
  CHECK(std::string(Error::too_large("value", 5, 4).what()).find("[too_large]") !=
        std::string::npos);
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::internal); ++code) {
    names.insert(code_name(static_cast<Code>(code)));
  }
  CHECK(names.size() == static_cast<std::size_t>(Code::internal) + 1);
  CHECK(code_name(Code::secret_detected) == "secret_detected");
  const auto thrown = [](int number) {
    try {
      throw_errno("write the vault", number);
    } catch (const Error& error) {
      return error.code();
    }
  };
  CHECK(thrown(ENOSPC) == Code::no_space);
  CHECK(thrown(EDQUOT) == Code::no_space);
  CHECK(thrown(EIO) == Code::io);
  CHECK(thrown(EACCES) == Code::io);
}

TEST_CASE("wiping", "[base][wipe]") {
  std::string text = "a secret that is longer than any small-string buffer holds";
  const char* const place = text.data();
  const std::size_t capacity = text.capacity();
  text.resize(10);  // the rest of the old text still lies behind the end
  wipe(text);
  CHECK(text.empty());
  CHECK(text.capacity() == capacity);
  CHECK(std::all_of(place, place + capacity, [](char c) { return c == '\0'; }));
  std::string small = "short";
  const char* const inside = small.data();
  wipe(small);
  CHECK(std::all_of(inside, inside + 5, [](char c) { return c == '\0'; }));
  wipe(nullptr, 0);

  SecretBytes bytes(std::string_view("abc"));
  bytes.append("def");
  CHECK(bytes.view() == "abcdef");
  bytes.resize(4);
  CHECK(bytes.view() == "abcd");
  bytes.resize(6);
  CHECK(bytes.view() == std::string_view("abcd\0\0", 6));
  bytes.clear();
  CHECK(bytes.empty());

  // The allocator gives back only zeros.
  alignas(16) static char memory[64];
  std::fill(std::begin(memory), std::end(memory), 'k');
  wipe(memory, 48);
  CHECK(std::count(std::begin(memory), std::end(memory), 'k') == 16);
}

namespace {

std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty()) return b.size();
  if (b.empty()) return a.size();
  if (a[0] == b[0]) return slow_distance(a.substr(1), b.substr(1));
  return 1 + std::min({slow_distance(a.substr(1), b), slow_distance(a, b.substr(1)),
                       slow_distance(a.substr(1), b.substr(1))});
}

}  // namespace

TEST_CASE("edit distance", "[base][suggest]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("flaw", "lawn") == 2);
  std::mt19937 random(4);
  for (int i = 0; i < 3'000; ++i) {
    std::string a(random() % 6, ' '), b(random() % 6, ' ');
    for (char& c : a) c = "abc"[random() % 3];
    for (char& c : b) c = "abc"[random() % 3];
    REQUIRE(edit_distance(a, b) == slow_distance(a, b));
    REQUIRE(edit_distance(a, b) == edit_distance(b, a));
  }
}

TEST_CASE("did you mean", "[base][suggest]") {
  const std::vector<std::string> known = {"tags",  "tags_match", "temporal_window",
                                          "limit", "min_score",  "query"};
  CHECK(nearest("tag", known, 1) == std::vector<std::string>{"tags"});
  CHECK(nearest("tags_mach", known, 2) == std::vector<std::string>{"tags_match", "tags"});
  CHECK(nearest("limt", known, 3) == std::vector<std::string>{"limit"});
  CHECK(nearest("minscore", known, 3) == std::vector<std::string>{"min_score"});
  CHECK(nearest("temporal", known, 3) == std::vector<std::string>{"temporal_window"});
  CHECK(nearest("zzzzzz", known, 3).empty());
  CHECK(nearest("", known, 3).empty());
  CHECK(nearest("tags", known, 0).empty());
  CHECK(nearest("tags", {}, 3).empty());
  // A name from outside may be of any length.
  CHECK(nearest(std::string(1'000'000, 't'), known, 3).empty());
}

}  // namespace strongroom
