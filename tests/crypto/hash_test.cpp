#include "crypto/hash.h"

#include <algorithm>
#include <fcntl.h>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file.h"
#include "crypto/process.h"
#include "crypto/sha256.h"
#include "tests/crypto/vectors.h"

namespace strongroom::crypto {

using testing::bytes_of;
using testing::for_each_vector;
using testing::key_of;
using testing::text_of;

TEST_CASE("BLAKE2b known answers", "[crypto][hash]") {
  CHECK(for_each_vector("blake2b.jsonl", [](const Json& vector) {
          const Label label = make_label(text_of(vector, "label"));
          const SecretKey key = key_of(vector, "key");
          const std::string message = bytes_of(vector, "message");
          const std::string_view all = message;
          const std::string_view head = all.substr(0, all.size() / 3);
          const std::string_view tail = all.substr(all.size() / 3);
          CHECK(view(hash32(label, {all})) == bytes_of(vector, "hash32"));
          CHECK(view(hash32(label, {head, {}, tail})) == bytes_of(vector, "hash32"));
          CHECK(view(keyed_hash16(key, label, {head, tail})) == bytes_of(vector, "keyed_hash16"));
          CHECK(view(keyed_hash32(key, label, {head, tail})) == bytes_of(vector, "keyed_hash32"));
          CHECK(derive(key, label, all).view() == bytes_of(vector, "keyed_hash32"));
        }) == 60);
}

TEST_CASE("labels are distinct and fit", "[crypto][labels]") {
  std::set<Label> distinct(labels::kAll.begin(), labels::kAll.end());
  CHECK(distinct.size() == labels::kAll.size());
  for (const Label& label : labels::kAll) {
    const std::string_view padded = label_view(label);
    const std::string_view text = padded.substr(0, padded.find('\0'));
    CHECK(text.size() <= 15);
    CHECK(text.substr(0, 4) == "sr1.");
    CHECK(padded.substr(text.size()).find_first_not_of('\0') == std::string_view::npos);
  }
  // Every label of the registry is in kAll, so that the check above sees it.
  const std::string here = __FILE__;
  const std::string path = here.substr(0, here.rfind("tests/")) + "crypto/labels.h";
  const auto header = open_file(path, O_RDONLY, "labels.h");
  REQUIRE(header);
  const std::string source = read_all(header->get(), 65536, "labels.h");
  std::size_t declared = 0;
  for (std::size_t at = 0; (at = source.find("= make_label(\"", at)) != std::string::npos; ++at) {
    ++declared;
  }
  CHECK(declared == labels::kAll.size());
  CHECK_THROWS(make_label("a label of seventeen"));
}

// The examples of FIPS 180-4, and the empty message.
TEST_CASE("SHA-256 known answers", "[crypto][hash]") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("multiset hash known answers", "[crypto][multiset]") {
  CHECK(for_each_vector("multiset.jsonl", [](const Json& vector) {
          const SecretKey key = key_of(vector, "key");
          MultisetHash sum;
          CHECK(sum.zero());
          for (const Json& step : vector.find("steps")->items()) {
            const std::string element = bytes_of(step, "element");
            const std::string_view whole = element;
            const std::string_view head = whole.substr(0, whole.size() / 2);
            const std::string_view tail = whole.substr(whole.size() / 2);
            if (step.find("add")->as_bool()) {
              sum.add(key, {head, tail});
            } else {
              sum.remove(key, {whole});
            }
            CHECK(sum.bytes() == bytes_of(step, "sum"));
            CHECK(MultisetHash::from_bytes(sum.bytes()) == sum);
          }
        }) == 9);
}

TEST_CASE("multiset hash algebra", "[crypto][multiset]") {
  const SecretKey key = SecretKey::random(), other_key = SecretKey::random();
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> elements;
    for (int i = 0; i < 40; ++i) elements.push_back(random_bytes(random() % 50));
    MultisetHash forward, shuffled, foreign;
    for (const std::string& element : elements) forward.add(key, {element});
    std::shuffle(elements.begin(), elements.end(), random);
    for (const std::string& element : elements) shuffled.add(key, {element});
    for (const std::string& element : elements) foreign.add(other_key, {element});
    CHECK(forward == shuffled);
    CHECK_FALSE(forward == foreign);
    // A multiset and not a set: the same element twice counts twice.
    MultisetHash twice = forward;
    twice.add(key, {elements[0]});
    CHECK_FALSE(twice == forward);
    twice.add(key, {elements[0]});
    CHECK_FALSE(twice == forward);
    twice.remove(key, {elements[0]});
    twice.remove(key, {elements[0]});
    CHECK(twice == forward);
    std::shuffle(elements.begin(), elements.end(), random);
    for (const std::string& element : elements) shuffled.remove(key, {element});
    CHECK(shuffled.zero());
    CHECK(shuffled.bytes() == std::string(64, '\0'));
  }
  for (const std::size_t size : {0u, 63u, 65u}) {
    CHECK_THROWS_AS(MultisetHash::from_bytes(std::string(size, 'x')), Error);
  }
}

TEST_CASE("multiset hash carries over all limbs", "[crypto][multiset]") {
  const SecretKey key = SecretKey::random();
  // From 2^512 - 1 every add wraps through every limb, and from 0 every remove does.
  MultisetHash all_ones = MultisetHash::from_bytes(std::string(64, '\xff'));
  MultisetHash zero;
  all_ones.add(key, {"element"});
  zero.add(key, {"element"});
  std::string minus_one = zero.bytes();
  for (char& byte : minus_one) {
    byte = static_cast<char>(static_cast<unsigned char>(byte) - 1);
    if (static_cast<unsigned char>(byte) != 0xff) break;
  }
  CHECK(all_ones.bytes() == minus_one);
  all_ones.remove(key, {"element"});
  CHECK(all_ones.bytes() == std::string(64, '\xff'));
}

}  // namespace strongroom::crypto
