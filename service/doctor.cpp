// doctor: what is wrong, and what to do.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "crypto/secret_key.h"
#include "service/admin_state.h"
#include "vault/directory.h"
#include "vault/guard.h"

namespace strongroom::service {
namespace {

using Kind = DoctorLine::Kind;

// What is younger may belong to a command that is still running.
constexpr TimeMs kLeftAlone = TimeMs{3600} * 1000;

bool old_enough(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return false;
  return now_ms() - static_cast<TimeMs>(info.st_mtim.tv_sec) * 1000 > kLeftAlone;
}

// "NAME.tmp123": the process that was building it, when it is one.
std::optional<int> builder_of(std::string_view entry, std::string_view name) {
  constexpr std::string_view kTmp = ".tmp";
  if (entry.size() <= name.size() + kTmp.size() || entry.substr(0, name.size()) != name ||
      entry.substr(name.size(), kTmp.size()) != kTmp) {
    return std::nullopt;
  }
  const std::string_view digits = entry.substr(name.size() + kTmp.size());
  int process = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return process;
}

class Doctor {
 public:
  Doctor(VaultAdmin& admin, const VaultAdmin::State& state, bool fix)
      : admin_(admin), state_(state), path_(state.options.vault_path), fix_(fix) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  }

  std::vector<DoctorLine> run() {
    check_leftover_folders();
    VaultStatus status;
    try {
      status = admin_.status();
    } catch (const Error& error) {
      add(Kind::problem, "The vault does not open: " + error.text(), command_for(error.code()));
      return std::move(lines_);
    }
    if (status.state != "open") {
      add(Kind::problem, status.hint, status.state == "no_vault" ? "strongroom init" : "");
      return std::move(lines_);
    }
    add(Kind::ok, "The vault opens, with a " + status.opened_with + ".");
    check_status(status);
    check_slots();
    check_files(status);
    check_rows();
    return std::move(lines_);
  }

 private:
  void add(Kind kind, std::string text, std::string command = {}) {
    lines_.push_back({kind, std::move(text), std::move(command)});
  }

  static std::string command_for(Code code) {
    switch (code) {
      case Code::rollback:
      case Code::fork: return "strongroom anchor show";
      case Code::corrupt: return "strongroom restore BACKUP";
      case Code::busy: return "strongroom status";
      default: return {};
    }
  }

  void check_status(const VaultStatus& status) {
    if (status.anchor == "unavailable") {
      add(Kind::problem, "The anchor of this machine cannot be read or written.",
          "chmod u+rwx \"${XDG_STATE_HOME:-$HOME/.local/state}/strongroom/anchors\"");
    } else if (status.anchor == "off") {
      add(Kind::note, "Without an anchor nobody notices when an older copy is put in place.");
    }
    if (!status.policy_problem.empty()) {
      add(Kind::problem, "Everything is denied: " + status.policy_problem + ".",
          "strongroom policy seal FILE");
    }
    if (!status.keys_locked) {
      add(Kind::note, "Keys are not locked in memory and may be swapped out.", "ulimit -l 1024");
    }
    if (status.admin_is_owner) {
      add(Kind::note, "The owner's secret is the admin's too: who reads may also seal policies.",
          "strongroom slot add --admin");
    }
    if (status.erase_pending > 0) {
      add(Kind::problem,
          std::to_string(status.erase_pending) + " erased but still in the files, sealed.",
          "strongroom compact");
    }
    for (const std::string& note : status.notes) add(Kind::problem, note, "strongroom anchor show");
  }

  void check_slots() {
    std::size_t owners = 0;
    for (const SlotLine& slot : admin_.slots()) owners += slot.role == "owner" ? 1u : 0u;
    if (owners == 1) {
      add(Kind::note, "One secret opens the vault: when it is lost, so is the vault.",
          "strongroom slot add --code");
    }
  }

  // ---- what interrupted commands left

  // Folders beside the vault: of init, restore.
  void check_leftover_folders() {
    const std::size_t slash = path_.rfind('/');
    const std::string parent = parent_of(path_);
    const std::string name = slash == std::string::npos ? path_ : path_.substr(slash + 1);
    struct stat info {};
    if (::stat(parent.c_str(), &info) != 0) return;
    for (const std::string& entry : vault::directory_entries(parent)) {
      const auto process = builder_of(entry, name);
      if (!process || (::kill(*process, 0) == 0 || errno != ESRCH)) continue;
      left_over("An interrupted init or restore left a folder beside the vault.",
                parent + "/" + entry, [](const std::string& path) { vault::remove_tree(path); });
    }
  }

  template <class Remove>
  void left_over(const std::string& text, const std::string& path, const Remove& remove) {
    if (!fix_) {
      add(Kind::problem, text, "strongroom doctor --fix");
      return;
    }
    remove(path);
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0) {
      add(Kind::problem, text + " It could not be removed.");
    } else {
      add(Kind::fixed, text + " It was removed.");
    }
  }

  void check_files(const VaultStatus& status) {
    std::set<std::string> known{"root.mdb"};
    for (const vault::BankInfo& info : state_.vault->list_banks()) {
      known.insert(vault::hex(vault::view(info.id)) + ".mdb");
    }
    check_folder(path_, known);
    check_folder(path_ + "/banks", known);
    struct stat reserve {};
    if (::lstat((path_ + "/reserve").c_str(), &reserve) != 0 || reserve.st_blocks == 0) {
      add(Kind::note,
          "The reserve for deleting on a full disk is spent; status makes it again where there is "
          "room.",
          "strongroom status");
    }
    check_space(status);
  }

  void check_folder(const std::string& folder, const std::set<std::string>& known) {
    const auto unlink_it = [](const std::string& path) { ::unlink(path.c_str()); };
    for (const std::string& name : vault::directory_entries(folder)) {
      const std::string path = folder + "/" + name;
      if (name.ends_with(".mdb.tmp")) {
        if (!old_enough(path)) continue;
        left_over("An interrupted compaction left a file.", path, [](const std::string& file) {
          ::unlink(file.c_str());
          ::unlink((file + "-lock").c_str());
        });
      } else if (name.find(".tmp") != std::string::npos && !name.ends_with(".mdb.tmp-lock")) {
        if (old_enough(path)) left_over("An interrupted write left a file.", path, unlink_it);
      } else if (name.ends_with(".mdb") && known.count(name) == 0) {
        // A bank that is being made is listed only when its file is there.
        if (!old_enough(path) || (fix_ && in_use(path))) continue;
        left_over("A bank's file is listed nowhere: an interrupted creation left it.", path,
                  [](const std::string& file) {
                    for (const char* const suffix : {"", "-lock", ".guard"}) {
                      ::unlink((file + suffix).c_str());
                    }
                  });
      }
    }
  }

  static bool in_use(const std::string& mdb) {
    try {
      const vault::Guard guard = vault::Guard::exclusive(mdb);
      return false;
    } catch (const Error&) {
      return true;
    }
  }

  void check_space(const VaultStatus&) {
    std::uint64_t largest = 0;
    for (const BankStatus& bank : admin_.banks()) largest = std::max(largest, bank.file_bytes);
    struct statvfs space {};
    if (::statvfs(path_.c_str(), &space) != 0) return;
    const std::uint64_t room = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (room < largest + (std::uint64_t{16} << 20)) {
      add(Kind::problem, "The disk has " + std::to_string(room >> 20) +
                             " MiB left: too little to compact or to go on for long.");
    }
  }

  void check_rows() {
    const VerifyOutcome outcome = admin_.verify(true);
    bool damaged = false;
    for (const VerifyLine& problem : outcome.problems) {
      if (problem.text.find("no list row names") != std::string::npos) continue;  // said above
      damaged = true;
      add(Kind::problem, problem.where + ": " + problem.text, "strongroom restore BACKUP");
    }
    if (!damaged) {
      add(Kind::ok, "Heads, anchor and ends of the logs agree; verify looks at every row.",
          "strongroom verify");
    }
  }

  VaultAdmin& admin_;
  const VaultAdmin::State& state_;
  std::string path_;
  bool fix_;
  std::vector<DoctorLine> lines_;
};

}  // namespace

std::vector<DoctorLine> VaultAdmin::doctor(bool fix) {
  if (fix) state_->require_write();
  // Without --fix nothing changes, the reserve and the log neither.
  const bool read_only = std::exchange(state_->options.read_only, !fix);
  state_->vault.reset();
  std::vector<DoctorLine> lines;
  try {
    lines = Doctor(*this, *state_, fix).run();
  } catch (...) {
    state_->options.read_only = read_only;
    throw;
  }
  state_->options.read_only = read_only;
  state_->vault.reset();
  return lines;
}

}  // namespace strongroom::service
