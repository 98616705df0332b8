#include "base/file.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"

namespace strongroom {
namespace {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = env("TMPDIR").empty() ? "/tmp" : env("TMPDIR");
    name += "/strongroom-base-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    for (const std::string& name : names()) {
      if (::unlink(at(name).c_str()) != 0) ::rmdir(at(name).c_str());
    }
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string at(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    DIR* const dir = ::opendir(path_.c_str());
    while (const dirent* const entry = dir == nullptr ? nullptr : ::readdir(dir)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") found.push_back(name);
    }
    if (dir != nullptr) ::closedir(dir);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  const auto fd = open_file(path, O_RDONLY, "a test file");
  return fd ? read_all(fd->get(), 1 << 20, "a test file") : "(absent)";
}

template <class Call>
Code code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::internal;
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

}  // namespace

TEST_CASE("opening never follows a link", "[base][file]") {
  const Folder folder;
  CHECK_FALSE(open_file(folder.at("absent"), O_RDONLY, "it").has_value());
  CHECK_FALSE(open_file(folder.at("absent") + "/below", O_RDONLY, "it").has_value());
  create_file(folder.at("real"), "text", 0600, "write it");
  CHECK_FALSE(open_file(folder.at("real") + "/below", O_RDONLY, "it").has_value());
  REQUIRE(::symlink("real", folder.at("link").c_str()) == 0);
  REQUIRE(::symlink("nowhere", folder.at("dangling").c_str()) == 0);
  for (const char* const name : {"link", "dangling"}) {
    try {
      open_file(folder.at(name), O_RDONLY, "key file");
      FAIL("a link was followed");
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid);
      CHECK(error.text() == "Invalid: key file is a symbolic link, which is refused. [invalid]");
    }
  }
  const auto fd = open_file(folder.at("real"), O_RDONLY, "it");
  REQUIRE(fd.has_value());
  CHECK((::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("reading", "[base][file]") {
  const Folder folder;
  const std::string big(200'000, 'x');
  create_file(folder.at("big"), big, 0600, "write it");
  const auto fd = open_file(folder.at("big"), O_RDONLY, "it");
  REQUIRE(fd.has_value());
  CHECK(read_all(fd->get(), big.size(), "it") == big);
  CHECK(read_all(fd->get(), 0, "it").empty());  // at the end now
  REQUIRE(::lseek(fd->get(), 0, SEEK_SET) == 0);
  CHECK(code_of([&] { read_all(fd->get(), big.size() - 1, "it"); }) == Code::too_large);

  std::string part(5, '\0');
  CHECK(read_exactly(fd->get(), part.data(), 5, 199'995));
  CHECK(part == "xxxxx");
  CHECK_FALSE(read_exactly(fd->get(), part.data(), 5, 199'996));
  CHECK_FALSE(read_exactly(fd->get(), part.data(), 5, 1'000'000));
  CHECK(read_exactly(fd->get(), part.data(), 0, 0));
  CHECK(code_of([&] { read_exactly(-1, part.data(), 5, 0); }) == Code::io);
  CHECK(code_of([&] { read_all(-1, 10, "it"); }) == Code::io);
}

TEST_CASE("creating a file", "[base][file]") {
  const Folder folder;
  create_file(folder.at("new"), "first", 0600, "write it");
  CHECK(contents(folder.at("new")) == "first");
  CHECK(mode_of(folder.at("new")) == 0600);
  CHECK(code_of([&] { create_file(folder.at("new"), "second", 0600, "write it"); }) ==
        Code::conflict);
  CHECK(contents(folder.at("new")) == "first");
  // A link in the way is a conflict too, also one that leads nowhere.
  REQUIRE(::symlink("elsewhere", folder.at("link").c_str()) == 0);
  CHECK(code_of([&] { create_file(folder.at("link"), "x", 0600, "write it"); }) == Code::conflict);
  CHECK(folder.names() == std::vector<std::string>{"link", "new"});
  CHECK(code_of([&] { create_file(folder.at("no") + "/x", "x", 0600, "write it"); }) == Code::io);
}

TEST_CASE("replacing a file", "[base][file]") {
  const Folder folder;
  for (const bool durable : {true, false}) {
    replace_file(folder.at("file"), "first", 0600, durable, "write it");
    CHECK(contents(folder.at("file")) == "first");
    replace_file(folder.at("file"), "second", 0640, durable, "write it");
    CHECK(contents(folder.at("file")) == "second");
    CHECK(folder.names() == std::vector<std::string>{"file"});
  }
  // A link is replaced, not written through.
  create_file(folder.at("target"), "untouched", 0600, "write it");
  REQUIRE(::symlink("target", folder.at("link").c_str()) == 0);
  replace_file(folder.at("link"), "new", 0600, false, "write it");
  CHECK(contents(folder.at("link")) == "new");
  CHECK(contents(folder.at("target")) == "untouched");
  // When it cannot be renamed, nothing is left behind.
  REQUIRE(::mkdir(folder.at("directory").c_str(), 0700) == 0);
  CHECK(code_of([&] { replace_file(folder.at("directory"), "x", 0600, true, "write it"); }) ==
        Code::io);
  CHECK(folder.names() == std::vector<std::string>{"directory", "file", "link", "target"});
}

TEST_CASE("replacing is atomic for readers and writers", "[base][file]") {
  const Folder folder;
  const std::string path = folder.at("file");
  replace_file(path, std::string(5'000, 'a'), 0600, false, "write it");
  std::vector<std::thread> writers;
  std::vector<int> failures(3, 0);
  for (std::size_t id = 0; id < failures.size(); ++id) {
    writers.emplace_back([&, id] {
      for (int i = 0; i < 300; ++i) {
        try {
          replace_file(path, std::string(5'000, static_cast<char>('a' + i % 26)), 0600, false, "x");
        } catch (const Error&) {
          ++failures[id];
        }
      }
    });
  }
  int torn = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string seen = contents(path);
    torn += seen.size() == 5'000 && seen == std::string(5'000, seen[0]) ? 0 : 1;
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(torn == 0);
  CHECK(failures == std::vector<int>(3, 0));
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("a failed write leaves no half file", "[base][file]") {
  const Folder folder;
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Writing beyond 4 KiB fails with EFBIG from here on, as a full disk would.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string big(100'000, 'x');
    const bool refused =
        code_of([&] { create_file(folder.at("new"), big, 0600, "write it"); }) == Code::no_space &&
        code_of([&] { replace_file(folder.at("new"), big, 0600, true, "write it"); }) == Code::no_space;
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
  CHECK(folder.names().empty());
}

TEST_CASE("writing to a full disk says so", "[base][file]") {
  const auto full = open_file("/dev/full", O_WRONLY, "it");
  if (!full) {
    WARN("skipped: there is no /dev/full here");
    return;
  }
  CHECK(code_of([&] { write_all(full->get(), "text", "write it"); }) == Code::no_space);
  CHECK(code_of([&] { write_all(-1, "text", "write it"); }) == Code::io);
}

TEST_CASE("directories and paths", "[base][file]") {
  const Folder folder;
  make_directories(folder.at("a") + "/b/c");
  CHECK(mode_of(folder.at("a") + "/b/c") == 0700);
  make_directories(folder.at("a") + "/b/c");  // is there already
  make_directories(folder.at("a") + "//b/c/");
  create_file(folder.at("file"), "", 0600, "write it");
  CHECK(code_of([&] { make_directories(folder.at("file")); }) == Code::io);
  CHECK(code_of([&] { make_directories(folder.at("file") + "/below"); }) == Code::io);
  ::rmdir((folder.at("a") + "/b/c").c_str());
  ::rmdir((folder.at("a") + "/b").c_str());

  CHECK(parent_of("/a/b") == "/a");
  CHECK(parent_of("/a") == "/");
  CHECK(parent_of("a") == ".");
  CHECK(parent_of("a/b") == "a");
  CHECK(parent_of("") == ".");
}

TEST_CASE("the environment", "[base][file]") {
  const std::string home = env("HOME");
  ::setenv("HOME", "/home/example", 1);
  ::setenv("STRONGROOM_TEST_XDG", "relative", 1);
  CHECK(home_directory() == "/home/example");
  CHECK(xdg_directory("STRONGROOM_TEST_XDG", ".config") == "/home/example/.config");
  ::setenv("STRONGROOM_TEST_XDG", "/abs", 1);
  CHECK(xdg_directory("STRONGROOM_TEST_XDG", ".config") == "/abs");
  ::unsetenv("STRONGROOM_TEST_XDG");
  CHECK(env("STRONGROOM_TEST_XDG").empty());
  CHECK(xdg_directory("STRONGROOM_TEST_XDG", ".config") == "/home/example/.config");
  ::setenv("HOME", home.c_str(), 1);
}

TEST_CASE("descriptors are owned", "[base][file]") {
  const Folder folder;
  create_file(folder.at("file"), "text", 0600, "write it");
  UniqueFd fd = std::move(open_file(folder.at("file"), O_RDONLY, "it").value());
  const int raw = fd.get();
  UniqueFd other = std::move(fd);
  CHECK_FALSE(fd);  // NOLINT: empty after a move, as the header has it
  CHECK(other.get() == raw);
  other.reset();
  CHECK(::fcntl(raw, F_GETFD) == -1);
  CHECK_FALSE(other);
}

}  // namespace strongroom
