// A folder with git repositories that git itself made, for the tests of project identity.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "service/project.h"

namespace strongroom::service {

namespace fs = std::filesystem;

/// A folder of its own, with a space in its path, and a git without the user's configuration.
class Sandbox {
 public:
  Sandbox() {
    std::string name = (fs::temp_directory_path() / "strongroom project XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = fs::canonical(name);
  }
  ~Sandbox() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? root_.string() : (root_ / name).string();
  }
  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(root_ / name, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }

  /// Runs a shell line in the folder `name` and returns what it prints.
  std::string shell(const std::string& name, const std::string& line) const {
    const std::string command =
        "cd '" + path(name) + "' && env -i PATH=\"$PATH\" HOME='" + path() +
        "' GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A "
        "GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org "
        "GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always "
        "GIT_CONFIG_KEY_1=init.defaultBranch GIT_CONFIG_VALUE_1=main "
        "sh -ec '" +
        line + "' 2>>'" + path("git.log") + "'";
    FILE* pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string out;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
      out.append(buffer, n);
    }
    INFO(line << "\n" << read("git.log"));
    REQUIRE(::pclose(pipe) == 0);
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
  }
  void make(const std::string& name, int commits, const std::string& options = {}) const {
    fs::create_directories(root_ / name);
    shell(name, "git init -q " + options + " .");
    commit(name, commits);
  }
  /// `count` commits in one go, with long alike messages: what git stores as deltas.
  void commit(const std::string& name, int count) const {
    if (count == 0) return;
    std::string text(600, 'x');
    std::mt19937 random(7);
    for (char& c : text) c = static_cast<char>('a' + random() % 26);
    std::string stream;
    for (int i = 0; i < count; ++i) {
      const std::string message = "commit " + std::to_string(i) + "\n\n" + text + "\n";
      stream += "commit refs/heads/main\ncommitter A <a@example.org> " +
                std::to_string(1700000000 + i) + " +0000\ndata " + std::to_string(message.size()) +
                "\n" + message + "\n";
    }
    write("stream", stream);
    shell(name, "git -c fastimport.unpackLimit=100000 fast-import --quiet < \"$HOME/stream\"");
  }
  std::string root_commit(const std::string& name) const {
    return shell(name, "git rev-list --first-parent HEAD | tail -n 1");
  }

 private:
  fs::path root_;
};

inline Project find(const std::string& folder) {
  return find_project(folder, false, "");
}

inline std::string invalid_text(const std::string& folder) {
  try {
    find(folder);
  } catch (const Error& error) {
    REQUIRE(error.code() == Code::invalid);
    return error.text();
  }
  return "no error";
}

inline void check(const Project& project, const std::string& bank, const std::string& chosen_by) {
  CHECK(project.bank == bank);
  CHECK(project.identity == bank);
  CHECK(project.chosen_by == chosen_by);
  CHECK(project.note.empty());
}

}  // namespace strongroom::service
