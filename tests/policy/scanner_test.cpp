// The credential scanner: every rule is fed what its issuer would make, in the surroundings in
// which people paste it, and ordinary text of many kinds. Credentials are put together at run time,
// so that no scanner of repositories stops at this file.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "policy/secret_rules.h"
#include "policy/secret_scanner.h"

namespace strongroom::policy {
namespace {

using detail::CharSet;

const std::string kDigits = "0123456789";
const std::string kLowers = "abcdefghijklmnopqrstuvwxyz";
const std::string kUppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const std::string kAlnums = kDigits + kLowers + kUppers;
const std::string kUrlSafes = kAlnums + "-_";
const std::string kBase64s = kAlnums + "+/";
const std::string kHexes = "0123456789abcdef";

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  std::string of(const std::string& alphabet, std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += alphabet[below(alphabet.size())];
    return text;
  }
  std::string pick(const std::vector<std::string>& choices) {
    return choices[below(choices.size())];
  }
  std::string uuid() {
    return of(kHexes, 8) + "-" + of(kHexes, 4) + "-4" + of(kHexes, 3) + "-a" + of(kHexes, 3) + "-" +
           of(kHexes, 12);
  }

 private:
  std::mt19937 random_;
};

std::string base64(std::string_view bytes) {
  std::string text;
  const std::string alphabet = kUppers + kLowers + kDigits + "+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? alphabet[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string unpadded(std::string text) {
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

std::string alphabet_of(CharSet set) {
  std::string alphabet;
  for (int c = '!'; c < 127; ++c)
    if (c != '=' && detail::in_set(static_cast<char>(c), set)) alphabet += static_cast<char>(c);
  return alphabet;
}

// A token as one that a rule describes would be made, at a usual length.
std::string token_of(const detail::TokenRule& rule, Maker& make) {
  const std::string alphabet = alphabet_of(rule.alphabet);
  const std::size_t length =
      rule.min + make.below(std::min<std::size_t>(rule.max - rule.min, 30) + 1);
  std::string body;
  // Neither begins nor ends with punctuation, as tokens that people can select do.
  do body = make.of(alphabet, length);
  while (!detail::in_set(body.back(), detail::kAlnum) || !detail::in_set(body[0], detail::kAlnum));
  const std::string lead = rule.context.empty() ? "" : std::string(rule.context) + " ";
  return lead + std::string(rule.prefix) + body;
}

std::string pem(Maker& make, const std::string& kind) {
  const std::string dashes(5, '-');
  std::string text = dashes + "BEGIN " + kind + dashes + "\n";
  for (int i = 0; i < 6; ++i) text += make.of(kBase64s, 64) + "\n";
  return text + dashes + "END " + kind + dashes + "\n";
}

using Make = std::function<std::string(Maker&)>;

std::map<std::string, Make> structured() {
  std::map<std::string, Make> all;
  for (const std::string kind :
       {"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"})
    all["pem " + kind] = [kind](Maker& m) { return pem(m, kind); };
  all["jwt"] = [](Maker& m) {
    return unpadded(base64("{\"alg\":\"HS256\",\"typ\":\"JWT\"}")) + "." +
           unpadded(base64("{\"sub\":\"" + m.of(kDigits, 10) + "\"}")) + "." + m.of(kUrlSafes, 43);
  };
  all["sendgrid"] = [](Maker& m) {
    return "SG." + m.of(kUrlSafes, 22) + "." + m.of(kUrlSafes, 43);
  };
  all["discord"] = [](Maker& m) {
    return unpadded(base64("1" + m.of(kDigits, 17))) + "." + m.of(kUrlSafes, 6) + "." +
           m.of(kUrlSafes, 27);
  };
  all["telegram"] = [](Maker& m) { return "7" + m.of(kDigits, 9) + ":AA" + m.of(kUrlSafes, 33); };
  all["telegram url"] = [](Maker& m) {
    return "https://api.telegram.org/bot7" + m.of(kDigits, 9) + ":AA" + m.of(kUrlSafes, 33) +
           "/getMe";
  };
  all["airtable"] = [](Maker& m) { return "pat" + m.of(kAlnums, 14) + "." + m.of(kHexes, 64); };
  all["slack webhook"] = [](Maker& m) {
    return "https://hooks.slack.com/services/T" + m.of(kUppers + kDigits, 8) + "/B" +
           m.of(kUppers + kDigits, 8) + "/" + m.of(kAlnums, 24);
  };
  all["discord webhook"] = [](Maker& m) {
    return "https://discord.com/api/webhooks/" + m.of(kDigits, 18) + "/" + m.of(kUrlSafes, 68);
  };
  all["url password"] = [](Maker& m) {
    return m.pick({"postgres", "mysql", "redis", "https", "mongodb+srv", "amqp"}) + "://" +
           m.pick({"app", "admin", "svc-web", ""}) + ":" + m.of(kAlnums, 6 + m.below(20)) +
           "@db.internal:5432/main";
  };
  all["bearer"] = [](Maker& m) {
    return m.pick({"Authorization: Bearer ", "authorization: bearer ",
                   "\"Authorization\": \"Bearer "}) +
           m.of(kUrlSafes, 24 + m.below(40));
  };
  all["basic"] = [](Maker& m) {
    return "Authorization: Basic " + base64("user" + m.of(kDigits, 2) + ":" + m.of(kAlnums, 12));
  };
  all["aws secret"] = [](Maker& m) {
    return m.pick({"aws_secret_access_key = ", "AWS_SECRET_ACCESS_KEY=", "\"SecretAccessKey\": \"",
                   "aws_secret_access_key: "}) +
           m.of(kBase64s, 40);
  };
  all["heroku uuid"] = [](Maker& m) { return "HEROKU_API_KEY=" + m.uuid(); };
  all["azure storage"] = [](Maker& m) {
    return "AccountName=acme;Account"
           "Key=" +
           m.of(kBase64s, 86) + "==;EndpointSuffix=core.windows.net";
  };
  return all;
}

std::map<std::string, Make> assignments() {
  const auto name = [](Maker& m) {
    return m.pick({"api_key", "apiKey", "API_KEY", "x-api-key", "client_secret", "clientSecret",
                   "SECRET", "auth_token", "accessToken", "ACCESS_TOKEN_PROD", "app.secret",
                   "refresh_token", "secret_key", "SIGNING_KEY", "DJANGO_SECRET_KEY",
                   "SUPABASE_SERVICE_ROLE_KEY"});
  };
  const auto password_name = [](Maker& m) {
    return m.pick({"password", "PASSWORD", "db_password", "DB_PASS", "passwd", "dbPassword",
                   "passphrase", "MYSQL_PWD", "spring.datasource.password", "POSTGRES_PASSWORD",
                   "password2"});
  };
  const auto value = [](Maker& m) {
    return m.below(2) == 0 ? m.of(kHexes, 32 + 8 * m.below(4)) : m.of(kAlnums, 20 + m.below(30));
  };
  const auto password = [](Maker& m) {
    std::string text = m.of(kLowers, 2) + m.of(kUppers, 1) + m.of(kAlnums, 5 + m.below(9)) +
                       m.of(kDigits, 1) + m.of("!@#%^*?~", 1) + m.of(kAlnums, 2);
    return text;
  };
  std::map<std::string, Make> all;
  for (const std::string form :
       {"%n=%v", "%n = \"%v\"", "%n: %v", "\"%n\": \"%v\"", "%n := '%v'", "'%n' => '%v'",
        "\\\"%n\\\": \\\"%v\\\"", "export %n=%v", "**%n:** `%v`", "%n: str = \"%v\"",
        "const %n: string = '%v';", "define('%n', '%v');", "<%n>%v</%n>", "--%n %v",
        "?%n=%v&page=2", "the %n is %v"}) {
    const auto fill = [form](std::string n, const std::string& v) {
      if (form.starts_with("--"))
        for (char& c : n) c = c == '_' || c == '.' ? '-' : c;
      std::string text;
      for (std::size_t i = 0; i < form.size(); ++i) {
        if (form[i] != '%')
          text += form[i];
        else
          text += form[++i] == 'n' ? n : v;
      }
      return text;
    };
    all["secret " + form] = [=](Maker& m) { return fill(name(m), value(m)); };
    if (form[0] == '?' || form[0] == '<') continue;  // & and < end a value there
    all["password " + form] = [=](Maker& m) { return fill(password_name(m), password(m)); };
  }
  return all;
}

// Tokens stand alone, in JSON, in escaped JSON, in quotes, in env files and in sentences.
std::vector<std::string> surroundings(const std::string& token) {
  return {token,
          "{\"note\": \"" + token + "\", \"n\": 1}",
          "line one\\n" + token + "\\nline three",
          "'" + token + "'",
          "SOME_NAME=" + token + "\nOTHER=1\n",
          "Use " + token + " for the staging server, please.",
          "It is " + token + ".",
          "- `" + token + "`\n",
          "(" + token + ")",
          "\xe5\xaf\x86\xe9\x92\xa5\xef\xbc\x9a" + token};
}

struct Recall {
  std::size_t found = 0;
  std::size_t all = 0;
  double share() const { return static_cast<double>(found) / static_cast<double>(all); }
};

Recall recall_of(const Make& make, bool embed) {
  Maker maker(20261121);
  Recall recall;
  for (int i = 0; i < 200; ++i) {
    const std::string token = make(maker);
    for (const std::string& text :
         embed ? surroundings(token) : std::vector<std::string>{token, "x\n" + token + "\ny"}) {
      ++recall.all;
      const auto finding = find_credential(text);
      if (!finding) continue;
      ++recall.found;
      REQUIRE(finding->length > 0);
      REQUIRE(finding->offset + finding->length <= text.size());
    }
  }
  return recall;
}

std::string data_path(const std::string& name) {
  const std::string here = __FILE__;
  return here.substr(0, here.rfind('/') + 1) + name;
}

std::vector<std::string> members_of(const std::string& path, std::string_view member) {
  std::vector<std::string> texts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    if (const Json* found = json.find(member)) texts.push_back(found->as_string());
  }
  return texts;
}

std::size_t alarms(const std::vector<std::string>& texts) {
  std::size_t count = 0;
  for (const std::string& text : texts) {
    const auto finding = find_credential(text);
    if (!finding) continue;
    ++count;
    UNSCOPED_INFO("false alarm (" << finding->kind << "): " << text);
  }
  return count;
}

}  // namespace

TEST_CASE("every token rule finds what its issuer makes", "[policy][scanner]") {
  Recall total;
  for (const detail::TokenRule& rule : detail::token_rules()) {
    const Recall recall = recall_of([&](Maker& m) { return token_of(rule, m); }, true);
    INFO(rule.prefix << " (" << rule.kind << ") recall " << recall.share());
    CHECK(recall.share() >= 0.95);
    total.found += recall.found;
    total.all += recall.all;
  }
  std::cout << "scanner recall, token rules: " << total.found << " of " << total.all << "\n";
}

TEST_CASE("structured credentials are found", "[policy][scanner]") {
  Recall total;
  for (const auto& [name, make] : structured()) {
    const bool embed = name != "bearer" && name != "aws secret";
    const Recall recall = recall_of(make, embed);
    INFO(name << " recall " << recall.share());
    CHECK(recall.share() >= 0.95);
    total.found += recall.found;
    total.all += recall.all;
  }
  std::cout << "scanner recall, structured: " << total.found << " of " << total.all << "\n";
}

TEST_CASE("keyword assignments are found in every notation", "[policy][scanner]") {
  Recall total;
  for (const auto& [name, make] : assignments()) {
    const Recall recall = recall_of(make, false);
    INFO(name << " recall " << recall.share());
    CHECK(recall.share() >= 0.95);
    total.found += recall.found;
    total.all += recall.all;
  }
  std::cout << "scanner recall, assignments: " << total.found << " of " << total.all << "\n";
}

TEST_CASE("passwords as people make them are found", "[policy][scanner]") {
  for (const std::string value : {"Tr0ub4dor"
                                  "&3",
                                  "Summer"
                                  "2024!",
                                  "p@ss"
                                  "W0rd99",
                                  "hunter2"
                                  "-Hunter2!",
                                  "xK9#mP2"
                                  "$vL5n"}) {
    INFO(value);
    CHECK(find_credential("password = \"" + value + "\""));
    CHECK(find_credential("DB_PASSWORD=" + value));
    CHECK(find_credential("The wifi password is " + value + " in the office."));
  }
}

TEST_CASE("a finding names the issuer and the place", "[policy][scanner]") {
  Maker make(3);
  const std::string token =
      "gh"
      "p_" +
      make.of(kAlnums, 36);
  const std::string text = "api_token: \"" + token + "\"";
  const auto finding = find_credential(text);
  REQUIRE(finding);
  CHECK(finding->kind == "GitHub token");
  CHECK(text.substr(finding->offset, finding->length) == token);

  const std::string key = "note\n" + pem(make, "EC PRIVATE KEY");
  REQUIRE(find_credential(key));
  CHECK(find_credential(key)->kind == "private key");
  CHECK(find_credential(key)->offset == 5);

  // The example of AWS's own manual is made like a real one, and found like one.
  CHECK(
      find_credential("AKIA"
                      "IOSFODNN7"
                      "EXAMPLE"));
}

TEST_CASE("prefixes inside words, and fillers, are no credentials", "[policy][scanner]") {
  Maker make(4);
  for (const detail::TokenRule& rule : detail::token_rules()) {
    INFO(rule.prefix);
    // "key-" and a digest behind an underscore, say, is part of a longer name.
    CHECK_FALSE(find_credential("wordly_" + std::string(rule.prefix) + make.of(kHexes, rule.min)));
    CHECK_FALSE(find_credential(std::string(rule.prefix) + std::string(rule.min, 'x')));
    CHECK_FALSE(find_credential(rule.prefix));
  }
}

TEST_CASE("hand-written ordinary lines raise no alarm", "[policy][scanner]") {
  const auto lines = members_of(data_path("benign_lines.jsonl"), "text");
  REQUIRE(lines.size() >= 300);
  const std::size_t count = alarms(lines);
  std::cout << "scanner false alarms: " << count << " of " << lines.size()
            << " hand-written lines\n";
  CHECK(static_cast<double>(count) <= 0.005 * static_cast<double>(lines.size()));
}

TEST_CASE("generated ordinary lines raise no alarm", "[policy][scanner]") {
  Maker make(5);
  std::vector<std::string> lines;
  for (int i = 0; i < 2000; ++i) {
    lines.push_back("request " + make.uuid() + " took " + make.of(kDigits, 3) + " ms");
    lines.push_back("commit " + make.of(kHexes, 40));
    lines.push_back("sha256:" + make.of(kHexes, 64));
    lines.push_back("data:image/png;base64," + make.of(kBase64s, 400));
    lines.push_back("/var/lib/app-" + make.of(kDigits, 2) + "/cache/" + make.of(kHexes, 8) +
                    ".bin");
    lines.push_back("upgraded from 1." + make.of(kDigits, 2) + "." + make.of(kDigits, 2) +
                    "-rc1 today");
    lines.push_back("id=" + make.of(kAlnums, 22) + "; path=/; expires in 3600");
  }
  const std::size_t count = alarms(lines);
  std::cout << "scanner false alarms: " << count << " of " << lines.size() << " generated lines\n";
  CHECK(static_cast<double>(count) <= 0.005 * static_cast<double>(lines.size()));
}

TEST_CASE("conversations raise no alarm", "[policy][scanner]") {
  const char* folder = std::getenv("STRONGROOM_TEST_DATA");
  const std::string root = folder == nullptr ? "" : folder;
  auto texts = members_of(root + "/eval/locomo/memories.jsonl", "content");
  if (texts.empty()) {
    WARN("skipped: no eval/locomo/memories.jsonl in the folder that STRONGROOM_TEST_DATA names");
    return;
  }
  const std::size_t count = alarms(texts);
  std::cout << "scanner false alarms: " << count << " of " << texts.size() << " LoCoMo memories\n";
  CHECK(static_cast<double>(count) <= 0.005 * static_cast<double>(texts.size()));
}

TEST_CASE("any bytes can be scanned", "[policy][scanner]") {
  Maker make(6);
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  for (int i = 0; i < 20000; ++i) {
    std::string text = make.of(bytes, make.below(60));
    const auto& rules = detail::token_rules();
    text += rules[make.below(rules.size())].prefix;
    text +=
        make.pick({"", "password=", "password: \"", "://a:", "eyJ", "SG.", "Basic ", "Bearer ",
                   "--token ", "-----BEGIN RSA PRIVATE KEY-----", ":AA", "is ", "\\", "secret ='"});
    const std::vector<char> exact(text.begin(), text.end());  // nothing behind it, not even a NUL
    const auto finding = find_credential(std::string_view(exact.data(), exact.size()));
    if (finding) REQUIRE(finding->offset + finding->length <= text.size());
  }
  CHECK_FALSE(find_credential(""));
}

}  // namespace strongroom::policy
