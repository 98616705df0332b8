#include "vault/audit_log.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "crypto/aead.h"
#include "crypto/box.h"
#include "crypto/sign.h"
#include "vault/log_checkpoint.h"

namespace strongroom::vault {
namespace {

constexpr std::size_t kPrefix = 24;  // version, suite, kind, 0, step u32, session 16
constexpr std::size_t kLogFloor = 64;
// A checkpoint: prefix, chain hash before it 32, rows taken away u64, time i64, signature 64.
constexpr std::size_t kSigned = kPrefix + 32 + 8 + 8, kCheckpointBytes = kSigned + 64;
enum RowKind : char { kSession = 1, kEvent = 2, kCheckpoint = 3 };

std::string row_prefix(RowKind kind, std::uint32_t step, const Id16& session) {
  std::string row("\x01\x01", 2);
  row.push_back(kind);
  row.push_back(0);
  append_le(row, step);
  row.append(view(session));
  return row;
}

std::string event_aad(const VaultId& vault, const BankId& bank, std::string_view prefix,
                      std::uint64_t sequence, const crypto::Hash32& chain) {
  std::string aad(crypto::label_view(crypto::labels::kAadLog));
  aad.append(view(vault)).append(view(bank)).append(prefix);
  append_le(aad, sequence);
  aad.append(crypto::view(chain));
  return aad;
}

crypto::Hash32 next_chain(const crypto::SecretKey& log_key, const crypto::Hash32& previous,
                          std::uint64_t sequence, std::string_view row) {
  return crypto::keyed_hash32(log_key, crypto::labels::kLogChain,
                              {crypto::view(previous), IntegerKey(sequence).view(), row});
}

// count, then for each: id as the difference to the one before, count, bytes; all varints.
std::string encode_records(std::vector<AuditedRecord> records) {
  std::sort(records.begin(), records.end(),
            [](const AuditedRecord& a, const AuditedRecord& b) { return a.id < b.id; });
  std::string out;
  append_varint(out, records.size());
  RecordId before = 0;
  for (const AuditedRecord& record : records) {
    append_varint(out, record.id - before);
    append_varint(out, record.count);
    append_varint(out, record.bytes);
    before = record.id;
  }
  return out;
}

std::vector<AuditedRecord> decode_records(std::string_view in) {
  const std::uint64_t count = take_varint(in);
  if (count > AuditEvent::kMaxRecords) throw_corrupt("a log record lists too much");
  std::vector<AuditedRecord> records;
  RecordId id = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    id += take_varint(in);
    const std::uint64_t times = take_varint(in);
    records.push_back({id, times, take_varint(in)});
  }
  if (!in.empty()) throw_corrupt("a log record has bytes after its end");
  return records;
}

std::string encode_event(const AuditEvent& event) {
  BodyWriter body;
  body.i64(1, event.time);
  body.field(3, event.principal);
  body.field(5, event.tool);
  body.u8(7, event.permitted ? 1 : 0);
  if (!event.rule.empty()) body.field(8, event.rule);
  if (event.record != 0) body.u64(10, event.record);
  if (event.count != 1) body.u64(12, event.count);
  if (event.bytes != 0) body.u64(14, event.bytes);
  if (!event.error.empty()) body.field(16, event.error);
  if (!event.records.empty()) body.field(18, encode_records(event.records));
  std::string plain;
  append_le(plain, static_cast<std::uint32_t>(body.body().size()));
  plain.append(body.body().view());
  plain.resize(crypto::padme(std::max(kLogFloor, plain.size())));
  return plain;
}

AuditEvent decode_event(std::string_view plain) {
  if (plain.size() < 4) throw_corrupt("a log record is too short");
  const auto length = load_le<std::uint32_t>(plain);
  if (length > plain.size() - 4) throw_corrupt("a log record's length is wrong");
  AuditEvent event;
  for (BodyReader body(plain.substr(4, length)); body.next();) {
    switch (body.id()) {
      case 1: event.time = body.i64(); break;
      case 3: event.principal = body.bytes(); break;
      case 5: event.tool = body.bytes(); break;
      case 7: event.permitted = body.u8() == 1; break;
      case 8: event.rule = body.bytes(); break;
      case 10: event.record = body.u64(); break;
      case 12: event.count = body.u64(); break;
      case 14: event.bytes = body.u64(); break;
      case 16: event.error = body.bytes(); break;
      case 18: event.records = decode_records(body.bytes()); break;
      default: body.unknown();
    }
  }
  return event;
}

}  // namespace

AuditSession::AuditSession(const Id16& session)
    : session_(session), key_(crypto::SecretKey::random()) {}

void AuditSession::append(WriteTxn& txn, BankHead& head, const VaultId& vault, const BankId& bank,
                          const crypto::SecretKey& log_key, std::string_view audit_public_key,
                          const std::vector<AuditEvent>& events) {
  const auto add = [&](const std::string& row) {
    txn.append(Table::log, IntegerKey(head.log_next).view(), row);
    head.log_chain = next_chain(log_key, head.log_chain, head.log_next, row);
    ++head.log_next;
  };
  const auto announced = [&] {
    const auto row = txn.get(Table::log, IntegerKey(announced_in_).view());
    return row && row->size() >= kPrefix && (*row)[2] == kSession &&
           row->substr(8, 16) == view(session_);
  };
  if (!announced_ || !announced()) {
    announced_in_ = head.log_next;
    // The key at step_, so that steps of an aborted transaction stay unreadable and harmless.
    std::string row = row_prefix(kSession, step_, session_);
    row.append(crypto::sealed_box(audit_public_key, key_.view()));
    add(row);
  }
  for (const AuditEvent& event : events) {
    std::string row = row_prefix(kEvent, step_, session_);
    const crypto::SecretKey key = crypto::derive(key_, crypto::labels::kLogKey, {});
    crypto::seal(key, event_aad(vault, bank, row, head.log_next, head.log_chain),
                 encode_event(event), row);
    add(row);
    key_ = crypto::derive(key_, crypto::labels::kLogNext, {});
    ++step_;
  }
}

namespace {

// Follows one session's key forward.
struct SessionReader {
  crypto::SecretKey key;
  std::uint32_t step = 0;
};

class LogReader {
 public:
  LogReader(const VaultId& vault, const BankId& bank, const crypto::SecretKey* audit_secret)
      : vault_(vault), bank_(bank), audit_secret_(audit_secret) {}

  void session(std::string_view row, std::uint32_t step, const Id16& id) {
    SecretBytes key;
    if (!crypto::sealed_box_open(*audit_secret_, row.substr(kPrefix), key)) {
      throw_corrupt("a log session does not open");
    }
    sessions_[id] = {crypto::SecretKey::from_bytes(key.view()), step};
  }

  LoggedEvent event(std::string_view row, std::uint32_t step, const Id16& id,
                    std::uint64_t sequence, const crypto::Hash32& chain) {
    const auto at = sessions_.find(id);
    if (at == sessions_.end() || step < at->second.step || step - at->second.step > 1u << 24) {
      throw_corrupt("a log record belongs to no session");
    }
    SessionReader& session = at->second;
    for (; session.step < step; ++session.step) {
      session.key = crypto::derive(session.key, crypto::labels::kLogNext, {});
    }
    const crypto::SecretKey key = crypto::derive(session.key, crypto::labels::kLogKey, {});
    SecretBytes plain;
    if (!crypto::open(key, event_aad(vault_, bank_, row.substr(0, kPrefix), sequence, chain),
                      row.substr(kPrefix), plain)) {
      throw_corrupt("a log record is not authentic");
    }
    return {sequence, id, decode_event(plain.view())};
  }

 private:
  const VaultId& vault_;
  const BankId& bank_;
  const crypto::SecretKey* audit_secret_;
  std::map<Id16, SessionReader> sessions_;
};

void visit_event(LoggedEvent logged, const std::function<void(const LoggedEvent&)>& visit) {
  if (logged.event.records.empty()) {
    visit(logged);
    return;
  }
  const std::vector<AuditedRecord> records = std::move(logged.event.records);
  logged.event.records.clear();
  for (const AuditedRecord& record : records) {
    logged.event.record = record.id;
    logged.event.count = record.count;
    logged.event.bytes = record.bytes;
    visit(logged);
  }
}

}  // namespace

void read_log(ReadTxn& txn, const BankHead& head, const VaultId& vault, const BankId& bank,
              const crypto::SecretKey& log_key, const crypto::SecretKey* audit_secret,
              const std::function<void(const LoggedEvent&)>& visit) {
  crypto::Hash32 chain{};
  std::uint64_t sequence = 1;
  bool first = true;
  LogReader reader(vault, bank, audit_secret);
  txn.scan(Table::log, {}, [&](std::string_view key, std::string_view row) {
    if (key.size() != 8) throw_corrupt("the log has a gap");
    if (row.size() < kPrefix || row[0] != 1 || row[1] != 1)
      throw_corrupt("a log record is malformed");
    if (row[2] == kCheckpoint && first) {
      if (row.size() != kCheckpointBytes) throw_corrupt("a checkpoint of the log is malformed");
      sequence = load_le<std::uint64_t>(key);
      std::memcpy(chain.data(), row.data() + kPrefix, chain.size());
    }
    if (load_le<std::uint64_t>(key) != sequence) throw_corrupt("the log has a gap");
    const auto step = load_le<std::uint32_t>(row, 4);
    const Id16 id = id_from(row.substr(8, 16));
    if (audit_secret != nullptr && row[2] == kSession) {
      reader.session(row, step, id);
    } else if (audit_secret != nullptr && row[2] == kEvent) {
      visit_event(reader.event(row, step, id, sequence, chain), visit);
    } else if (row[2] == kCheckpoint) {
      if (!first) throw_corrupt("a checkpoint is inside the log");
    } else if (row[2] != kSession && row[2] != kEvent) {
      throw Error(Code::unsupported, "The log was written by a newer version.");
    }
    chain = next_chain(log_key, chain, sequence, row);
    ++sequence;
    first = false;
    return true;
  });
  if (sequence != head.log_next || chain != head.log_chain) {
    throw_corrupt("the log does not end where its bank says");
  }
}

// ---- checkpoints

namespace {

std::string checkpoint_message(const Bank& bank, std::uint64_t sequence, std::string_view row) {
  std::string message(crypto::label_view(crypto::labels::kAadLog));
  message.append(view(bank.vault_id())).append(view(bank.id()));
  append_le(message, sequence);
  return message.append(row.substr(0, kSigned));
}

struct FirstRow {
  std::uint64_t sequence = 0;
  std::string row;
};

FirstRow first_row(ReadTxn& txn) {
  FirstRow first;
  txn.scan(Table::log, {}, [&](std::string_view key, std::string_view row) {
    if (key.size() != 8) throw_corrupt("the log has a gap");
    first = {load_le<std::uint64_t>(key), std::string(row)};
    return false;
  });
  return first;
}

bool is_checkpoint(std::string_view row) {
  return row.size() == kCheckpointBytes && row[2] == kCheckpoint;
}

}  // namespace

void prune_log(BankWrite& bank, const crypto::SecretKey& admin, TimeMs now) {
  // The log is in no sum of rows, so that it is written past the bank's bookkeeping.
  auto& txn = dynamic_cast<WriteTxn&>(bank.txn());
  BankHead& head = bank.mutable_head();
  std::vector<std::uint64_t> gone;
  txn.scan(Table::log, {}, [&](std::string_view key, std::string_view) {
    gone.push_back(load_le<std::uint64_t>(key));
    return true;
  });
  std::uint64_t taken = gone.size();
  const FirstRow before = first_row(txn);
  if (is_checkpoint(before.row)) {
    taken += load_le<std::uint64_t>(before.row, kPrefix + 32) - 1;  // itself was none of them
  }
  std::string row = row_prefix(kCheckpoint, 0, Id16{});
  row.append(crypto::view(head.log_chain));
  append_le(row, taken);
  append_le(row, now);
  const std::uint64_t sequence = head.log_next;
  const crypto::Signature signature =
      crypto::sign(admin, checkpoint_message(bank.bank(), sequence, row));
  row.append(signature.data(), signature.size());
  for (const std::uint64_t old : gone) txn.erase(Table::log, IntegerKey(old).view());
  txn.append(Table::log, IntegerKey(sequence).view(), row);
  head.log_chain = next_chain(bank.bank().keys().log, head.log_chain, sequence, row);
  ++head.log_next;
}

std::uint64_t check_log_start(BankRead& bank, std::string_view admin_public_key) {
  const FirstRow first = first_row(bank.txn());
  if (!is_checkpoint(first.row)) return 0;
  if (!crypto::verify_signature(admin_public_key,
                                checkpoint_message(bank.bank(), first.sequence, first.row),
                                std::string_view(first.row).substr(kSigned))) {
    throw_corrupt("the checkpoint that the log begins with is not signed by the admin");
  }
  return load_le<std::uint64_t>(first.row, kPrefix + 32);
}

}  // namespace strongroom::vault
