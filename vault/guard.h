// A guard file stands beside each .mdb: every open environment holds a shared lock on it, taken
// before the environment is opened and dropped after it is closed. Replacing or deleting the file
// needs the exclusive lock. Without it a swap under live processes shows an empty store.
//
// The guard's text names the PID namespace of the first opener: LMDB's reader table breaks when
// processes of two namespaces share a file.
#pragma once

#include <string>

#include "base/file.h"

namespace strongroom::vault {

class Guard {
 public:
  /// Takes the shared lock, making the guard file where needed. Throws busy when the file is being
  /// replaced, or is open in another PID namespace.
  static Guard shared(const std::string& mdb_path, bool read_only);
  /// Takes the exclusive lock: nobody else has the file open, or opens it before this guard is
  /// gone. Throws busy when others keep it open.
  static Guard exclusive(const std::string& mdb_path);
  Guard() = default;

  /// The open file, for further locks; -1 without one.
  int fd() const { return fd_.get(); }

 private:
  explicit Guard(UniqueFd fd) : fd_(std::move(fd)) {}
  static Guard take_shared(const std::string& mdb_path, bool read_only);
  UniqueFd fd_;  // closing it drops the lock
};

std::string guard_path(const std::string& mdb_path);

}  // namespace strongroom::vault
