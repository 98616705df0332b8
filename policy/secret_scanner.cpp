#include "policy/secret_scanner.h"

#include <algorithm>
#include <array>

#include "policy/secret_rules.h"

namespace strongroom::policy {
namespace detail {
namespace {

constexpr CharSet kBase64Text = kAlnum | kBase64;
constexpr std::size_t kLongest = 8192;  // of one part of a structured token

bool ends_token(std::string_view text, std::size_t at) noexcept {
  return at >= text.size() || !in_set(text[at], kWord);
}

std::string_view from(std::string_view text, std::size_t at) noexcept {
  return text.substr(std::min(at, text.size()));
}

std::optional<Finding> found(std::string_view kind, std::size_t begin, std::size_t end) noexcept {
  return Finding{kind, begin, end - begin};
}

bool context_before(std::string_view text, std::size_t at, std::string_view word) noexcept {
  constexpr std::size_t kReach = 64;
  const std::size_t begin = at > kReach ? at - kReach : 0;
  return contains_folded(text.substr(begin, at - begin), word);
}

std::optional<Finding> match_rule(std::string_view text, std::size_t at,
                                  const TokenRule& rule) noexcept {
  if (!from(text, at).starts_with(rule.prefix)) return std::nullopt;
  const std::size_t begin = at + rule.prefix.size();
  const std::size_t length = run_length(text, begin, rule.alphabet, rule.max + 1U);
  if (length < rule.min || length > rule.max || !ends_token(text, begin + length))
    return std::nullopt;
  const std::string_view body = text.substr(begin, length);
  if (rule.body == TokenRule::Body::random ? !looks_random(body) : entropy(body) < 2.5)
    return std::nullopt;
  if (!rule.context.empty() && !context_before(text, at, rule.context)) return std::nullopt;
  return found(rule.kind, at, begin + length);
}

// A run of base64url of `min` bytes or more at `at`; 0 where it is shorter.
std::size_t part(std::string_view text, std::size_t at, std::size_t min) noexcept {
  if (at > text.size()) return 0;
  const std::size_t length = run_length(text, at, kUrlSafe, kLongest);
  return length >= min ? length : 0;
}

bool dot_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() && text[at] == '.';
}

// header.payload.signature: {" in base64 is eyJ, and both of the first parts are JSON objects.
std::optional<Finding> match_jwt(std::string_view text, std::size_t at) noexcept {
  if (!from(text, at).starts_with("eyJ")) return std::nullopt;
  const std::size_t header = part(text, at, 12);
  const std::size_t second = at + header + 1;
  if (header == 0 || !dot_at(text, second - 1)) return std::nullopt;
  if (!from(text, second).starts_with("eyJ")) return std::nullopt;
  const std::size_t payload = part(text, second, 8);
  const std::size_t third = second + payload + 1;
  if (payload == 0 || !dot_at(text, third - 1)) return std::nullopt;
  const std::size_t signature = part(text, third, 16);
  if (signature == 0) return std::nullopt;
  return found("JSON web token", at, third + signature);
}

std::optional<Finding> match_sendgrid(std::string_view text, std::size_t at) noexcept {
  if (!from(text, at).starts_with("SG.")) return std::nullopt;
  const std::size_t first = part(text, at + 3, 16);
  const std::size_t second = at + 3 + first + 1;
  if (first == 0 || first > 32 || !dot_at(text, second - 1)) return std::nullopt;
  const std::size_t length = part(text, second, 32);
  if (length == 0 || length > 64 || !looks_random(text.substr(second, length))) return std::nullopt;
  return found("SendGrid key", at, second + length);
}

int base64_value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

// Calls accept(byte) for each decoded byte until it says no; true when it never did.
template <class Accept>
bool each_decoded(std::string_view base64, Accept accept) noexcept {
  unsigned bits = 0;
  int count = 0;
  for (const char c : base64) {
    bits = (bits << 6 | static_cast<unsigned>(base64_value(c) & 63)) & 0xffffU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    if (!accept(static_cast<char>(bits >> count & 0xffU))) return false;
  }
  return true;
}

// The first part is the bot's number in base64: it begins with M, N or O and decodes to digits.
std::optional<Finding> match_discord(std::string_view text, std::size_t at) noexcept {
  const std::size_t id = run_length(text, at, kUrlSafe, 30);
  if (id < 23 || id > 28 || !dot_at(text, at + id)) return std::nullopt;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!each_decoded(text.substr(at, id), is_digit)) return std::nullopt;
  const std::size_t second = at + id + 1;
  const std::size_t stamp = part(text, second, 6);
  if (stamp == 0 || stamp > 7 || !dot_at(text, second + stamp)) return std::nullopt;
  const std::size_t third = second + stamp + 1;
  const std::size_t length = part(text, third, 25);
  if (length == 0) return std::nullopt;
  return found("Discord bot token", at, third + length);
}

// patXXXXXXXXXXXXXX.<64 hex digits>
std::optional<Finding> match_airtable(std::string_view text, std::size_t at) noexcept {
  if (!from(text, at).starts_with("pat")) return std::nullopt;
  const std::size_t id = run_length(text, at, kAlnum, 18);
  if (id != 17 || !dot_at(text, at + id)) return std::nullopt;
  const std::size_t begin = at + id + 1;
  const std::size_t length = run_length(text, begin, kHexLow | kDigit, 65);
  if (length != 64 || !ends_token(text, begin + length)) return std::nullopt;
  return found("Airtable token", at, begin + length);
}

struct Webhook {
  std::string_view start;
  std::string_view kind;
};

constexpr std::array kWebhooks = std::to_array<Webhook>({
    {"hooks.slack.com/services/T", "Slack webhook"},
    {"hooks.slack.com/workflows/T", "Slack webhook"},
    {"discord.com/api/webhooks/", "Discord webhook"},
    {"discordapp.com/api/webhooks/", "Discord webhook"},
});

// The address is the credential: who knows it may post.
std::optional<Finding> match_webhook(std::string_view text, std::size_t at) noexcept {
  for (const Webhook& hook : kWebhooks) {
    if (!from(text, at).starts_with(hook.start)) continue;
    const std::size_t begin = at + hook.start.size();
    const std::size_t length = run_length(text, begin, kUrlSafe | kBase64, 256);
    const std::string_view path = text.substr(begin, length);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || path.size() - slash <= 20) continue;
    if (looks_random(path.substr(slash + 1))) return found(hook.kind, at, begin + length);
  }
  return std::nullopt;
}

// `Bearer <token>`, wherever it stands: in a header, in JSON, in a curl line.
std::optional<Finding> match_bearer(std::string_view text, std::size_t at) noexcept {
  if (!equals_folded(text.substr(at, 7), "bearer ")) return std::nullopt;
  const std::size_t begin = at + 7;
  const std::size_t length = run_length(text, begin, kUrlSafe | kDot | kBase64 | kEquals, kLongest);
  const std::string_view token = text.substr(begin, std::min<std::size_t>(length, 256));
  if (auto named = match_token(text, begin)) return named;
  if (token.size() < 16 || !looks_random(token) || is_stand_in(token)) return std::nullopt;
  return found("bearer token", begin, begin + length);
}

// `Basic <base64 of user:password>`: what it decodes to tells it from prose.
std::optional<Finding> match_basic(std::string_view text, std::size_t at) noexcept {
  if (!equals_folded(text.substr(at, 6), "basic ")) return std::nullopt;
  const std::size_t begin = at + 6;
  const std::size_t length = run_length(text, begin, kBase64Text, 1024);
  if (length < 8) return std::nullopt;
  std::size_t colons = 0;
  const bool printable = each_decoded(text.substr(begin, length), [&](char c) {
    if (c == ':') ++colons;
    return c >= ' ' && c <= '~';
  });
  if (!printable || colons == 0) return std::nullopt;
  return found("basic authentication", begin, begin + length);
}

// digits:AA... , where text[at] is the colon
std::optional<Finding> match_telegram(std::string_view text, std::size_t at) noexcept {
  if (!from(text, at).starts_with(":AA")) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && at - begin <= 10 && in_set(text[begin - 1], kDigit)) --begin;
  const std::size_t length = run_length(text, at + 1, kUrlSafe, 36);
  // https://api.telegram.org/bot<token>/ writes the word before the number.
  const bool bot = text.substr(0, begin).ends_with("bot");
  if (at - begin < 8 || at - begin > 10 || length != 35) return std::nullopt;
  if (!bot && !begins_token(text, begin)) return std::nullopt;
  return found("Telegram bot token", begin, at + 1 + length);
}

constexpr std::array kUsualPasswords = std::to_array<std::string_view>(
    {"password", "passwd", "pass", "secret", "token", "pwd", "user", "username", "changeme",
     "apikey", "api_key", "key", "admin", "root", "test"});

// What examples of addresses put where the password goes.
bool is_example_password(std::string_view user, std::string_view password) noexcept {
  if (password.size() < 4 || password == user || is_stand_in(password)) return true;
  if (std::string_view("$%{[*").find(password.front()) != std::string_view::npos)
    return !looks_random(password.substr(1));
  return std::any_of(kUsualPasswords.begin(), kUsualPasswords.end(),
                     [&](std::string_view usual) { return equals_folded(password, usual); });
}

// scheme://user:password@host, where text[at] is the first colon
std::optional<Finding> match_url(std::string_view text, std::size_t at) noexcept {
  if (!from(text, at).starts_with("://") || at == 0 || !in_set(text[at - 1], kAlnum))
    return std::nullopt;
  const std::string_view rest = text.substr(at + 3, 320);
  const std::size_t end = std::min(rest.find_first_of(" \t\r\n\"'`<>/?#\\"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  const std::size_t sign = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  if (sign == std::string_view::npos || colon == std::string_view::npos || colon > sign)
    return std::nullopt;
  const std::string_view password = authority.substr(colon + 1, sign - colon - 1);
  if (authority.substr(0, colon).find('[') != std::string_view::npos)
    return std::nullopt;  // syntax
  if (is_example_password(authority.substr(0, colon), password)) return std::nullopt;
  return found("password in a URL", at + 3 + colon + 1, at + 3 + sign);
}

// Behind the BEGIN line: line ends (also escaped, also between pieces of source), then a header or
// the first line of base64. A BEGIN line that is only mentioned has neither.
bool key_body_follows(std::string_view text, std::size_t at) noexcept {
  const std::size_t limit = std::min(text.size(), at + 64);
  while (at < limit) {
    if (text[at] == '\\' && at + 1 < limit && in_set(text[at + 1], kLower)) {
      at += 2;
    } else if (std::string_view(" \t\r\n\\\"'+,").find(text[at]) != std::string_view::npos) {
      ++at;
    } else {
      break;
    }
  }
  for (const std::string_view header : {"Proc-Type:", "Comment:", "Version:", "DEK-Info:"})
    if (from(text, at).starts_with(header)) return true;
  const std::size_t length = run_length(text, at, kBase64Text | kEquals, 64);
  const std::string_view body = from(text, at).substr(0, length);
  const auto has = [&](CharSet set) {
    return std::any_of(body.begin(), body.end(), [&](char c) { return in_set(c, set); });
  };
  return length >= 12 && has(kUpper) && (has(kDigit) || has(kLower));
}

// -----BEGIN ... PRIVATE KEY-----, where text[at] is the first dash
std::optional<Finding> match_private_key(std::string_view text, std::size_t at) noexcept {
  const std::size_t dashes = run_length(text, at, kDash, 6);
  std::size_t label = at + dashes + run_length(text, at + dashes, kBlank, 1);
  if (dashes < 4 || dashes > 5 || !from(text, label).starts_with("BEGIN ")) return std::nullopt;
  label += 6;
  const std::size_t length = run_length(text, label, kUpper | kDigit | kBlank | kDash, 80);
  const std::string_view line = text.substr(label, length);
  const std::size_t name = line.find("PRIVATE KEY");
  const std::size_t close = line.find("----", name == std::string_view::npos ? 0 : name);
  if (name == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  const std::size_t body = label + close + run_length(text, label + close, kDash, 5);
  if (!key_body_follows(text, body)) return std::nullopt;
  const std::string_view rest = text.substr(body, 16384);
  const std::size_t end = rest.find("PRIVATE KEY", 0);
  return found("private key", at, end == std::string_view::npos ? body : body + end);
}

}  // namespace

std::optional<Finding> match_token(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return std::nullopt;
  for (const TokenRule& rule : token_rules_for(text[at]))
    if (auto finding = match_rule(text, at, rule)) return finding;
  switch (text[at]) {
    case 'e': return match_jwt(text, at);
    case 'S': return match_sendgrid(text, at);
    case 'M':
    case 'N':
    case 'O': return match_discord(text, at);
    case 'p': return match_airtable(text, at);
    case 'd':
    case 'h': return match_webhook(text, at);
    default: return std::nullopt;
  }
}

namespace {

enum class Trigger : std::uint8_t { none, word, separator, dash };

constexpr std::array<Trigger, 256> make_triggers() {
  std::array<Trigger, 256> triggers{};
  for (std::size_t c = 0; c < triggers.size(); ++c)
    if (in_set(static_cast<char>(c), kLetter)) triggers[c] = Trigger::word;
  for (const char c : std::string_view("=:,>"))
    triggers[static_cast<unsigned char>(c)] = Trigger::separator;
  triggers[static_cast<unsigned char>('-')] = Trigger::dash;
  return triggers;
}

constexpr std::array<Trigger, 256> kTriggers = make_triggers();

std::optional<Finding> at_word(std::string_view text, std::size_t at) noexcept {
  if (!begins_token(text, at)) return std::nullopt;
  if (auto finding = match_token(text, at)) return finding;
  switch (text[at]) {
    case 'i': return match_assignment(text, at);
    case 'b':
    case 'B': {
      auto finding = match_bearer(text, at);
      return finding ? finding : match_basic(text, at);
    }
    default: return std::nullopt;
  }
}

std::optional<Finding> at_separator(std::string_view text, std::size_t at) noexcept {
  if (text[at] == ':') {
    if (auto finding = match_telegram(text, at)) return finding;
    if (auto finding = match_url(text, at)) return finding;
  }
  return match_assignment(text, at);
}

// A run of dashes is looked at once, from its first dash.
std::optional<Finding> at_dash(std::string_view text, std::size_t at) noexcept {
  if (at + 1 >= text.size() || text[at + 1] != '-') return std::nullopt;
  if (at > 0 && text[at - 1] == '-') return std::nullopt;
  auto finding = match_private_key(text, at);
  return finding ? finding : match_assignment(text, at);
}

}  // namespace
}  // namespace detail

std::optional<Finding> find_credential(std::string_view text) noexcept {
  using detail::Trigger;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const Trigger trigger = detail::kTriggers[static_cast<unsigned char>(text[at])];
    if (trigger == Trigger::none) continue;
    if (trigger == Trigger::word &&
        (at + 1 == text.size() || !detail::may_begin(text[at], text[at + 1])))
      continue;
    std::optional<Finding> finding;
    switch (trigger) {
      case Trigger::none: break;
      case Trigger::word: finding = detail::at_word(text, at); break;
      case Trigger::separator: finding = detail::at_separator(text, at); break;
      case Trigger::dash: finding = detail::at_dash(text, at); break;
    }
    if (finding) return finding;
  }
  return std::nullopt;
}

}  // namespace strongroom::policy
