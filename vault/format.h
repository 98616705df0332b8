// Format 1, the parts that every row shares: ids, kinds, bodies and the sealed envelope.
// docs/format.md describes the bytes; integers are little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/wipe.h"
#include "crypto/labels.h"
#include "crypto/secret_key.h"

namespace strongroom::vault {

/// Order ids by view(id): char is signed, so the array's own order is not that of its bytes.
using Id16 = std::array<char, 16>;
using VaultId = Id16;
using BankId = Id16;
using RecordId = std::uint64_t;

inline std::string_view view(const Id16& id) {
  return {id.data(), id.size()};
}
Id16 random_id();
Id16 id_from(std::string_view bytes);  // exactly 16 bytes, else corrupt
std::string hex(std::string_view bytes);

/// What a record is; in the clear part of its envelope. 32 to 63 belong to the index.
enum class Kind : std::uint8_t {
  entry = 1,
  head = 2,
  entry_tombstone = 3,
  memory = 4,
  document = 5,
  memory_tombstone = 6,
  link = 7,
  operation = 8,
  setting = 9,
  bank = 10,
  policy = 11,
  entity = 12,
  observation = 13,
  bank_offer = 14,
  index_manifest = 32,
  index_tail = 33,
  index_postings = 34,
  index_directory = 35,
  index_top = 36,
  index_filter = 37,
  index_attributes = 38,
  index_times = 39,
  index_live = 40,
  index_names = 41,    // interned tag sets, speakers, entities
  index_codes = 42,    // reserved for vectors, as the next
  index_vectors = 43,
  index_access = 44,   // reserved
};

template <class T>
void append_le(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}
/// Reads a little-endian integer at `at`; the caller has checked the size.
template <class T>
T load_le(std::string_view in, std::size_t at = 0) {
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

/// A u64 as a key of an INTEGERKEY table.
struct IntegerKey {
  explicit IntegerKey(std::uint64_t v) { std::memcpy(bytes, &v, sizeof v); }
  std::string_view view() const { return {bytes, sizeof bytes}; }
  char bytes[8];
};

/// Writes a body: fields in ascending order of id. Odd ids are required of a reader, even ones
/// optional.
class BodyWriter {
 public:
  void field(std::uint32_t id, std::string_view bytes);
  void u8(std::uint32_t id, std::uint8_t value);
  void u32(std::uint32_t id, std::uint32_t value);
  void u64(std::uint32_t id, std::uint64_t value);
  void i64(std::uint32_t id, std::int64_t value);
  /// count, then (length, bytes) each.
  void list(std::uint32_t id, const std::vector<std::string>& items);
  /// A list of twice as many items: first, second, first, second.
  void pairs(std::uint32_t id, const std::vector<std::pair<std::string, std::string>>& items);
  /// A field in pieces: exactly `size` bytes of raw() and varint() must follow.
  void begin(std::uint32_t id, std::size_t size);
  void raw(std::string_view bytes) { body_.append(bytes); }
  void varint(std::uint64_t value);
  void reserve(std::size_t size) { body_.reserve(size); }
  /// Carries on fields that a newer version wrote and this one does not know.
  void unknown(std::string_view fields);
  const SecretBytes& body() const noexcept { return body_; }
  SecretBytes take() { return std::move(body_); }

 private:
  SecretBytes body_;
  std::uint32_t last_ = 0;
};

/// The items of a list field. Throws corrupt.
std::vector<std::string> decode_list(std::string_view field);

/// Reads a body field by field. Every malformed byte is Code::corrupt.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}
  /// The next field; false at the end.
  bool next();
  std::uint32_t id() const noexcept { return id_; }
  std::string_view bytes() const noexcept { return bytes_; }
  /// The field as an integer of exactly that width.
  std::uint8_t u8() const;
  std::uint32_t u32() const;
  std::uint64_t u64() const;
  std::int64_t i64() const;
  Id16 id16() const;
  std::string_view exactly(std::size_t size) const;
  std::vector<std::string> list() const;
  /// For a field that the caller does not know: odd ids throw unsupported, even ones are collected.
  void unknown(std::string* keep = nullptr) const;

 private:
  std::string_view rest_, bytes_, whole_;
  std::uint32_t id_ = 0;
};

/// Shortest unsigned LEB128.
void append_varint(std::string& out, std::uint64_t value);
std::size_t varint_size(std::uint64_t value) noexcept;
/// Removes one from the front of `in`; corrupt when it is cut, longer than needed or too large.
std::uint64_t take_varint(std::string_view& in);

/// Where a sealed row lives; all of it is associated data.
struct RowPlace {
  const VaultId* vault;
  const BankId* bank;
  Kind kind;
  std::uint32_t key_version;
  RecordId id;
};

inline constexpr std::size_t kEnvelopeClear = 7;    // version, suite, kind, key version
inline constexpr std::size_t kEnvelopeHeader = 31;  // version, suite, kind, key version, nonce
inline constexpr std::size_t kEnvelopeTag = 16;
inline constexpr std::size_t kRecordFloor = 256;
inline constexpr std::size_t kHeadFloor = 512;

/// The 63 bytes of associated data.
std::array<char, 63> row_aad(const crypto::Label& label, const RowPlace& place);

/// Seals a body: length, body, zeros up to Padme(max(floor, 4 + n)).
std::string seal_row(const crypto::SecretKey& key, const crypto::Label& label,
                     const RowPlace& place, std::string_view body,
                     std::size_t floor = kRecordFloor);

struct EnvelopeHeader {
  Kind kind;
  std::uint32_t key_version;
};
/// Writes the clear part: kEnvelopeClear bytes.
void write_envelope(char* out, Kind kind, std::uint32_t key_version);
/// Reads the clear part. Throws corrupt when it is too short or has another version or suite.
EnvelopeHeader read_envelope(std::string_view row);

/// Opens a row into `plain` and returns the body inside it. Throws corrupt unless the row is
/// authentic for exactly this place and its padding is zero.
std::string_view open_row(const crypto::SecretKey& key, const crypto::Label& label,
                          const RowPlace& place, std::string_view row, SecretBytes& plain);

/// Raw sealing without length prefix or padding, for chunks: header | nonce | ciphertext | tag.
std::string seal_raw(const crypto::SecretKey& key, Kind kind, std::uint32_t key_version,
                     std::string_view aad, std::string_view plain);

[[noreturn]] void throw_corrupt(std::string_view what);

}  // namespace strongroom::vault
