// LMDB reads a memory map, so a damaged or truncated file can raise SIGSEGV or SIGBUS, or an
// assertion. Such a process ends with exit code 5 and one line, without a core.
#pragma once

namespace strongroom::vault {

/// Installs the handlers; for main, once. A fault outside the engine and its maps keeps its default
/// action.
void install_fault_handler();

/// While one lives, a fault of this thread is the engine's: a damaged page can lead it anywhere.
class EngineScope {
 public:
  EngineScope() noexcept;
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;
};

/// The line, and _exit(5).
[[noreturn]] void die_damaged() noexcept;

}  // namespace strongroom::vault
