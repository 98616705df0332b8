#include "recall/semantic.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "recall/columns.h"
#include "recall/dot.h"
#include "recall/ranking.h"
#include "recall/rotation.h"

namespace strongroom::recall {
namespace {

bool nearer(const VectorHit& a, const VectorHit& b) {
  return a.cosine != b.cosine ? a.cosine > b.cosine : a.row < b.row;
}

struct CodeHit {
  std::int32_t score;
  Row row;
};
bool better(const CodeHit& a, const CodeHit& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

constexpr std::size_t kTogether = 8;
bool any_above(const std::int32_t* scores, std::int32_t least) {
  bool any = false;
  for (std::size_t i = 0; i < kTogether; ++i) any |= scores[i] > least;
  return any;
}

// Keeps the best `count` of what `items` holds. Called when there are several times as many, which
// costs far less than a heap.
template <class Item, class Better>
void shrink(std::vector<Item>& items, std::size_t count, const Better& is_better) {
  if (items.size() <= count) return;
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(items.begin(), end - 1, items.end(), is_better);
  items.erase(end, items.end());
}

// The query, turned as the codes are, in four bits a dimension, -7 to 7, as planes for
// code_scores(). The sum over a row's bits orders rows as the sum of the query's components with
// the row's signs does.
std::vector<std::uint64_t> planes_of(std::span<const std::int8_t> query) {
  const std::size_t words = plane_words(query.size());
  std::vector<std::uint64_t> planes(4 * words);
  std::array<std::int32_t, kMaxDimensions> turned;
  rotate(query.data(), query.size(), turned.data());
  std::int64_t largest = 1;
  for (std::size_t d = 0; d < query.size(); ++d) {
    largest = std::max<std::int64_t>(largest, std::abs(turned[d]));
  }
  for (std::size_t d = 0; d < query.size(); ++d) {
    // The largest is 7 or -7, halves away from zero.
    const std::int64_t twice = std::int64_t{turned[d]} * 7 * 2;
    const std::int64_t level = (twice + (twice < 0 ? -largest : largest)) / (2 * largest);
    for (std::size_t bit = 0; bit < 4; ++bit) {
      if ((static_cast<unsigned>(level) >> bit & 1) != 0)
        planes[bit * words + d / 64] |= std::uint64_t{1} << (d % 64);
    }
  }
  wipe(reinterpret_cast<char*>(turned.data()), query.size() * sizeof turned[0]);
  return planes;
}

}  // namespace

bool SemanticArm::exact() const {
  return view_.row_end() - 1u <= exact_rows_;
}

float SemanticArm::cosine_of(const char* cell, std::int32_t dot) const {
  return static_cast<float>(dot) * vector_scale(cell, set_.dimensions) * query_.scale;
}

float SemanticArm::cosine(Row row) {
  const char* const cell = view_.vector(set_, row);
  if (cell == nullptr) return 0;
  return cosine_of(cell, dot(query_.values().data(), reinterpret_cast<const std::int8_t*>(cell),
                             set_.dimensions));
}

void SemanticArm::prefetch(const std::vector<Row>& rows) {
  view_.prefetch_vectors(set_, rows);
}

void SemanticArm::offer(const VectorHit& hit, std::size_t count) {
  best_.push_back(hit);
  if (best_.size() < 4 * count) return;
  shrink(best_, count, nearer);
  least_ = best_[count - 1].cosine;
}

void SemanticArm::compare_all(std::size_t count, const std::function<bool(Row)>& may_show) {
  std::array<std::int32_t, kBlockBytes / kDimensionStep> products{};
  const std::size_t stride = vector_bytes(set_.dimensions);
  std::vector<VectorHit> near;
  compared_ = 0;
  view_.scan_vectors(set_, [&](Row first, const char* cells, std::size_t n) {
    compared_ += n;
    dots(query_.values().data(), reinterpret_cast<const std::int8_t*>(cells), stride,
         set_.dimensions, n, products.data());
    near.clear();
    for (std::size_t i = 0; i < n; ++i) {
      if (products[i] <= 0) continue;
      const VectorHit hit{first + static_cast<Row>(i), cosine_of(cells + i * stride, products[i])};
      if (hit.cosine > least_) near.push_back(hit);
    }
    // may_show() may read another block into the cache in the place of this one. Rows come in
    // ascending order, so that one as near as the last of the best ranks behind it.
    for (const VectorHit& hit : near) {
      if (hit.cosine > least_ && may_show(hit.row)) offer(hit, count);
    }
  });
}

void SemanticArm::compare_codes(std::size_t count, const std::function<bool(Row)>& may_show) {
  const std::vector<std::uint64_t> planes = planes_of(query_.values());
  const std::size_t rescored = std::max(count, rescored_);
  std::vector<CodeHit> coarse;
  std::int32_t least = std::numeric_limits<std::int32_t>::min();
  std::array<std::int32_t, kBlockBytes> scores{};
  std::vector<Row> rows;
  const std::size_t stride = code_bytes(set_.dimensions);
  view_.scan_codes(
      set_,
      [&](Row first, const char* cells, std::size_t n) {
        code_scores(planes.data(), reinterpret_cast<const std::uint8_t*>(cells), stride,
                    set_.dimensions, n, scores.data());
        for (std::size_t i = 0; i < n; ++i) {
          // Most are too far away; eight at a time are passed over faster.
          if (i + kTogether <= n && !any_above(scores.data() + i, least)) {
            i += kTogether - 1;
            continue;
          }
          if (scores[i] <= least) continue;
          const Row row = first + static_cast<Row>(i);
          if (!may_show(row)) continue;
          coarse.push_back({scores[i], row});
          if (coarse.size() < 4 * rescored) continue;
          shrink(coarse, rescored, better);
          least = coarse[rescored - 1].score;
        }
      },
      [&](Row row, const char*, std::size_t) {
        if (may_show(row)) rows.push_back(row);  // so few that all are compared in full
      });
  shrink(coarse, rescored, better);
  for (const CodeHit& hit : coarse) rows.push_back(hit.row);
  std::sort(rows.begin(), rows.end());
  view_.prefetch_vectors(set_, rows);
  compared_ = rows.size();
  for (const Row row : rows) {
    const VectorHit hit{row, cosine(row)};
    if (hit.cosine > least_) offer(hit, count);
  }
}

std::vector<VectorHit> SemanticArm::nearest(std::size_t count,
                                            const std::function<bool(Row)>& may_show) {
  best_.clear();
  least_ = 0;
  if (exact()) {
    compare_all(count, may_show);
  } else {
    compare_codes(count, may_show);
  }
  shrink(best_, count, nearer);
  std::sort(best_.begin(), best_.end(), nearer);
  return std::move(best_);
}

}  // namespace strongroom::recall
