// What views and writers of an index share. Internal to recall/.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crypto/term_hash.h"
#include "recall/block_cache.h"
#include "recall/columns.h"
#include "recall/index.h"
#include "recall/manifest.h"
#include "recall/segment.h"
#include "recall/sketch.h"
#include "recall/tail.h"

namespace strongroom::recall {

/// Numbers of the tables of interned strings, in the place of a segment.
enum class NamesTable : std::uint32_t { tag_sets = 1, speakers = 2 };

/// A decoded table; append-only, so that what is decoded stays right. Wiped at its end.
struct InternedNames {
  InternedNames() = default;
  InternedNames(InternedNames&&) = default;
  InternedNames& operator=(InternedNames&&) = default;
  ~InternedNames();

  std::uint64_t bytes = 0;         // of the stream, decoded so far
  std::vector<std::string> items;  // as encoded; number i + 1
  std::unordered_map<std::string, std::uint32_t> numbers;
};

std::string encode_tags(const std::vector<std::string>& tags);
std::vector<std::string> decode_tags(std::string_view bytes);

struct Index::Impl {
  Impl(const vault::Bank& bank, const IndexOptions& given);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Brings manifest, tail and mutable blocks to what the transaction sees.
  void sync(vault::BankRead& bank);

  TermId term_id(std::string_view term) const { return terms(term) >> 2; }
  TermId fingerprint_id(std::string_view normalized) const {
    return kFingerprintTerms | fingerprints(normalized) >> 2;
  }
  /// The region of words that share the first two code points of `word`.
  TermId word_region(std::string_view word) const;
  TermId word_id(std::string_view word) const;

  /// A block through the cache. Throws corrupt when it is missing.
  const char* block(vault::BankRead& bank, vault::Kind kind, std::uint32_t segment,
                    std::uint32_t number);
  /// Into the processor's cache: cells that lie far apart take longer to come than to be read.
  void fetch(vault::Kind kind, std::uint32_t segment, const Cell& cell, std::size_t bytes);
  using BlockVisitor = std::function<void(std::uint32_t number, const char* block)>;
  /// Blocks [from, to) of a column, ascending, through the cache; a cold file gives them in few
  /// large reads. Those that are not there are left out.
  void scan_blocks(vault::BankRead& bank, vault::Kind kind, std::uint32_t segment,
                   std::uint32_t from, std::uint32_t to, const BlockVisitor& visit);
  /// Past the cache, for blocks that a running merge still rewrites.
  static void open_block(vault::BankRead& bank, vault::Kind kind, std::uint32_t segment,
                         std::uint32_t number, char* out);
  void prefetch(vault::BankRead& bank, vault::Kind kind, std::uint32_t segment, std::uint32_t from,
                std::uint32_t to);
  /// Opens blocks that will all be asked for, as far as they are there and not in the cache.
  void load(vault::BankRead& bank, vault::Kind kind, std::uint32_t segment,
            std::vector<std::uint32_t> numbers);

  IndexOptions options;
  crypto::TermHash terms, fingerprints, words, prefixes;
  Sketcher sketcher;
  BlockCache cache;
  std::shared_ptr<const Manifest> manifest;
  vault::Id16 manifest_tag{};
  bool have_manifest = false;
  std::shared_ptr<const TailData> tail;
  InternedNames tag_sets, speakers;
  std::vector<std::vector<std::string>> decoded_tag_sets;
  Analyzer analyzer;  // for stems of words, in merges

 private:
  void load_tail(vault::BankRead& bank, const Manifest& fresh);
  void load_names(vault::BankRead& bank, NamesTable table, const NamesInfo& info,
                  InternedNames& names);
  void forget_changed(const Manifest& fresh);
  struct SealedBlock {
    std::uint32_t number;
    std::string_view sealed;
  };
  void open_into_cache(vault::BankRead& bank, vault::Kind kind, std::uint32_t segment,
                       std::span<const SealedBlock> blocks);
};

std::vector<VectorSet> public_sets(const Manifest& manifest);

/// Blocks as a transaction sees them, through the cache.
class CachedBlocks final : public BlockSource {
 public:
  CachedBlocks(Index::Impl& impl, vault::BankRead& bank) : impl_(impl), bank_(bank) {}
  const char* block(vault::Kind kind, std::uint32_t segment, std::uint32_t number) override {
    return impl_.block(bank_, kind, segment, number);
  }
  void prefetch(vault::Kind kind, std::uint32_t segment, std::uint32_t from,
                std::uint32_t to) override {
    impl_.prefetch(bank_, kind, segment, from, to);
  }

 private:
  Index::Impl& impl_;
  vault::BankRead& bank_;
};

/// Blocks past the cache.
class PlainBlocks final : public BlockSource {
 public:
  explicit PlainBlocks(vault::BankRead& bank) : bank_(bank) {}
  const char* block(vault::Kind kind, std::uint32_t segment, std::uint32_t number) override {
    buffer_.resize(kBlockBytes);
    Index::Impl::open_block(bank_, kind, segment, number, buffer_.data());
    return buffer_.data();
  }

 private:
  vault::BankRead& bank_;
  SecretBytes buffer_;
};

/// One step of merging: works for about `budget` bytes on the merges of the manifest; starts and
/// finishes them. `is_dead` tells forgotten rows, those that this transaction forgets among them.
void merge_step(Index::Impl& impl, vault::BankWrite& bank, Manifest& manifest, std::uint64_t budget,
                const std::function<bool(Row)>& is_dead);
/// Word numbers that a segment keeps.
using KeptWords = std::unordered_set<TermId>;
/// Begins to write a segment anew, without its forgotten rows. No merge may be running.
void start_rewrite(Manifest& manifest, std::uint32_t segment);
/// One step of that, of about `budget` bytes: the one merge of the manifest. True when it is done.
bool rewrite_step(Index::Impl& impl, vault::BankWrite& bank, Manifest& manifest,
                  std::uint64_t budget, const std::function<bool(Row)>& is_dead,
                  const KeptWords& kept);
/// Gives up the merges that run.
void abandon_merges(Manifest& manifest);
/// Erases up to `blocks` blocks of segments that are gone.
void free_garbage(vault::BankWrite& bank, Manifest& manifest, std::uint64_t blocks);

}  // namespace strongroom::recall
