#include "vault/format.h"

#include <limits>

#include "base/error.h"
#include "crypto/aead.h"
#include "crypto/process.h"

namespace strongroom::vault {

void throw_corrupt(std::string_view what) {
  throw Error(Code::corrupt, "The vault is damaged: " + std::string(what) + ".");
}

Id16 random_id() {
  Id16 id;
  crypto::random_bytes(id.data(), id.size());
  return id;
}

Id16 id_from(std::string_view bytes) {
  if (bytes.size() != 16) throw_corrupt("an id has the wrong size");
  Id16 id;
  std::memcpy(id.data(), bytes.data(), 16);
  return id;
}

std::string hex(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::uint64_t take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (in.empty()) throw_corrupt("a number is cut off");
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    if (shift == 63 && byte > 1) throw_corrupt("a number is too large");
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if ((byte & 0x80) == 0) {
      if (byte == 0 && shift != 0) throw_corrupt("a number is not in its shortest form");
      return value;
    }
  }
  throw_corrupt("a number is too large");
}

std::size_t varint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void BodyWriter::varint(std::uint64_t value) {
  char bytes[10];
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>((value & 0x7F) | 0x80);
  bytes[size++] = static_cast<char>(value);
  body_.append({bytes, size});
}

void BodyWriter::begin(std::uint32_t id, std::size_t size) {
  if (id <= last_) throw Error(Code::internal, "Body fields are out of order.");
  last_ = id;
  varint(id);
  varint(size);
}

void BodyWriter::field(std::uint32_t id, std::string_view bytes) {
  begin(id, bytes.size());
  raw(bytes);
}

void BodyWriter::u8(std::uint32_t id, std::uint8_t value) {
  const char byte = static_cast<char>(value);
  field(id, {&byte, 1});
}

void BodyWriter::u32(std::uint32_t id, std::uint32_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  field(id, {bytes, sizeof bytes});
}

void BodyWriter::u64(std::uint32_t id, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  field(id, {bytes, sizeof bytes});
}

void BodyWriter::i64(std::uint32_t id, std::int64_t value) {
  u64(id, static_cast<std::uint64_t>(value));
}

void BodyWriter::list(std::uint32_t id, const std::vector<std::string>& items) {
  std::size_t size = varint_size(items.size());
  for (const std::string& item : items) size += varint_size(item.size()) + item.size();
  begin(id, size);
  varint(items.size());
  for (const std::string& item : items) {
    varint(item.size());
    raw(item);
  }
}

void BodyWriter::pairs(std::uint32_t id,
                       const std::vector<std::pair<std::string, std::string>>& items) {
  std::size_t size = varint_size(2 * items.size());
  for (const auto& [first, second] : items) {
    size += varint_size(first.size()) + first.size() + varint_size(second.size()) + second.size();
  }
  begin(id, size);
  varint(2 * items.size());
  for (const auto& [first, second] : items) {
    varint(first.size());
    raw(first);
    varint(second.size());
    raw(second);
  }
}

void BodyWriter::unknown(std::string_view fields) {
  for (BodyReader reader(fields); reader.next();) field(reader.id(), reader.bytes());
}

bool BodyReader::next() {
  if (rest_.empty()) return false;
  const std::string_view begin = rest_;
  const std::uint64_t id = take_varint(rest_);
  const std::uint64_t length = take_varint(rest_);
  if (id <= id_ || id > std::numeric_limits<std::uint32_t>::max()) {
    throw_corrupt("fields are out of order");
  }
  if (length > rest_.size()) throw_corrupt("a field is cut off");
  id_ = static_cast<std::uint32_t>(id);
  bytes_ = rest_.substr(0, static_cast<std::size_t>(length));
  rest_.remove_prefix(static_cast<std::size_t>(length));
  whole_ = begin.substr(0, begin.size() - rest_.size());
  return true;
}

std::string_view BodyReader::exactly(std::size_t size) const {
  if (bytes_.size() != size) throw_corrupt("a field has the wrong size");
  return bytes_;
}
std::uint8_t BodyReader::u8() const {
  return load_le<std::uint8_t>(exactly(1));
}
std::uint32_t BodyReader::u32() const {
  return load_le<std::uint32_t>(exactly(4));
}
std::uint64_t BodyReader::u64() const {
  return load_le<std::uint64_t>(exactly(8));
}
std::int64_t BodyReader::i64() const {
  return load_le<std::int64_t>(exactly(8));
}
Id16 BodyReader::id16() const {
  return id_from(bytes_);
}

std::vector<std::string> BodyReader::list() const {
  return decode_list(bytes_);
}

std::vector<std::string> decode_list(std::string_view in) {
  const std::uint64_t count = take_varint(in);
  if (count > in.size()) throw_corrupt("a list is cut off");
  std::vector<std::string> items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = take_varint(in);
    if (length > in.size()) throw_corrupt("a list is cut off");
    items.emplace_back(in.substr(0, static_cast<std::size_t>(length)));
    in.remove_prefix(static_cast<std::size_t>(length));
  }
  if (!in.empty()) throw_corrupt("a list has bytes after its end");
  return items;
}

void BodyReader::unknown(std::string* keep) const {
  if (id_ % 2 == 1) {
    throw Error(Code::unsupported, "A record was written by a newer version of Strongroom.");
  }
  if (keep != nullptr) keep->append(whole_);
}

std::array<char, 63> row_aad(const crypto::Label& label, const RowPlace& place) {
  std::array<char, 63> aad;
  char* at = aad.data();
  const auto put = [&](const void* bytes, std::size_t size) {
    std::memcpy(at, bytes, size);
    at += size;
  };
  put(label.data(), 16);
  put(place.vault->data(), 16);
  put(place.bank->data(), 16);
  const char head[3] = {static_cast<char>(place.kind), 1, 1};
  put(head, 3);
  put(&place.key_version, 4);
  put(&place.id, 8);
  return aad;
}

void write_envelope(char* out, Kind kind, std::uint32_t key_version) {
  out[0] = 1;  // version
  out[1] = 1;  // suite
  out[2] = static_cast<char>(kind);
  std::memcpy(out + 3, &key_version, sizeof key_version);
}

namespace {

void append_envelope_header(std::string& row, Kind kind, std::uint32_t key_version) {
  char clear[kEnvelopeClear];
  write_envelope(clear, kind, key_version);
  row.append(clear, sizeof clear);
}

}  // namespace

std::string seal_row(const crypto::SecretKey& key, const crypto::Label& label,
                     const RowPlace& place, std::string_view body, std::size_t floor) {
  const std::size_t plain_size = crypto::padme(std::max(floor, body.size() + 4));
  SecretBytes plain;
  plain.reserve(plain_size);
  const auto length = static_cast<std::uint32_t>(body.size());
  char length_bytes[4];
  std::memcpy(length_bytes, &length, 4);
  plain.append({length_bytes, 4});
  plain.append(body);
  plain.resize(plain_size);
  const auto aad = row_aad(label, place);
  std::string row;
  row.reserve(kEnvelopeHeader + plain_size + kEnvelopeTag);
  append_envelope_header(row, place.kind, place.key_version);
  crypto::seal(key, {aad.data(), aad.size()}, plain.view(), row);
  return row;
}

EnvelopeHeader read_envelope(std::string_view row) {
  if (row.size() < kEnvelopeHeader + kEnvelopeTag) throw_corrupt("a row is too short");
  if (row[0] != 1 || row[1] != 1) {
    // A flipped bit and a newer version look alike here; the header's feature sets, which are
    // checked first, name a real newer format.
    throw_corrupt("a row has an unknown version");
  }
  return {static_cast<Kind>(row[2]), load_le<std::uint32_t>(row, 3)};
}

std::string_view open_row(const crypto::SecretKey& key, const crypto::Label& label,
                          const RowPlace& place, std::string_view row, SecretBytes& plain) {
  const EnvelopeHeader header = read_envelope(row);
  if (header.kind != place.kind || header.key_version != place.key_version) {
    throw_corrupt("a row is not what its place says");
  }
  const auto aad = row_aad(label, place);
  if (!crypto::open(key, {aad.data(), aad.size()}, row.substr(kEnvelopeClear), plain)) {
    throw_corrupt("a row is not authentic");
  }
  if (plain.size() < 4) throw_corrupt("a row is too short");
  const auto length = load_le<std::uint32_t>(plain.view());
  if (length > plain.size() - 4) throw_corrupt("a row's length is wrong");
  const std::string_view padding = plain.view().substr(4 + length);
  if (padding.find_first_not_of('\0') != std::string_view::npos) {
    throw_corrupt("a row's padding is not zero");
  }
  return plain.view().substr(4, length);
}

std::string seal_raw(const crypto::SecretKey& key, Kind kind, std::uint32_t key_version,
                     std::string_view aad, std::string_view plain) {
  std::string row;
  row.reserve(kEnvelopeHeader + plain.size() + kEnvelopeTag);
  append_envelope_header(row, kind, key_version);
  crypto::seal(key, aad, plain, row);
  return row;
}

}  // namespace strongroom::vault
