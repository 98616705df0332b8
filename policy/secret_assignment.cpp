// Keyword assignments: password = ..., "api_key": "...", <token>...</token>, --password ...,
// define('SECRET', '...'), `the password is ...`.
#include <algorithm>
#include <array>

#include "policy/secret_rules.h"

namespace strongroom::policy::detail {
namespace {

constexpr std::size_t kMaxName = 48;    // bytes of a name that are read, backwards
constexpr std::size_t kMaxGap = 32;     // blanks between name, separator and value
constexpr std::size_t kMaxValue = 256;  // bytes of a value that are judged

enum class Strength : std::uint8_t { password, token };

struct Keyword {
  std::string_view ending;  // of the name without separators, lower case
  std::string_view kind;
  Strength strength;
  bool whole_word;  // must begin a part of the name: DB_PASS, not bypass
};

constexpr std::array kKeywords = std::to_array<Keyword>({
    {"password", "password", Strength::password, false},
    {"passwd", "password", Strength::password, false},
    {"passphrase", "password", Strength::password, false},
    {"passcode", "password", Strength::password, false},
    {"pass", "password", Strength::password, true},
    {"pwd", "password", Strength::password, true},
    {"psk", "password", Strength::password, true},
    {"apikey", "API key", Strength::token, false},
    {"accesskey", "access key", Strength::token, false},
    {"secretkey", "secret key", Strength::token, false},
    {"privatekey", "private key", Strength::token, false},
    {"encryptionkey", "encryption key", Strength::token, false},
    {"signingkey", "signing key", Strength::token, false},
    {"masterkey", "master key", Strength::token, false},
    {"authkey", "authentication key", Strength::token, false},
    {"accountkey", "account key", Strength::token, false},
    {"servicekey", "service key", Strength::token, false},
    {"rolekey", "service key", Strength::token, false},
    {"sharedkey", "shared key", Strength::token, false},
    {"secret", "secret", Strength::token, false},
    {"token", "token", Strength::token, false},
    {"credential", "credential", Strength::token, false},
    {"credentials", "credential", Strength::token, false},
});

// Tokens that open nothing: cursors, and the fingerprint in a .NET assembly name.
constexpr std::array kHarmless =
    std::to_array<std::string_view>({"pagetoken", "nexttoken", "continuationtoken", "pagingtoken",
                                     "synctoken", "cancellationtoken", "publickeytoken"});

// What may follow the keyword in a name: DB_PASSWORD_PROD, token2.
constexpr std::array kSuffixes =
    std::to_array<std::string_view>({"production", "prod", "staging", "development", "dev", "live",
                                     "test", "value", "base64", "b64", "raw"});

constexpr std::uint32_t packed(char a, char b, char c) noexcept {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(a)) << 16 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(b)) << 8 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(c));
}

constexpr std::uint32_t last_three(std::string_view word) noexcept {
  return packed(word[word.size() - 3], word[word.size() - 2], word[word.size() - 1]);
}

constexpr auto make_endings() {
  std::array<std::uint32_t, kKeywords.size() + kSuffixes.size()> endings{};
  for (std::size_t i = 0; i < kKeywords.size(); ++i) endings[i] = last_three(kKeywords[i].ending);
  for (std::size_t i = 0; i < kSuffixes.size(); ++i)
    endings[kKeywords.size() + i] = last_three(kSuffixes[i]);
  std::sort(endings.begin(), endings.end());
  return endings;
}

constexpr auto kEndings = make_endings();

// Most names in a text are none of ours, which their last three letters tell.
bool may_end_keyword(std::string_view text, std::size_t end) noexcept {
  if (end < 3) return false;
  if (in_set(text[end - 1], kDigit)) return true;
  const std::uint32_t ending =
      packed(lower(text[end - 3]), lower(text[end - 2]), lower(text[end - 1]));
  return std::binary_search(kEndings.begin(), kEndings.end(), ending);
}

bool is_name_byte(char c) noexcept {
  return in_set(c, kWord | kDash | kDot);
}

/// A name read backwards from its end, lower case, separators left out.
class Name {
 public:
  Name(std::string_view text, std::size_t end) noexcept {
    std::size_t i = end;
    while (i > 0 && size_ < kMaxName && end - i < kMaxName) {
      const char c = text[i - 1];
      // One blank joins the words of a name in prose: API key, client secret.
      const bool joins = c == ' ' && i < end && i >= 2 && is_name_byte(text[i - 2]);
      if (!is_name_byte(c) && !joins) break;
      if (in_set(c, kAlnum)) {
        const bool hump = in_set(c, kUpper) && i < text.size() && in_set(text[i], kLower);
        const bool first = i == 1 || !in_set(text[i - 2], kAlnum);
        push_front(lower(c), hump || first);
      }
      --i;
    }
    begin_ = i;
  }

  std::size_t begin() const noexcept { return begin_; }  // offset in the text
  std::string_view view() const noexcept { return {bytes_.data() + kMaxName - size_, size_}; }
  bool part_begins(std::size_t index) const noexcept { return starts_[kMaxName - size_ + index]; }

  void drop_suffix() noexcept {
    end_digits();
    for (const std::string_view suffix : kSuffixes) {
      if (!view().ends_with(suffix) || size_ == suffix.size()) continue;
      if (part_begins(size_ - suffix.size())) drop(suffix.size());
    }
    end_digits();
  }

 private:
  void push_front(char c, bool starts) noexcept {
    ++size_;
    bytes_[kMaxName - size_] = c;
    starts_[kMaxName - size_] = starts;
  }
  void drop(std::size_t count) noexcept {
    std::move_backward(bytes_.begin(), bytes_.end() - static_cast<std::ptrdiff_t>(count),
                       bytes_.end());
    std::move_backward(starts_.begin(), starts_.end() - static_cast<std::ptrdiff_t>(count),
                       starts_.end());
    size_ -= count;
  }
  void end_digits() noexcept {
    std::size_t count = 0;
    while (count < size_ && in_set(view()[size_ - 1 - count], kDigit)) ++count;
    drop(count);
  }

  std::array<char, kMaxName> bytes_{};
  std::array<bool, kMaxName> starts_{};
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
};

struct Match {
  const Keyword* keyword;
  bool aws;
  bool bare;  // a short keyword alone, which is also an ordinary word (PASS: test 12)
};

std::optional<Match> keyword_of(Name& name) noexcept {
  name.drop_suffix();
  const std::string_view text = name.view();
  for (const std::string_view harmless : kHarmless)
    if (text.ends_with(harmless)) return std::nullopt;
  for (const Keyword& keyword : kKeywords) {
    if (!text.ends_with(keyword.ending)) continue;
    if (keyword.whole_word && !name.part_begins(text.size() - keyword.ending.size())) continue;
    const bool aws =
        text.find("aws") != std::string_view::npos || text.ends_with("secretaccesskey");
    return Match{&keyword, aws, keyword.whole_word && text.size() == keyword.ending.size()};
  }
  return std::nullopt;
}

// A colon before the word at the end of text[0, end) makes it a type: password: str = ...
bool may_be_type(std::string_view text, std::size_t end) noexcept {
  std::size_t i = end;
  while (i > 0 && end - i < kMaxName && is_name_byte(text[i - 1])) --i;
  while (i > 0 && end - i < kMaxName && text[i - 1] == ' ') --i;
  return i > 0 && i < end && text[i - 1] == ':';
}

/// The keyword whose name ends before the separator at `at`: over blanks, quotes, brackets, stars
/// of Markdown, and a type (password: str = ...).
std::optional<Match> keyword_before(std::string_view text, std::size_t at) noexcept {
  const bool after_colon = text[at] == ':';
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::size_t floor = at > kMaxGap ? at - kMaxGap : 0;
    while (at > floor &&
           std::string_view(" \t\"'`\\]*:").find(text[at - 1]) != std::string_view::npos)
      --at;
    if (attempt == 0 && !may_end_keyword(text, at) && !may_be_type(text, at)) return std::nullopt;
    Name name(text, at);
    const std::size_t begin = name.begin();
    const bool inner = after_colon && begin > 0 && text[begin - 1] == ':';  // arn:...:secret:name
    if (const auto match = keyword_of(name)) return inner ? std::nullopt : match;
    std::size_t colon = begin;
    while (colon > 0 && begin - colon < 4 && text[colon - 1] == ' ') --colon;
    if (colon == 0 || text[colon - 1] != ':') return std::nullopt;
    at = colon;
  }
  return std::nullopt;
}

struct Value {
  std::string_view text;
  std::size_t offset;
  bool quoted;
};

bool is_quote(char c) noexcept {
  return c == '"' || c == '\'' || c == '`';
}

/// The value that begins at `at`, after blanks, with or without quotes (also escaped ones).
Value read_value(std::string_view text, std::size_t at) noexcept {
  at += run_length(text, at, kBlank, kMaxGap);
  while (at < text.size() && text[at] == '*') ++at;
  at += run_length(text, at, kBlank, kMaxGap);
  // b"..." and r'...' of Python, @"..." of C#
  if (at + 1 < text.size() && in_set(text[at], kLetter) && is_quote(text[at + 1])) ++at;
  if (at + 1 < text.size() && text[at] == '@' && text[at + 1] == '"') ++at;
  std::size_t begin = at;
  if (begin < text.size() && text[begin] == '\\') ++begin;
  const bool quoted = begin < text.size() && is_quote(text[begin]);
  const std::size_t limit = std::min(text.size(), at + kMaxValue);
  if (quoted) {
    const char quote = text[begin++];
    std::size_t end = begin;
    while (end < limit && text[end] != quote && text[end] != '\n' && text[end] != '\\') ++end;
    return {text.substr(begin, end - std::min(begin, end)), begin, true};
  }
  std::size_t end = at;
  while (end < limit && !in_set(text[end], kEndsValue)) ++end;
  const bool call = end < text.size() && (text[end] == '(' || text[end] == '[');
  if (call) return {{}, at, false};
  while (end > at && std::string_view(".:*_").find(text[end - 1]) != std::string_view::npos) --end;
  return {text.substr(at, end - at), at, false};
}

struct Counts {
  std::size_t lower = 0, upper = 0, digit = 0, strong = 0, blank = 0;
};

Counts count(std::string_view value) noexcept {
  Counts counts;
  for (const char c : value) {
    if (in_set(c, kLower)) ++counts.lower;
    if (in_set(c, kUpper)) ++counts.upper;
    if (in_set(c, kDigit)) ++counts.digit;
    if (in_set(c, kBlank)) ++counts.blank;
    if (in_set(c, kStrong)) ++counts.strong;
  }
  return counts;
}

// References, not secrets: $VAR, @file, %ENV%, URLs, paths, ARNs, addresses.
bool is_reference(std::string_view value, const Counts& counts) noexcept {
  if (std::string_view("$@%&").find(value.front()) != std::string_view::npos)
    return !looks_random(value.substr(1));
  if (value.find("://") != std::string_view::npos || value.starts_with("arn:")) return true;
  if (value.starts_with("./") || value.starts_with("../") || value.starts_with("~/")) return true;
  const std::size_t at = value.find('@');
  return at != std::string_view::npos && counts.strong == 1 && at > 0 &&
         value.find('.', at) != std::string_view::npos;
}

/// `config` says that the text is a setting rather than prose: `=` or quotes.
bool is_password(std::string_view value, const Counts& counts, bool config) noexcept {
  if (value.size() < 8 || counts.digit == 0 || counts.lower + counts.upper == 0) return false;
  if (counts.strong > 0 && counts.lower + counts.upper >= 3) return entropy(value) >= 2.5;
  if (looks_random(value)) return true;
  const bool plain = counts.lower + counts.upper + counts.digit == value.size();
  return config && plain && value.size() >= 10 && counts.lower > 0 && counts.upper > 0;
}

bool is_secret(const Value& value, Strength strength, bool config) noexcept {
  if (value.text.size() < 8) return false;
  const Counts counts = count(value.text);
  if (counts.blank > 0 || is_reference(value.text, counts)) return false;
  const bool real = strength == Strength::password
                        ? is_password(value.text, counts, config || value.quoted)
                        : value.text.size() >= 10 && looks_random(value.text);
  return real && !is_stand_in(value.text);
}

std::optional<Finding> judge(std::string_view text, std::size_t at, const Match& match,
                             bool config) noexcept {
  const Value value = read_value(text, at);
  if (value.text.empty()) return std::nullopt;
  // A token that tells its issuer is named by it.
  if (auto token = match_token(text, value.offset)) return token;
  if (match.aws && value.text.size() == 40 &&
      run_length(value.text, 0, kAlnum | kBase64, 40) == 40 && entropy(value.text) > 3.5)
    return Finding{"AWS secret access key", value.offset, 40};
  if (match.bare && !config && !value.quoted) return std::nullopt;
  if (!is_secret(value, match.keyword->strength, config)) return std::nullopt;
  return Finding{match.keyword->kind, value.offset, value.text.size()};
}

/// Where the value begins behind the separator at `at`, or nullopt where it is another operator.
std::optional<std::size_t> value_start(std::string_view text, std::size_t at) noexcept {
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  const char before = at > 0 ? text[at - 1] : '\0';
  switch (text[at]) {
    case '=':
      if (next == '=' || std::string_view("=!<>+").find(before) != std::string_view::npos)
        return std::nullopt;
      return next == '>' ? at + 2 : at + 1;
    case ':':
      if (next == ':' || next == '=' || before == ':') return std::nullopt;
      return at + 1;
    case ',': return is_quote(before) ? std::optional(at + 1) : std::nullopt;
    default: return at + 1;
  }
}

// <password>...</password>
bool closes_tag(std::string_view text, std::size_t at) noexcept {
  std::size_t i = at;
  while (i > 0 && at - i < kMaxName && is_name_byte(text[i - 1])) --i;
  return i > 0 && i < at && text[i - 1] == '<';
}

std::optional<Finding> match_option(std::string_view text, std::size_t at) noexcept {
  const std::size_t length = run_length(text, at + 2, kUrlSafe, kMaxName);
  const std::size_t end = at + 2 + length;
  if (length < 3 || end >= text.size() || text[end] != ' ') return std::nullopt;
  Name name(text.substr(0, end), end);
  const auto match = keyword_of(name);
  return match ? judge(text, end, *match, true) : std::nullopt;
}

}  // namespace

std::optional<Finding> match_assignment(std::string_view text, std::size_t at) noexcept {
  if (text[at] == '-') return match_option(text, at);
  if (text[at] == 'i') {
    if (at < 5 || text[at - 1] != ' ' || text.substr(at, 3) != "is ") return std::nullopt;
    const auto match = keyword_before(text, at);
    return match ? judge(text, at + 3, *match, false) : std::nullopt;
  }
  if (text[at] == '>' && !closes_tag(text, at)) return std::nullopt;
  const auto start = value_start(text, at);
  if (!start || *start >= text.size()) return std::nullopt;
  const auto match = keyword_before(text, at);
  return match ? judge(text, *start, *match, text[at] != ':') : std::nullopt;
}

}  // namespace strongroom::policy::detail
