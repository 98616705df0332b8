// What a project's folder says: its remote's URL, .strongroom.json and git's own files. The first
// byte chooses which file the rest is.
#include "service/project.h"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

using namespace strongroom;

namespace {

struct Place {
  const char* path;
  bool may_refuse;
};
constexpr Place kPlaces[] = {{"/.strongroom.json", true}, {"/.git/config", false},
                             {"/.git/HEAD", false},       {"/.git/packed-refs", false},
                             {"/.git/commondir", false},  {"/.git/shallow", false}};

std::string make_folder() {
  std::string folder = "/tmp/strongroom-fuzz-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) std::abort();
  for (const char* const part : {"/.git", "/.git/objects", "/.git/refs"}) {
    ::mkdir((folder + part).c_str(), 0700);
  }
  static std::string remove;
  remove = folder;
  std::atexit([] {
    for (const Place& place : kPlaces) ::unlink((remove + place.path).c_str());
    for (const char* const part : {"/.git/objects", "/.git/refs", "/.git", ""}) {
      ::rmdir((remove + part).c_str());
    }
  });
  return folder;
}

void put(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  write_all(fd.get(), text, "write a fuzz file");
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty() || input.size() > 8192) return;
  const std::size_t which = static_cast<unsigned char>(input.front()) % (std::size(kPlaces) + 1);
  input.remove_prefix(1);
  if (which == std::size(kPlaces)) {
    const std::string name = service::normalise_remote(input);
    fuzz::require(name.empty() || service::valid_bank_name(name), "a remote's name is a bank name");
    return;
  }
  static const std::string folder = make_folder();
  for (const Place& place : kPlaces) ::unlink((folder + place.path).c_str());
  put(folder + "/.git/HEAD", "ref: refs/heads/main\n");
  put(folder + kPlaces[which].path, input);
  service::Project project;
  const bool found =
      fuzz::accepts({Code::invalid}, [&] { project = service::find_project(folder, true, ""); });
  fuzz::require(found || kPlaces[which].may_refuse, "git's files never fail a call");
  if (found) {
    fuzz::require(project.bank.empty() || service::valid_bank_name(project.bank),
                  "a project's bank has a valid name");
  }
}
