// Finding a term in a segment whose blocks, directory and filter say anything, and whose counts may
// disagree: five bytes of counts, the term, then the blocks, which overlap.
#include <array>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "recall/block_cache.h"
#include "recall/segment.h"
#include "vault/format.h"

using namespace strongroom;

namespace {

class Blocks final : public recall::BlockSource {
 public:
  Blocks(const recall::SegmentInfo& segment, std::string_view bytes)
      : segment_(segment), bytes_(bytes) {}

  const char* block(vault::Kind kind, std::uint32_t, std::uint32_t number) override {
    fuzz::require(++asked_ < 4096, "a look-up ends");
    const std::uint32_t there = kind == vault::Kind::index_postings    ? segment_.posting_blocks
                                : kind == vault::Kind::index_directory ? segment_.directory_blocks
                                : kind == vault::Kind::index_top       ? segment_.top_blocks
                                                                       : segment_.filter_blocks;
    if (number >= there) vault::throw_corrupt("a block of the index is missing");
    block_.assign(recall::kBlockBytes, '\0');
    const std::size_t at = (number + static_cast<std::size_t>(kind)) * 251 % (bytes_.size() + 1);
    const std::string_view part = bytes_.substr(at, recall::kBlockBytes);
    block_.replace(0, part.size(), part);
    return block_.data();
  }

 private:
  const recall::SegmentInfo& segment_;
  std::string_view bytes_;
  std::string block_;
  int asked_ = 0;
};

}  // namespace

FUZZ_TARGET(input) {
  if (input.size() < 13) return;
  const auto count = [&](std::size_t i) { return static_cast<unsigned char>(input[i]); };
  recall::SegmentInfo segment;
  segment.first = 1;
  segment.last = 1000;
  segment.posting_blocks = count(0) * 37u;
  segment.directory_blocks = count(1);
  segment.top_blocks = count(2) % 3u;
  segment.filter_blocks = count(3) % 4u;
  segment.filter_lines = count(4);
  // What a writer makes of this many blocks.
  const auto directories = [](std::uint32_t n) {
    constexpr auto kEntries = static_cast<std::uint32_t>(recall::kDirectoryEntries);
    return (n + kEntries - 1) / kEntries;
  };
  const bool agree = segment.directory_blocks == directories(segment.posting_blocks) &&
                     (segment.directory_blocks <= 1 || segment.top_blocks == 1);
  const auto term = vault::load_le<recall::TermId>(input, 5);
  if (recall::is_word(term)) return;  // a word has no postings
  Blocks source(segment, input.substr(13));
  fuzz::accepts({Code::corrupt}, [&] {
    const recall::BlockRange range = recall::find_blocks(source, segment, term, term);
    fuzz::require(!agree || range.last < range.first || range.last < segment.posting_blocks,
                  "blocks that are found exist");
  });
  fuzz::accepts({Code::corrupt}, [&] { (void)filter_contains(source, segment, term); });
  std::vector<recall::IndexView::Posting> postings;
  fuzz::accepts({Code::corrupt}, [&] { read_postings(source, segment, term, postings); });
}
