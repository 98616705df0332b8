// A throw-away vault of known size, and the names and values that it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "service/memory_service.h"
#include "vault/entries.h"
#include "vault/vault.h"

namespace strongroom::bench {

inline constexpr std::size_t kNameBytes = 20;
inline constexpr std::size_t kValueBytes = 1024;
inline constexpr const char* kBank = "bench";
inline constexpr const char* kPrincipal = "local:bench";

/// A deterministic generator (SplitMix64, Steele et al. 2014): the same workload everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

/// The name of entry `i`: 20 bytes, in no order that `i` has.
std::string entry_name(std::uint64_t i);
/// 1 KiB of words.
std::string entry_value(std::uint64_t i);

/// A policy of `rules` rules (at least one): the last permits the bench, those before it match
/// other banks, keys and principals, permits and forbids in turn.
std::string policy_of(std::size_t rules);

/// A folder that is removed with everything in it.
class Folder {
 public:
  explicit Folder(std::string path);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A vault in `folder`, with its key file, a sealed policy and the bank "bench".
class World {
 public:
  World(const std::string& folder, std::size_t rules);

  service::ServiceOptions options() const;
  std::unique_ptr<vault::Vault> open() const;
  /// Stores entries [first, last) at the vault layer, `batch` a transaction.
  void load(std::uint64_t first, std::uint64_t last, std::size_t batch) const;
  /// The bank's file.
  std::string bank_file() const;
  const std::string& vault_path() const { return vault_; }

 private:
  std::string folder_, vault_, keyfile_;
};

/// What the service writes for a plain remember of the bench.
vault::EntryDraft draft_of(const std::string& name, const std::string& value);

}  // namespace strongroom::bench
