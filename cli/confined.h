// Work on a file that nobody vouches for, in a process of its own: it can read and compute, and
// nothing else. What damaged or hostile pages do to it is a finding, never an accident.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace strongroom::cli {

/// Gives up, for this process and for good: writing and making files, changing or removing them,
/// the network, other programs and processes. Memory and processor time get limits. Throws
/// unsupported where the kernel has no such filters.
void confine_process();

struct ConfinedRun {
  std::string output;  // of standard output, at most so many bytes
  int exit_code = 0;   // when it ended by itself
  int signal = 0;      // else
  bool cut = false;    // it wrote more, and was ended
};

/// Runs this program again with other arguments (the first is its name), the standard input,
/// standard error and environment of this one. Throws io.
ConfinedRun run_again(const std::vector<std::string>& arguments, std::size_t most_output);

/// The arguments of this process.
std::vector<std::string> own_arguments();

}  // namespace strongroom::cli
