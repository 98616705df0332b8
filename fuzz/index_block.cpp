// One block of postings and words.
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "recall/block_cache.h"
#include "recall/segment.h"

using namespace strongroom;
using recall::IndexView;

FUZZ_TARGET(input) {
  std::string block(input.substr(0, recall::kBlockBytes));
  block.resize(recall::kBlockBytes);
  fuzz::accepts({Code::corrupt}, [&] {
    recall::EntryReader entries(block.data());
    while (entries.next()) {
      if (recall::is_word(entries.term())) {
        fuzz::require(fuzz::inside(entries.word(), block), "a word is a part of the block");
        continue;
      }
      fuzz::require(entries.count() > 0, "an entry has a posting");
      fuzz::require(fuzz::inside(entries.payload(), block), "postings are a part of the block");
      std::vector<IndexView::Posting> postings;
      if (!fuzz::accepts({Code::corrupt}, [&] { entries.postings(postings); })) continue;
      fuzz::require(postings.size() == entries.count(), "all postings are read");
      fuzz::require(postings.front().row == entries.first(), "the first one is the first");
      for (std::size_t i = 1; i < postings.size(); ++i) {
        fuzz::require(postings[i - 1].row < postings[i].row, "rows ascend");
      }
    }
  });
}
