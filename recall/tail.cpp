#include "recall/tail.h"

#include <algorithm>
#include <cstring>

#include "crypto/aead.h"
#include "recall/columns.h"
#include "vault/format.h"

namespace strongroom::recall {

using vault::append_varint;
using vault::take_varint;
using vault::throw_corrupt;

TailRow::~TailRow() {
  for (std::string& word : words) wipe(word);
}

const std::uint8_t* TailRow::find(TermId term) const {
  const auto at = std::lower_bound(terms.begin(), terms.end(), term,
                                   [](const auto& have, TermId id) { return have.first < id; });
  return at == terms.end() || at->first != term ? nullptr : &at->second;
}

const char* TailRow::vector(std::uint32_t set) const {
  for (const TailVector& vector : vectors) {
    if (vector.set == set && !vector.cell.empty()) return vector.cell.data();
  }
  return nullptr;
}

SecretBytes encode_tail_row(const TailRow& row) {
  std::string body(kAttributeBytes + kTimeBytes, '\0');
  encode_attributes(row.attributes, body.data());
  encode_times(row.times, body.data() + kAttributeBytes);
  append_varint(body, row.terms.size());
  for (const auto& [term, code] : row.terms) {
    vault::append_le(body, term);
    body.push_back(static_cast<char>(code));
  }
  append_varint(body, row.words.size());
  for (const std::string& word : row.words) {
    append_varint(body, word.size());
    body.append(word);
  }
  append_varint(body, row.vectors.size());
  for (const TailVector& vector : row.vectors) {
    append_varint(body, vector.set);
    append_varint(body, vector.cell.size());
    body.append(vector.cell.view());
  }
  SecretBytes plain;
  const std::size_t size = crypto::padme(std::max(vault::kRecordFloor, body.size() + 4));
  plain.reserve(size);
  const auto length = static_cast<std::uint32_t>(body.size());
  char length_bytes[4];
  std::memcpy(length_bytes, &length, 4);
  plain.append({length_bytes, 4});
  plain.append(body);
  plain.resize(size);
  wipe(body);
  return plain;
}

TailRow decode_tail_row(std::string_view plain) {
  if (plain.size() < 4 + kAttributeBytes + kTimeBytes) throw_corrupt("a tail row is too short");
  const auto length = vault::load_le<std::uint32_t>(plain);
  if (length > plain.size() - 4 || length < kAttributeBytes + kTimeBytes) {
    throw_corrupt("a tail row's length is wrong");
  }
  std::string_view in = plain.substr(4, length);
  TailRow row;
  row.attributes = decode_attributes(in.data());
  row.times = decode_times(in.data() + kAttributeBytes);
  in.remove_prefix(kAttributeBytes + kTimeBytes);
  std::uint64_t count = take_varint(in);
  if (count > in.size() / 9) throw_corrupt("a tail row is cut off");
  row.terms.reserve(static_cast<std::size_t>(count));
  for (; count > 0; --count) {
    row.terms.emplace_back(vault::load_le<TermId>(in), static_cast<std::uint8_t>(in[8]));
    in.remove_prefix(9);
  }
  count = take_varint(in);
  if (count > in.size()) throw_corrupt("a tail row is cut off");
  row.words.reserve(static_cast<std::size_t>(count));
  for (; count > 0; --count) {
    const std::uint64_t size = take_varint(in);
    if (size > in.size()) throw_corrupt("a tail row is cut off");
    row.words.emplace_back(in.substr(0, static_cast<std::size_t>(size)));
    in.remove_prefix(static_cast<std::size_t>(size));
  }
  for (count = take_varint(in); count > 0; --count) {
    TailVector& vector = row.vectors.emplace_back();
    vector.set = static_cast<std::uint32_t>(take_varint(in));
    const std::uint64_t size = take_varint(in);
    if (size > in.size()) throw_corrupt("a tail row is cut off");
    vector.cell.append(in.substr(0, static_cast<std::size_t>(size)));
    in.remove_prefix(static_cast<std::size_t>(size));
  }
  return row;
}

}  // namespace strongroom::recall
