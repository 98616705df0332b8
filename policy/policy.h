// The policy: who may call which tool on what. Pure: no I/O, no clock, no keys.
//
// Semantics are Cedar's: what no rule matches is denied; one matching forbid overrides every
// permit; each decision names the rule that made it. A policy that cannot be read denies all.
//
// Text form (JSON): {"version": N, "rules": [{"id", "effect", "principal", "tool", "bank", "key",
// "tags", "class", "source"}]}. An absent member matches everything. Each of them is a string or an
// array of strings (any of them matches); strings are globs in which * stands for any run of bytes
// (also /, also none); class is "normal" or "secret". "tags" matches when one of the request's tags
// matches one of the globs. A member that the request has no value for (a listing has no key, a
// call that touches no bank no bank) does not match, not even by "*".
//
// Thread rule: a Policy does not change after parse(); any number of threads may read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strongroom::policy {

enum class ValueClass : std::uint8_t { normal = 0, secret = 1 };
enum class Effect : std::uint8_t { permit, forbid };

/// The rule that a decision names where none matched. No rule may have this id.
inline constexpr std::string_view kDefaultDeny = "default-deny";

/// A class in a set of classes.
constexpr std::uint8_t class_bit(ValueClass value_class) noexcept {
  return value_class == ValueClass::secret ? 2 : 1;
}

/// What is asked. Views must live as long as the call.
struct Request {
  std::string_view principal;           // "local:mcp"
  std::string_view tool;                // "agent_recall"
  std::string_view bank;                // name; empty = the request touches no bank
  std::optional<std::string_view> key;  // entry name, where there is one
  std::vector<std::string_view> tags;   // of the entry, where known
  ValueClass value_class = ValueClass::normal;
  std::string_view source;  // source kind: "cli", "mcp", ...; empty = none
};

struct Decision {
  bool permitted = false;
  std::string rule;  // the deciding rule's id; "default-deny" where none matched
  /// Half a sentence for people. Names principal, tool, bank and class, never key or tags:
  /// `no rule permits agent_recall on class secret for local:mcp`. Empty for a permit.
  std::string reason;
  /// The contract's fixed words: Policy Denied: <reason> (rule: <id>)
  std::string text() const;
};

/// One step of an explanation: a rule and why it did or did not match.
struct RuleTrace {
  std::string rule;
  Effect effect;
  bool matched;
  std::string why;  // `matches`, `key does not match`, `the request has no key`
};

class Policy {
 public:
  static constexpr std::size_t kMaxText = std::size_t{1} << 20;  // bytes
  static constexpr std::size_t kMaxRules = 1000;
  static constexpr std::size_t kMaxPatterns = 256;       // in one member of one rule
  static constexpr std::size_t kMaxPatternBytes = 1100;  // a key of 1,024 bytes and a few stars

  /// Reads the text form. Unknown members, duplicate or reserved rule ids (default-deny, grant),
  /// missing or wrong types, empty patterns and arrays, version < 1, a limit above passed:
  /// Code::invalid naming the member (rules[2].effect); the text as a whole too long: too_large.
  /// Effects and members of later releases (ask, redact, quarantine, limits): Code::unsupported.
  static Policy parse(std::string_view json);

  /// A policy that denies everything, for `reason` ("the policy is not signed").
  static Policy deny_all(std::string reason);

  /// The text that `init` seals.
  static std::string default_text();

  std::uint64_t version() const noexcept { return version_; }
  std::size_t rule_count() const noexcept { return rules_.size(); }

  Decision decide(const Request& request) const;

  /// Fast path: true when permitted; allocates nothing. decide() agrees with it (a test).
  bool permits(const Request& request) const noexcept;

  /// The same, and which rule permits: its id, valid as long as this policy; nullptr when denied.
  const std::string* permitting_rule(const Request& request) const noexcept;

  /// May some request with these principal, tool, bank and source be permitted, whatever its key,
  /// tags and class? For listings, whose items are then decided one by one. A forbid without key
  /// and tags closes its classes; one with them closes nothing here. So this never refuses what
  /// decide() could permit, and may permit a listing of which every item is then denied.
  Decision decide_scope(const Request& request) const;

  /// Can names be missing from such a listing? A property of the policy alone, never of what is
  /// stored, so that a note about it tells nothing.
  bool narrows_listing(const Request& request) const;
  /// The same for memories, which have tags and no key.
  bool narrows_memories(const Request& request) const;

  std::vector<RuleTrace> explain(const Request& request) const;

  /// The tools and principals that rules name without a star, for the caller to compare with those
  /// that exist: a forbid with a mistyped tool forbids nothing.
  struct Named {
    std::string rule, member, name;
  };
  std::vector<Named> literal_names() const;

  /// Findings for `policy check`: rules that can never decide anything (a forbid, or an earlier
  /// rule of the same effect, covers them), and rules that give a name which is only configured (a
  /// label such as local:*, not a grant) more than the default policy does. One sentence each,
  /// naming the rule.
  std::vector<std::string> warnings() const;

 private:
  /// A glob, sorted by form once so that the usual ones cost one comparison.
  struct Pattern {
    enum class Form : std::uint8_t { any, exact, prefix, general };
    explicit Pattern(std::string glob);
    bool matches(std::string_view value) const noexcept;
    std::string text;     // as written
    std::size_t literal;  // bytes before the first star
    Form form;
  };
  using Patterns = std::vector<Pattern>;  // empty = the member is absent = matches everything

  struct Rule {
    std::string id;
    Effect effect = Effect::permit;
    std::uint8_t classes = 3;  // a bit a ValueClass
    Patterns principal, tool, bank, source, key, tags;
  };
  /// The rules once more, for speed: rules share most of their patterns, so each distinct list is a
  /// condition of its own, decided at most once a request.
  enum class Member : std::uint8_t { principal, tool, bank, source, key, tags };
  static constexpr std::size_t kMembers = 6;
  struct Condition {
    Member member;
    Patterns patterns;
  };
  struct Step {
    Effect effect = Effect::permit;
    std::uint8_t classes = 3;
    std::uint8_t count = 0;
    std::array<std::uint16_t, kMembers> conditions{};
  };
  friend class PolicyReader;
  friend class Evaluation;
  friend struct RuleLogic;
  void compile();

  std::uint64_t version_ = 0;
  std::vector<Rule> rules_;
  std::vector<Step> steps_;  // one a rule
  std::vector<Condition> conditions_;
  std::string deny_all_reason_;
};

/// `*` matches any run of bytes, every other byte itself. Linear time in practice, no recursion.
bool glob_match(std::string_view pattern, std::string_view text) noexcept;

/// A line of `policy test`: {"request": {...}, "expect": "permit"|"deny", "rule": "id"}; "rule" may
/// be absent. Members of request: principal and tool (required), bank, key, tags (array), class,
/// source.
struct TestCase {
  std::string expect;
  std::optional<std::string> rule;
  Decision got;
  bool passed;
};
/// Runs one line. Throws Code::invalid naming the member.
TestCase run_test_line(const Policy& policy, std::string_view line);

}  // namespace strongroom::policy
