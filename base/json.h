// The one way JSON enters and leaves the program.
//
// Reading is strict (RFC 8259 and more): one value, valid UTF-8, no duplicate members, no lone
// surrogates, at most 64 levels, no NaN or Infinity. Numbers keep the text that was sent. Errors
// are Code::invalid, name the place by member path, and never repeat the input.
//
// A Json refers to the text that it was parsed from (raw()); that text must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom {

class Json {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  struct Member;

  static constexpr int kMaxDepth = 64;

  /// Parses exactly one JSON value. `field` names the whole text in errors ("body", "policy").
  /// Throws Code::invalid.
  static Json parse(std::string_view text, std::string_view field = "JSON");

  Json() = default;
  Json(Json&&) noexcept = default;
  Json& operator=(Json&&) noexcept = default;
  ~Json();  // wipes decoded strings: they may be values

  Kind kind() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == Kind::null; }
  bool is_bool() const noexcept { return kind_ == Kind::boolean; }
  bool is_number() const noexcept { return kind_ == Kind::number; }
  bool is_string() const noexcept { return kind_ == Kind::string; }
  bool is_array() const noexcept { return kind_ == Kind::array; }
  bool is_object() const noexcept { return kind_ == Kind::object; }

  bool as_bool() const noexcept { return bool_; }
  /// The decoded string; empty for every other kind.
  const std::string& as_string() const noexcept { return string_; }
  /// A number that is, exactly, a whole number in the range of int64 (1, -3, 1.0, 1e3); else
  /// nullopt.
  std::optional<std::int64_t> as_int() const noexcept;
  /// A finite number, else nullopt.
  std::optional<double> as_double() const noexcept;

  const std::vector<Json>& items() const noexcept { return items_; }
  const std::vector<Member>& members() const noexcept { return members_; }
  /// The member of that name, or nullptr.
  const Json* find(std::string_view name) const noexcept;

  /// The text of this value as it was sent, without surrounding whitespace.
  std::string_view raw() const noexcept { return raw_; }

 private:
  friend class JsonReader;
  Kind kind_ = Kind::null;
  bool bool_ = false;
  std::string string_;
  std::vector<Json> items_;
  std::vector<Member> members_;
  std::string_view raw_;
};

struct Json::Member {
  std::string name;
  Json value;
};

/// A JSON text without whitespace outside strings; `raw` must be valid JSON.
std::string json_compact(std::string_view raw);

/// Appends `text` as a JSON string literal with its quotes. Invalid UTF-8 becomes U+FFFD.
void json_quote(std::string& out, std::string_view text);
std::string json_quoted(std::string_view text);

/// Writes JSON: compact, or indented by two spaces exactly as JSON.stringify(value, null, 2) does.
/// Calls nest as the text does; commas, colons and line breaks are put in by the writer.
class JsonWriter {
 public:
  enum class Style { compact, indented };
  explicit JsonWriter(Style style = Style::compact) : indent_(style == Style::indented) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& unsigned_integer(std::uint64_t number);
  /// As JSON.stringify writes it: the shortest digits, null for NaN and infinities.
  JsonWriter& number(double number);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  /// A value that is already valid JSON; its tokens stay as they are, whitespace follows the style.
  JsonWriter& raw(std::string_view json);

  /// Shorthands: key(name) and a value.
  JsonWriter& member(std::string_view name, std::string_view text) {
    return key(name).string(text);
  }
  JsonWriter& member(std::string_view name, const char* text) { return key(name).string(text); }
  JsonWriter& member(std::string_view name, bool value) { return key(name).boolean(value); }
  JsonWriter& member(std::string_view name, std::int64_t n) { return key(name).integer(n); }
  JsonWriter& member(std::string_view name, std::uint64_t n) {
    return key(name).unsigned_integer(n);
  }

  const std::string& text() const noexcept { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void before_value();
  void line();
  std::string out_;
  std::vector<bool> has_item_;  // a level each: has it an item before?
  bool indent_;
  bool after_key_ = false;
};

}  // namespace strongroom
