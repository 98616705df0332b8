#include "service/vault_admin.h"

#include <algorithm>
#include <charconv>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "crypto/secret_key.h"
#include "policy/policy.h"
#include "service/admin_state.h"
#include "service/memory_service.h"
#include "service/new_secret.h"
#include "service/unlocker.h"
#include "service/verify_index.h"
#include "vault/verify.h"

namespace strongroom::service {

vault::Vault& VaultAdmin::State::open() {
  if (vault) {
    vault->refresh();
    return *vault;
  }
  vault::VaultOptions open_options;
  open_options.path = options.vault_path;
  open_options.read_only = options.read_only;
  open_options.no_anchor = options.no_anchor;
  open_options.as_backup = options.as_backup;
  open_options.allow_fuse = env("STRONGROOM_ALLOW_FUSE") == "1";
  open_options.session = vault::random_id();
  // First: without a vault it does not matter whether the key is there.
  vault::check_vault_path(options.vault_path);
  unlocker = make_unlocker(options.owner);
  vault = vault::Vault::open(open_options, unlocker);
  return *vault;
}

void VaultAdmin::State::require_write() const {
  if (options.read_only) {
    throw Error::verbatim(Code::denied,
                          "Policy Denied: this process was started read-only (rule: read-only)");
  }
}

crypto::SecretKey VaultAdmin::State::admin_key() {
  require_write();
  return admin_key(open());
}

crypto::SecretKey VaultAdmin::State::admin_key(vault::Vault& opened) {
  vault::Unlocker admin = make_unlocker(options.admin);
  // Where nothing of its own was given, the owner's secret is tried before anybody is asked.
  const bool given = admin.secrets.key_file || admin.secrets.passphrase;
  if (!given && opened.admin_opens_with(unlocker.secrets)) {
    admin.secrets = copy(unlocker.secrets);
  }
  return opened.unlock_admin(admin);
}

vault::AuditEvent VaultAdmin::State::event(std::string_view what) const {
  vault::AuditEvent event;
  event.time = now_ms();
  event.principal = options.principal;
  event.tool = what;
  event.rule = "owner";
  return event;
}

VaultAdmin::VaultAdmin(AdminOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
VaultAdmin::~VaultAdmin() = default;

// ---- health

namespace {

policy::Policy sealed_policy(vault::Vault& vault, std::string& problem) {
  if (!vault.policy().text) {
    problem = vault.policy().reason;
    return policy::Policy::deny_all(problem);
  }
  try {
    return policy::Policy::parse(vault.policy().text->view());
  } catch (const Error& error) {
    problem = error.text();
    return policy::Policy::deny_all(problem);
  }
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

}  // namespace

VaultStatus VaultAdmin::status() {
  VaultStatus status;
  try {
    state_->open();
  } catch (const Error& error) {
    status.hint = error.text();
    status.anchor = "unavailable";
    if (error.code() == Code::no_vault) {
      status.state = "no_vault";
    } else if (error.code() == Code::locked || error.code() == Code::wrong_key) {
      status.state = "locked";
    } else {
      throw;
    }
    return status;
  }
  vault::Vault& vault = *state_->vault;
  status.state = "open";
  status.vault_id = vault::hex(vault::view(vault.header().vault_id));
  status.anchor = vault::anchor_state_name(vault.anchor().state());
  status.keys_locked = crypto::keys_are_locked();
  status.admin_is_owner = vault.admin_opens_with(state_->unlocker.secrets);
  status.opened_with = crypto::slot_method_name(vault.opened_with().method);
  const policy::Policy policy = sealed_policy(vault, status.policy_problem);
  status.policy_version = vault.root().policy_version;
  status.policy_rules = policy.rule_count();
  status.scoping =
      vault.setting("scoping").value_or(std::string(scoping_name(Scoping::per_project_tagged)));
  for (const BankStatus& bank : banks()) {
    ++status.banks;
    status.entries += bank.entries;
    status.secrets += bank.secrets;
    status.memories += bank.memories;
    status.documents += bank.documents;
    status.erase_pending += bank.erase_pending;
  }
  status.notes = vault.lineage_notes();
  if (!state_->options.read_only) vault.restore_reserve();
  return status;
}

VerifyOutcome VaultAdmin::verify(bool fast, const std::function<void(std::uint64_t)>& progress) {
  const vault::VerifyReport report = vault::verify_vault(
      state_->open(), fast ? vault::VerifyDepth::fast : vault::VerifyDepth::full, progress,
      verify_index);
  VerifyOutcome outcome;
  outcome.banks = report.banks;
  outcome.records = report.records;
  outcome.names = report.names;
  outcome.chunks = report.chunks;
  outcome.log_records = report.log_records;
  outcome.memories = report.memories;
  outcome.documents = report.documents;
  outcome.links = report.links;
  outcome.index_rows = report.index_rows;
  for (const vault::VerifyProblem& problem : report.problems) {
    outcome.problems.push_back({problem.code, problem.where, problem.text});
  }
  return outcome;
}

// ---- banks and settings

std::vector<BankStatus> VaultAdmin::banks() {
  vault::Vault& vault = state_->open();
  std::vector<BankStatus> banks;
  for (const vault::BankInfo& info : vault.list_banks()) {
    BankStatus bank;
    bank.name = info.name;
    bank.tag = info.tag;
    bank.created = info.created;
    const auto opened = vault.open_bank(info.name);
    if (!opened) vault::throw_corrupt("a bank's name does not lead to it");
    vault::BankRead view = opened->read();
    bank.entries = view.head().counts.entries;
    bank.secrets = view.head().counts.secrets;
    bank.memories = view.head().counts.memories;
    bank.documents = view.head().counts.documents;
    bank.generation = view.head().generation;
    bank.erase_pending = view.head().erase_pending.size();
    bank.file_bytes = file_bytes(vault.bank_path(info.id));
    banks.push_back(std::move(bank));
  }
  return banks;
}

void VaultAdmin::create_bank(const std::string& name) {
  state_->require_write();
  if (!valid_bank_name(name)) {
    throw Error::invalid("bank", "must be 1 to 256 bytes of text without control characters");
  }
  vault::Vault& vault = state_->open();
  if (vault.find_bank(name)) throw Error(Code::conflict, "There is a bank of that name already.");
  vault.create_bank(name, {}, state_->event("bank create"));
}

void VaultAdmin::trust_bank(const std::string& name, const std::string& folder,
                            bool explicit_folder) {
  state_->require_write();
  vault::Vault& vault = state_->open();
  const Project project = find_project(folder, explicit_folder, {});
  if (project.bank.empty()) {
    throw Error::invalid("bank",
                         "is not named by a .strongroom.json here; there is nothing to trust");
  }
  const std::string bank = name.empty() ? project.bank : name;
  if (bank != project.bank) {
    throw Error::invalid("bank", "is not the one that .strongroom.json names here");
  }
  const auto info = vault.find_bank(bank);
  if (!info) throw Error(Code::not_found, "There is no bank of that name.");
  const std::string creators =
      info->creator.empty() ? project.identity : info->creator + "\n" + project.identity;
  vault.set_bank_creator(bank, creators, state_->event("bank trust"));
}

std::vector<std::string> VaultAdmin::setting_names() {
  return {"revisions", "scoping"};
}

namespace {

void require_setting_name(const std::string& name) {
  const auto names = VaultAdmin::setting_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw Error::invalid("setting", "is unknown; there are revisions and scoping");
  }
}

}  // namespace

std::optional<std::string> VaultAdmin::setting(const std::string& name) {
  require_setting_name(name);
  const auto value = state_->open().setting(name);
  if (value) return value;
  return name == "revisions" ? "20" : std::string(scoping_name(Scoping::per_project_tagged));
}

void VaultAdmin::set_setting(const std::string& name, const std::string& value) {
  state_->require_write();
  require_setting_name(name);
  if (name == "scoping" && !parse_scoping(value)) {
    throw Error::invalid("scoping", "must be global, per-project or per-project-tagged");
  }
  if (name == "revisions") {
    unsigned keep = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), keep);
    if (error != std::errc() || end != value.data() + value.size() || keep < 1 || keep > 1000) {
      throw Error::invalid("revisions", "must be a number from 1 to 1000");
    }
  }
  state_->open().set_setting(name, value, state_->event("config set"));
}

// ---- policy

std::string VaultAdmin::policy_text() {
  vault::Vault& vault = state_->open();
  if (!vault.policy().text) {
    throw Error(Code::corrupt,
                "There is no policy that may be trusted: " + vault.policy().reason + ".");
  }
  return std::string(vault.policy().text->view());
}

void VaultAdmin::seal_policy(std::string_view text) {
  const policy::Policy policy = policy::Policy::parse(text);
  vault::Vault& vault = state_->open();
  if (policy.version() <= vault.root().policy_version) {
    throw Error::invalid("version", "must be above " + std::to_string(vault.root().policy_version) +
                                        ", the sealed policy's");
  }
  // A version that leaves no room above it would be the last one ever.
  constexpr std::uint64_t kMaxStep = 1000;
  if (policy.version() > vault.root().policy_version + kMaxStep) {
    throw Error::invalid(
        "version", "must be at most " + std::to_string(vault.root().policy_version + kMaxStep));
  }
  const crypto::SecretKey admin = state_->admin_key();
  vault.seal_policy(admin, text, policy.version(), state_->event("policy seal"));
}

namespace {

// Tools and sources of this release; a principal is a label of the form local:NAME.
bool exists(const policy::Policy::Named& named) {
  static constexpr std::string_view kTools[] = {"agent_remember",  "agent_recall",
                                                "agent_forget",    "get_project_context",
                                                "retain",          "recall",
                                                "reflect",         "memory_edit",
                                                "memory_get",      "memory_link",
                                                "list_memories",   "list_documents",
                                                "delete_document", "list_tags",
                                                "list_banks",      "create_bank",
                                                "bank_stats",      "purge_memories",
                                                "observe",         "review",
                                                "list_entities",   "consolidation_candidates"};
  static constexpr std::string_view kSources[] = {"cli", "mcp", "library", "import"};
  if (named.member == "principal") return named.name.rfind("local:", 0) == 0;
  if (named.member == "tool") {
    return std::find(std::begin(kTools), std::end(kTools), named.name) != std::end(kTools);
  }
  return std::find(std::begin(kSources), std::end(kSources), named.name) != std::end(kSources);
}

}  // namespace

std::vector<std::string> VaultAdmin::check_policy(std::string_view text) {
  const policy::Policy policy = policy::Policy::parse(text);
  std::vector<std::string> findings = policy.warnings();
  for (const policy::Policy::Named& named : policy.literal_names()) {
    if (exists(named)) continue;
    findings.push_back("Rule " + named.rule + ": no " + named.member + " is called " +
                       json_quoted(named.name) + ", so this matches nothing.");
  }
  return findings;
}

PolicyAnswer VaultAdmin::explain_policy(const PolicyQuestion& question) {
  std::string problem;
  const policy::Policy policy = sealed_policy(state_->open(), problem);
  policy::Request request;
  request.principal = question.principal;
  request.tool = question.tool;
  request.bank = question.bank;
  request.source = question.source;
  if (question.key) request.key = *question.key;
  for (const std::string& tag : question.tags) request.tags.push_back(tag);
  if (question.value_class == "secret") {
    request.value_class = policy::ValueClass::secret;
  } else if (!question.value_class.empty() && question.value_class != "normal") {
    throw Error::invalid("class", "must be normal or secret");
  }
  const policy::Decision decision = policy.decide(request);
  PolicyAnswer answer;
  answer.permitted = decision.permitted;
  answer.rule = decision.rule;
  answer.text = decision.permitted ? "Permitted (rule: " + decision.rule + ")" : decision.text();
  for (const policy::RuleTrace& trace : policy.explain(request)) {
    answer.trace.push_back({trace.rule,
                            trace.effect == policy::Effect::permit ? "permit" : "forbid", trace.why,
                            trace.matched});
  }
  return answer;
}

PolicyTestLine VaultAdmin::test_policy_line(std::string_view line) {
  std::string problem;
  const policy::TestCase result =
      policy::run_test_line(sealed_policy(state_->open(), problem), line);
  return {result.passed, result.expect, result.got.permitted ? "permit" : "deny", result.got.rule};
}

namespace {

struct Template {
  std::string_view name, text;
};
// Starting points; `policy edit` and `policy seal` make them one's own.
constexpr Template kTemplates[] = {
    {"read-only-agents", R"({
  "version": 2,
  "rules": [
    {"id": "default", "effect": "permit", "principal": "local:*", "class": "normal"},
    {"id": "owner", "effect": "permit", "principal": "local:cli"},
    {"id": "agents-read-only", "effect": "forbid", "principal": "local:mcp", "tool": [
      "agent_remember", "agent_forget", "retain", "memory_edit", "memory_link", "delete_document",
      "create_bank", "purge_memories"]}
  ]
}
)"},
    {"secrets-for-deploy", R"({
  "version": 2,
  "rules": [
    {"id": "default", "effect": "permit", "principal": "local:*", "class": "normal"},
    {"id": "default-secret-write", "effect": "permit", "principal": "local:*", "tool": ["agent_remember", "agent_forget"], "class": "secret"},
    {"id": "owner", "effect": "permit", "principal": "local:cli"},
    {"id": "deploy-secrets", "effect": "permit", "principal": "local:deploy", "tool": "agent_recall", "key": "deploy/*", "class": "secret"}
  ]
}
)"},
};

}  // namespace

std::vector<std::string> VaultAdmin::policy_templates() {
  std::vector<std::string> names{"default"};
  for (const Template& entry : kTemplates) names.emplace_back(entry.name);
  return names;
}

std::string VaultAdmin::policy_template(const std::string& name) {
  if (name == "default") return policy::Policy::default_text();
  for (const Template& entry : kTemplates) {
    if (entry.name == name) return std::string(entry.text);
  }
  throw Error(Code::not_found, "There is no policy template of that name.");
}

// ---- slots

std::vector<SlotLine> VaultAdmin::slots() {
  std::vector<SlotLine> lines;
  for (const vault::SlotInfo& slot : state_->open().slots()) {
    lines.push_back({vault::hex(vault::view(slot.id)),
                     slot.role == crypto::SlotRole::admin ? "admin" : "owner",
                     std::string(crypto::slot_method_name(slot.method))});
  }
  return lines;
}

std::string VaultAdmin::add_slot(NewSecret& secret, bool admin_role) {
  const crypto::SecretKey admin = state_->admin_key();
  PreparedSecret prepared(secret);
  const vault::Id16 id = state_->open().add_slot(
      admin, admin_role ? crypto::SlotRole::admin : crypto::SlotRole::owner, prepared.method,
      prepared.secrets, crypto::PassphraseCost{}, state_->event("slot add"));
  prepared.keep_file();
  return vault::hex(vault::view(id));
}

void VaultAdmin::remove_slot(const std::string& id) {
  state_->require_write();
  vault::Vault& vault = state_->open();
  for (const vault::SlotInfo& slot : vault.slots()) {
    if (vault::hex(vault::view(slot.id)) != id) continue;
    if (slot.id == vault.opened_with().id) {
      throw Error::invalid("slot", "is the one in use; open the vault with another to remove it");
    }
    const crypto::SecretKey admin = state_->admin_key();
    vault.remove_slot(admin, slot.id, state_->event("slot rm"));
    return;
  }
  throw Error(Code::not_found, "There is no slot of that id.");
}

}  // namespace strongroom::service
