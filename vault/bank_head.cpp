#include "vault/bank_head.h"

#include <algorithm>

#include "base/error.h"

namespace strongroom::vault {
namespace {

std::string_view take(std::string_view& in, std::size_t size) {
  if (in.size() < size) throw_corrupt("a bank head is cut off");
  const std::string_view part = in.substr(0, size);
  in.remove_prefix(size);
  return part;
}

std::vector<BankHead::RowSet> decode_sets(std::string_view in) {
  std::vector<BankHead::RowSet> sets;
  for (std::uint64_t n = take_varint(in); n > 0; --n) {
    BankHead::RowSet set;
    set.key_version = load_le<std::uint32_t>(take(in, 4));
    set.rows = load_le<std::uint64_t>(take(in, 8));
    set.sum = crypto::MultisetHash::from_bytes(take(in, 64));
    sets.push_back(set);
  }
  if (!in.empty()) throw_corrupt("a bank head has bytes after its end");
  return sets;
}

std::string encode_counts(const BankCounts& c) {
  std::string out;
  for (const std::uint64_t n :
       {c.entries, c.secrets, c.tombstones, c.memories, c.documents, c.links}) {
    append_le(out, n);
  }
  return out;
}

BankCounts decode_counts(std::string_view in) {
  if (in.size() < 48) throw_corrupt("a bank head's counts are cut off");
  const auto at = [&](std::size_t i) { return load_le<std::uint64_t>(in, i * 8); };
  return {at(0), at(1), at(2), at(3), at(4), at(5)};
}

template <std::size_t N>
void copy(std::array<char, N>& to, std::string_view from) {
  std::memcpy(to.data(), from.data(), N);
}

}  // namespace

BankHead::RowSet& BankHead::set(std::uint32_t key_version) {
  const auto at = std::lower_bound(
      sets.begin(), sets.end(), key_version,
      [](const RowSet& set, std::uint32_t version) { return set.key_version < version; });
  if (at != sets.end() && at->key_version == key_version) return *at;
  return *sets.insert(at, RowSet{key_version, 0, {}});
}

SecretBytes encode_head(const BankHead& head) {
  BodyWriter body;
  body.u64(1, head.generation);
  std::string bytes;
  head.vector.encode(bytes);
  body.field(3, bytes);
  bytes.clear();
  append_varint(bytes, head.sets.size());
  for (const BankHead::RowSet& set : head.sets) {
    append_le(bytes, set.key_version);
    append_le(bytes, set.rows);
    bytes.append(set.sum.bytes());
  }
  body.field(5, bytes);
  body.u64(7, head.next_record_id);
  bytes.clear();
  append_le(bytes, head.log_next);
  bytes.append(crypto::view(head.log_chain));
  body.field(9, bytes);
  bytes.clear();
  append_le(bytes, head.root.version);
  bytes.append(crypto::view(head.root.hash)).append(crypto::view(head.root.signature));
  body.field(11, bytes);
  body.field(13, view(head.previous_tag));
  bytes.clear();
  for (const std::uint64_t feature : head.features) append_le(bytes, feature);
  body.field(17, bytes);
  body.field(18, encode_counts(head.counts));
  if (!head.erase_pending.empty()) {
    bytes.clear();
    for (const RecordId id : head.erase_pending) append_le(bytes, id);
    body.field(20, bytes);
  }
  body.u64(22, head.operation_cursor);
  body.unknown(head.unknown);
  return body.take();
}

BankHead decode_head(std::string_view bytes) {
  BankHead head;
  unsigned required = 0;
  for (BodyReader body(bytes); body.next();) {
    required += body.id() % 2;
    switch (body.id()) {
      case 1: head.generation = body.u64(); break;
      case 3: {
        std::string_view in = body.bytes();
        head.vector = VersionVector::decode(in);
        break;
      }
      case 5: head.sets = decode_sets(body.bytes()); break;
      case 7: head.next_record_id = body.u64(); break;
      case 9:
        head.log_next = load_le<std::uint64_t>(body.exactly(40));
        copy(head.log_chain, body.bytes().substr(8));
        break;
      case 11:
        head.root.version = load_le<std::uint64_t>(body.exactly(104));
        copy(head.root.hash, body.bytes().substr(8));
        copy(head.root.signature, body.bytes().substr(40));
        break;
      case 13: head.previous_tag = body.id16(); break;
      case 17:
        for (std::size_t i = 0; i < 3; ++i) {
          head.features[i] = load_le<std::uint64_t>(body.exactly(24), i * 8);
        }
        break;
      case 18: head.counts = decode_counts(body.bytes()); break;
      case 20:
        for (std::size_t i = 0; i + 8 <= body.bytes().size(); i += 8) {
          head.erase_pending.push_back(load_le<std::uint64_t>(body.bytes(), i));
        }
        break;
      case 22: head.operation_cursor = body.u64(); break;
      default:
        // They are written back behind the known ones, so later versions number theirs above.
        if (body.id() < 22) throw_corrupt("a bank head has an unknown field");
        body.unknown(&head.unknown);
    }
  }
  if (required != 8) throw_corrupt("a bank head lacks a field");
  if (head.features[0] != 0) {
    throw Error(Code::unsupported, "A bank uses a feature that this version does not know.");
  }
  return head;
}

}  // namespace strongroom::vault
