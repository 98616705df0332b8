#include "vault/bank.h"

#include <algorithm>

#include "base/error.h"
#include "crypto/aead.h"

namespace strongroom::vault {
namespace {

const crypto::Label& kRecordLabel = crypto::labels::kAadRecord;
constexpr std::uint64_t kHeadKey = 0;

std::string encode_names(const std::vector<NamePair>& pairs) {
  std::string row;
  row.reserve(pairs.size() * kNamePairBytes);
  for (const NamePair& pair : pairs) {
    row.append(pair.tail.data(), pair.tail.size());
    append_le(row, pair.key_version);
    append_le(row, pair.record);
  }
  return row;
}

std::string_view tail_of(const crypto::Hash16& hash) {
  return {hash.data() + 8, 8};
}
std::string_view key_of(const crypto::Hash16& hash) {
  return {hash.data(), 8};
}

// A names row counts under the newest key version that made one of its pairs.
std::uint32_t names_version(std::string_view row) {
  std::uint32_t version = 0;
  for (std::size_t at = 8; at + 4 <= row.size(); at += kNamePairBytes) {
    version = std::max(version, load_le<std::uint32_t>(row, at));
  }
  return version;
}

}  // namespace

BankKeys BankKeys::make(const VaultId& vault, const BankId& bank, std::uint32_t version,
                        const crypto::SecretKey& bank_key, crypto::SecretKey secret) {
  std::string context(view(vault));
  context.append(view(bank));
  append_le(context, version);
  const auto sub = [&](const crypto::Label& label) {
    return crypto::derive(bank_key, label, context);
  };
  using namespace crypto::labels;
  return {version,      sub(kKeyNames), sub(kKeyRecords), sub(kKeyChunks),  sub(kKeyIndex),
          sub(kKeySet), sub(kKeyHead),  sub(kKeyLog),     std::move(secret)};
}

std::vector<NamePair> decode_names(std::string_view row) {
  if (row.empty() || row.size() % kNamePairBytes != 0) throw_corrupt("a name has the wrong size");
  std::vector<NamePair> pairs;
  for (std::size_t at = 0; at < row.size(); at += kNamePairBytes) {
    NamePair pair;
    std::memcpy(pair.tail.data(), row.data() + at, 8);
    pair.key_version = load_le<std::uint32_t>(row, at + 8);
    pair.record = load_le<std::uint64_t>(row, at + 12);
    pairs.push_back(pair);
  }
  return pairs;
}

void for_each_name(ReadTxn& txn, const std::function<void(const NamePair&)>& visit) {
  txn.scan(Table::names, {}, [&](std::string_view, std::string_view row) {
    for (const NamePair& pair : decode_names(row)) visit(pair);
    return true;
  });
}

// ---- IndexKey

IndexKey::IndexKey(Kind kind, std::uint32_t segment, std::uint32_t number)
    : place_(std::uint64_t{segment} << 32 | number) {
  bytes_[0] = static_cast<char>(kind);
  for (int i = 0; i < 8; ++i) bytes_[1 + i] = static_cast<char>(place_ >> (56 - 8 * i));
}

IndexKey::IndexKey(std::string_view stored) {
  if (stored.size() != sizeof bytes_) throw_corrupt("a key of the index has the wrong size");
  std::memcpy(bytes_, stored.data(), sizeof bytes_);
  for (const char c : stored.substr(1)) place_ = place_ << 8 | static_cast<unsigned char>(c);
}

// ---- Bank

Bank::Bank(std::shared_ptr<Engine> engine, const VaultId& vault, const BankId& id, std::string name,
           BankKeys keys, std::shared_ptr<Anchor> anchor, const Id16& session)
    : engine_(std::move(engine)),
      vault_(vault),
      id_(id),
      name_(std::move(name)),
      keys_(std::move(keys)),
      anchor_(std::move(anchor)),
      session_(std::make_shared<AuditSession>(session)) {}

crypto::Hash16 Bank::name_hash(Kind kind, std::string_view name) const {
  std::string prefix(1, static_cast<char>(kind));
  append_varint(prefix, name.size());
  return crypto::keyed_hash16(keys_.names, crypto::labels::kName, {prefix, name});
}

void Bank::count_row(BankHead& head, std::uint32_t key_version, Table table, std::string_view key,
                     std::string_view value, bool sealed, bool add) const {
  if (key_version != keys_.version) throw_corrupt("a row names a key that does not exist");
  if (sealed && value.size() < kEnvelopeHeader + kEnvelopeTag) throw_corrupt("a row is too short");
  const char prefix[2] = {static_cast<char>(table), static_cast<char>(key.size())};
  const std::string_view start = sealed ? value.substr(0, kEnvelopeHeader) : value;
  const std::string_view tag = sealed ? value.substr(value.size() - kEnvelopeTag) : "";
  BankHead::RowSet& set = head.set(key_version);
  if (add) {
    set.sum.add(keys_.set, {{prefix, 2}, key, start, tag});
    ++set.rows;
  } else {
    if (set.rows == 0) throw_corrupt("a bank holds more rows than it counts");
    set.sum.remove(keys_.set, {{prefix, 2}, key, start, tag});
    --set.rows;
  }
}

void Bank::check_anchor() {
  const auto seen = anchor_->seen();
  const auto at = seen.find(id_);
  if (at == seen.end()) return;
  BankRead view = read();
  check_lineage(view.head().vector, view.head_tag(), at->second);
}

// ---- BankRead

BankRead::BankRead(const Bank& bank, std::unique_ptr<ReadTxn> txn)
    : bank_(bank), txn_(std::move(txn)) {}

void BankRead::load_head(ReadTxn& txn) {
  const auto row = txn.get(Table::head, IntegerKey(kHeadKey).view());
  if (!row) throw_corrupt("a bank's head is missing");
  SecretBytes plain;
  const EnvelopeHeader header = read_envelope(*row);
  if (header.key_version != bank_.keys().version) throw_corrupt("a bank's head has an unknown key");
  head_ = decode_head(open_row(bank_.keys().head, crypto::labels::kAadHead,
                               bank_.place(Kind::head, header.key_version, 0), *row, plain));
  head_tag_ = id_from(row->substr(row->size() - kEnvelopeTag));
  has_head_ = true;
}

const BankHead& BankRead::head() {
  if (!has_head_) load_head(reader());
  return head_;
}

std::optional<RecordId> BankRead::find(Kind kind, std::string_view name) {
  const crypto::Hash16 hash = bank_.name_hash(kind, name);
  const auto row = reader().get(Table::names, key_of(hash));
  if (!row) return std::nullopt;
  if (row->empty() || row->size() % kNamePairBytes != 0) throw_corrupt("a name has the wrong size");
  for (std::size_t at = 0; at < row->size(); at += kNamePairBytes) {
    if (row->substr(at, 8) == tail_of(hash)) return load_le<std::uint64_t>(*row, at + 12);
  }
  return std::nullopt;
}

std::string_view BankRead::row(RecordId id) {
  const auto row = reader().get(Table::records, IntegerKey(id).view());
  if (!row) throw_corrupt("a record is missing");
  return *row;
}

BankRead::Record BankRead::open(RecordId id, SecretBytes& plain) {
  const std::string_view sealed = row(id);
  const EnvelopeHeader header = read_envelope(sealed);
  if (header.key_version != bank_.keys().version) {
    throw_corrupt("a record names a key that does not exist");
  }
  return {header.kind, open_row(bank_.keys().records, kRecordLabel,
                                bank_.place(header.kind, header.key_version, id), sealed, plain)};
}

void BankRead::open_index(Kind kind, std::string_view sealed, std::uint64_t place, char* out,
                          std::size_t size) {
  const EnvelopeHeader header = read_envelope(sealed);
  if (header.kind != kind || header.key_version != bank_.keys().version) {
    throw_corrupt("a row of the index is not what its place says");
  }
  const auto aad =
      row_aad(crypto::labels::kAadIndex, bank_.place(kind, header.key_version, place));
  if (!crypto::open_into(bank_.keys().index, {aad.data(), aad.size()},
                         sealed.substr(kEnvelopeClear), out, size)) {
    throw_corrupt("a row of the index is not authentic");
  }
}

// ---- BankWrite

BankWrite::BankWrite(Bank& bank, std::unique_ptr<WriteTxn> txn, WriteStamp stamp)
    : BankRead(bank, NoTxn{}),
      mutable_bank_(bank),
      write_(std::move(txn)),
      stamp_(std::move(stamp)) {
  // A new bank's file has no head until its first commit.
  if (write_->rows(Table::head) != 0) {
    load_head(*write_);
  } else if (write_->rows(Table::records) != 0 || write_->rows(Table::log) != 0) {
    throw_corrupt("a bank's head is missing");
  } else {
    has_head_ = true;
  }
  const auto last = write_->last_integer_key(Table::records);
  if (last && *last >= head_.next_record_id) head_.next_record_id = *last + 1;
}

void BankWrite::count(std::uint32_t key_version, Table table, std::string_view key,
                      std::string_view value, bool sealed, bool add) {
  bank_.count_row(head_, key_version, table, key, value, sealed, add);
}

RecordId BankWrite::append(Kind kind, std::string_view body) {
  const RecordId id = head_.next_record_id++;
  const std::uint32_t version = bank_.keys().version;
  const std::string row =
      seal_row(bank_.keys().records, kRecordLabel, bank_.place(kind, version, id), body);
  const IntegerKey key(id);
  write_->append(Table::records, key.view(), row);
  count(version, Table::records, key.view(), row, true, true);
  return id;
}

void BankWrite::erase(RecordId id) {
  const IntegerKey key(id);
  const std::string_view sealed = row(id);
  count(read_envelope(sealed).key_version, Table::records, key.view(), sealed, true, false);
  write_->erase(Table::records, key.view());
}

void BankWrite::replace(Kind kind, RecordId id, std::string_view body) {
  row(id);  // or put_row() would add it
  put_row(Table::records, IntegerKey(id).view(),
          seal_row(bank_.keys().records, kRecordLabel,
                   bank_.place(kind, bank_.keys().version, id), body),
          true);
}

void BankWrite::bind(Kind kind, std::string_view name, RecordId id) {
  const crypto::Hash16 hash = bank_.name_hash(kind, name);
  NamePair pair;
  std::memcpy(pair.tail.data(), hash.data() + 8, 8);
  pair.key_version = bank_.keys().version;
  pair.record = id;
  std::vector<NamePair> pairs;
  if (const auto old = write_->get(Table::names, key_of(hash))) {
    pairs = decode_names(*old);
    count(names_version(*old), Table::names, key_of(hash), *old, false, false);
  }
  const auto at =
      std::lower_bound(pairs.begin(), pairs.end(), pair, [](const NamePair& a, const NamePair& b) {
        return crypto::view(a.tail) < crypto::view(b.tail);
      });
  if (at != pairs.end() && at->tail == pair.tail) {
    *at = pair;
  } else {
    pairs.insert(at, pair);
  }
  const std::string row = encode_names(pairs);
  write_->put(Table::names, key_of(hash), row);
  count(names_version(row), Table::names, key_of(hash), row, false, true);
}

void BankWrite::unbind(Kind kind, std::string_view name) {
  const crypto::Hash16 hash = bank_.name_hash(kind, name);
  const auto old = write_->get(Table::names, key_of(hash));
  if (!old) return;
  std::vector<NamePair> pairs = decode_names(*old);
  count(names_version(*old), Table::names, key_of(hash), *old, false, false);
  std::erase_if(pairs, [&](const NamePair& pair) {
    return std::string_view(pair.tail.data(), 8) == tail_of(hash);
  });
  if (pairs.empty()) {
    write_->erase(Table::names, key_of(hash));
    return;
  }
  const std::string row = encode_names(pairs);
  write_->put(Table::names, key_of(hash), row);
  count(names_version(row), Table::names, key_of(hash), row, false, true);
}

void BankWrite::put_row(Table table, std::string_view key, std::string_view value, bool sealed) {
  const std::uint32_t version = bank_.keys().version;
  if (const auto old = write_->get(table, key)) count(version, table, key, *old, sealed, false);
  write_->put(table, key, value);
  count(version, table, key, value, sealed, true);
}

void BankWrite::put_index(Kind kind, std::string_view key, std::uint64_t place,
                          std::string_view plain, bool fresh) {
  const std::uint32_t version = bank_.keys().version;
  const auto aad = row_aad(crypto::labels::kAadIndex, bank_.place(kind, version, place));
  index_row_.resize(kEnvelopeHeader + plain.size() + kEnvelopeTag);
  write_envelope(index_row_.data(), kind, version);
  crypto::seal_into(bank_.keys().index, {aad.data(), aad.size()}, plain,
                    index_row_.data() + kEnvelopeClear);
  if (!fresh) {
    put_row(Table::index, key, index_row_, true);
    return;
  }
  write_->put(Table::index, key, index_row_);
  count(version, Table::index, key, index_row_, true, true);
}

void BankWrite::erase_row(Table table, std::string_view key, bool sealed) {
  const auto old = write_->get(table, key);
  if (!old) throw_corrupt("a row is missing");
  count(bank_.keys().version, table, key, *old, sealed, false);
  write_->erase(table, key);
}

void BankWrite::commit() {
  if (!events_.empty()) {
    mutable_bank_.session().append(*write_, head_, bank_.vault_id(), bank_.id(), bank_.keys().log,
                                   stamp_.audit_public_key, events_);
  }
  ++head_.generation;
  head_.vector.raise(stamp_.replica, head_.generation);
  head_.previous_tag = head_tag_;
  if (stamp_.root.version >= head_.root.version) head_.root = stamp_.root;
  const std::uint32_t version = bank_.keys().version;
  const std::string row =
      seal_row(bank_.keys().head, crypto::labels::kAadHead, bank_.place(Kind::head, version, 0),
               encode_head(head_).view(), kHeadFloor);
  write_->put(Table::head, IntegerKey(kHeadKey).view(), row);
  write_->commit();
  head_tag_ = id_from(std::string_view(row).substr(row.size() - kEnvelopeTag));
  if (!events_.empty()) mutable_bank_.session().committed();
  bank_.anchor().note(bank_.id(), head_.vector, head_tag_, head_.root.version);
}

}  // namespace strongroom::vault
