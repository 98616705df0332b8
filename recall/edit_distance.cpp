#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "base/wipe.h"
#include "recall/analyzer.h"

namespace strongroom::recall {

namespace {

// Room for both words and three rows, without an allocation for words of usual length.
class Workspace {
 public:
  explicit Workspace(std::size_t size) : size_(size) {
    if (size_ > inline_.size()) heap_.resize(size_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { wipe(data(), size_ * sizeof(unsigned)); }
  unsigned* data() { return heap_.empty() ? inline_.data() : heap_.data(); }

 private:
  std::size_t size_;
  std::array<unsigned, 320> inline_;  // NOLINT: filled as far as it is used
  std::vector<unsigned> heap_;
};

// The code points of `text`, unique for each; bytes that are no UTF-8 count one each.
std::size_t decode(std::string_view text, unsigned* out) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t size = std::max<std::size_t>(utf8_sequence(text), 1);
    unsigned packed = 0;
    for (const char c : text.substr(0, size)) packed = packed << 8 | static_cast<unsigned char>(c);
    out[count++] = packed;
    text.remove_prefix(size);
  }
  return count;
}

struct Word {
  const unsigned* points;
  std::size_t size;
};

void drop_common_ends(Word& a, Word& b) {
  while (a.size != 0 && b.size != 0 && a.points[a.size - 1] == b.points[b.size - 1]) {
    --a.size;
    --b.size;
  }
  while (a.size != 0 && b.size != 0 && *a.points == *b.points) {
    ++a.points;
    ++b.points;
    --a.size;
    --b.size;
  }
}

// Row by row, only the cells near the diagonal: those further off cost more than `limit`.
unsigned distance(Word a, Word b, unsigned limit, unsigned* rows) {
  const unsigned over = limit + 1;
  const std::size_t width = b.size + 1;
  unsigned* before = rows;
  unsigned* above = rows + width;
  unsigned* row = rows + 2 * width;
  std::fill(before, before + width, over);
  for (std::size_t j = 0; j < width; ++j) {
    above[j] = static_cast<unsigned>(std::min<std::size_t>(j, over));
  }
  for (std::size_t i = 1; i <= a.size; ++i) {
    std::fill(row, row + width, over);
    if (i <= limit) row[0] = static_cast<unsigned>(i);
    unsigned least = row[0];
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = std::min<std::size_t>(b.size, i + limit);
    for (std::size_t j = first; j <= last; ++j) {
      const bool same = a.points[i - 1] == b.points[j - 1];
      unsigned cost = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && a.points[i - 1] == b.points[j - 2] &&
                           a.points[i - 2] == b.points[j - 1];
      if (swapped) cost = std::min(cost, before[j - 2] + 1);
      row[j] = std::min(cost, over);
      least = std::min(least, row[j]);
    }
    // A row's least is at most one more than that of the row above, so that a swap, which reaches
    // back two rows and costs one, does not come below it either.
    if (least >= over) return over;
    std::swap(before, above);
    std::swap(above, row);
  }
  return std::min(above[b.size], over);
}

}  // namespace

unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit) {
  if (a == b) return 0;
  // No distance is greater than the longer length; and `limit` + 1 must not overflow.
  limit =
      static_cast<unsigned>(std::min<std::size_t>({limit, std::max(a.size(), b.size()), 1u << 30}));
  Workspace room(a.size() + b.size() * 4 + 3);
  Word left{room.data(), decode(a, room.data())};
  unsigned* const second = room.data() + left.size;
  Word right{second, decode(b, second)};
  unsigned* const rows = second + right.size;
  const std::size_t difference =
      left.size > right.size ? left.size - right.size : right.size - left.size;
  if (difference > limit) return limit + 1;
  drop_common_ends(left, right);
  return distance(left, right, limit, rows);
}

}  // namespace strongroom::recall
