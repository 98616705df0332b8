// Vectors in the index: from the tail into columns, sets of several models, what verify finds, and
// what a manifest or a tail row may say of them.
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include "../vault/vault_fixture.h"
#include "recall/columns.h"
#include "recall/index.h"
#include "recall/index_impl.h"
#include "tests/recall/turned.h"

namespace strongroom::recall {
namespace {

using vault::code_of;
using vault::IndexKey;
using vault::Kind;
using vault::TestVault;

// A cell of a column as a string; empty for a row without a vector.
using CellBytes = std::string;

std::string code_of_cell(const CellBytes& cell, std::size_t dimensions) {
  std::string code(dimensions / 8, '\0');
  if (cell.empty()) return code;
  const std::vector<std::int64_t> components = turned({cell.data(), dimensions});
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (components[d] > 0) {
      code[d / 8] = static_cast<char>(static_cast<unsigned char>(code[d / 8]) | 1u << (d % 8));
    }
  }
  return code;
}

// An index with vectors, and what must be in it.
class Bank {
 public:
  explicit Bank(std::uint32_t seed = 1, IndexOptions options = {std::size_t{1} << 20, 2})
      : random_(seed), options_(options) {
    reopen();
  }

  void reopen() {
    index_.reset();
    bank_.reset();
    open_.reset();
    open_ = vault_.open();
    bank_ = open_->open_bank("global");
    index_ = std::make_unique<Index>(*bank_, options_);
  }

  template <class Work>
  void write(const Work& work) {
    vault::BankWrite write = bank_->write(open_->stamp());
    IndexWriter writer(*index_, write);
    work(writer);
    writer.finish();
    write.commit();
  }
  /// `work` gets an IndexView and its transaction.
  template <class Work>
  void read(const Work& work) {
    vault::BankRead read = bank_->read();
    IndexView view(*index_, read);
    work(view);
  }
  /// Past the index: what a member with the key could do to the file.
  template <class Work>
  void tamper(const Work& work) {
    vault::BankWrite write = bank_->write(open_->stamp());
    work(write);
    write.commit();
    reopen();
  }

  std::size_t pick(std::size_t n) { return random_() % n; }

  Embedding vector(std::size_t dimensions) {
    std::vector<float> floats(dimensions);
    for (float& x : floats) x = static_cast<float>(static_cast<int>(pick(2001)) - 1000);
    Embedding made;
    quantise(floats, made);
    return made;
  }

  // A row with a vector in each of these sets; one in ten says nothing to a model.
  Row add(IndexWriter& writer, const std::vector<VectorSet>& sets, Row previous = 0) {
    std::vector<Embedding> made(sets.size());
    std::vector<RowVector> vectors;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (pick(10) != 0) made[i] = vector(sets[i].dimensions);
      vectors.push_back({sets[i].number, &made[i]});
    }
    RowDraft draft;
    draft.text = &analyzer_.analyze("harbour lantern " + std::to_string(pick(1000)));
    draft.attributes.record = 1;
    draft.vectors = vectors;
    const Row row = writer.add(draft, previous);
    for (std::size_t i = 0; i < sets.size(); ++i) keep(sets[i], row, made[i]);
    return row;
  }
  void keep(const VectorSet& set, Row row, const Embedding& embedding) {
    CellBytes& cell = cells[set.number][row];
    cell.clear();
    if (embedding.empty()) return;
    cell = embedding.bytes.view();
    cell.append(reinterpret_cast<const char*>(&embedding.scale), 4);
  }
  void forget(IndexWriter& writer, Row row) {
    writer.forget(row);
    for (auto& [set, rows] : cells) rows[row].clear();
  }

  VectorSet set(std::string_view model) {
    VectorSet found;
    read([&](IndexView& view) {
      for (const VectorSet& one : view.vector_sets()) {
        if (one.model == model) found = one;
      }
    });
    REQUIRE(found.number != 0);
    return found;
  }

  // All ways to read a set give what was put in.
  void check(const VectorSet& set) {
    read([&](IndexView& view) {
      std::map<Row, CellBytes>& expected = cells[set.number];
      for (Row row = 1; row < view.row_end(); ++row) {
        const char* const cell = view.vector(set, row);
        INFO("row " << row);
        REQUIRE(bytes_of(cell, set) == expected[row]);
      }
      Row next = 0;
      std::set<Row> seen;
      view.scan_vectors(set, [&](Row first, const char* at, std::size_t count) {
        REQUIRE(first >= next);
        next = first + static_cast<Row>(count);
        for (Row row = first; row < next; ++row, at += vector_bytes(set.dimensions)) {
          if (vector_scale(at, set.dimensions) == 0) continue;
          REQUIRE(bytes_of(at, set) == expected[row]);
          seen.insert(row);
        }
      });
      for (Row row = 1; row < view.row_end(); ++row) {
        REQUIRE(expected[row].empty() == (seen.count(row) == 0));
      }
      next = 0;
      seen.clear();
      view.scan_codes(
          set,
          [&](Row first, const char* at, std::size_t count) {
            REQUIRE(first >= next);
            next = first + static_cast<Row>(count);
            REQUIRE(next <= view.tail_start());
            for (Row row = first; row < next; ++row, at += code_bytes(set.dimensions)) {
              REQUIRE(std::string(at, code_bytes(set.dimensions)) ==
                      code_of_cell(expected[row], set.dimensions));
              seen.insert(row);
            }
          },
          [&](Row row, const char* at, std::size_t count) {
            REQUIRE((count == 1 && row >= view.tail_start()));
            REQUIRE(bytes_of(at, set) == expected[row]);
            seen.insert(row);
          });
      for (Row row = 1; row < view.row_end(); ++row) {
        REQUIRE((expected[row].empty() || seen.count(row) == 1));
      }
      view.check([](Row, const RowAttributes&, const RowTimes&) {});
    });
  }

  // How many blocks of vectors and codes a set has in the file.
  std::size_t blocks_of(std::uint32_t set) {
    std::size_t blocks = 0;
    vault::BankRead read = bank_->read();
    read.txn().scan(vault::Table::index, {}, [&](std::string_view key, std::string_view) {
      const IndexKey at(key);
      const bool vectors = at.kind() == Kind::index_vectors || at.kind() == Kind::index_codes;
      if (vectors && at.place() >> 32 == set) ++blocks;
      return true;
    });
    return blocks;
  }

  Code check_code() {
    return code_of([&] {
      read([](IndexView& view) { view.check([](Row, const RowAttributes&, const RowTimes&) {}); });
    });
  }

  std::string open_block(vault::BankRead& read, Kind kind, std::uint32_t set,
                         std::uint32_t number) {
    std::string block(kBlockBytes, '\0');
    Index::Impl::open_block(read, kind, set, number, block.data());
    return block;
  }
  // Changes bytes of a block and seals it again.
  template <class Change>
  void change_block(Kind kind, std::uint32_t set, std::uint32_t number, const Change& change) {
    tamper([&](vault::BankWrite& write) {
      std::string block = open_block(write, kind, set, number);
      change(block);
      const IndexKey key(kind, set, number);
      write.put_index(kind, key.view(), key.place(), block);
    });
  }

  std::map<std::uint32_t, std::map<Row, CellBytes>> cells;  // by set
  TestVault vault_;
  std::mt19937 random_;
  IndexOptions options_;
  std::unique_ptr<vault::Vault> open_;
  std::shared_ptr<vault::Bank> bank_;
  std::unique_ptr<Index> index_;
  Analyzer analyzer_;

 private:
  static CellBytes bytes_of(const char* cell, const VectorSet& set) {
    return cell == nullptr ? CellBytes() : CellBytes(cell, vector_bytes(set.dimensions));
  }
};

VectorSet fill(Bank& bank, std::size_t dimensions, std::size_t rows, std::size_t most = 400) {
  VectorSet set;
  bank.write([&](IndexWriter& writer) {
    set.number = writer.vector_set("model", dimensions);
    set.dimensions = dimensions;
  });
  for (std::size_t done = 0; done < rows;) {
    const std::size_t size = std::min(1 + bank.pick(most), rows - done);
    bank.write([&](IndexWriter& writer) {
      for (std::size_t i = 0; i < size; ++i) bank.add(writer, {set});
    });
    done += size;
  }
  return bank.set("model");
}

}  // namespace

TEST_CASE("vectors come back as they were put, from the tail and from columns") {
  const std::size_t dimensions = GENERATE(16u, 48u, 256u, 1024u);
  Bank bank(static_cast<std::uint32_t>(dimensions));
  VectorSet set;
  bank.write([&](IndexWriter& writer) {
    set.number = writer.vector_set("model", dimensions);
    set.dimensions = dimensions;
    REQUIRE(writer.vector_set("model", dimensions) == set.number);
  });
  for (int round = 0; round < 12; ++round) {
    bank.write([&](IndexWriter& writer) {
      for (std::size_t n = round % 4 == 0 ? 260 : 1 + bank.pick(60); n > 0; --n) {
        bank.add(writer, {set});
      }
    });
    set = bank.set("model");
    bank.read([&](IndexView& view) { REQUIRE(set.filled == view.row_end()); });
    bank.check(set);
    if (round % 5 == 4) bank.reopen();
  }
  bank.reopen();
  bank.check(set);
}

TEST_CASE("a small cache gives the same vectors") {
  Bank bank(2, {std::size_t{64} << 12, 2});
  const VectorSet set = fill(bank, 1024, 1200);
  bank.check(set);
  bank.check(set);
}

TEST_CASE("a forgotten row has neither vector nor code, wherever it was") {
  Bank bank(3);
  VectorSet set = fill(bank, 64, 900);
  VectorSet other;
  bank.write([&](IndexWriter& writer) {
    other.number = writer.vector_set("other", 32);
    other.dimensions = 32;
    Embedding made = bank.vector(32);
    for (Row row = 1; row < writer.next_row(); ++row) {
      writer.set_vector(row, {other.number, &made});
      bank.keep(other, row, made);
    }
    writer.set_filled(other.number, writer.next_row());
  });
  other = bank.set("other");
  std::vector<VectorSet> sets = {set, other};
  bank.write([&](IndexWriter& writer) {
    const Row end = writer.next_row();
    for (Row row = 1; row < end; row += 7) bank.forget(writer, row);  // columns and tail
    for (int i = 0; i < 9; ++i) {
      const Row row = bank.add(writer, sets);
      if (i % 3 == 0) bank.forget(writer, row);  // made by the same transaction
    }
  });
  bank.check(bank.set("model"));
  bank.check(bank.set("other"));
  // What was forgotten in the tail goes into the columns as nothing.
  bank.write([&](IndexWriter& writer) {
    for (int i = 0; i < 300; ++i) bank.add(writer, sets);
  });
  bank.check(bank.set("model"));
  // Giving a forgotten row a vector gives it none.
  bank.write([&](IndexWriter& writer) {
    const Embedding made = bank.vector(64);
    writer.set_vector(8, {set.number, &made});
    writer.set_vector(2, {set.number, &made});
    bank.keep(set, 2, made);
  });
  bank.check(bank.set("model"));
  bank.reopen();
  bank.check(bank.set("other"));
}

TEST_CASE("an edit leaves the old row its vector, which as_of still compares") {
  Bank bank(4);
  VectorSet set = fill(bank, 64, 500);
  bank.write([&](IndexWriter& writer) {
    for (const Row old : {Row{5}, writer.next_row() - 1}) {
      writer.close(old, 77);
      const Row fresh = bank.add(writer, {set});
      writer.take_place(old, old, fresh, fresh);
    }
  });
  bank.check(bank.set("model"));
}

TEST_CASE("what an aborted transaction did to vectors is not seen") {
  Bank bank(5);
  const VectorSet set = fill(bank, 64, 700);
  const auto before = bank.cells;
  for (const bool finish : {false, true}) {
    {
      vault::BankWrite write = bank.bank_->write(bank.open_->stamp());
      IndexWriter writer(*bank.index_, write);
      for (Row row = 1; row < 600; row += 3) bank.forget(writer, row);
      for (int i = 0; i < 300; ++i) bank.add(writer, {set});
      if (finish) writer.finish();
    }
    bank.cells = before;
    bank.check(set);
  }
}

TEST_CASE("another process sees vectors that were rewritten and forgotten") {
  Bank bank(6);
  const VectorSet set = fill(bank, 64, 700);
  Index other(*bank.bank_, {});
  const auto check_other = [&] {
    vault::BankRead read = bank.bank_->read();
    IndexView view(other, read);
    for (Row row = 1; row < view.row_end(); ++row) {
      const char* const cell = view.vector(set, row);
      REQUIRE((cell == nullptr) == bank.cells[set.number][row].empty());
      if (cell != nullptr) REQUIRE(CellBytes(cell, 68) == bank.cells[set.number][row]);
    }
  };
  check_other();
  for (Row row = 1; row < 700; row += 61) {
    bank.write([&](IndexWriter& writer) { bank.forget(writer, row); });
    if (row % 2 == 0) check_other();
  }
  check_other();
  // So many that the manifest does not name them all.
  for (Row row = 2; row < 690; row += 2) {
    bank.write([&](IndexWriter& writer) { bank.forget(writer, row); });
  }
  check_other();
}

TEST_CASE("a second model fills up in steps while rows come and go") {
  Bank bank(7);
  VectorSet first = fill(bank, 64, 1000);
  VectorSet second;
  bank.write([&](IndexWriter& writer) {
    second.number = writer.vector_set("second", 1024);
    second.dimensions = 1024;
    second.model = "second";
  });
  CHECK(second.number != first.number);
  second = bank.set("second");
  CHECK(second.filled == 1);
  bank.check(second);  // nothing
  for (Row next = 1;;) {
    bool done = false;
    bank.write([&](IndexWriter& writer) {
      const Row to = std::min<Row>(next + 90, writer.next_row());
      for (Row row = next; row < to; ++row) {
        Embedding made;
        if (bank.pick(10) != 0) made = bank.vector(1024);
        writer.set_vector(row, {second.number, &made});
        if (writer.attributes(row).dead) made = Embedding();
        bank.keep(second, row, made);
      }
      writer.set_filled(second.number, to);
      next = to;
      done = to == writer.next_row();
      if (!done && to < 900) {
        bank.forget(writer, static_cast<Row>(1 + bank.pick(writer.next_row() - 1)));
        for (int i = 0; i < 30; ++i) bank.add(writer, {first, second});
      }
    });
    second = bank.set("second");
    REQUIRE(second.filled == next);
    first = bank.set("model");
    bank.check(first);
    bank.check(second);
    if (done) break;
  }
  // Filled to the end, new rows keep it filled.
  bank.write([&](IndexWriter& writer) { bank.add(writer, {first, second}); });
  bank.read([&](IndexView& view) {
    for (const VectorSet& set : view.vector_sets()) REQUIRE(set.filled == view.row_end());
  });

  // The first one goes, at once and without a trace.
  REQUIRE(bank.blocks_of(first.number) > 0);
  bank.write([&](IndexWriter& writer) {
    const Row row = bank.add(writer, {first, second});
    REQUIRE(row > 0);
    bank.forget(writer, 3);
    writer.drop_vector_set(first.number);
    bank.add(writer, {second});
  });
  CHECK(bank.blocks_of(first.number) == 0);
  CHECK(bank.blocks_of(second.number) > 0);
  bank.read([&](IndexView& view) {
    REQUIRE(view.vector_sets().size() == 1);
    for (Row row = view.tail_start(); row < view.row_end(); ++row) {
      REQUIRE(view.vector(first, row) == nullptr);
    }
  });
  bank.check(bank.set("second"));
  bank.write([&](IndexWriter& writer) {
    // Its number is not used again.
    REQUIRE(writer.vector_set("model", 64) > second.number);
    const Embedding made = bank.vector(64);
    REQUIRE(code_of([&] { writer.set_vector(1, {first.number, &made}); }) == Code::corrupt);
  });
  bank.check(bank.set("second"));
}

TEST_CASE("rows that were added without a model stay behind it") {
  Bank bank(8);
  const VectorSet set = fill(bank, 16, 20);
  bank.write([&](IndexWriter& writer) {
    bank.add(writer, {});
    bank.add(writer, {set});  // its vector is kept, though the set is not filled up to it
  });
  CHECK(bank.set("model").filled == 21);
  bank.write([&](IndexWriter& writer) {
    for (int i = 0; i < 300; ++i) bank.add(writer, {});
  });
  CHECK(bank.set("model").filled == 21);
  bank.check(bank.set("model"));
  bank.write([&](IndexWriter& writer) { writer.set_filled(set.number, 1'000'000); });
  bank.read([&](IndexView& view) { CHECK(bank.set("model").filled == view.row_end()); });
}

TEST_CASE("a model has one number of dimensions, and one that can be") {
  Bank bank;
  bank.write([&](IndexWriter& writer) {
    const std::uint32_t set = writer.vector_set("model", 64);
    CHECK(code_of([&] { writer.vector_set("model", 32); }) == Code::corrupt);
    for (const std::size_t dimensions : {0u, 8u, 17u, 1040u, 4096u}) {
      CHECK(code_of([&] { writer.vector_set("other", dimensions); }) == Code::internal);
    }
    CHECK(code_of([&] { writer.vector_set("", 64); }) == Code::internal);
    CHECK(code_of([&] { writer.vector_set(std::string(65, 'm'), 64); }) == Code::internal);
    const Embedding narrow = bank.vector(32);
    bank.add(writer, {});
    CHECK(code_of([&] { writer.set_vector(1, {set, &narrow}); }) == Code::internal);
    CHECK(code_of([&] { writer.set_filled(9, 1); }) == Code::corrupt);
  });
}

// ---- damage

TEST_CASE("a block of vectors that is gone is damage where rows were filled, else nothing") {
  Bank bank(9);
  const VectorSet set = fill(bank, 64, 1000);
  const std::uint32_t block = vector_cell(500, 64).block;
  const Row rows = vector_rows(64);
  SECTION("filled") {
    bank.tamper([&](vault::BankWrite& write) {
      write.erase_index(IndexKey(Kind::index_vectors, set.number, block).view());
    });
    bank.read([&](IndexView& view) {
      Row before = block * rows - 1;
      while (bank.cells[set.number][before].empty()) --before;
      CHECK(view.vector(set, before) != nullptr);
      CHECK(code_of([&] { view.vector(set, 500); }) == Code::corrupt);
      const auto nothing = [](Row, const char*, std::size_t) {};
      CHECK(code_of([&] { view.scan_vectors(set, nothing); }) == Code::corrupt);
      view.scan_codes(set, nothing, nothing);
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("the code") {
    bank.tamper([&](vault::BankWrite& write) {
      write.erase_index(IndexKey(Kind::index_codes, set.number, code_cell(500, 64).block).view());
    });
    bank.read([&](IndexView& view) {
      const auto nothing = [](Row, const char*, std::size_t) {};
      view.scan_vectors(set, nothing);
      CHECK(code_of([&] { view.scan_codes(set, nothing, nothing); }) == Code::corrupt);
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("the last of the columns") {
    bank.read([&](IndexView& view) { REQUIRE(view.tail_start() > 800); });
    bank.tamper([&](vault::BankWrite& write) {
      std::uint32_t last = 0;
      while (write.index_row(IndexKey(Kind::index_vectors, set.number, last + 1).view())) ++last;
      write.erase_index(IndexKey(Kind::index_vectors, set.number, last).view());
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("not filled") {
    bank.write([&](IndexWriter& writer) { writer.set_filled(set.number, block * rows); });
    const VectorSet behind = bank.set("model");
    bank.tamper([&](vault::BankWrite& write) {
      write.erase_index(IndexKey(Kind::index_vectors, set.number, block).view());
    });
    bank.read([&](IndexView& view) {
      CHECK(view.vector(behind, 500) == nullptr);
      std::set<Row> seen;
      view.scan_vectors(behind, [&](Row first, const char*, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) seen.insert(first + static_cast<Row>(i));
      });
      CHECK(seen.count(block * rows - 1) == 1);
      CHECK(seen.count(block * rows) == 0);
      CHECK(seen.count((block + 1) * rows - 1) == 0);
      CHECK(seen.count((block + 1) * rows) == 1);
    });
  }
}

TEST_CASE("verify finds vectors that no model gave, and codes that are not theirs") {
  Bank bank(10);
  VectorSet set = fill(bank, 64, 600);
  bank.write([&](IndexWriter& writer) {
    bank.forget(writer, 11);
    const Embedding made = bank.vector(64);
    writer.set_vector(10, {set.number, &made});
    bank.keep(set, 10, made);
  });
  bank.check(set);
  const Cell at = vector_cell(10, 64), dead = vector_cell(11, 64), code = code_cell(10, 64);
  const auto scaled = [&](float scale) {
    bank.change_block(Kind::index_vectors, set.number, at.block, [&](std::string& block) {
      std::memcpy(block.data() + at.offset + 64, &scale, 4);
    });
    CHECK(bank.check_code() == Code::corrupt);
  };
  SECTION("a flipped bit of a code") {
    bank.change_block(Kind::index_codes, set.number, code.block, [&](std::string& block) {
      block[code.offset + 3] = static_cast<char>(block[code.offset + 3] ^ 4);
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("a sign of a component") {
    bank.change_block(Kind::index_vectors, set.number, at.block, [&](std::string& block) {
      char& component = block[at.offset + 5];
      component = component > 0 ? '\xF0' : '\x10';
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("a component that is too large") {
    bank.change_block(Kind::index_vectors, set.number, at.block,
                      [&](std::string& block) { block[at.offset + 5] = '\x80'; });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("a scale that is no number") {
    scaled(std::numeric_limits<float>::quiet_NaN());
  }
  SECTION("a scale without end") {
    scaled(std::numeric_limits<float>::infinity());
  }
  SECTION("a scale below 0") {
    scaled(-0.01F);
  }
  SECTION("a scale above 1") {
    scaled(1.5F);
  }
  SECTION("a vector without a scale") {
    scaled(0);
  }
  SECTION("a scale without a vector") {
    bank.change_block(Kind::index_vectors, set.number, dead.block, [&](std::string& block) {
      const float scale = 0.01F;
      std::memcpy(block.data() + dead.offset + 64, &scale, 4);
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("a vector of a forgotten row, with its code") {
    std::string cell;
    bank.change_block(Kind::index_vectors, set.number, at.block, [&](std::string& block) {
      cell = block.substr(at.offset, 68);
      block.replace(dead.offset, 68, cell);
    });
    bank.change_block(Kind::index_codes, set.number, code.block, [&](std::string& block) {
      block.replace(code_cell(11, 64).offset, 8, code_of_cell(cell, 64));
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
  SECTION("what stood in two blocks, each in the place of the other") {
    bank.tamper([&](vault::BankWrite& write) {
      const IndexKey one(Kind::index_vectors, set.number, 1),
          two(Kind::index_vectors, set.number, 2);
      const std::string first(*write.index_row(one.view())), second(*write.index_row(two.view()));
      write.put_row(vault::Table::index, one.view(), second, true);
      write.put_row(vault::Table::index, two.view(), first, true);
    });
    CHECK(bank.check_code() == Code::corrupt);
    bank.read([&](IndexView& view) {
      CHECK(code_of([&] { view.vector(set, vector_rows(64) + 1); }) == Code::corrupt);
    });
  }
  SECTION("the same, sealed again") {
    bank.tamper([&](vault::BankWrite& write) {
      const std::string first = bank.open_block(write, Kind::index_vectors, set.number, 1),
                        second = bank.open_block(write, Kind::index_vectors, set.number, 2);
      const IndexKey one(Kind::index_vectors, set.number, 1),
          two(Kind::index_vectors, set.number, 2);
      write.put_index(Kind::index_vectors, one.view(), one.place(), second);
      write.put_index(Kind::index_vectors, two.view(), two.place(), first);
    });
    CHECK(bank.check_code() == Code::corrupt);
  }
}

// ---- tail rows and manifests as they may come

namespace {

Code retail(Bank& bank, Row row, const std::function<void(TailRow&)>& change) {
  bank.tamper([&](vault::BankWrite& write) {
    const IndexKey key(Kind::index_tail, 0, row);
    const std::string sealed(*write.index_row(key.view()));
    std::string plain(sealed.size() - vault::kEnvelopeHeader - vault::kEnvelopeTag, '\0');
    write.open_index(Kind::index_tail, sealed, key.place(), plain.data(), plain.size());
    TailRow tail = decode_tail_row(plain);
    change(tail);
    write.put_index(Kind::index_tail, key.view(), key.place(), encode_tail_row(tail).view());
  });
  return bank.check_code();
}

Manifest with_sets() {
  Manifest m;
  m.generation = 9;
  m.next_row = m.tail_start = 1;
  m.next_vector_set = 6;
  m.vector_sets = {{1, "static-1", 256, 1}, {4, "api:" + std::string(60, 'x'), 1024, 1}};
  return m;
}

}  // namespace

TEST_CASE("a tail row whose vector is none is corrupt") {
  Bank bank(11);
  const VectorSet set = fill(bank, 64, 5);
  bank.write([&](IndexWriter& writer) {
    const Embedding made = bank.vector(64);
    writer.set_vector(2, {set.number, &made});
  });
  SECTION("short") {
    CHECK(retail(bank, 2, [](TailRow& row) { row.vectors.front().cell.resize(20); }) ==
          Code::corrupt);
  }
  SECTION("long") {
    CHECK(retail(bank, 2, [](TailRow& row) { row.vectors.front().cell.resize(69); }) ==
          Code::corrupt);
  }
  SECTION("not a number") {
    CHECK(retail(bank, 2, [](TailRow& row) {
            const float scale = std::numeric_limits<float>::quiet_NaN();
            std::memcpy(row.vectors.front().cell.data() + 64, &scale, 4);
          }) == Code::corrupt);
  }
}

TEST_CASE("the manifest tells of its sets of vectors") {
  const Manifest m = with_sets();
  const SecretBytes body = encode_manifest(m);
  const Manifest back = decode_manifest(body.view());
  CHECK(back.next_vector_set == 6);
  REQUIRE(back.vector_sets.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(back.vector_sets[i].number == m.vector_sets[i].number);
    CHECK(back.vector_sets[i].model == m.vector_sets[i].model);
    CHECK(back.vector_sets[i].dimensions == m.vector_sets[i].dimensions);
    CHECK(back.vector_sets[i].filled == m.vector_sets[i].filled);
  }
  CHECK(encode_manifest(back).view() == body.view());
  // One from before vectors has none; one whose sets are all dropped keeps their numbers.
  CHECK(decode_manifest(encode_manifest(Manifest()).view()).next_vector_set == 1);
  Manifest dropped = with_sets();
  dropped.vector_sets.clear();
  CHECK(decode_manifest(encode_manifest(dropped).view()).next_vector_set == 6);
}

TEST_CASE("a manifest with sets of vectors that cannot be is corrupt") {
  const auto corrupt = [](const std::function<void(Manifest&)>& change) {
    Manifest m = with_sets();
    change(m);
    const SecretBytes body = encode_manifest(m);
    return code_of([&] { decode_manifest(body.view()); }) == Code::corrupt;
  };
  for (const std::uint32_t dimensions : {0u, 1u, 15u, 17u, 1040u, 0x10000u, 0xFFFFFFF0u}) {
    CHECK(corrupt([&](Manifest& m) { m.vector_sets[1].dimensions = dimensions; }));
  }
  CHECK(corrupt([](Manifest& m) { m.vector_sets[0].number = 0; }));
  CHECK(corrupt([](Manifest& m) { m.vector_sets[1].number = 1; }));
  CHECK(corrupt([](Manifest& m) { m.vector_sets[1].number = 6; }));
  CHECK(corrupt([](Manifest& m) { std::swap(m.vector_sets[0], m.vector_sets[1]); }));
  CHECK(corrupt([](Manifest& m) { m.vector_sets[1].filled = 0; }));
  CHECK(corrupt([](Manifest& m) { m.vector_sets[1].filled = 2; }));
  CHECK(corrupt([](Manifest& m) { m.vector_sets[1].model.clear(); }));
  CHECK(corrupt([](Manifest& m) { m.vector_sets[1].model.assign(65, 'x'); }));
}

TEST_CASE("whatever stands in the manifest's field of vectors is read or corrupt") {
  const SecretBytes good = encode_manifest(with_sets());
  const std::string whole(good.view());
  vault::BodyReader reader(whole);
  std::string field, before;
  while (reader.next()) {
    if (reader.id() == 18) field = std::string(reader.bytes());
  }
  REQUIRE(!field.empty());
  REQUIRE(whole.substr(whole.size() - field.size()) == field);  // the last one
  before = whole.substr(0, whole.size() - field.size() - 2);
  std::mt19937 random(3);
  std::size_t read = 0, refused = 0;
  const auto look = [&](const std::string& bytes) {
    std::string body = before;
    vault::append_varint(body, 18);
    vault::append_varint(body, bytes.size());
    body += bytes;
    try {
      const Manifest m = decode_manifest(body);
      ++read;
      for (const VectorSetInfo& set : m.vector_sets) {
        REQUIRE((set.dimensions >= 16 && set.dimensions <= 1024 && set.dimensions % 16 == 0));
        REQUIRE((set.number > 0 && set.number < m.next_vector_set));
      }
    } catch (const Error& error) {
      ++refused;
      REQUIRE(error.code() == Code::corrupt);
    }
  };
  look(field);
  REQUIRE(read == 1);
  for (std::size_t size = 0; size < field.size(); ++size) look(field.substr(0, size));
  CHECK(read == 1);  // nothing that is cut off
  look(field + '\0');
  CHECK(read == 1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = field;
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      bytes[random() % std::min<std::size_t>(bytes.size(), 24)] = static_cast<char>(random());
    }
    look(bytes);
  }
  CHECK(refused > 5000);
}

}  // namespace strongroom::recall
