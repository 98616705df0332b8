#include <sys/wait.h>
#include <unistd.h>

#include <lmdb.h>

#include "memory_fixture.h"
#include "tamper.h"

using namespace strongroom;
using namespace strongroom::vault;

namespace {

constexpr std::size_t kBlock = 4033;

std::string block_of(char c) {
  return std::string(kBlock, c);
}

void put_block(BankWrite& write, const IndexKey& key, const std::string& block,
               bool fresh = false) {
  write.put_index(key.kind(), key.view(), key.place(), block, fresh);
}

std::string read_block(BankRead& view, const IndexKey& key) {
  const auto row = view.index_row(key.view());
  REQUIRE(row);
  std::string block(kBlock, '\0');
  view.open_index(key.kind(), *row, key.place(), block.data(), block.size());
  return block;
}

/// Takes the table `index` out of a file, as if an earlier version had made it.
void drop_index_table(const std::string& file) {
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  REQUIRE(mdb_env_create(&env) == MDB_SUCCESS);
  REQUIRE(mdb_env_set_maxdbs(env, 16) == MDB_SUCCESS);
  REQUIRE(mdb_env_set_mapsize(env, std::size_t{1} << 30) == MDB_SUCCESS);
  REQUIRE(mdb_env_open(env, file.c_str(), MDB_NOSUBDIR, 0600) == MDB_SUCCESS);
  REQUIRE(mdb_txn_begin(env, nullptr, 0, &txn) == MDB_SUCCESS);
  REQUIRE(mdb_dbi_open(txn, "index", 0, &dbi) == MDB_SUCCESS);
  REQUIRE(mdb_drop(txn, dbi, 1) == MDB_SUCCESS);
  REQUIRE(mdb_txn_commit(txn) == MDB_SUCCESS);
  mdb_env_close(env);
}

/// A vault as an earlier version made it.
struct OldVault : TestVault {
  OldVault() : TestVault(false) {
    put(*open(), "entry", "value");
    file = bank_file();
    for (const std::string& each : {file, path() + "/root.mdb"}) drop_index_table(each);
  }
  std::string file;
};

}  // namespace

TEST_CASE("blocks of the index come back, replaced and erased", "[index]") {
  const TestVault test(false);
  const IndexKey a(Kind::index_postings, 1, 2), b(Kind::index_postings, 1, 3);
  {
    auto vault = test.open();
    in_global(*vault, [&](BankWrite& write) {
      REQUIRE_FALSE(write.index_row(a.view()));
      put_block(write, a, block_of('a'), true);
      put_block(write, b, block_of('b'));
      put_block(write, b, block_of('c'));
      REQUIRE(read_block(write, b) == block_of('c'));
    });
    require_sound(*vault);
  }
  auto vault = test.open();
  {
    BankRead view = vault->open_bank(kGlobalBank)->read();
    REQUIRE(view.index_row(a.view())->size() == 4080);
    REQUIRE(read_block(view, a) == block_of('a'));
    REQUIRE(read_block(view, b) == block_of('c'));
  }
  in_global(*vault, [&](BankWrite& write) {
    write.erase_index(a.view());
    REQUIRE_FALSE(write.index_row(a.view()));
    REQUIRE(code_of([&] { write.erase_index(a.view()); }) == Code::corrupt);
  });
  require_sound(*vault);
  REQUIRE(verify_vault(*vault, VerifyDepth::full).index_rows == 1);
}

TEST_CASE("a key of the index holds its kind and place, in order", "[index]") {
  const IndexKey key(Kind::index_times, 0x01020304, 0xFFFE0506);
  REQUIRE(key.view() == std::string("\x27\x01\x02\x03\x04\xFF\xFE\x05\x06", 9));
  REQUIRE(key.place() == 0x01020304FFFE0506);
  const IndexKey read(key.view());
  REQUIRE((read.kind() == Kind::index_times && read.place() == key.place()));
  REQUIRE(IndexKey(Kind::index_times, 1, 0xFFFFFFFF).view() <
          IndexKey(Kind::index_times, 2, 0).view());
  REQUIRE(code_of([] { IndexKey(std::string_view("12345678")); }) == Code::corrupt);
}

TEST_CASE("a block is refused in another place, kind, size or bank", "[index]") {
  const TestVault test(false);
  auto vault = test.open();
  AuditEvent event;
  event.principal = "test";
  event.tool = "bank create";
  const auto other = vault->create_bank("other", "", event);
  const IndexKey key(Kind::index_tail, 0, 1);
  in_global(*vault, [&](BankWrite& write) { put_block(write, key, block_of('x')); });
  BankRead view = vault->open_bank(kGlobalBank)->read(), elsewhere = other->read();
  const std::string row(*view.index_row(key.view()));
  std::string out(kBlock + 1, '\0');
  const auto opened = [&](BankRead& bank, Kind kind, std::string_view sealed, std::uint64_t place,
                          std::size_t size) {
    return code_of([&] { bank.open_index(kind, sealed, place, out.data(), size); });
  };
  REQUIRE(read_block(view, key) == block_of('x'));
  REQUIRE(opened(view, Kind::index_live, row, key.place(), kBlock) == Code::corrupt);
  REQUIRE(opened(view, key.kind(), row, key.place() + 1, kBlock) == Code::corrupt);
  REQUIRE(opened(view, key.kind(), row, key.place(), kBlock - 1) == Code::corrupt);
  REQUIRE(opened(view, key.kind(), row, key.place(), kBlock + 1) == Code::corrupt);
  REQUIRE(opened(elsewhere, key.kind(), row, key.place(), kBlock) == Code::corrupt);
  REQUIRE(opened(view, key.kind(), row.substr(1), key.place(), kBlock) == Code::corrupt);
  REQUIRE(opened(view, key.kind(), "", key.place(), kBlock) == Code::corrupt);
  std::string kind_changed = row;
  kind_changed[2] = static_cast<char>(Kind::index_live);
  REQUIRE(opened(view, Kind::index_live, kind_changed, key.place(), kBlock) == Code::corrupt);
  for (std::size_t at = 0; at < row.size(); at += 97) {
    std::string flipped = row;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    INFO(at);
    REQUIRE(opened(view, key.kind(), flipped, key.place(), kBlock) == Code::corrupt);
  }
}

TEST_CASE("a file opens again after a transaction that freed its own pages", "[index][lmdb]") {
  // Pages that were allocated and freed in one transaction are not written: without care the file
  // would be shorter than it says, and be refused as cut off.
  const TestVault test(false);
  const auto key = [](std::uint32_t segment, std::uint32_t number) {
    return IndexKey(Kind::index_postings, segment, number);
  };
  constexpr std::uint32_t kBlocks = 600;
  const bool by_erasing = GENERATE(false, true);
  {
    auto vault = test.open();
    // Free pages here and there, none of them neighbours: large values go to the file's end.
    in_global(*vault, [&](BankWrite& write) {
      for (std::uint32_t i = 0; i < kBlocks; ++i) put_block(write, key(1, i), block_of('x'));
    });
    in_global(*vault, [&](BankWrite& write) {
      for (std::uint32_t i = 0; i < kBlocks; i += 2) write.erase_index(key(1, i).view());
    });
    for (int i = 0; i < 3; ++i) in_global(*vault, [](BankWrite&) {});
    in_global(*vault, [&](BankWrite& write) {
      const std::string large(20'000, 'y');
      for (std::uint32_t i = 0; i < kBlocks; ++i) put_block(write, key(2, i), large);
      for (std::uint32_t i = 0; i < kBlocks; ++i) {
        if (by_erasing) {
          write.erase_index(key(2, i).view());
        } else {
          put_block(write, key(2, i), "small");
        }
      }
    });
  }
  require_sound(*test.open());
}

TEST_CASE("asking for rows ahead changes nothing that is read", "[index]") {
  const TestVault test(false);
  auto vault = test.open();
  constexpr std::uint32_t kBlocks = 200;
  in_global(*vault, [](BankWrite& write) {
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
      put_block(write, {Kind::index_postings, 1, i}, block_of(static_cast<char>(i)), true);
    }
  });
  BankRead view = vault->open_bank(kGlobalBank)->read();
  std::vector<std::string_view> rows{std::string_view()};
  for (std::uint32_t i = kBlocks; i-- > 0;) {
    rows.push_back(*view.index_row(IndexKey(Kind::index_postings, 1, i).view()));
    rows.push_back(rows.back());
  }
  view.txn().prefetch({});
  view.txn().prefetch(rows);
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    REQUIRE(read_block(view, {Kind::index_postings, 1, i}) == block_of(static_cast<char>(i)));
  }
}

TEST_CASE("a vault without the table of the index is read as one with an empty index", "[index]") {
  const OldVault test;
  const std::string before = slurp(test.file);
  auto vault = test.open(true);
  REQUIRE(get(*vault, "entry") == "value");
  BankRead view = vault->open_bank(kGlobalBank)->read();
  REQUIRE_FALSE(view.index_row(IndexKey(Kind::index_manifest, 0, 0).view()));
  REQUIRE(view.txn().rows(Table::index) == 0);
  view.txn().scan(Table::index, {}, [](std::string_view, std::string_view) {
    FAIL("there are no rows");
    return true;
  });
  REQUIRE(verify_vault(*vault, VerifyDepth::full).problems.empty());
  REQUIRE(slurp(test.file) == before);
}

TEST_CASE("a vault without the table of the index gets it when it is written to", "[index]") {
  const OldVault test;
  const IndexKey key(Kind::index_manifest, 0, 0);
  {
    auto vault = test.open();
    require_sound(*vault);
    in_global(*vault, [&](BankWrite& write) { put_block(write, key, block_of('m')); });
    require_sound(*vault);
  }
  auto vault = test.open(true);
  BankRead view = vault->open_bank(kGlobalBank)->read();
  REQUIRE(read_block(view, key) == block_of('m'));
  REQUIRE(get(*vault, "entry") == "value");
}

TEST_CASE("a reader without the table sees the one that another process adds", "[index]") {
  const OldVault test;
  const IndexKey key(Kind::index_manifest, 0, 0);
  int go[2];
  REQUIRE(::pipe(go) == 0);
  // Forked before this process opens the file: an environment does not outlive a fork.
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    int result = 1;
    try {
      if (::read(go[0], &byte, 1) == 1) {
        auto vault = test.open();
        in_global(*vault, [&](BankWrite& write) { put_block(write, key, block_of('m')); });
        result = 0;
      }
    } catch (const Error&) {
      result = 2;
    }
    ::_exit(result);
  }
  auto vault = test.open(true);
  const auto bank = vault->open_bank(kGlobalBank);
  BankRead older = bank->read();
  REQUIRE_FALSE(older.index_row(key.view()));
  REQUIRE(::write(go[1], "g", 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) == 0);
  ::close(go[0]);
  ::close(go[1]);
  BankRead newer = bank->read();
  REQUIRE(read_block(newer, key) == block_of('m'));
  REQUIRE_FALSE(older.index_row(key.view()));  // a view does not change
  REQUIRE(older.txn().rows(Table::index) == 0);
}
