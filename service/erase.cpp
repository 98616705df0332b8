#include "service/erase.h"

#include <utility>

#include "base/error.h"
#include "recall/analyzer.h"
#include "recall/purge.h"
#include "service/memory_changes.h"
#include "vault/memories.h"
#include "vault/operations.h"

namespace strongroom::service {
namespace {

// The head holds them, and every write of the bank writes the head.
constexpr std::size_t kMaxPending = 1024;
constexpr std::size_t kCacheBytes = std::size_t{16} << 20;

// The words of a row, from the text that it was made of.
class WordsOfRows {
 public:
  void look_at(vault::BankRead& bank) { bank_ = &bank; }

  void operator()(recall::Row row, const recall::RowAttributes& attributes,
                  const std::function<void(std::string_view)>& word) {
    const vault::Memory memory = vault::open_memory(*bank_, attributes.record, plain_);
    const std::vector<recall::Span> passages = passages_of(memory.text);
    if (row < memory.row || row - memory.row >= passages.size()) {
      vault::throw_corrupt("a row of the index and its memory disagree");
    }
    const std::size_t number = row - memory.row;
    std::string_view text = memory.text.substr(passages[number].offset, passages[number].size);
    if (number == 0) text = findable_text(vault::draft_of(memory), text, findable_);
    for (const std::string_view one : analyzer_.analyze(text).words) word(one);
    wipe(findable_);
  }

 private:
  vault::BankRead* bank_ = nullptr;
  SecretBytes plain_;
  recall::Analyzer analyzer_;
  std::string findable_;
};

}  // namespace

EraseReceipt mark_erased(vault::BankWrite& bank, vault::RecordId tombstone, TimeMs now,
                         std::vector<std::string> destroyed) {
  std::vector<vault::RecordId>& pending = bank.mutable_head().erase_pending;
  if (pending.size() >= kMaxPending) {
    throw Error(Code::busy,
                "Too many erasures wait for the bank's file to be rewritten; run \"strongroom "
                "compact\" first.");
  }
  pending.push_back(tombstone);
  EraseReceipt receipt;
  receipt.id = vault::memory_id(bank.bank().tag(), tombstone);
  receipt.time = now;
  receipt.destroyed = std::move(destroyed);
  receipt.not_reached = {"earlier backups and exports", "copies and snapshots of the vault's files",
                         "remnants on the disk outside the files", "what readers kept"};
  return receipt;
}

void erase_content(vault::Vault& vault, vault::Bank& bank) {
  {
    vault::BankWrite write = bank.write(vault.stamp());
    vault::drop_operations(write);
    write.commit();
  }
  // A bank of entries alone has no index.
  if (bank.read().txn().rows(vault::Table::index) == 0) return;
  recall::Index index(bank, {kCacheBytes, recall::kDefaultFanOut});
  WordsOfRows words;
  recall::Purge purge(index, std::ref(words));
  for (bool done = false; !done;) {
    vault::BankWrite write = bank.write(vault.stamp());
    words.look_at(write);
    done = purge.step(write);
    write.commit();
  }
}

}  // namespace strongroom::service
