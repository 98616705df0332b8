#include "policy/secret_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace strongroom::policy::detail {
namespace {

constexpr CharSet kHex = kHexLow | kDigit;
constexpr CharSet kAnyHex = kHex | kHexHigh;
constexpr auto kRandom = TokenRule::Body::random;
constexpr auto kDiverse = TokenRule::Body::diverse;

// Prefixes, alphabets and lengths as the issuers document them; where an issuer promises no length,
// the shortest that has been seen. Uppercase first: ordered by first byte.
constexpr std::array kRules = std::to_array<TokenRule>({
    {"AKIA", "AWS access key", kUpper | kDigit, 16, 16},
    {"ASIA", "AWS access key", kUpper | kDigit, 16, 16},
    {"ABIA", "AWS access key", kUpper | kDigit, 16, 16},
    {"ACCA", "AWS access key", kUpper | kDigit, 16, 16},
    {"AIza", "Google API key", kUrlSafe, 35, 35},
    {"ATATT3", "Atlassian token", kUrlSafe | kEquals, 60, 400},
    {"AGE-SECRET-KEY-1", "age secret key", kUpper | kDigit, 58, 58},
    {"AC", "Twilio account credential", kHex, 32, 32, kDiverse, "twilio"},
    {"EAAA", "Square token", kUrlSafe, 60, 60, kRandom, "square"},
    {"GOCSPX-", "Google client secret", kUrlSafe, 28, 28},
    {"HRKU-", "Heroku API key", kUrlSafe, 36, 80, kRandom},
    {"NRAK-", "New Relic key", kUpper | kDigit, 27, 27},
    {"PMAK-", "Postman key", kHex | kDash, 59, 59},
    {"SK", "Twilio API key", kHex, 32, 32},
    {"dapi", "Databricks token", kHex | kDash, 32, 34},
    {"dckr_pat_", "Docker token", kUrlSafe, 20, 60, kRandom},
    {"doo_v1_", "DigitalOcean token", kHex, 64, 64},
    {"dop_v1_", "DigitalOcean token", kHex, 64, 64},
    {"dor_v1_", "DigitalOcean token", kHex, 64, 64},
    {"dp.pt.", "Doppler token", kAlnum, 40, 48},
    {"dp.ct.", "Doppler token", kAlnum, 40, 48},
    {"dp.st.", "Doppler token", kAlnum | kDot | kUnderscore | kDash, 40, 90},
    {"figd_", "Figma token", kUrlSafe, 36, 60, kRandom},
    {"ghp_", "GitHub token", kAlnum, 36, 255},
    {"gho_", "GitHub token", kAlnum, 36, 255},
    {"ghu_", "GitHub token", kAlnum, 36, 255},
    {"ghs_", "GitHub token", kAlnum, 36, 255},
    {"ghr_", "GitHub token", kAlnum, 36, 255},
    {"github_pat_", "GitHub token", kWord, 50, 255, kRandom},
    {"glpat-", "GitLab token", kUrlSafe | kDot, 20, 300, kRandom},
    {"gldt-", "GitLab token", kUrlSafe, 20, 64, kRandom},
    {"glrt-", "GitLab token", kUrlSafe | kDot, 20, 300, kRandom},
    {"glptt-", "GitLab token", kUrlSafe, 20, 64, kRandom},
    {"glc_", "Grafana token", kAlnum | kBase64 | kEquals, 32, 400},
    {"glsa_", "Grafana token", kWord, 41, 41},
    {"gsk_", "Groq key", kAlnum, 48, 56},
    {"hf_", "Hugging Face token", kAlnum, 30, 40},
    {"hvb.", "Vault token", kUrlSafe, 24, 300, kRandom},
    {"hvs.", "Vault token", kUrlSafe, 24, 300, kRandom},
    {"key-", "Mailgun key", kHex, 32, 32},
    {"lin_api_", "Linear key", kAlnum, 32, 48},
    {"lin_oauth_", "Linear token", kAlnum, 32, 72},
    {"nfp_", "Netlify token", kAlnum, 36, 48},
    {"npm_", "npm token", kAlnum, 36, 36},
    {"ntn_", "Notion token", kAlnum, 43, 48},
    {"pscale_tkn_", "PlanetScale token", kUrlSafe | kDot, 30, 64, kRandom},
    {"pypi-AgEI", "PyPI token", kUrlSafe, 50, 1000},
    {"pypi-AgEN", "PyPI token", kUrlSafe, 50, 1000},
    {"r8_", "Replicate token", kUrlSafe, 37, 37, kRandom},
    {"rk_live_", "Stripe key", kAlnum, 16, 250},
    {"rk_test_", "Stripe key", kAlnum, 16, 250},
    {"rubygems_", "RubyGems key", kHex, 48, 48},
    {"sbp_", "Supabase token", kHex, 40, 40},
    {"shpat_", "Shopify token", kAnyHex, 32, 32},
    {"shpca_", "Shopify token", kAnyHex, 32, 32},
    {"shppa_", "Shopify token", kAnyHex, 32, 32},
    {"shpss_", "Shopify token", kAnyHex, 32, 32},
    {"sk-ant-", "Anthropic key", kUrlSafe, 20, 300, kRandom},
    {"sk-proj-", "OpenAI key", kUrlSafe, 20, 300, kRandom},
    {"sk-svcacct-", "OpenAI key", kUrlSafe, 20, 300, kRandom},
    {"sk-admin-", "OpenAI key", kUrlSafe, 20, 300, kRandom},
    {"sk-or-v1-", "OpenRouter key", kHex, 64, 64},
    {"sk-", "OpenAI key", kUrlSafe, 20, 300, kRandom},
    {"sk_live_", "Stripe key", kAlnum, 16, 250},
    {"sk_test_", "Stripe key", kAlnum, 16, 250},
    {"sntrys_", "Sentry token", kUrlSafe | kEquals | kBase64, 40, 400},
    {"sq0atp-", "Square token", kUrlSafe, 22, 60},
    {"sq0csp-", "Square secret", kUrlSafe, 43, 60},
    {"tskey-", "Tailscale key", kUrlSafe, 20, 100, kRandom},
    {"whsec_", "Stripe webhook secret", kAlnum | kBase64 | kEquals, 32, 80},
    {"xai-", "xAI key", kAlnum, 70, 90},
    {"xapp-", "Slack token", kAlnum | kDash, 20, 200, kRandom},
    {"xoxa-", "Slack token", kAlnum | kDash, 16, 200, kRandom},
    {"xoxb-", "Slack token", kAlnum | kDash, 16, 200, kRandom},
    {"xoxe-", "Slack token", kAlnum | kDash, 16, 250, kRandom},
    {"xoxo-", "Slack token", kAlnum | kDash, 16, 200, kRandom},
    {"xoxp-", "Slack token", kAlnum | kDash, 16, 200, kRandom},
    {"xoxr-", "Slack token", kAlnum | kDash, 16, 200, kRandom},
    {"xoxs-", "Slack token", kAlnum | kDash, 16, 200, kRandom},
    {"ya29.", "Google access token", kUrlSafe, 20, 1000, kRandom},
});

static_assert(std::is_sorted(kRules.begin(), kRules.end(),
                             [](const TokenRule& a, const TokenRule& b) {
                               return a.prefix.front() < b.prefix.front();
                             }));

struct Range {
  std::uint8_t begin = 0;
  std::uint8_t count = 0;
};

constexpr std::array<Range, 256> make_ranges() {
  std::array<Range, 256> ranges{};
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    Range& range = ranges[static_cast<unsigned char>(kRules[i].prefix.front())];
    if (range.count++ == 0) range.begin = static_cast<std::uint8_t>(i);
  }
  return ranges;
}

static_assert(kRules.size() < 256);
constexpr std::array<Range, 256> kRanges = make_ranges();

// Beginnings of what is not in the table: JSON web tokens, SendGrid, Airtable, webhooks, `is`,
// bearer, basic. A Discord token may have anything behind its first byte.
constexpr std::array kOtherBeginnings = std::to_array<std::string_view>(
    {"ey", "SG", "pa", "ho", "di", "is", "be", "Be", "BE", "ba", "Ba", "BA"});

constexpr std::array<std::uint64_t, 1024> make_beginnings() {
  std::array<std::uint64_t, 1024> pairs{};
  const auto add = [&](std::string_view beginning) {
    const std::size_t pair = pair_of(beginning[0], beginning[1]);
    pairs[pair / 64] |= std::uint64_t{1} << pair % 64;
  };
  for (const TokenRule& rule : kRules) add(rule.prefix);
  for (const std::string_view beginning : kOtherBeginnings) add(beginning);
  for (const char first : {'M', 'N', 'O'})
    for (int second = '0'; second <= 'z'; ++second) {
      const char pair[] = {first, static_cast<char>(second)};
      add(std::string_view(pair, 2));
    }
  return pairs;
}

constexpr std::array kStandIns = std::to_array<std::string_view>(
    {"example", "changeme", "change_me", "change-me", "your",   "placeholder", "dummy", "redacted",
     "replace", "xxxx",     "****",      "....",      "insert", "sample",      "_here", "-here",
     "${",      "{{",       "$(",        "%(",        "<",      "secretkeyref"});

// Counts the pieces that a text falls into where the kind of its letters changes. Words and
// identifiers have long pieces (get|Token|From|Cache), generated strings short ones (f|3|Xk|9).
class PieceCounter {
 public:
  void add(std::string_view segment) noexcept {
    chars_ += segment.size();
    std::size_t found = 0;
    CharSet previous = 0;
    std::size_t run = 0;
    std::size_t consonants = 0;
    for (const char c : segment) {
      const CharSet kind = in_set(c, kLower) ? kLower : in_set(c, kUpper) ? kUpper : kDigit;
      const bool capital_before = previous == kUpper && kind == kLower && run == 1;
      if (kind != previous && !capital_before) ++found;
      run = kind == previous ? run + 1 : 1;
      previous = kind;
      const bool vowel = std::string_view("aeiouy").find(c) != std::string_view::npos;
      consonants = kind == kLower && !vowel ? consonants + 1 : 0;
      if (consonants == 5) found += 2;  // hardly a word of any language has five in a row
    }
    // A name with its number is one piece: SHA384, relax5.
    pieces_ += found == 2 && previous == kDigit ? 1 : found;
  }
  // Fewer than 3.4 characters a piece; the words of English prose have 4.7. A short name such as
  // Argon2id or addr2line falls into three at most.
  bool random(std::size_t length) const noexcept {
    return pieces_ * 34 > chars_ * 10 && pieces_ >= (length < 12 ? 4U : 1U);
  }

 private:
  std::size_t chars_ = 0;
  std::size_t pieces_ = 0;
};

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (!in_set(text[i], dash ? kDash : kAnyHex)) return false;
  }
  return true;
}

}  // namespace

constexpr std::array<std::uint64_t, 1024> kBeginnings = make_beginnings();

bool equals_folded(std::string_view text, std::string_view word) noexcept {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return lower(a) == b; });
}

bool contains_folded(std::string_view text, std::string_view word) noexcept {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

std::size_t run_length(std::string_view text, std::size_t at, CharSet set,
                       std::size_t limit) noexcept {
  const std::size_t end = at + std::min(limit, text.size() - at);
  std::size_t i = at;
  while (i < end && in_set(text[i], set)) ++i;
  return i - at;
}

bool begins_token(std::string_view text, std::size_t at) noexcept {
  if (at == 0 || !in_set(text[at - 1], kUrlSafe)) return true;
  const char before = text[at - 1];
  if (at >= 2 && text[at - 2] == '\\') return before == 'n' || before == 'r' || before == 't';
  return at >= 3 && text[at - 3] == '%' && in_set(before, kAnyHex) && in_set(text[at - 2], kAnyHex);
}

std::span<const TokenRule> token_rules() noexcept {
  return kRules;
}

std::span<const TokenRule> token_rules_for(char first) noexcept {
  const Range range = kRanges[static_cast<unsigned char>(first)];
  return std::span(kRules).subspan(range.begin, range.count);
}

double entropy(std::string_view text) noexcept {
  std::array<std::uint16_t, 256> counts{};
  text = text.substr(0, 4096);
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double sum = 0;
  for (const std::uint16_t count : counts)
    if (count > 1) sum += count * std::log2(static_cast<double>(count));
  const auto size = static_cast<double>(text.size());
  return text.empty() ? 0.0 : std::log2(size) - sum / size;
}

bool looks_random(std::string_view text) noexcept {
  const std::size_t hex = run_length(text, 0, kAnyHex, text.size());
  const bool has_digit =
      std::any_of(text.begin(), text.end(), [](char c) { return in_set(c, kDigit); });
  const bool has_letter =
      std::any_of(text.begin(), text.end(), [](char c) { return in_set(c, kLetter); });
  if (!has_letter) return false;
  if ((hex == text.size() && hex >= 16) || is_uuid(text)) return has_digit && entropy(text) >= 2.8;

  const double size = static_cast<double>(text.size());
  if (entropy(text) < std::min(3.5, 0.85 * std::log2(size))) return false;
  if (!has_digit && text.size() < 16) return false;

  PieceCounter pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = run_length(text, at, kAlnum, text.size());
    const std::string_view segment = text.substr(at, length);
    // Short segments and numbers are parts of versions, dates and names as often as of tokens.
    const bool number = run_length(segment, 0, kDigit, length) == length;
    if (length == text.size() || (length > 3 && !number)) pieces.add(segment);
    at += length == 0 ? 1 : length;
  }
  return pieces.random(text.size());
}

bool is_stand_in(std::string_view value) noexcept {
  return std::any_of(kStandIns.begin(), kStandIns.end(),
                     [&](std::string_view word) { return contains_folded(value, word); });
}

}  // namespace strongroom::policy::detail
