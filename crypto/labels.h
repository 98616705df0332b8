// Every label that separates one use of a key or hash from another. Labels are zero-padded to 16
// bytes: BLAKE2b personalisation, the first bytes of associated data, or of a signed message.
// A test checks that no two are equal and that each fits.
#pragma once

#include <array>
#include <string_view>

namespace strongroom::crypto {

using Label = std::array<char, 16>;

constexpr Label make_label(std::string_view text) {
  Label label{};
  for (std::size_t i = 0; i < text.size(); ++i) label.at(i) = text[i];
  return label;
}

namespace labels {
// Hashes and derivations.
inline constexpr Label kHeader = make_label("sr1.header");
inline constexpr Label kRootHash = make_label("sr1.root.hash");
inline constexpr Label kPolicyHash = make_label("sr1.policy.hash");
inline constexpr Label kContentHash = make_label("sr1.content");
inline constexpr Label kScopeHash = make_label("sr1.scope");
inline constexpr Label kName = make_label("sr1.name");
inline constexpr Label kSet = make_label("sr1.set");
inline constexpr Label kAnchor = make_label("sr1.anchor");
inline constexpr Label kRecoveryCode = make_label("sr1.code");
inline constexpr Label kSlotFile = make_label("sr1.slot.file");
inline constexpr Label kSlotCommit = make_label("sr1.slot.commit");
inline constexpr Label kSlotWrap = make_label("sr1.slot.wrap");
inline constexpr Label kKeyNames = make_label("sr1.k.names");
inline constexpr Label kKeyRecords = make_label("sr1.k.records");
inline constexpr Label kKeyChunks = make_label("sr1.k.chunks");
inline constexpr Label kKeyIndex = make_label("sr1.k.index");
inline constexpr Label kKeySet = make_label("sr1.k.set");
inline constexpr Label kKeyHead = make_label("sr1.k.head");
inline constexpr Label kKeyLog = make_label("sr1.k.log");
inline constexpr Label kTerm = make_label("sr1.k.term");
inline constexpr Label kFingerprint = make_label("sr1.k.print");
inline constexpr Label kWord = make_label("sr1.k.word");
inline constexpr Label kWordPrefix = make_label("sr1.k.prefix");
inline constexpr Label kSketch = make_label("sr1.k.sketch");
inline constexpr Label kChunk = make_label("sr1.chunk");
inline constexpr Label kLogKey = make_label("sr1.log.key");
inline constexpr Label kLogNext = make_label("sr1.log.next");
inline constexpr Label kLogChain = make_label("sr1.log.chain");
inline constexpr Label kOperation = make_label("sr1.operation");
inline constexpr Label kHttpModel = make_label("sr1.http.model");
// Associated data.
inline constexpr Label kAadSlot = make_label("sr1.aad.slot");
inline constexpr Label kAadRecord = make_label("sr1.aad.record");
inline constexpr Label kAadChunk = make_label("sr1.aad.chunk");
inline constexpr Label kAadHead = make_label("sr1.aad.head");
inline constexpr Label kAadPolicy = make_label("sr1.aad.policy");
inline constexpr Label kAadLog = make_label("sr1.aad.log");
inline constexpr Label kAadIndex = make_label("sr1.aad.index");
// Signatures.
inline constexpr Label kSignRoot = make_label("sr1.root");

inline constexpr std::array kAll = {
    kHeader,    kRootHash,     kPolicyHash, kContentHash, kScopeHash, kName,     kSet,
    kAnchor,    kRecoveryCode, kSlotFile,   kSlotCommit,  kSlotWrap,  kKeyNames, kKeyRecords,
    kKeyChunks, kKeyIndex,     kKeySet,     kKeyHead,     kKeyLog,    kTerm,     kFingerprint,
    kWord,      kWordPrefix,   kSketch,     kChunk,       kLogKey,    kLogNext,  kLogChain,
    kOperation, kHttpModel,    kAadSlot,    kAadRecord,   kAadChunk,  kAadHead,  kAadPolicy,
    kAadLog,    kAadIndex,     kSignRoot};
}  // namespace labels

constexpr std::string_view label_view(const Label& label) {
  return {label.data(), label.size()};
}

}  // namespace strongroom::crypto
