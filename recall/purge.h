// Takes what was forgotten out of the index's blocks: postings and words that only forgotten rows
// had, tag sets and names of speakers that no row has. Merges do most of that sooner or later; this
// does all of it, now. Bytes in free pages of the file are not its business.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "recall/index.h"

namespace strongroom::recall {

/// Tells the words of a row that is not forgotten: AnalyzedText::words of what add() was given.
using RowWords = std::function<void(Row row, const RowAttributes& attributes,
                                    const std::function<void(std::string_view word)>& word)>;

/// The work, in steps of one transaction each. Nobody else may write to the bank between them.
class Purge {
 public:
  Purge(Index& index, RowWords words);
  ~Purge();
  Purge(const Purge&) = delete;
  Purge& operator=(const Purge&) = delete;

  /// Does a part, and finishes the index; the caller commits. True when all is done. After a
  /// transaction that was not committed this is of no more use.
  bool step(vault::BankWrite& bank);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strongroom::recall
