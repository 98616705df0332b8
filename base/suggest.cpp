#include "base/suggest.h"

#include <algorithm>
#include <numeric>

namespace strongroom {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t limit) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const std::string_view cut = word.substr(0, 256);  // the distance is quadratic
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(cut, std::string_view(candidate).substr(0, 256));
    const std::size_t longer = std::max(cut.size(), candidate.size());
    const bool shares_start = cut.size() >= 3 && candidate.compare(0, 3, cut.substr(0, 3)) == 0;
    if (distance * 3 <= longer || shares_start) ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> words;
  for (auto& [distance, candidate] : ranked) {
    if (words.size() == limit) break;
    words.push_back(std::move(candidate));
  }
  return words;
}

}  // namespace strongroom
