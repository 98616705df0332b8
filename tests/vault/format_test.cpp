#include <random>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "vault/header.h"
#include "vault/version_vector.h"
#include "vault_fixture.h"

using namespace strongroom;
using namespace strongroom::vault;

TEST_CASE("varints are shortest LEB128", "[format]") {
  for (const std::uint64_t value : {0ull, 1ull, 127ull, 128ull, 300ull, 1ull << 63, ~0ull}) {
    std::string bytes;
    append_varint(bytes, value);
    std::string_view in(bytes);
    REQUIRE(take_varint(in) == value);
    REQUIRE(in.empty());
  }
  for (const std::string& bad : {std::string("\x80\x00", 2), std::string("\x80"), std::string(),
                                 std::string(9, '\xFF') + "\x02", std::string(11, '\x80')}) {
    std::string_view in(bad);
    REQUIRE(code_of([&] { take_varint(in); }) == Code::corrupt);
  }
}

TEST_CASE("bodies ascend, keep unknown optional fields, refuse unknown required ones", "[format]") {
  BodyWriter writer;
  writer.u64(2, 7);
  writer.field(9, "x");
  writer.field(40, "later");
  REQUIRE(code_of([&] { writer.field(9, "again"); }) == Code::internal);
  std::string kept;
  BodyReader reader(writer.body().view());
  REQUIRE(reader.next());
  REQUIRE(reader.u64() == 7);
  REQUIRE(reader.next());
  REQUIRE(code_of([&] { reader.unknown(); }) == Code::unsupported);
  REQUIRE(reader.next());
  reader.unknown(&kept);
  REQUIRE_FALSE(reader.next());
  BodyWriter again;
  again.u64(2, 8);
  again.unknown(kept);
  BodyReader back(again.body().view());
  back.next();
  REQUIRE(back.next());
  REQUIRE(back.bytes() == "later");
}

TEST_CASE("every cut of a body is corrupt or a shorter body", "[format]") {
  BodyWriter writer;
  writer.u64(2, 7);
  writer.list(4, {"a", "bb", ""});
  const std::string body(writer.body().view());
  for (std::size_t cut = 0; cut < body.size(); ++cut) {
    try {
      for (BodyReader reader(std::string_view(body).substr(0, cut)); reader.next();) {
        if (reader.id() == 4) reader.list();
      }
    } catch (const Error& error) {
      REQUIRE(error.code() == Code::corrupt);
    }
  }
}

TEST_CASE("a sealed row opens only at its own place", "[format]") {
  const auto key = crypto::SecretKey::random(), other = crypto::SecretKey::random();
  const VaultId vault = random_id(), vault2 = random_id();
  const BankId bank = random_id(), bank2 = random_id();
  const RowPlace place{&vault, &bank, Kind::entry, 1, 7};
  const std::string row = seal_row(key, crypto::labels::kAadRecord, place, "body");
  SecretBytes plain;
  REQUIRE(open_row(key, crypto::labels::kAadRecord, place, row, plain) == "body");
  const auto refused = [&](const crypto::SecretKey& k, const crypto::Label& label, RowPlace p) {
    return code_of([&] { open_row(k, label, p, row, plain); }) == Code::corrupt;
  };
  REQUIRE(refused(other, crypto::labels::kAadRecord, place));
  REQUIRE(refused(key, crypto::labels::kAadHead, place));
  REQUIRE(refused(key, crypto::labels::kAadRecord, {&vault2, &bank, Kind::entry, 1, 7}));
  REQUIRE(refused(key, crypto::labels::kAadRecord, {&vault, &bank2, Kind::entry, 1, 7}));
  REQUIRE(refused(key, crypto::labels::kAadRecord, {&vault, &bank, Kind::link, 1, 7}));
  REQUIRE(refused(key, crypto::labels::kAadRecord, {&vault, &bank, Kind::entry, 2, 7}));
  REQUIRE(refused(key, crypto::labels::kAadRecord, {&vault, &bank, Kind::entry, 1, 8}));
  for (std::size_t bit = 0; bit < row.size() * 8; ++bit) {
    std::string flipped = row;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    REQUIRE(code_of([&] { open_row(key, crypto::labels::kAadRecord, place, flipped, plain); }) ==
            Code::corrupt);
  }
}

TEST_CASE("every bit of the header matters", "[format]") {
  Header header;
  header.vault_id = random_id();
  header.created = 123;
  const std::string bytes = encode_header(header);
  REQUIRE(bytes.size() == kHeaderBytes);
  REQUIRE(decode_header(bytes).vault_id == header.vault_id);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    REQUIRE(code_of([&] { decode_header(flipped); }) == Code::corrupt);
  }
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    REQUIRE(code_of([&] { decode_header(bytes.substr(0, cut)); }) == Code::corrupt);
  }
  header.must_open = 1;
  REQUIRE(code_of([&] { decode_header(encode_header(header)); }) == Code::unsupported);
  header.must_open = 0;
  header.must_write = 1;
  REQUIRE_FALSE(can_write(decode_header(encode_header(header))));
}

TEST_CASE("version vectors tell continuation, rollback and fork apart", "[format]") {
  const Id16 a = random_id(), b = random_id();
  VersionVector x;
  x.raise(a, 5);
  VersionVector y = x;
  REQUIRE(y.compare(x) == Lineage::equal);
  y.raise(b, 6);
  REQUIRE(y.compare(x) == Lineage::newer);
  REQUIRE(x.compare(y) == Lineage::older);
  x.raise(a, 7);
  REQUIRE(x.compare(y) == Lineage::mixed);
  std::string bytes;
  y.encode(bytes);
  std::string_view in(bytes);
  REQUIRE(VersionVector::decode(in).compare(y) == Lineage::equal);
}

TEST_CASE("a thirty-third replica folds the oldest into the floor", "[format]") {
  VersionVector vector;
  std::vector<Id16> ids;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    ids.push_back(random_id());
    vector.raise(ids.back(), i);
  }
  std::string bytes;
  vector.encode(bytes);
  REQUIRE(bytes.size() == 1 + 33 * 24);
  REQUIRE(vector.at(ids[39]) == 40);
  REQUIRE(vector.at(ids[0]) == 8);  // the floor
  REQUIRE(vector.at(random_id()) == 8);
  VersionVector older;
  older.raise(ids[0], 1);
  REQUIRE(vector.compare(older) == Lineage::newer);
}
