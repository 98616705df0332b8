#include "service/state.h"

#include "base/error.h"
#include "base/file.h"
#include "service/fill_vectors.h"
#include "service/unlocker.h"

namespace strongroom::service {

namespace {
constexpr TimeMs kFileCheckAge = 100;
// Rows of before that a write gives their vectors as well: of the model in the program, which takes
// some 30 us a row, and of any other.
constexpr std::uint64_t kBuiltinCatchUp = 2000, kCatchUp = 256;
}  // namespace

vault::SourceKind source_kind(std::string_view source) {
  if (source == "cli") return vault::SourceKind::cli;
  if (source == "mcp") return vault::SourceKind::mcp;
  if (source == "import") return vault::SourceKind::import;
  return vault::SourceKind::library;
}

MemoryService::State::State(ServiceOptions given) : options(std::move(given)) {}

void MemoryService::State::ensure_open() {
  last_call = now_ms();
  // Files that were replaced underneath must not be read for long; a write looks for itself.
  if (vault && last_call - files_checked >= kFileCheckAge) {
    files_checked = last_call;
    if (!vault->files_in_place()) close_vault();
  }
  if (!vault) {
    open_vault();
  } else {
    try {
      vault->refresh();
    } catch (...) {
      // Never go on under the policy or slot of before: the next call opens, and checks, anew.
      close_vault();
      throw;
    }
  }
  if (vault->root_reads() == root_reads) return;
  root_reads = vault->root_reads();
  load_settings();
  load_policy();
}

void MemoryService::State::open_vault() {
  if (session == vault::Id16{}) session = vault::random_id();
  vault::VaultOptions open_options;
  open_options.path = options.vault_path;
  open_options.read_only = options.read_only;
  open_options.no_anchor = options.no_anchor;
  open_options.as_backup = options.as_backup;
  open_options.allow_fuse = env("STRONGROOM_ALLOW_FUSE") == "1";
  open_options.session = session;
  open_options.sessions = sessions;
  // First: without a vault it does not matter whether the key is there.
  vault::check_vault_path(options.vault_path);
  vault::Unlocker unlocker = make_unlocker(options.key);
  vault = vault::Vault::open(open_options, unlocker);
}

void MemoryService::State::load_policy() {
  const vault::Vault::PolicyState& sealed = vault->policy();
  if (!sealed.text) {
    policy = policy::Policy::deny_all(sealed.reason);
    return;
  }
  try {
    policy = policy::Policy::parse(sealed.text->view());
  } catch (const Error&) {
    policy = policy::Policy::deny_all("the sealed policy is malformed");
  }
}

void MemoryService::State::load_settings() {
  project_banks.reset();
  own_bank.clear();
  const auto mode = vault->setting("scoping");
  scoping = mode ? parse_scoping(*mode).value_or(Scoping::per_project_tagged)
                 : Scoping::per_project_tagged;
  const auto keep = vault->setting("revisions");
  revisions = keep ? std::stoul(*keep) : kDefaultRevisions;
  models = ModelRegistry::parse(vault->setting(kModelsSetting).value_or(std::string()));
}

void MemoryService::State::close_vault() {
  root_reads = 0;
  project_banks.reset();
  lists.clear();
  entities.clear();
  indexes.clear();
  policy = policy::Policy::deny_all("the vault is not open");
  vault.reset();
}

recall::Index& MemoryService::State::index(const std::shared_ptr<vault::Bank>& bank) {
  CachedIndex& found = indexes[bank->id()];
  found.used = ++index_uses;
  if (!found.index) {
    recall::IndexOptions given;
    given.cache_bytes = options.cache_bytes;
    found.index = std::make_unique<recall::Index>(*bank, given);
  }
  // One limit for all banks: what was not used for longest goes first.
  for (;;) {
    std::size_t bytes = 0;
    auto oldest = indexes.begin();
    for (auto at = indexes.begin(); at != indexes.end(); ++at) {
      bytes += at->second.index->cached_bytes();
      if (at->second.used < oldest->second.used) oldest = at;
    }
    // What this call took before is in use still.
    if (bytes <= options.cache_bytes || oldest->second.used > index_uses_before) break;
    indexes.erase(oldest);
  }
  return *found.index;
}

void MemoryService::State::catch_up(const std::shared_ptr<vault::Bank>& bank, std::string_view tool,
                                    std::uint64_t fresh) noexcept {
  FillOptions fill;
  fill.event = event(tool, "vectors");
  const auto stamp = [this] { return vault->stamp(); };
  std::uint64_t left = 0;
  std::string why;
  try {
    // Looking words up is quick: a bank of before there were vectors has them after a few writes.
    fill.most = kBuiltinCatchUp;
    fill.batch = kBuiltinCatchUp;
    fill_vectors(*bank, index(bank), open_models.builtin(), stamp, fill);
    if (const RegisteredModel* own = models.embedder_of(bank->tag())) {
      recall::Embedder& model = open_models.embedder(*own);
      fill.most = fresh + kCatchUp;
      fill.batch = kFillBatch;
      left = fill_vectors(*bank, index(bank), model, stamp, fill);
    }
  } catch (const Error& error) {
    why = error.text();
    reopen_before_call = error.code() == Code::uncertain || error.code() == Code::io;
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (why.empty() && left == 0) return;
  vectors_problem = "Stored, but ";
  if (left > 0) vectors_problem += std::to_string(left) + " passages are ";
  vectors_problem += "without vectors of the bank's own model";
  if (!why.empty()) vectors_problem += ": " + why;
  if (vectors_problem.back() != '.') vectors_problem += '.';
  vectors_problem += " Until `strongroom model fill` has made them, the built-in model answers.";
}

recall::EntityFinder& MemoryService::State::entity_finder() {
  if (!finder) finder.emplace();
  return *finder;
}

policy::Decision MemoryService::State::decide(std::string_view tool, const std::string& bank,
                                              const std::vector<std::string>& tags) const {
  policy::Request asked = request(tool, bank);
  asked.tags = {tags.begin(), tags.end()};
  return policy.decide(asked);
}

policy::Request MemoryService::State::request(std::string_view tool, std::string_view bank) const {
  policy::Request request;
  request.principal = options.principal;
  request.tool = tool;
  request.bank = bank;
  request.source = options.source;
  return request;
}

}  // namespace strongroom::service
