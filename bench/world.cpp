#include "bench/world.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json.h"
#include "base/time.h"
#include "service/unlocker.h"
#include "service/vault_admin.h"

namespace strongroom::bench {
namespace {

constexpr std::size_t kRevisions = 20;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

service::KeySource key_of(const std::string& keyfile) {
  service::KeySource key;
  key.keyfile = keyfile;
  return key;
}

void write_filler_rule(JsonWriter& json, std::size_t i) {
  const std::string n = std::to_string(i);
  json.begin_object();
  json.member("id", "team-" + n);
  switch (i % 4) {
    case 0:
      json.member("effect", "permit")
          .member("principal", "local:cursor")
          .member("bank", "team-" + n);
      break;
    case 1:
      json.member("effect", "forbid").member("tool", "agent_*").member("key", "prod-" + n + "/*");
      break;
    case 2:
      json.member("effect", "permit")
          .member("bank", "team-" + n + "*")
          .member("tool", "agent_recall");
      break;
    default:
      json.member("effect", "forbid").member("key", "*.secret" + n).member("source", "mcp");
      break;
  }
  json.end_object();
}

}  // namespace

std::uint64_t Random::next() {
  return mix(state_ += 0x9E3779B97F4A7C15ull);
}

std::string entry_name(std::uint64_t i) {
  // An odd factor permutes the 64-bit numbers, so names are distinct.
  static constexpr char kHex[] = "0123456789abcdef";
  std::string name = "doc/................";
  std::uint64_t bits = mix(i + 1);
  for (std::size_t at = kNameBytes; at-- > 4; bits >>= 4) name[at] = kHex[bits & 15];
  return name;
}

std::string entry_value(std::uint64_t i) {
  static constexpr const char* kWords[] = {
      "the",   "build",  "uses", "a",       "cache",  "of",      "objects", "keyed",
      "by",    "source", "hash", "and",     "flags",  "tests",   "run",     "after",
      "every", "change", "in",   "main",    "branch", "release", "notes",   "list",
      "what",  "users",  "see",  "service", "policy", "decides", "before",  "work"};
  Random random(i * 2 + 1);
  std::string value;
  value.reserve(kValueBytes + 8);
  while (value.size() < kValueBytes) value.append(kWords[random.next() % 32]).push_back(' ');
  value.resize(kValueBytes);
  return value;
}

std::string policy_of(std::size_t rules) {
  JsonWriter json;
  json.begin_object().member("version", std::int64_t{2}).key("rules").begin_array();
  for (std::size_t i = 0; i + 1 < rules; ++i) write_filler_rule(json, i);
  json.begin_object().member("id", "bench").member("effect", "permit");
  json.member("principal", kPrincipal).end_object();
  json.end_array().end_object();
  return json.take();
}

Folder::Folder(std::string path) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

World::World(const std::string& folder, std::size_t rules)
    : folder_(folder), vault_(folder + "/memory.vault"), keyfile_(folder + "/key") {
  std::filesystem::create_directories(folder_);
  service::InitOptions init;
  init.vault_path = vault_;
  init.owner.keyfile = keyfile_;
  service::init_vault(init);
  service::AdminOptions admin_options;
  admin_options.vault_path = vault_;
  admin_options.owner = admin_options.admin = key_of(keyfile_);
  service::VaultAdmin admin(admin_options);
  admin.seal_policy(policy_of(rules));
  admin.create_bank(kBank);
}

service::ServiceOptions World::options() const {
  service::ServiceOptions options;
  options.vault_path = vault_;
  options.key = key_of(keyfile_);
  options.principal = kPrincipal;
  options.source = "mcp";
  options.project_folder = folder_;
  options.bank_override = kBank;
  return options;
}

std::unique_ptr<vault::Vault> World::open() const {
  vault::VaultOptions options;
  options.path = vault_;
  options.session = vault::random_id();
  vault::Unlocker unlocker = service::make_unlocker(key_of(keyfile_));
  return vault::Vault::open(options, unlocker);
}

void World::load(std::uint64_t first, std::uint64_t last, std::size_t batch) const {
  const auto vault = open();
  const auto bank = vault->open_bank(kBank);
  const TimeMs now = now_ms();
  while (first < last) {
    const std::uint64_t end = std::min(last, first + batch);
    vault::BankWrite write = bank->write(vault->stamp());
    for (; first < end; ++first) {
      const std::string name = entry_name(first), value = entry_value(first);
      vault::put_entry(write, std::nullopt, draft_of(name, value), kRevisions, now);
    }
    write.commit();
  }
}

std::string World::bank_file() const {
  const auto vault = open();
  return vault->bank_path(vault->open_bank(kBank)->id());
}

vault::EntryDraft draft_of(const std::string& name, const std::string& value) {
  vault::EntryDraft draft;
  draft.name = name;
  draft.value = value;
  draft.principal = kPrincipal;
  draft.tool = "agent_remember";
  draft.source = vault::SourceKind::mcp;
  return draft;
}

}  // namespace strongroom::bench
