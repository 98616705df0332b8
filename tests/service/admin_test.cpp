// The owner's operations, and the log that every call leaves.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "service_fixture.h"

namespace strongroom::service {
namespace {

std::uint64_t calls(const std::vector<AuditLine>& lines) {
  std::uint64_t count = 0;
  for (const AuditLine& line : lines) count += line.count;
  return count;
}

constexpr const char* kForbidHr =
    R"({"id": "hr", "effect": "forbid", "principal": "local:mcp", "key": "hr/*"})";

}  // namespace

// ---- init

TEST_CASE("init makes a vault, and touches nothing that is there", "[admin]") {
  const TestHome home;
  struct stat info {};
  REQUIRE(::stat(home.vault_path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  REQUIRE(::stat(home.keyfile().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  for (const auto& [path, bytes] : home.files()) {
    REQUIRE(::stat(path.c_str(), &info) == 0);
    INFO(path);
    CHECK((info.st_mode & 077) == 0);
  }
  const auto before = home.files();
  InitOptions again;
  again.vault_path = home.vault_path();
  again.owner.keyfile = home.dir / "new.key";
  CHECK(failure_of([&] { init_vault(again); }).text ==
        "There is a vault already; nothing was changed. [conflict]");
  again.vault_path = home.work();
  spill(home.work() + "/letter.txt", "mine");
  CHECK(code_of([&] { init_vault(again); }) == Code::invalid);
  again.vault_path = home.keyfile();
  CHECK(code_of([&] { init_vault(again); }) == Code::invalid);
  CHECK_FALSE(fs::exists(home.dir / "new.key"));
  fs::remove(home.work() + "/letter.txt");
  CHECK((home.files() == before));
}

TEST_CASE("a failed init leaves nothing behind", "[admin]") {
  const TempDir dir;
  ::setenv("XDG_STATE_HOME", (dir / "state").c_str(), 1);
  InitOptions init;
  init.vault_path = dir / "v";
  init.owner.keyfile = dir / "owner.key";
  {
    const NoWrites none;
    const Failure failure = failure_of([&] { init_vault(init); });
    CHECK((failure.code == Code::no_space || failure.code == Code::uncertain));
  }
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(dir.path())) left.insert(entry.path().filename());
  left.erase("state");
  CHECK(left.empty());
  init_vault(init);
  CHECK(fs::exists(init.vault_path));
}

TEST_CASE("passphrases, both, and recovery codes open a vault", "[admin]") {
  const TestHome home;
  const auto admin = home.admin();
  NewSecret code;
  code.kind = SlotKind::code;
  admin->add_slot(code, false);
  REQUIRE(code.code);
  NewSecret both;
  both.kind = SlotKind::both;
  both.keyfile = home.dir / "both.key";
  both.passphrase = SecretBytes("correct horse");
  const std::string both_id = admin->add_slot(both, false);
  NewSecret empty;
  empty.kind = SlotKind::passphrase;
  empty.passphrase = SecretBytes("");
  CHECK(code_of([&] { admin->add_slot(empty, false); }) == Code::invalid);

  ServiceOptions options = home.options();
  options.key = {};
  options.key.prompt_code = [&]() -> std::optional<SecretBytes> {
    return SecretBytes(code.code->view());
  };
  CHECK(remember(*home.open(options), "k", "v").revision == 1);
  options.key.prompt_code = []() -> std::optional<SecretBytes> { return SecretBytes("AAAA-BBBB"); };
  CHECK(code_of([&] { hit(*home.open(options), "k"); }) == Code::invalid);
  options.key = {};
  options.key.keyfile = both.keyfile;
  CHECK(code_of([&] { hit(*home.open(options), "k"); }) == Code::wrong_key);
  options.key.prompt = []() -> std::optional<SecretBytes> { return SecretBytes("correct horse"); };
  CHECK(recall(*home.open(options), "k") == "v");
  std::string methods;
  for (const SlotLine& slot : admin->slots()) {
    methods += slot.role + ":" + slot.method + " ";
    if (slot.id == both_id) CHECK(slot.role == "owner");
  }
  CHECK(admin->slots().size() == 4);
  INFO(methods);
}

// ---- status, verify, banks, settings

TEST_CASE("status counts and names its state", "[admin]") {
  const TestHome home;
  remember(*home.mcp(), "k", "v");
  remember_secret(*home.in_bank("proj"), "s", "secret");
  const VaultStatus status = home.admin()->status();
  CHECK(status.state == "open");
  CHECK(status.hint.empty());
  CHECK(status.banks == 2);
  CHECK(status.entries == 2);
  CHECK(status.secrets == 1);
  CHECK(status.admin_is_owner);
  CHECK(status.policy_version == 1);
  CHECK(status.policy_problem.empty());
  CHECK(status.scoping == "per-project-tagged");
  CHECK(status.vault_id.size() == 32);
  CHECK(status.anchor == "ok");
  const VerifyOutcome outcome = home.admin()->verify(false);
  CHECK(outcome.banks == 3);  // the vault's own, global, proj
  CHECK(outcome.problems.empty());
  CHECK(outcome.log_records >= 3);
  CHECK(home.admin()->verify(true).problems.empty());

  AdminOptions options = home.admin_options();
  options.vault_path = home.dir / "nowhere";
  CHECK(VaultAdmin(options).status().state == "no_vault");
  options = home.admin_options();
  options.owner = {};
  CHECK(VaultAdmin(options).status().state == "locked");
  CHECK(code_of([&] { VaultAdmin(options).banks(); }) == Code::locked);
}

TEST_CASE("an admin secret of its own", "[admin]") {
  const TestHome home(true);
  CHECK_FALSE(home.admin()->status().admin_is_owner);
  AdminOptions owner_only = home.admin_options();
  owner_only.admin = {};
  const std::string policy = R"({"version": 2, "rules": []})";
  const Failure failure = failure_of([&] { VaultAdmin(owner_only).seal_policy(policy); });
  CHECK(failure.code == Code::locked);
  CHECK(failure.text.find("STRONGROOM_ADMIN_KEYFILE") != std::string::npos);
  NewSecret secret;
  secret.keyfile = home.dir / "second.key";
  CHECK(code_of([&] { VaultAdmin(owner_only).add_slot(secret, false); }) == Code::locked);
  CHECK_FALSE(fs::exists(secret.keyfile));  // no key without its slot
  VaultAdmin(owner_only).create_bank("by the owner alone");
  home.admin()->seal_policy(policy);
  CHECK(home.admin()->status().policy_version == 2);
}

TEST_CASE("banks: names, repeats, the one that is lost", "[admin]") {
  const TestHome home;
  const auto admin = home.admin();
  admin->create_bank("proj");
  CHECK(failure_of([&] { admin->create_bank("proj"); }).code == Code::conflict);
  CHECK(code_of([&] { admin->create_bank("global"); }) == Code::conflict);
  for (const std::string& name : {std::string(), std::string(257, 'b'), std::string("a\tb"),
                                 std::string(" x"), std::string("x "), std::string("\xFF")}) {
    CHECK(code_of([&] { admin->create_bank(name); }) == Code::invalid);
  }
  const auto banks = admin->banks();
  REQUIRE(banks.size() == 2);
  CHECK(banks[0].name == "global");
  CHECK(banks[1].name == "proj");
  CHECK(banks[0].tag.size() == 5);
  CHECK(banks[0].tag != banks[1].tag);
  // Two processes with one idea: both get it, once.
  const auto one = home.in_bank("race"), other = home.in_bank("race");
  remember(*one, "a", "1");
  remember(*other, "b", "2");
  CHECK(list(*one) == std::vector<std::string>{"a", "b"});
  home.check_whole();
}

TEST_CASE("a bank that cannot be written in full is not there at all", "[admin]") {
  const TestHome home;
  remember(*home.mcp(), "k", "v");
  {
    const auto admin = home.admin();
    admin->banks();
    const NoWrites none;
    CHECK_THROWS_AS(admin->create_bank("proj"), Error);
  }
  CHECK(home.admin()->banks().size() == 1);
  home.check_whole();  // no orphan
  home.admin()->create_bank("proj");
  CHECK(home.admin()->banks().size() == 2);
}

TEST_CASE("settings are checked", "[admin]") {
  const TestHome home;
  const auto admin = home.admin();
  CHECK(admin->setting("scoping") == "per-project-tagged");
  CHECK(admin->setting("revisions") == "20");
  for (const std::string value : {"0", "1001", "-1", "x", "", "3x", " 3"}) {
    CHECK(code_of([&] { admin->set_setting("revisions", value); }) == Code::invalid);
  }
  CHECK(code_of([&] { admin->set_setting("scoping", "mine"); }) == Code::invalid);
  for (const std::string name : {"", "!box", "policy"}) {
    CHECK(code_of([&] { admin->set_setting(name, "1"); }) == Code::invalid);
    CHECK(code_of([&] { admin->setting(name); }) == Code::invalid);
  }
  admin->set_setting("revisions", "1000");
  CHECK(home.admin()->setting("revisions") == "1000");
}

// ---- policy

TEST_CASE("sealing a policy", "[admin]") {
  const TestHome home;
  const auto admin = home.admin();
  const std::string first = admin->policy_text();
  CHECK(failure_of([&] { admin->seal_policy(first); }).text ==
        "Invalid: version must be above 1, the sealed policy's. [invalid]");
  for (const std::string text : {"", "{}", R"({"version": 2, "rules": [{"id": "a"}]})",
                                 R"({"version": 2, "rules": [], "extra": 1})"}) {
    CHECK(code_of([&] { admin->seal_policy(text); }) == Code::invalid);
  }
  CHECK(admin->policy_text() == first);
  home.seal(2, kForbidHr);
  const auto other = home.admin();
  CHECK(other->policy_text().find("\"hr\"") != std::string::npos);
  PolicyQuestion question;
  question.principal = "local:mcp";
  question.tool = "agent_recall";
  question.bank = "global";
  question.key = "hr/a";
  const PolicyAnswer answer = other->explain_policy(question);
  CHECK_FALSE(answer.permitted);
  CHECK(answer.rule == "hr");
  CHECK(answer.trace.size() == 4);
  CHECK(other->test_policy_line(R"({"request": {"principal": "local:mcp", "tool": "agent_recall",
    "bank": "global", "key": "hr/a"}, "expect": "deny", "rule": "hr"})")
            .passed);
  for (const std::string& name : VaultAdmin::policy_templates()) {
    INFO(name);
    CHECK_NOTHROW(VaultAdmin::check_policy(VaultAdmin::policy_template(name)));
  }
  CHECK(code_of([] { VaultAdmin::policy_template("nope"); }) == Code::not_found);
  CHECK(code_of([] { VaultAdmin::check_policy("[]"); }) == Code::invalid);
}

// ---- slots

TEST_CASE("slots: the last and the one in use stay", "[admin]") {
  const TestHome home;
  const auto admin = home.admin();
  std::string owner, owner_admin;
  for (const SlotLine& slot : admin->slots()) {
    (slot.role == "owner" ? owner : owner_admin) = slot.id;
  }
  CHECK(code_of([&] { admin->remove_slot(owner); }) == Code::invalid);
  CHECK(failure_of([&] { admin->remove_slot(owner_admin); }).text ==
        "Invalid: slot is the last one of its role; add another first. [invalid]");
  CHECK(code_of([&] { admin->remove_slot("00"); }) == Code::not_found);
  NewSecret second;
  second.keyfile = home.dir / "second.key";
  const std::string id = admin->add_slot(second, true);
  CHECK(fs::exists(second.keyfile));
  admin->remove_slot(owner_admin);
  AdminOptions options = home.admin_options();
  options.admin.keyfile = second.keyfile;
  VaultAdmin(options).seal_policy(R"({"version": 2, "rules": []})");
  CHECK(code_of([&] { home.admin()->seal_policy(R"({"version": 3, "rules": []})"); }) ==
        Code::locked);
  home.check_whole();
}

// ---- the log

TEST_CASE("every call leaves a record, with ids instead of names", "[audit]") {
  const TestHome home;
  {
    const auto agent = home.mcp();
    remember(*agent, "name-of-it", "value-of-it");
    recall(*agent, "name-of-it");
    recall(*agent, "name-that-is-not");
    list(*agent);
    agent->history("name-of-it", {});
    agent->project_context(1500, {}, {});
    remember_secret(*agent, "the-secret", "value-of-it");
    CHECK(code_of([&] { hit(*agent, "the-secret"); }) == Code::denied);
    CHECK(forget(*agent, "name-of-it"));
    CHECK_FALSE(forget(*agent, "name-of-it"));
    CHECK(code_of([&] { remember(*agent, "name-of-it", credential()); }) == Code::secret_detected);
    RememberRequest conflicting;
    conflicting.key = "name-of-it";
    conflicting.value = "value-of-it";
    conflicting.if_revision = 9;
    CHECK(code_of([&] { agent->remember(conflicting); }) == Code::conflict);
    agent->close();
  }
  {
    const auto owner = home.cli();
    CHECK(recall(*owner, "the-secret") == "value-of-it");
  }
  home.admin()->create_bank("name-of-bank");
  home.seal(2, kForbidHr);
  NewSecret second;
  second.keyfile = home.dir / "second.key";
  home.admin()->add_slot(second, false);
  home.admin()->set_setting("revisions", "5");

  const auto remembered = home.log_of("agent_remember");
  std::uint64_t stored = 0;
  std::multiset<std::string> errors;
  for (const AuditLine& line : remembered) {
    CHECK(line.principal == "local:mcp");
    if (line.error.empty()) {
      ++stored;
      CHECK(line.record != 0);
      CHECK(line.bytes == 11);
      CHECK(line.permitted);
      CHECK_FALSE(line.rule.empty());
    } else {
      errors.insert(line.error);
    }
  }
  CHECK(stored == 2);
  CHECK(errors == std::multiset<std::string>{"conflict", "secret_detected"});

  std::uint64_t denied = 0, misses = 0, secret_reads = 0;
  for (const AuditLine& line : home.log_of("agent_recall")) {
    if (!line.permitted) {
      ++denied;
      CHECK(line.rule == "default-deny");
    }
    if (line.error == "not_found") misses += line.count;
    if (line.principal == "local:cli") ++secret_reads;
  }
  CHECK(denied == 1);
  CHECK(misses == 1);
  CHECK(secret_reads == 1);
  CHECK(calls(home.log_of("agent_recall")) == 6);  // read, miss, list, history, denied, the owner's
  CHECK(calls(home.log_of("get_project_context")) == 1);
  const auto forgotten = home.log_of("agent_forget");
  CHECK(calls(forgotten) == 2);
  for (const char* tool : {"init", "bank create", "policy seal", "slot add", "config set"}) {
    INFO(tool);
    const auto lines = home.log_of(tool, "");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].principal == "local:cli");
    CHECK(lines[0].permitted);
  }
  for (const AuditLine& line : home.log()) {
    const std::string text = line.principal + "|" + line.tool + "|" + line.rule + "|" + line.error;
    CHECK(text.find("name-of") == std::string::npos);
    CHECK(text.find("name-that") == std::string::npos);
    CHECK(text.find("value-of") == std::string::npos);
    CHECK(text.find("the-secret") == std::string::npos);
  }
  home.check_whole();
}

TEST_CASE("a denial because of a project's file is logged as well", "[audit]") {
  const TestHome home;
  remember(*home.in_folder(home.project("first", R"({"project": "shared-name"})")), "k", "v");
  const auto stranger = home.in_folder(home.project("second", R"({"project": "shared-name"})"));
  CHECK(code_of([&] { hit(*stranger, "k"); }) == Code::denied);
  stranger->close();
  std::uint64_t denials = 0;
  for (const AuditLine& line : home.log()) denials += line.permitted ? 0 : 1;
  CHECK(denials == 1);
}

TEST_CASE("equal reads are one record with a count", "[audit]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "a", "12345");
  remember(*agent, "b", "1");
  for (int i = 0; i < 10; ++i) recall(*agent, "a");
  recall(*agent, "b");
  agent->flush_audit();
  const auto before = home.log_of("agent_recall");
  CHECK(calls(before) == 11);
  CHECK(before.size() <= 4);  // more only where the second ran out in between
  std::uint64_t bytes = 0;
  for (const AuditLine& line : before) bytes += line.bytes;
  CHECK(bytes == 51);
  agent->flush_audit();
  CHECK(home.log_of("agent_recall").size() == before.size());
}

TEST_CASE("reads are written down after 4,096 calls at the latest", "[audit]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "k", "v");
  for (int i = 0; i < 4096; ++i) hit(*agent, "k");
  CHECK(calls(home.log_of("agent_recall")) >= 1);  // nobody flushed
  agent->close();
  CHECK(calls(home.log_of("agent_recall")) == 4096);
}

TEST_CASE("equal denials within a second are one record", "[audit]") {
  const TestHome home;
  const auto agent = home.mcp();
  home.seal(2, std::string(kForbidHr) + R"(,
    {"id": "fin", "effect": "forbid", "principal": "local:mcp", "key": "fin/*"})");
  const TimeMs start = now_ms();
  for (int i = 0; i < 20; ++i) {
    CHECK(code_of([&] { hit(*agent, "hr/" + std::to_string(i)); }) == Code::denied);
  }
  CHECK(code_of([&] { hit(*agent, "fin/1"); }) == Code::denied);
  CHECK(code_of([&] { remember(*agent, "fin/1", "v"); }) == Code::denied);
  const auto seconds = static_cast<std::uint64_t>((now_ms() - start) / 1000);
  std::set<std::string> rules;
  const auto reads = home.log_of("agent_recall");
  for (const AuditLine& line : reads) {
    CHECK_FALSE(line.permitted);
    rules.insert(line.rule);
  }
  CHECK(rules == std::set<std::string>{"fin", "hr"});
  CHECK(reads.size() <= 2 + 2 * seconds);
  CHECK(home.log_of("agent_remember").size() == 1);
}

TEST_CASE("filters of the log", "[audit]") {
  const TestHome home;
  home.seal(2, kForbidHr);
  {
    const auto agent = home.mcp();
    remember(*agent, "k", "v");
    CHECK(code_of([&] { remember(*agent, "hr/a", "v"); }) == Code::denied);
    remember(*home.cli(), "hr/a", "v");
  }
  AuditFilter filter;
  filter.denied_only = true;
  REQUIRE(home.log(filter).size() == 1);
  CHECK(home.log(filter)[0].rule == "hr");
  filter = {};
  filter.principal = "local:cli";
  filter.bank = "global";
  CHECK(home.log(filter).size() == 1);
  filter = {};
  filter.tool = "policy seal";
  CHECK(home.log(filter).size() == 1);
  filter = {};
  filter.since = now_ms() + 1'000'000;
  CHECK(home.log(filter).empty());
  filter = {};
  filter.bank = "nope";
  CHECK(code_of([&] { home.log(filter); }) == Code::not_found);
  TimeMs last = 0;
  for (const AuditLine& line : home.log()) {
    CHECK(line.time >= last);
    last = line.time;
  }
}

TEST_CASE("a service that closes when idle goes on with its session", "[audit]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "k", "v");
  recall(*agent, "k");
  agent->close_if_idle(1'000'000);  // not idle that long
  CHECK(home.log_of("agent_recall").empty());
  agent->close_if_idle(0);
  CHECK(calls(home.log_of("agent_recall")) == 1);
  remember(*agent, "k", "w");
  agent->close_if_idle(0);
  CHECK(recall(*agent, "k") == "w");
  agent->close();
  const auto lines = home.log_of("agent_remember");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].session == lines[1].session);
  CHECK(home.log_of("agent_recall")[0].session == lines[0].session);
  home.check_whole();

  // Another process is another session.
  remember(*home.mcp(), "k", "x");
  CHECK(home.log_of("agent_remember")[2].session != lines[0].session);
}

TEST_CASE("what cannot be logged is refused, and nothing is forgotten", "[audit]") {
  const TestHome home;
  const auto agent = home.mcp();
  remember(*agent, "k", "v");
  remember_secret(*agent, "s", "secret");
  home.seal(2, R"({"id": "open", "effect": "permit", "principal": "local:mcp",
    "tool": "agent_recall", "class": "secret"})");
  recall(*agent, "k");
  agent->flush_audit();
  std::uint64_t answered = 1;
  {
    const NoWrites none;
    bool refused = false;
    for (int i = 0; i < 5000 && !refused; ++i) {
      try {
        hit(*agent, "k");
        ++answered;
      } catch (const Error& error) {
        refused = true;
        CHECK((error.code() == Code::io || error.code() == Code::no_space ||
               error.code() == Code::uncertain));
      }
    }
    CHECK(refused);
    CHECK(answered < 4098);
    CHECK_THROWS_AS(hit(*agent, "k"), Error);  // and so is the next one
    CHECK_THROWS_AS(hit(*agent, "s"), Error);  // this one was never answered without a record
    CHECK_THROWS_AS(agent->flush_audit(), Error);
    CHECK_THROWS_AS(remember(*agent, "k", "w"), Error);
  }
  CHECK(recall(*agent, "k") == "v");
  agent->close();
  CHECK(calls(home.log_of("agent_recall")) >= answered + 1);
  home.check_whole();
}

// ---- read-only

TEST_CASE("a read-only process writes nothing, and says so", "[service]") {
  const TestHome home;
  {
    const auto owner = home.cli();
    remember(*owner, "k", "v");
    remember_secret(*owner, "s", "secret");
  }
  const auto content = [&] {
    auto files = home.files();
    // LMDB announces a reader in its lock file; nothing of the store is in there.
    for (auto at = files.begin(); at != files.end();) {
      const std::string& path = at->first;
      const bool lock = path.size() > 5 && path.compare(path.size() - 5, 5, "-lock") == 0;
      at = lock ? files.erase(at) : std::next(at);
    }
    return files;
  };
  const auto before = content();
  {
    ServiceOptions options = home.options("local:cli");
    options.read_only = true;
    const auto reader = home.open(options);
    CHECK(recall(*reader, "k") == "v");
    CHECK(recall(*reader, "s") == "secret");
    CHECK(recall(*reader, "none") == "(none)");
    CHECK(list(*reader) == std::vector<std::string>{"k"});
    CHECK(reader->history("k", {})->size() == 1);
    const ProjectContext context = reader->project_context(1500, {}, {});
    CHECK(std::find(context.notes.begin(), context.notes.end(),
                    "This process is read-only: it stores nothing and writes no audit.") !=
          context.notes.end());
    const Failure failure = failure_of([&] { remember(*reader, "k", "w"); });
    CHECK(failure.text ==
          "Policy Denied: this process was started read-only (rule: read-only)");
    CHECK(code_of([&] { forget(*reader, "k"); }) == Code::denied);
    reader->flush_audit();
    reader->close();
  }
  {
    AdminOptions options = home.admin_options();
    options.read_only = true;
    VaultAdmin admin(options);
    CHECK(admin.status().state == "open");
    CHECK(admin.verify(false).problems.empty());
    CHECK(admin.banks().size() == 1);
    const std::string text = "Policy Denied: this process was started read-only (rule: read-only)";
    NewSecret secret;
    secret.keyfile = home.dir / "second.key";
    const Failure failures[] = {
        failure_of([&] { admin.create_bank("b"); }),
        failure_of([&] { admin.set_setting("revisions", "3"); }),
        failure_of([&] { admin.seal_policy(R"({"version": 2, "rules": []})"); }),
        failure_of([&] { admin.add_slot(secret, false); }),
        failure_of([&] { admin.remove_slot(admin.slots()[0].id); }),
        failure_of([&] { admin.trust_bank({}, home.work(), false); }),
    };
    for (const Failure& failure : failures) CHECK(failure.text == text);
  }
  CHECK((content() == before));
}

TEST_CASE("a lost anchor is reported, a rolled-back file is refused but for reading", "[service]") {
  const TestHome home;
  remember(*home.mcp(), "k", "old");
  const auto old = home.files();
  remember(*home.mcp(), "k", "new");
  fs::remove_all(home.dir / "state");
  CHECK(home.admin()->status().anchor == "new");
  CHECK(recall(*home.mcp(), "k") == "new");
  for (const auto& [path, bytes] : old) {
    if (path.find("/banks/") != std::string::npos) spill(path, bytes);
  }
  const Failure failure = failure_of([&] { hit(*home.mcp(), "k"); });
  CHECK(failure.code == Code::rollback);
  CHECK(failure.text.find("generation") != std::string::npos);
  ServiceOptions options = home.options();
  options.read_only = true;
  const auto reader = home.open(options);
  CHECK(recall(*reader, "k") == "old");
  const auto notes = reader->project_context(1500, {}, {}).notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("rolled back") != std::string::npos;
  }));
}

}  // namespace strongroom::service
