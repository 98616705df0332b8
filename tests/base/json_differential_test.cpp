// The strict reader against nlohmann::json over generated and mutated documents. The library is the
// oracle for the grammar; what Strongroom refuses beyond it (duplicate members, depth over 64, a
// byte-order mark, a NUL byte) is found beside it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace strongroom {
namespace {

using Oracle = nlohmann::json;
using Random = std::mt19937_64;

// Parses and remembers what the strict rules are about.
struct Rules : nlohmann::json_sax<Oracle> {
  bool duplicate = false, too_deep = false, number_out_of_range = false;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    duplicate = duplicate || !names_.back().insert(name).second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    number_out_of_range = error.id == 406;
    return false;
  }

 private:
  bool open() {
    names_.emplace_back();
    too_deep = too_deep || names_.size() > static_cast<std::size_t>(Json::kMaxDepth);
    return true;
  }
  bool close() {
    names_.pop_back();
    return true;
  }
  std::vector<std::unordered_set<std::string>> names_;
};

// Writes random documents: mostly valid, with odd spacing, escapes and numbers.
class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  std::string document() {
    out_.clear();
    space();
    value(0);
    space();
    return out_;
  }

  void mutate(std::string& text) {
    static const std::vector<std::string> kTokens = {"{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     ":",
                                                     "\"",
                                                     "\\",
                                                     "\\u",
                                                     "\\ud800",
                                                     "\\udc00",
                                                     "\\u0000",
                                                     "e",
                                                     "E",
                                                     "+",
                                                     "-",
                                                     ".",
                                                     "0",
                                                     "1e5",
                                                     "1e400",
                                                     "00",
                                                     "null",
                                                     "true",
                                                     "nul",
                                                     "NaN",
                                                     "Infinity",
                                                     "//",
                                                     "/**/",
                                                     "'",
                                                     "\t",
                                                     "\n",
                                                     " ",
                                                     std::string(1, '\0'),
                                                     "\x1f",
                                                     "\x7f",
                                                     "\xC3",
                                                     "\xA9",
                                                     "\xED\xA0\x80",
                                                     "\xF4\x90\x80\x80",
                                                     "\xEF\xBB\xBF",
                                                     "\xFF",
                                                     "\"a\":1,",
                                                     ",,",
                                                     "[]",
                                                     "{}",
                                                     "\"\""};
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      const std::size_t at = below(text.size() + 1);
      switch (below(7)) {
        case 0:
        case 1:
          text.insert(at, kTokens[below(kTokens.size())]);
          break;
        case 2:
          if (at < text.size()) text.erase(at, 1 + below(4));
          break;
        case 3:
          if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
          break;
        case 4:
          text.resize(at);
          break;
        case 5:  // a piece once more: makes duplicate members
          text.insert(at, text.substr(below(text.size() + 1), below(20)));
          break;
        default:
          if (at < text.size()) text[at] = kTokens[below(kTokens.size())][0];
      }
    }
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  void space() {
    while (below(5) == 0) out_.push_back(" \t\n\r"[below(4)]);
  }

  void value(std::size_t depth) {
    switch (below(depth > 5 ? 5 : 8)) {
      case 0:
        out_.append("null");
        break;
      case 1:
        out_.append(below(2) == 0 ? "true" : "false");
        break;
      case 2:
        number();
        break;
      case 3:
      case 4:
        string();
        break;
      case 5:
        array(depth);
        break;
      default:
        object(depth);
    }
  }

  void digits(std::size_t count) {
    for (; count > 0; --count) out_.push_back(static_cast<char>('0' + below(10)));
  }

  void number() {
    if (below(3) == 0) out_.push_back('-');
    if (below(4) == 0) {
      out_.push_back('0');
    } else {
      out_.push_back(static_cast<char>('1' + below(9)));
      digits(below(8) == 0 ? below(25) : below(4));
    }
    if (below(3) == 0) {
      out_.push_back('.');
      digits(1 + below(6));
    }
    if (below(4) == 0) {
      out_.push_back(below(2) == 0 ? 'e' : 'E');
      if (below(2) == 0) out_.push_back(below(2) == 0 ? '+' : '-');
      digits(1 + below(2));
    }
  }

  void string() {
    static const std::vector<std::string> kPieces = {"a",
                                                     "key",
                                                     "\\n",
                                                     "\\\"",
                                                     "\\\\",
                                                     "\\/",
                                                     "\\b",
                                                     "\\u0041",
                                                     "\\u00e9",
                                                     "\\u2028",
                                                     "\\uD834\\uDD1E",
                                                     "\\u0000",
                                                     "\xC3\xA9",
                                                     "\xE2\x82\xAC",
                                                     "\xF0\x9F\x98\x80",
                                                     " ",
                                                     "{",
                                                     "]",
                                                     ":",
                                                     ",",
                                                     "\x7f",
                                                     "a longer piece of plain text"};
    out_.push_back('"');
    for (std::size_t n = below(4); n > 0; --n) out_.append(kPieces[below(kPieces.size())]);
    out_.push_back('"');
  }

  void array(std::size_t depth) {
    out_.push_back('[');
    space();
    for (std::size_t i = 0, n = below(4); i < n; ++i) {
      if (i > 0) out_.push_back(',');
      space();
      value(depth + 1);
      space();
    }
    out_.push_back(']');
  }

  void object(std::size_t depth) {
    out_.push_back('{');
    space();
    const std::size_t n = below(30) == 0 ? 15 + below(10) : below(4);
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) out_.push_back(',');
      space();
      if (below(4) == 0) {
        string();
      } else {
        out_.append("\"m" + std::to_string(below(40)) + "\"");
      }
      space();
      out_.push_back(':');
      space();
      value(depth + 1);
      space();
    }
    out_.push_back('}');
  }

  Random& random_;
  std::string out_;
};

bool same_number(const Json& ours, const Oracle& theirs) {
  if (ours.raw().find_first_of(".eE") == std::string_view::npos) {
    if (theirs.is_number_unsigned()) {
      const auto value = theirs.get<std::uint64_t>();
      const bool fits = value <= static_cast<std::uint64_t>(INT64_MAX);
      if (ours.as_int().has_value() != fits) return false;
      if (fits && *ours.as_int() != static_cast<std::int64_t>(value)) return false;
    } else if (theirs.is_number_integer()) {
      if (ours.as_int() != theirs.get<std::int64_t>()) return false;
    }
  } else if (ours.as_int().has_value() &&
             static_cast<double>(*ours.as_int()) != theirs.get<double>()) {
    return false;
  }
  const auto real = ours.as_double();
  // Below the smallest double the two libraries round apart: to none, to zero.
  if (!real.has_value()) return theirs.get<double>() == 0;
  return *real == theirs.get<double>();
}

// Values, and that each raw() slice is that value again.
bool same(const Json& ours, const Oracle& theirs) {
  switch (theirs.type()) {
    case Oracle::value_t::null:
      return ours.is_null();
    case Oracle::value_t::boolean:
      return ours.is_bool() && ours.as_bool() == theirs.get<bool>();
    case Oracle::value_t::string:
      return ours.is_string() && ours.as_string() == theirs.get_ref<const std::string&>();
    case Oracle::value_t::number_integer:
    case Oracle::value_t::number_unsigned:
    case Oracle::value_t::number_float:
      return ours.is_number() && same_number(ours, theirs);
    case Oracle::value_t::array: {
      if (!ours.is_array() || ours.items().size() != theirs.size()) return false;
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (!same(ours.items()[i], theirs[i])) return false;
      }
      return true;
    }
    case Oracle::value_t::object: {
      if (!ours.is_object() || ours.members().size() != theirs.size()) return false;
      for (const Json::Member& member : ours.members()) {
        const auto at = theirs.find(member.name);
        if (at == theirs.end() || !same(member.value, *at)) return false;
        if (ours.find(member.name) != &member.value) return false;
      }
      return true;
    }
    case Oracle::value_t::binary:
    case Oracle::value_t::discarded:
      return false;
  }
  return false;
}

bool slices_agree(const Json& value) {
  const Oracle again = Oracle::parse(value.raw(), nullptr, false);
  if (again.is_discarded() || !same(value, again)) return false;
  for (const Json& item : value.items()) {
    if (!slices_agree(item)) return false;
  }
  for (const Json::Member& member : value.members()) {
    if (!slices_agree(member.value)) return false;
  }
  return true;
}

// Text without whitespace outside strings, the slow way: token by token.
std::string slow_compact(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      std::size_t end = at + 1;
      while (text[end] != '"') end += text[end] == '\\' ? 2u : 1u;
      out.append(text.substr(at, end + 1 - at));
      at = end + 1;
    } else {
      if (std::string_view(" \t\r\n").find(text[at]) == std::string_view::npos) {
        out.push_back(text[at]);
      }
      ++at;
    }
  }
  return out;
}

struct Verdict {
  bool accepted = false, judged = true;
};

// "" when all is well, else what is wrong.
std::string check(const std::string& text, Verdict& verdict) {
  Rules rules;
  const bool bom = text.rfind("\xEF\xBB\xBF", 0) == 0;
  const bool grammatical = Oracle::sax_parse(text, &rules);
  if (rules.number_out_of_range) {
    // The oracle stops at a number that no double holds; ours keeps its text and goes on.
    verdict.judged = false;
    return "";
  }
  // The oracle takes a NUL outside a string for the end of the text.
  const bool nul = text.find('\0') != std::string::npos;
  const bool expected = grammatical && !rules.duplicate && !rules.too_deep && !bom && !nul;
  Json ours;
  try {
    ours = Json::parse(text, "body");
    verdict.accepted = true;
  } catch (const Error& error) {
    if (error.code() != Code::invalid) return "another code";
    if (error.text().rfind("Invalid: body", 0) != 0) return "the field is not named";
  }
  if (verdict.accepted != expected) return expected ? "refused" : "accepted";
  if (!expected) return "";
  if (!same(ours, Oracle::parse(text))) return "values differ";
  if (!slices_agree(ours)) return "slices differ";
  const std::string compact = json_compact(text);
  if (compact != slow_compact(text)) return "compact form differs";
  JsonWriter indented(JsonWriter::Style::indented);
  indented.raw(text);
  if (json_compact(indented.text()) != compact) return "re-flow changes tokens";
  JsonWriter again(JsonWriter::Style::indented);
  again.raw(indented.text());
  if (again.text() != indented.text()) return "re-flow is not stable";
  // The oracle indents its own tree in the same form; numbers and escapes are its own, so only
  // the lines are compared.
  const auto lines = [](const std::string& s) { return std::count(s.begin(), s.end(), '\n'); };
  if (lines(indented.text()) != lines(nlohmann::ordered_json::parse(text).dump(2))) {
    return "re-flow has other lines";
  }
  return "";
}

std::size_t cases() {
  const char* const setting = std::getenv("STRONGROOM_LONG");
  return setting != nullptr && *setting != '\0' ? 5'000'000 : 250'000;
}

}  // namespace

TEST_CASE("the strict reader agrees with an oracle", "[base][json][differential]") {
  Random random(0x5eed);
  Generator generator(random);
  std::size_t accepted = 0, refused = 0, not_judged = 0;
  for (std::size_t i = 0; i < cases(); ++i) {
    std::string text = generator.document();
    if (i % 3 != 0) generator.mutate(text);
    if (i % 97 == 0) {  // around the depth limit
      const std::size_t depth = 55 + i % 13;
      text = std::string(depth, '[') + text + std::string(depth, ']');
    }
    Verdict verdict;
    const std::string wrong = check(text, verdict);
    if (!wrong.empty()) FAIL(wrong << ": case " << i << ": " << text);
    ++(!verdict.judged ? not_judged : verdict.accepted ? accepted : refused);
  }
  // Both answers are really exercised.
  CHECK(accepted > cases() / 4);
  CHECK(refused > cases() / 4);
  CHECK(not_judged < cases() / 100);
}

TEST_CASE("arbitrary bytes never crash the reader", "[base][json][differential]") {
  Random random(7);
  for (int i = 0; i < 50'000; ++i) {
    std::string text(random() % 24, '\0');
    for (char& c : text) {
      c = i % 2 == 0 ? static_cast<char>(random()) : "{}[]\",:\\u0dD8e-. tn1"[random() % 20];
    }
    Verdict verdict;
    const std::string wrong = check(text, verdict);
    if (!wrong.empty()) FAIL(wrong << ": case " << i << ": " << text);
  }
}

}  // namespace strongroom
