#include "crypto/recovery_code.h"

#include <cctype>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tests/crypto/vectors.h"

namespace strongroom::crypto {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

std::string new_code() {
  return std::string(make_recovery_code().view());
}

bool opens(std::string_view typed, const SecretKey& key) {
  const auto got = recovery_code_key(typed);
  return got.has_value() && got->view() == key.view();
}

}  // namespace

TEST_CASE("recovery codes made elsewhere", "[crypto][code]") {
  CHECK(testing::for_each_vector("recovery_code.jsonl", [](const Json& vector) {
          const auto key = recovery_code_key(testing::text_of(vector, "code"));
          REQUIRE(key.has_value());
          CHECK(key->view() == testing::bytes_of(vector, "key"));
        }) == 50);
}

TEST_CASE("recovery codes have their form and are random", "[crypto][code]") {
  std::set<std::string> codes;
  std::set<char> symbols;
  for (int i = 0; i < 1000; ++i) {
    const std::string code = new_code();
    REQUIRE(code.size() == 9 * 4 + 8);
    for (std::size_t at = 0; at < code.size(); ++at) {
      if (at % 5 == 4) {
        REQUIRE(code[at] == '-');
      } else {
        REQUIRE(kAlphabet.find(code[at]) != std::string_view::npos);
        symbols.insert(code[at]);
      }
    }
    REQUIRE(recovery_code_key(code).has_value());
    codes.insert(code);
  }
  CHECK(codes.size() == 1000);
  CHECK(symbols.size() == kAlphabet.size());
}

TEST_CASE("recovery codes as people type them", "[crypto][code]") {
  for (int round = 0; round < 50; ++round) {
    const std::string code = new_code();
    const SecretKey key = std::move(recovery_code_key(code).value());
    std::string lower, bare, spaced, looks_alike;
    for (const char c : code) {
      lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      if (c != '-') bare.push_back(c);
      spaced.append(c == '-' ? std::string("  ") : std::string(1, c));
      looks_alike.push_back(c == '0'   ? (round % 2 == 0 ? 'O' : 'o')
                            : c == '1' ? "IiLl"[round % 4]
                                       : c);
    }
    CHECK(opens(lower, key));
    CHECK(opens(bare, key));
    CHECK(opens(spaced, key));
    CHECK(opens(looks_alike, key));
    CHECK(opens("  " + code + "\r\n", key));
    CHECK_FALSE(recovery_code_key(bare.substr(1)).has_value());
    CHECK_FALSE(recovery_code_key(bare + "0").has_value());
    CHECK_FALSE(recovery_code_key(bare.substr(0, 32)).has_value());
  }
  for (const char* const bad :
       {"", "-", "not a code", "UUUU-UUUU-UUUU-UUUU-UUUU-UUUU-UUUU-UUUU-UUUU",
        "0000-0000-0000-0000-0000-0000-0000-0000-000\xC3\xA4"}) {
    CHECK_FALSE(recovery_code_key(bad).has_value());
  }
}

TEST_CASE("the check group finds typing errors", "[crypto][code]") {
  int wrong = 0, found = 0;
  for (int round = 0; round < 10; ++round) {
    const std::string code = new_code();
    for (std::size_t at = 0; at < code.size(); ++at) {
      if (code[at] == '-') continue;
      for (const char other : kAlphabet) {  // every single wrong symbol
        if (other == code[at]) continue;
        std::string typed = code;
        typed[at] = other;
        ++wrong;
        found += recovery_code_key(typed).has_value() ? 0 : 1;
      }
      const std::size_t next = code.find_first_not_of('-', at + 1);
      if (next != std::string::npos && code[next] != code[at]) {  // two symbols swapped
        std::string typed = code;
        std::swap(typed[at], typed[next]);
        ++wrong;
        found += recovery_code_key(typed).has_value() ? 0 : 1;
      }
    }
  }
  CHECK(wrong > 10'000);
  // 20 check bits: one in a million slips through, so one or two here would be no surprise.
  CHECK(wrong - found <= 2);
}

}  // namespace strongroom::crypto
