#include "vault/root.h"

#include "base/error.h"

namespace strongroom::vault {
namespace {

constexpr std::size_t kPrefix = 8;  // version, suite, 0 u16, length u32
constexpr std::size_t kSignature = 64;

std::string signed_message(const VaultId& vault, std::string_view before_signature) {
  std::string message(crypto::label_view(crypto::labels::kSignRoot));
  message.append(view(vault)).append(before_signature);
  return message;
}

void append_ids(std::string& out, const std::vector<Id16>& ids) {
  append_le(out, static_cast<std::uint16_t>(ids.size()));
  for (const Id16& id : ids) out.append(view(id));
}

std::string encode_recipients(const std::vector<RootRecipient>& recipients) {
  std::string out;
  append_varint(out, recipients.size());
  for (const RootRecipient& r : recipients) {
    out.append(view(r.id));
    out.push_back(static_cast<char>(r.role));
    out.push_back(static_cast<char>(r.flags));
    out.append(crypto::view(r.public_key));
    append_le(out, r.expires);
    append_ids(out, r.banks);
    append_ids(out, r.tools);
  }
  return out;
}

std::string_view take(std::string_view& in, std::size_t size) {
  if (in.size() < size) throw_corrupt("the root record is cut off");
  const std::string_view part = in.substr(0, size);
  in.remove_prefix(size);
  return part;
}

std::vector<Id16> take_ids(std::string_view& in) {
  const auto count = load_le<std::uint16_t>(take(in, 2));
  std::vector<Id16> ids;
  for (unsigned i = 0; i < count; ++i) ids.push_back(id_from(take(in, 16)));
  return ids;
}

std::vector<RootRecipient> decode_recipients(std::string_view in) {
  const std::uint64_t count = take_varint(in);
  std::vector<RootRecipient> recipients;
  for (std::uint64_t i = 0; i < count; ++i) {
    RootRecipient r;
    r.id = id_from(take(in, 16));
    const std::string_view role = take(in, 2);
    r.role = static_cast<crypto::SlotRole>(role[0]);
    r.flags = static_cast<std::uint8_t>(role[1]);
    std::memcpy(r.public_key.data(), take(in, 32).data(), 32);
    r.expires = load_le<std::int64_t>(take(in, 8));
    r.banks = take_ids(in);
    r.tools = take_ids(in);
    if (!recipients.empty() && !(view(recipients.back().id) < view(r.id))) {
      throw_corrupt("the root record's recipients are out of order");
    }
    recipients.push_back(std::move(r));
  }
  if (!in.empty()) throw_corrupt("the root record has bytes after its end");
  return recipients;
}

template <std::size_t N>
void copy(std::array<char, N>& to, std::string_view from) {
  std::memcpy(to.data(), from.data(), N);
}

}  // namespace

std::string sign_root(const RootRecord& root, const VaultId& vault,
                      const crypto::SecretKey& admin_seed) {
  std::string policy;
  append_le(policy, root.policy_version);
  policy.append(crypto::view(root.policy_hash));
  BodyWriter body;
  body.u64(1, root.version);
  body.field(3, crypto::view(root.header_hash));
  body.field(5, crypto::view(root.admin_public_key));
  body.field(7, crypto::view(root.box_public_key));
  body.field(9, crypto::view(root.audit_public_key));
  body.field(11, policy);
  body.field(13, encode_recipients(root.recipients));
  body.field(15, crypto::view(root.previous_hash));
  body.i64(17, root.signed_at);
  body.unknown(root.unknown);
  std::string row("\x01\x01\x00\x00", 4);
  append_le(row, static_cast<std::uint32_t>(body.body().size()));
  row.append(body.body().view());
  const crypto::Signature signature = crypto::sign(admin_seed, signed_message(vault, row));
  row.append(crypto::view(signature));
  return row;
}

RootRecord read_root(std::string_view row, const VaultId& vault) {
  if (row.size() < kPrefix + kSignature) throw_corrupt("the root record is cut off");
  if (row.substr(0, 4) != std::string_view("\x01\x01\x00\x00", 4) ||
      load_le<std::uint32_t>(row, 4) != row.size() - kPrefix - kSignature) {
    throw_corrupt("the root record is malformed");
  }
  RootRecord root;
  unsigned seen = 0;
  BodyReader body(row.substr(kPrefix, row.size() - kPrefix - kSignature));
  while (body.next()) {
    ++seen;
    switch (body.id()) {
      case 1: root.version = body.u64(); break;
      case 3: copy(root.header_hash, body.exactly(32)); break;
      case 5: copy(root.admin_public_key, body.exactly(32)); break;
      case 7: copy(root.box_public_key, body.exactly(32)); break;
      case 9: copy(root.audit_public_key, body.exactly(32)); break;
      case 11:
        root.policy_version = load_le<std::uint64_t>(body.exactly(40));
        copy(root.policy_hash, body.bytes().substr(8));
        break;
      case 13: root.recipients = decode_recipients(body.bytes()); break;
      case 15: copy(root.previous_hash, body.exactly(32)); break;
      case 17: root.signed_at = body.i64(); break;
      default: --seen; body.unknown(&root.unknown);
    }
  }
  if (seen != 9) throw_corrupt("the root record lacks a field");
  const std::string_view signature = row.substr(row.size() - kSignature);
  if (!crypto::verify_signature(crypto::view(root.admin_public_key),
                                signed_message(vault, row.substr(0, row.size() - kSignature)),
                                signature)) {
    throw_corrupt("the root record's signature is wrong");
  }
  return root;
}

crypto::Hash32 root_hash(std::string_view row) {
  return crypto::hash32(crypto::labels::kRootHash, {row});
}
crypto::Hash32 policy_row_hash(std::string_view row) {
  return crypto::hash32(crypto::labels::kPolicyHash, {row});
}

RootSeen root_seen(std::string_view row, std::uint64_t version) {
  RootSeen seen;
  seen.version = version;
  seen.hash = root_hash(row);
  copy(seen.signature, row.substr(row.size() - kSignature));
  return seen;
}

}  // namespace strongroom::vault
