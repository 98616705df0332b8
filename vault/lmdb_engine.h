// LMDB behind the engine port. Every hazard of LMDB that the vault guards against is handled here,
// in file_check and in guard: docs/lmdb.md lists them with their tests.
#pragma once

#include <memory>
#include <string>

#include "vault/engine.h"

namespace strongroom::vault {

class Guard;

struct EngineOptions {
  bool read_only = false;    // no lock file is made when the directory cannot be written
  bool create = false;       // make the file and its tables; it must not exist
  bool allow_fuse = false;   // FUSE file systems are refused unless allowed
  bool root_tables = false;  // root and recipients as well (bank 0)
  /// The exclusive guard of the file, or of the file that this one is to replace, which the caller
  /// holds longer than the engine; else the engine takes a shared one.
  const Guard* exclusive = nullptr;
};

/// Opens `path` after the file checks, holding its guard. One environment a file and process: a
/// second call for the same file gives the same engine. Throws busy, corrupt, invalid, no_space,
/// io; a file that is missing is corrupt unless `create`.
std::shared_ptr<Engine> open_lmdb(const std::string& path, const EngineOptions& options);

}  // namespace strongroom::vault
