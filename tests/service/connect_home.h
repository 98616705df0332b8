// A home folder of its own, for the tests of connect.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "service/connect.h"

namespace strongroom::service {

namespace fs = std::filesystem;
using Action = ConnectPlan::Action;

/// A home folder of its own.
class Home {
 public:
  Home() {
    std::string name = (fs::temp_directory_path() / "strongroom connect XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = fs::canonical(name);
  }
  ~Home() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? root_.string() : (root_ / name).string();
  }
  ConnectSettings settings() const {
    ConnectSettings settings;
    settings.home = path();
    settings.folder = path("work");
    settings.binary = "/usr/bin/strongroom";
    return settings;
  }
  void write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(root_ / name, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  unsigned mode(const std::string& name) const {
    struct stat info {};
    REQUIRE(::stat(path(name).c_str(), &info) == 0);
    return info.st_mode & 07777u;
  }

 private:
  fs::path root_;
};

inline constexpr const char* kCursor = ".cursor/mcp.json";

template <class Call>
Code code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("no error");
  return Code::internal;
}

template <class Call>
std::string text_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.text();
  }
  return "no error";
}

/// Connects Cursor to a file of these bytes and returns the new ones; undo must give the old ones.
inline std::string connected(const std::string& before) {
  const Home home;
  home.write(kCursor, before);
  const ConnectSettings settings = home.settings();
  const ConnectPlan plan = plan_connect("cursor", settings);
  CHECK(plan.exists);
  CHECK(plan.before == before);
  CHECK_FALSE(apply(plan).empty());
  const std::string after = home.read(kCursor);
  CHECK(after == plan.after);

  const ConnectPlan again = plan_connect("cursor", settings);
  CHECK(again.action == Action::none);
  CHECK(apply(again).empty());
  CHECK(home.read(kCursor) == after);

  const ConnectPlan undo = plan_undo("cursor", settings);
  CHECK(undo.action == Action::remove);
  apply(undo);
  CHECK(home.read(kCursor) == before);
  CHECK(plan_undo("cursor", settings).action == Action::none);
  return after;
}

inline std::string codex_connected(const std::string& before) {
  const Home home;
  home.write(".codex/config.toml", before);
  ConnectSettings settings = home.settings();
  settings.vault = "/v";
  apply(plan_connect("codex", settings));
  const std::string after = home.read(".codex/config.toml");
  CHECK(plan_connect("codex", settings).action == Action::none);
  apply(plan_undo("codex", settings));
  CHECK(home.read(".codex/config.toml") == before);
  CHECK(plan_undo("codex", settings).action == Action::none);
  return after;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace strongroom::service
