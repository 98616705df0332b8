#include "vault/operations.h"

#include "base/error.h"

namespace strongroom::vault {
namespace {

// The id is bound to its principal; lengths keep the two apart.
std::string operation_name(std::string_view principal, std::string_view operation_id) {
  std::string name;
  append_varint(name, principal.size());
  name.append(principal).append(operation_id);
  return name;
}

struct Stored {
  std::string name;
  Operation operation;
};

Stored decode(std::string_view bytes) {
  Stored stored;
  for (BodyReader body(bytes); body.next();) {
    switch (body.id()) {
      case 1: stored.name = body.bytes(); break;
      case 3: std::memcpy(stored.operation.payload.data(), body.exactly(32).data(), 32); break;
      case 5: stored.operation.time = body.i64(); break;
      case 7: stored.operation.reply = body.bytes(); break;
      default: body.unknown();
    }
  }
  return stored;
}

}  // namespace

crypto::Hash32 operation_payload(const Bank& bank, std::string_view bytes) {
  return crypto::keyed_hash32(bank.keys().names, crypto::labels::kOperation, {bytes});
}

std::optional<Operation> find_operation(BankRead& bank, std::string_view principal,
                                        std::string_view operation_id, TimeMs now) {
  const std::string name = operation_name(principal, operation_id);
  const auto id = bank.find(Kind::operation, name);
  if (!id) return std::nullopt;
  SecretBytes plain;
  const BankRead::Record record = bank.open(*id, plain);
  if (record.kind != Kind::operation) throw_corrupt("an operation leads to another record");
  Stored stored = decode(record.body);
  if (stored.name != name) throw_corrupt("an operation leads to another record");
  if (stored.operation.time + kOperationLife <= now) return std::nullopt;
  return std::move(stored.operation);
}

void put_operation(BankWrite& bank, std::string_view principal, std::string_view operation_id,
                   const Operation& operation) {
  const std::string name = operation_name(principal, operation_id);
  if (const auto old = bank.find(Kind::operation, name)) bank.erase(*old);  // one that has run out
  BodyWriter body;
  body.field(1, name);
  body.field(3, crypto::view(operation.payload));
  body.i64(5, operation.time);
  body.field(7, operation.reply);
  bank.bind(Kind::operation, name, bank.append(Kind::operation, body.body().view()));
}

void drop_operations(BankWrite& bank) {
  std::vector<std::pair<RecordId, std::string>> gone;
  SecretBytes plain;
  bank.txn().scan(Table::records, {}, [&](std::string_view key, std::string_view row) {
    const auto id = load_le<std::uint64_t>(key);
    if (read_envelope(row).kind == Kind::operation) {
      gone.emplace_back(id, decode(bank.open(id, plain).body).name);
    }
    return true;
  });
  for (const auto& [id, name] : gone) {
    bank.erase(id);
    bank.unbind(Kind::operation, name);
  }
}

void sweep_operations(BankWrite& bank, TimeMs now) {
  constexpr int kRowsACall = 32;
  BankHead& head = bank.mutable_head();
  std::vector<std::pair<RecordId, std::string>> gone;
  int rows = 0;
  RecordId cursor = head.operation_cursor;
  SecretBytes plain;
  bank.txn().scan(Table::records, IntegerKey(cursor).view(),
                  [&](std::string_view key, std::string_view row) {
                    if (++rows > kRowsACall) return false;
                    const auto id = load_le<std::uint64_t>(key);
                    if (read_envelope(row).kind == Kind::operation) {
                      Stored stored = decode(bank.open(id, plain).body);
                      // Records ascend in time, so everything behind a live one is live.
                      if (stored.operation.time + kOperationLife > now) return false;
                      gone.emplace_back(id, std::move(stored.name));
                    }
                    cursor = id + 1;
                    return true;
                  });
  for (const auto& [id, name] : gone) {
    bank.erase(id);
    bank.unbind(Kind::operation, name);
  }
  head.operation_cursor = cursor;
}

}  // namespace strongroom::vault
