#include "vault/fault_handler.h"

#include <csignal>
#include <unistd.h>

namespace strongroom::vault {
namespace {

thread_local volatile std::sig_atomic_t t_in_engine = 0;

void on_fault(int signal, siginfo_t*, void*) {
  // SIGBUS: a mapped file is shorter than its map, and the vault's are the only files mapped for
  // data. SIGSEGV: only the engine follows pointers that come from a file.
  if (signal == SIGBUS || t_in_engine != 0) die_damaged();
  ::signal(signal, SIG_DFL);  // a bug of ours: let it show
  ::raise(signal);
}

}  // namespace

EngineScope::EngineScope() noexcept {
  t_in_engine = t_in_engine + 1;
}
EngineScope::~EngineScope() {
  t_in_engine = t_in_engine - 1;
}

void die_damaged() noexcept {
  static constexpr char kLine[] =
      "strongroom: the vault is damaged: its file could not be read [corrupt]\n";
  [[maybe_unused]] const ssize_t written = ::write(2, kLine, sizeof kLine - 1);
  ::_exit(5);
}

void install_fault_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace strongroom::vault
