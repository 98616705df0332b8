// Which banks a call means: explicit, or by project and scoping mode.
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"
#include "service/state.h"

namespace strongroom::service {
namespace {

constexpr TimeMs kProjectCacheAge = 1000;

bool trusted(const std::string& creators, const std::string& identity) {
  // One identity a line: who made the bank, then who was trusted since.
  std::string_view rest = creators;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (rest.substr(0, end) == identity) return true;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

// A bank that the environment names belongs to nobody in particular.
std::string bank_creator(const Project& project) {
  return project.chosen_by == "environment" ? std::string() : project.identity;
}

}  // namespace

Banks MemoryService::State::resolve(const std::string& explicit_bank) {
  call_bank = vault::kGlobalBank;
  if (!project || last_call - project_found > kProjectCacheAge) {
    project_banks.reset();
    project = find_project(options.project_folder, options.project_explicit, options.bank_override);
    project_found = last_call;
  }
  if (explicit_bank.empty()) {
    if (!vault) return find_project_banks();
    if (!project_banks) project_banks = find_project_banks();
    call_bank = project_banks->write;
    return *project_banks;
  }
  if (!valid_bank_name(explicit_bank)) {
    throw Error::invalid("bank", "must be 1 to 256 bytes of text without control characters");
  }
  Banks banks;
  banks.write = explicit_bank;
  call_bank = explicit_bank;
  banks.read = {explicit_bank};
  banks.chosen_by = "argument";
  banks.may_create = explicit_bank == vault::kGlobalBank || explicit_bank == project->bank;
  if (explicit_bank == project->bank) banks.creator = bank_creator(*project);
  return banks;
}

Banks MemoryService::State::find_project_banks() {
  const std::string global(vault::kGlobalBank);
  Banks banks;
  banks.chosen_by = project->chosen_by;
  banks.may_create = true;
  if (!project->note.empty()) banks.notes.push_back(project->note);
  const Scoping mode = project->scoping.value_or(scoping);
  if (mode == Scoping::global) {
    banks.write = global;
    banks.read = {global};
    banks.chosen_by = "scoping";
    return banks;
  }
  if (project->bank.empty()) {
    banks.write = global;
    banks.read = {global};
    banks.notes.push_back("No project was found here, so the shared bank \"global\" is used.");
    return banks;
  }
  banks.write = project->bank;
  call_bank = banks.write;
  banks.creator = bank_creator(*project);
  banks.read = {project->bank};
  if (mode == Scoping::per_project_tagged && project->bank != global) {
    banks.read.push_back(global);
  }
  if (vault && project->chosen_by != "environment" && project->bank != global) {
    require_own_bank();
  }
  return banks;
}

// A bank's name says nothing about who made it: a .strongroom.json elsewhere may have named this
// project's bank first. One that the owner made by name is open to the project of that name, and
// closed to files that merely claim it.
void MemoryService::State::require_own_bank() {
  const std::string claim = project->bank + "\n" + project->identity;
  if (claim == own_bank) return;
  const auto info = vault->find_bank(project->bank);
  const auto accept = [&] { own_bank = claim; };
  if (!info) return;
  if (trusted(info->creator, project->identity)) return accept();
  if (info->creator.empty() && project->chosen_by != "config") return accept();
  // A project's identity grows with its first commit and its first remote.
  for (const std::string& identity : project_identities(options.project_folder)) {
    if (trusted(info->creator, identity)) return accept();
  }
  throw Error(Code::denied, "The bank " + json_quoted(project->bank) +
                                " was made by another project. If this one may use it, run "
                                "\"strongroom bank trust\" in this folder.");
}

std::vector<std::string> MemoryService::State::visible_banks() {
  std::vector<std::string> names;
  for (const vault::BankInfo& info : vault->list_banks()) {
    if (policy.decide_scope(request(tool::kRecall, info.name)).permitted)
      names.push_back(info.name);
  }
  return names;
}

void MemoryService::State::throw_unknown_bank(const std::string& bank) {
  std::string text = "There is no bank " + json_quoted(bank) + ".";
  const std::vector<std::string> near = nearest(bank, visible_banks(), 3);
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += (i == 0 ? " Nearest: " : ", ") + json_quoted(near[i]);
  }
  if (!near.empty()) text += ".";
  text += " Make one with \"strongroom bank create\".";
  throw Error(Code::not_found, text);
}

std::shared_ptr<vault::Bank> MemoryService::State::open_for_write(const Banks& banks,
                                                                  std::string_view tool) {
  if (auto bank = open(banks.write)) return bank;
  if (!banks.may_create) throw_unknown_bank(banks.write);
  return vault->create_bank(banks.write, banks.creator, event(tool, "bank-create"));
}

}  // namespace strongroom::service
