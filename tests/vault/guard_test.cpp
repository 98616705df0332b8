#include "vault/guard.h"

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vault/lmdb_engine.h"
#include "vault_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

// A second holder of a guard: flock belongs to the open file, so another descriptor is another one.
class Holder {
 public:
  Holder(const std::string& path, int operation)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT, 0600)) {
    REQUIRE(::flock(fd_, operation) == 0);
  }
  ~Holder() { ::close(fd_); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  int fd_;
};

}  // namespace

TEST_CASE("a file that is being replaced is busy", "[guard]") {
  const TestVault test;
  const std::string bank = test.bank_file();
  const Holder replacing(guard_path(bank), LOCK_EX);
  REQUIRE(code_of([&] { get(*test.open(), "k"); }) == Code::busy);
}

TEST_CASE("an open bank holds its guard, a closed one does not", "[guard]") {
  const TestVault test;
  const std::string bank = test.bank_file();
  const int fd = ::open(guard_path(bank).c_str(), O_RDWR);
  {
    auto vault = test.open();
    put(*vault, "k", "v");
    REQUIRE(::flock(fd, LOCK_EX | LOCK_NB) != 0);
  }
  REQUIRE(::flock(fd, LOCK_EX | LOCK_NB) == 0);
  ::close(fd);
}

TEST_CASE("another namespace is busy, an earlier boot is not", "[guard]") {
  const TestVault test;
  const std::string path = test.path() + "/root.mdb";
  { const Guard own = Guard::shared(path, false); }
  const std::string text = slurp(guard_path(path));
  REQUIRE(text.substr(0, 6) == "pidns ");
  const std::string foreign = "pidns 1" + text.substr(text.find(" boot "));
  SECTION("open elsewhere") {
    spill(guard_path(path), foreign);
    const Holder elsewhere(guard_path(path), LOCK_SH);
    REQUIRE(code_of([&] { test.open(); }) == Code::busy);
    REQUIRE(code_of([&] { test.open(true); }) == Code::busy);
    REQUIRE(slurp(guard_path(path)) == foreign);
  }
  SECTION("left behind") {
    spill(guard_path(path), foreign);
    test.open();
    REQUIRE(slurp(guard_path(path)) == text);
  }
  SECTION("an earlier boot, with a reader that is still there") {
    spill(guard_path(path), "pidns 1 boot earlier\n");
    const Holder reader(guard_path(path), LOCK_SH);
    test.open();
    REQUIRE(slurp(guard_path(path)) == text);
  }
}

TEST_CASE("a killed reader does not make the file grow", "[guard][lmdb]") {
  const TestVault test(false);
  { put(*test.open(), "k", std::string(3000, 'v')); }
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto vault = test.open();
    auto bank = vault->open_bank(kGlobalBank);
    const BankRead view = bank->read();
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "r", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  auto vault = test.open();
  for (int i = 0; i < 20; ++i) put(*vault, "k", std::string(3000, 'v'), EntryClass::normal, 1);
  const std::string bank = vault->bank_path(vault->find_bank(kGlobalBank)->id);
  const auto before = fs::file_size(bank);
  for (int i = 0; i < 300; ++i) put(*vault, "k", std::string(3000, 'v'), EntryClass::normal, 1);
  // With the dead reader's snapshot kept, each of these would have taken pages of its own. What is
  // left is the log: a row a write would be 64 KiB here, and the file grows in steps of 256 KiB.
  REQUIRE(fs::file_size(bank) <= before + (std::uintmax_t{1} << 19));
}
